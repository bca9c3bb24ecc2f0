/*
 * text_column.h - what a column of kind `text` declares: the tokenizer of its texts, and
 * the length of a row.
 *
 *   row = (length) ids, each below `vocabulary`, then -1 behind the end of the text
 *
 * A row is a function of the cell, the files and the declaration, at import and at
 * predict. An empty cell is a text without a word. The files are public, and are not
 * learnt from texts (privacy.md P7). Their digests are a part of the declaration: with
 * other files the same text has other ids.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_DATA_TEXT_COLUMN_H
#define ENGINE_DATA_TEXT_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/id.h"
#include "engine/text/tokenizer.h"

enum { TEXT_COLUMN_LENGTH_MAX = 1024 }; /* ids of a row */

struct text_column {
    const struct tokenizer_kind *kind;
    struct tokenizer_options options;
    uint32_t length;
    /* The number of ids; 0: not known, as the files were not read yet. */
    uint32_t vocabulary;
    /* The files in the order of kind->files, and their digests; "": not known yet. */
    struct file_id files[TOKENIZER_FILES_MAX];
    char sha256[TOKENIZER_FILES_MAX][SHA256_HEX_SIZE];
};

/* Returns how many files the tokenizer of the column has. */
size_t text_column_files(const struct text_column *column);

/* Returns whether both have the same tokenizer; their digests are known. */
bool text_column_shares_tokenizer(const struct text_column *a,
                                  const struct text_column *b);

/* Returns whether the same text has the same row under both, whose digests are known. */
bool text_column_agrees(const struct text_column *a, const struct text_column *b);

/* Writes the row of a text as float32, which holds every id exactly; row: (length).
 *   tokenizer   opened from the column's files
 *   ST_INVALID  the text is longer than TOKENIZER_TEXT_SIZE_MAX
 *   ST_NO_MEMORY */
enum status text_column_encode(const struct text_column *column,
                               const struct tokenizer *tokenizer, struct text text,
                               float *row, struct error *error);

#endif
