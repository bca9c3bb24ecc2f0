/*
 * tokenizers.h - the open tokenizers, shared by all who need the same one: opening one
 * reads its files and sorts its vocabulary, which takes longer than encoding a text.
 *
 *   tokenizers_take --> used by any number of threads --> tokenizers_give
 *
 * Invariants
 *   (1) A tokenizer was made from files whose size and SHA-256 are those of their rows.
 *   (2) At most TOKENIZERS_IDLE_MAX are kept without a user; the least recently used
 *       one is closed first.
 *
 * Threads: any.
 */
#ifndef SERVICE_MODELS_TOKENIZERS_H
#define SERVICE_MODELS_TOKENIZERS_H

#include "engine/data/text_column.h"

struct blob_prefetch;
struct daemon_state;
struct tokenizers; /* opaque */

enum { TOKENIZERS_IDLE_MAX = 4 };

struct tokenizers *tokenizers_create(void);
/* None has a user any more. NULL is allowed. */
void tokenizers_destroy(struct tokenizers *tokenizers);

/* Takes the tokenizer of a column whose digests are known.
 *   prefetch  of a request in the write queue, which waits for no file; else NULL: the
 *             call may wait for a bucket
 *   ST_INVALID        the files are no tokenizer of this kind, as tokenizer_open says
 *   ST_MODEL_CORRUPT  a file was deleted, is missing or damaged
 *   ST_QUEUE_FULL     the prefetch is due
 *   ST_INTERNAL       the place of its files does not answer
 *   ST_NO_MEMORY, ST_DISK_FULL, ST_DRAINING, ST_CANCELLED */
enum status tokenizers_take(struct daemon_state *context,
                            const struct text_column *column,
                            struct blob_prefetch *prefetch,
                            const struct tokenizer **out, struct error *error);
/* NULL is allowed. */
void tokenizers_give(struct daemon_state *context, const struct tokenizer *tokenizer);

#endif
