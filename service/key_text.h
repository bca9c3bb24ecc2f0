/*
 * key_text.h - a key as it is answered.
 *
 * Threads: any.
 */
#ifndef SERVICE_KEY_TEXT_H
#define SERVICE_KEY_TEXT_H

#include "service/context.h"

/* The JSON text of a key, to be freed; with its secret, where that is not NULL. */
char *key_text(const struct context *context, const struct access_key *key,
               const char *secret);

#endif
