/*
 * publication.h - a trained model as a file with its certificate (privacy.md P10):
 * written to a draft, synced and renamed. Nobody can ask for it yet. What publishes it
 * is its row, which the caller inserts, with the time at which it does.
 *
 * Threads: the runners'.
 */
#ifndef SERVICE_PUBLICATION_H
#define SERVICE_PUBLICATION_H

#include "api/ancestry.h"
#include "engine/trainer.h"
#include "service/context.h"
#include "service/jobs.h"

/* What a training ends with. */
struct trained {
    struct trainer *trainer;
    const struct mechanism *ran;     /* the steps that a filtered run ran, or NULL */
    const struct ancestry *ancestry; /* what it was started from */
    const char *noise;   /* of the certificate, as other processes drew it; NULL: the
                          * trainer did */
    const char *quality; /* what was measured on a holdout, as JSON, or NULL */
};

struct publication {
    struct model_row row;
    char *card;              /* row.card, owned */
    struct blob_draft draft; /* the model's file, until it is published */
};

/* Writes the file and fills in publication, which must then be released with
 * publication_fini.
 *   ST_IO, ST_NO_MEMORY  the file cannot be written; nothing is left of it, nor
 *                        to be released */
enum status publication_write(struct publication *publication, struct context *context,
                              const struct job *job, const struct trained *trained,
                              struct error *error);

/* Removes the file again: its row was not inserted. */
void publication_remove(const struct publication *publication, struct context *context);

void publication_fini(struct publication *publication); /* a zeroed one is allowed */

#endif
