/*
 * key_admin.h - makes, lists and revokes keys for a user of the host, by the words of a
 * command line:
 *
 *   create --owner NAME --role ROLE [--project NAME] [--expires DAYS] [--scopes A,B]
 *   list
 *   revoke ID
 *
 * No key is asked for: access to the data directory is the permission, because the
 * ledger itself is in there.
 *
 * Threads: any.
 */
#ifndef SERVICE_IDENTITY_KEY_ADMIN_H
#define SERVICE_IDENTITY_KEY_ADMIN_H

#include <stdint.h>
#include <stdio.h>

struct access_key;
struct daemon_state;

/* The usage text, in lines. */
extern const char key_admin_usage[];

/* Writes a key to out as a line: its id, state, end, role, project and owner. */
void key_admin_print(FILE *out, const struct access_key *key, int64_t now_ms);

/* Runs the command of the words, writes the result to out, and returns the exit code:
 * 0; 64 if the words are not understood; 75 if the store cannot be written. A new key
 * is printed on a line of its own, and is in no log. */
int key_admin_run(struct daemon_state *context, int count, const char *const *words,
                  FILE *out);

#endif
