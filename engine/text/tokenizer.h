/*
 * tokenizer.h - turns texts into ids of a declared number, for a table of embeddings.
 *
 *   row = frame(texts) cut to `length`, then -1 up to `length`
 *
 * The frame, if the options ask for it, is that of the kind's published models, with two
 * ids for one text or three or four for two:
 *
 *   wordpiece  [CLS] a [SEP]     [CLS] a [SEP] b [SEP]
 *   byte_pair  <s> a </s>        <s> a </s> </s> b </s>
 *
 * A row that is too long loses ids at the end of its longer text, and at the end of the
 * second if both are equally long, one after the other; the frame stays whole.
 *
 * Invariants
 *   (1) A row depends only on its texts, the files and the options.
 *   (2) Every id is below tokenizer_vocabulary.
 *   (3) No error has a byte of a text or of a file: a wrong file may hold people's
 *       records.
 *   (4) The work of a text of n bytes is at most proportional to n log n, for every
 *       text.
 *
 * Ownership: a tokenizer keeps nothing of its files' texts.
 * Threads: any number of threads may encode with one tokenizer.
 */
#ifndef ENGINE_TEXT_TOKENIZER_H
#define ENGINE_TEXT_TOKENIZER_H

#include "engine/text/tokenizer_kind.h"

enum {
    TOKENIZER_TEXTS_MAX = 2,
    TOKENIZER_TEXT_SIZE_MAX = 1 << 20, /* bytes; a csv file's lines have no more */
    TOKENIZER_FILE_SIZE_MAX = 1 << 24, /* bytes; published ones have up to 6 million */
};

extern const struct tokenizer_kind *const tokenizer_kinds[]; /* NULL-ended */

/* Returns NULL if there is no kind of that name. */
const struct tokenizer_kind *tokenizer_kind_find(const char *name);

struct tokenizer; /* opaque */

/* Reads the files of the kind, paths in the order of kind->files.
 *   ST_INVALID    the kind does not take an option, has no frame, or its vocabulary lacks
 *                 a token of the frame; a file is larger than TOKENIZER_FILE_SIZE_MAX or
 *                 refused by the kind (its row's open)
 *   ST_IO         a file cannot be read
 *   ST_NO_MEMORY */
enum status tokenizer_open(struct tokenizer **out, const struct tokenizer_kind *kind,
                           const char *const *paths,
                           const struct tokenizer_options *options,
                           struct error *error);
void tokenizer_close(struct tokenizer *tokenizer); /* NULL is allowed */

/* Checks that the file at path can be one of a tokenizer: text in UTF-8, not empty, at
 * most TOKENIZER_FILE_SIZE_MAX bytes. Which kind it suits is found when it is opened.
 *   ST_INVALID  it cannot
 *   ST_IO       it cannot be read
 *   ST_NO_MEMORY */
enum status tokenizer_check_file(const char *path, struct error *error);

/* Returns the number of ids: the rows of the table of embeddings. */
uint32_t tokenizer_vocabulary(const struct tokenizer *tokenizer);

/* Returns how many ids of a row of `texts` texts, 1 or 2, are the frame's. */
size_t tokenizer_frame_size(const struct tokenizer *tokenizer, size_t texts);

/* Writes the row of texts[0..count) into ids[0..length). count is 1, or 2 if the
 * tokenizer is framed; length is more than the frame's ids.
 *   ST_INVALID    a text is longer than TOKENIZER_TEXT_SIZE_MAX; ids is undefined
 *   ST_NO_MEMORY  ids is undefined */
enum status tokenizer_encode(const struct tokenizer *tokenizer,
                             const struct text *texts, size_t count, int32_t *ids,
                             size_t length, struct error *error);

#endif
