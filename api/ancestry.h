/*
 * ancestry.h - the weights that a model was started from, and those that these were started
 * from: what its certificate says of each, from the oldest to the one it was started from
 * itself.
 *
 *   "ancestors":[{"id":"mdl_...","sha256":"...","guarantee":"not covered"}, ...]
 *
 * A file that was uploaded has its "note" beside these, if it has one.
 *
 * A guarantee is of what a job released, and never of what it was given: somebody with the
 * right to say so has made the weights public, or they are a release with a guarantee of
 * their own.
 *
 * Pure.
 */
#ifndef API_ANCESTRY_H
#define API_ANCESTRY_H

#include <stddef.h>
#include <stdint.h>

#include "api/limits.h"
#include "base/hash.h"
#include "base/status.h"
#include "engine/nn/trainable.h"

struct ancestor {
    char id[WEIGHTS_ID_SIZE];
    char sha256[SHA256_HEX_SIZE];
    char note[LIMIT_FILE_NOTE + 1]; /* of a file: where it is from; "" */
};

struct ancestry { /* the oldest first */
    size_t count;
    struct ancestor items[LIMIT_ANCESTORS];
};

/* *ancestry = the ancestors that card names, and parent behind them.
 *   card        the certificate of parent, or NULL where it has none
 *   ST_INVALID  they would be more than LIMIT_ANCESTORS ("/model/weights")
 *   ST_CORRUPT  card does not read back */
enum status ancestry_of(struct ancestry *ancestry, const char *card,
                        const struct ancestor *parent, struct error *error);

/* Writes the member above into a certificate; nothing where there are none. */
struct json_writer;
void ancestry_write(struct json_writer *writer, const struct ancestry *ancestry);

#endif
