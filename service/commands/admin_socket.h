/*
 * admin_socket.h - the admin socket: a command on the host uses it to talk to the
 * daemon that serves the data directory. The socket is in that directory, which no
 * other user can open.
 *
 * A second process must not write to the database (store/README.md), and the daemon
 * would not notice its changes. So the command sends its words, the daemon executes
 * them as it would a request, and sends back the result.
 *
 *   command: words, each followed by a NUL; then it shuts down its side
 *   daemon:  a byte, the exit code; then the text to print, to the end
 *
 * Threads: one of its own, which takes one command at a time.
 */
#ifndef SERVICE_COMMANDS_ADMIN_SOCKET_H
#define SERVICE_COMMANDS_ADMIN_SOCKET_H

#include <stdbool.h>
#include <stdio.h>

#include "base/status.h"

struct daemon_state;
struct error;

struct admin_socket; /* opaque */

/* Opens the socket in the context's data directory. A socket that a dead process left
 * there is replaced; the caller holds the directory's lock.
 *   ST_IO  it cannot be made */
enum status admin_socket_open(struct admin_socket **out, struct daemon_state *context,
                              struct error *error);
void admin_socket_close(struct admin_socket *door); /* NULL is allowed */

/* Sends the words to the daemon that serves the directory, prints its answer to out,
 * and puts its exit code into *code. Returns false if no daemon is there. */
bool admin_socket_ask(const char *directory, int count, const char *const *words,
                      int *code, FILE *out);

#endif
