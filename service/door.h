/*
 * door.h - how a command on the host speaks to the daemon that serves the data directory: by
 * a socket in that directory, which nobody else can open.
 *
 * A second process must not write to the database (store/README.md), and what it changed
 * the daemon would not see. So the command sends its words, the daemon does what they say
 * as it would for a request, and sends back what came of it.
 *
 *   command: words, each with a NUL behind it; then it shuts its end
 *   daemon:  a byte, the exit code; then what is to be printed, to the end
 *
 * Threads: one of its own, which takes one command at a time.
 */
#ifndef SERVICE_DOOR_H
#define SERVICE_DOOR_H

#include <stdbool.h>
#include <stdio.h>

#include "service/context.h"

struct door; /* opaque */

/* Opens the door of the context's data directory. A socket that a dead process left there
 * is replaced; the caller holds the directory's lock.
 *   ST_IO  it cannot be made */
enum status door_open(struct door **out, struct context *context, struct error *error);
void door_close(struct door *door); /* NULL is allowed */

/* Has the daemon that serves the directory do what the words say, prints what it answers to
 * out, and puts its exit code into *code. False where no daemon is there. */
bool door_ask(const char *directory, int count, const char *const *words, int *code,
              FILE *out);

#endif
