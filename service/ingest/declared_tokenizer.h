/*
 * declared_tokenizer.h - the tokenizer that a declaration of a dataset names.
 *
 * Threads: the write queue's.
 */
#ifndef SERVICE_INGEST_DECLARED_TOKENIZER_H
#define SERVICE_INGEST_DECLARED_TOKENIZER_H

#include "base/status.h"

struct blob_prefetch;
struct daemon_state;
struct dataset_spec;
struct principal;

/* Checks the files of a column of texts, if the declaration has one, and fills in what
 * follows from them: their digests, and the number of tokens. What the declaration states
 * of both must be so.
 *   ST_NOT_FOUND, ST_FORBIDDEN  the principal cannot read a file
 *   ST_INVALID     a file is of another kind or does not suit the kind of tokenizer, or
 *                  has another digest or number of tokens than stated
 *   ST_QUEUE_FULL  the prefetch is due
 *   others         as tokenizers_take; error->pointer names the member */
enum status declared_tokenizer_fill(struct daemon_state *context,
                                    const struct principal *principal,
                                    struct blob_prefetch *prefetch,
                                    struct dataset_spec *spec, struct error *error);

#endif
