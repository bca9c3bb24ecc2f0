/*
 * key_text.h - the JSON of a key in replies.
 *
 * Threads: any.
 */
#ifndef SERVICE_KEY_TEXT_H
#define SERVICE_KEY_TEXT_H

struct access_key;
struct context;

/* Returns the JSON text of a key, to be freed; with its secret if that is not NULL. */
char *key_text(const struct context *context, const struct access_key *key,
               const char *secret);

#endif
