/*
 * key_admin.h - keys as somebody on the host makes, lists and revokes them, with the words
 * of a command line:
 *
 *   create --owner NAME --role ROLE [--project NAME] [--expires DAYS] [--scopes A,B]
 *   list
 *   revoke ID
 *
 * Whoever may do so is asked no key: the host's own users reach the data directory or not,
 * and what is in there is the promise itself.
 *
 * Threads: any.
 */
#ifndef SERVICE_KEY_ADMIN_H
#define SERVICE_KEY_ADMIN_H

#include <stdio.h>

#include "service/context.h"

/* How it is used, in lines. */
extern const char key_admin_usage[];

/* Writes a key to out as a line: its id, state, end, role, project and owner. */
void key_admin_print(FILE *out, const struct access_key *key, int64_t now_ms);

/* Does what the words say, writes what came of it to out, and answers the exit code: 0; 64
 * for words that are not understood; 75 where the store cannot be written. A key that is
 * made is a line of its own, and in no log. */
int key_admin_run(struct context *context, int count, const char *const *words,
                  FILE *out);

#endif
