/*
 * publication.h - writes a trained model to a file with its certificate: to a draft,
 * which is synced and renamed (privacy.md P10). No request can read it yet. The model
 * is published when the caller inserts its row, which has that time.
 *
 * Threads: the runners'.
 */
#ifndef SERVICE_RUNS_PUBLICATION_H
#define SERVICE_RUNS_PUBLICATION_H

#include "api/views/model_view.h"
#include "store/blobs/blob_name.h"
#include "store/rows/model_rows.h"

struct daemon_state;
struct job;

/* The results of a training. */
struct trained {
    struct trainer *trainer;
    const struct mechanism *ran;     /* the steps that a filtered run took, or NULL */
    const struct ancestry *ancestry; /* the models that it was started from */
    const char *noise;   /* for the certificate, as other processes drew it; NULL: the
                          * trainer did */
    const char *quality; /* the quality measured on a holdout, as JSON, or NULL */
};

struct publication {
    struct model_row row;
    char *card;                   /* row.card, owned */
    struct certificate_base base; /* the file of its body; no id: the model is whole */
    struct blob_draft draft;      /* the model's file, until it is published */
};

/* Writes the file and fills in publication, which must then be released with
 * publication_fini.
 *   ST_IO, ST_NO_MEMORY  the file cannot be written; no file is left, and nothing must
 *                        be released */
enum status publication_write(struct publication *publication,
                              struct daemon_state *context, const struct job *job,
                              const struct trained *trained, struct error *error);

/* Deletes the file: its row was not inserted. */
void publication_remove(const struct publication *publication,
                        struct daemon_state *context);

void publication_fini(struct publication *publication); /* a zeroed one is allowed */

#endif
