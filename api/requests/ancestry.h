/*
 * ancestry.h - the weights that a model was started from, the weights that those were
 * started from, and so on. A certificate lists them, from the oldest to the one that
 * the model itself was started from.
 *
 *   "ancestors":[{"id":"mdl_...","sha256":"...","guarantee":"not covered"}, ...]
 *
 * An uploaded file also has its "note", if there is one.
 *
 * A guarantee covers what a job released, and never its inputs. Ancestors are not
 * covered: either a person with the right to do so has made the weights public, or they
 * are a release with a guarantee of their own.
 *
 * Pure.
 */
#ifndef API_REQUESTS_ANCESTRY_H
#define API_REQUESTS_ANCESTRY_H

#include <stddef.h>
#include <stdint.h>

#include "api/limits.h"
#include "base/hash.h"
#include "base/status.h"
#include "engine/nn/trainable.h"

struct ancestor {
    char id[WEIGHTS_ID_SIZE];
    char sha256[SHA256_HEX_SIZE];
    char note[LIMIT_FILE_NOTE + 1]; /* source of an uploaded file; "": none */
};

struct ancestry { /* oldest first */
    size_t count;
    struct ancestor items[LIMIT_ANCESTORS];
};

/* *ancestry = the ancestors that card names, followed by parent.
 *   card        the certificate of parent, or NULL if it has none
 *   ST_INVALID  there would be more than LIMIT_ANCESTORS ("/model/weights")
 *   ST_CORRUPT  card does not read back */
enum status ancestry_of(struct ancestry *ancestry, const char *card,
                        const struct ancestor *parent, struct error *error);

/* Writes the member above into a certificate. Writes nothing if there are
 * no ancestors. */
struct json_writer;
void ancestry_write(struct json_writer *writer, const struct ancestry *ancestry);

#endif
