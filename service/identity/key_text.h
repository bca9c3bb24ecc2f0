/*
 * key_text.h - the JSON of a key in replies.
 *
 * Threads: any.
 */
#ifndef SERVICE_IDENTITY_KEY_TEXT_H
#define SERVICE_IDENTITY_KEY_TEXT_H

struct access_key;
struct daemon_state;

/* Returns the JSON text of a key, to be freed; with its secret if that is not NULL. */
char *key_text(const struct daemon_state *context, const struct access_key *key,
               const char *secret);

#endif
