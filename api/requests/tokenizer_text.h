/*
 * tokenizer_text.h - the members of a column of kind text as JSON:
 *
 *   "length":count, "tokenizer":{"kind":name, "vocabulary":file?, "merges":file?,
 *                                "lower":flag?, "prefix_space":flag?,
 *                                "tokens":count?, "sha256":[digests]?}
 *
 * Which members a tokenizer has depends on its kind (engine/text/tokenizer_kind.h):
 * wordpiece has a vocabulary, byte_pair a vocabulary and merges, bytes neither. The frame
 * of the kind's published models is always put around a text. The last two members follow
 * from the files: a declaration may leave them out, and stored ones have them.
 */
#ifndef API_REQUESTS_TOKENIZER_TEXT_H
#define API_REQUESTS_TOKENIZER_TEXT_H

#include "api/json/json_reader.h"
#include "api/json/json_writer.h"
#include "engine/data/text_column.h"

/* Fills in a zeroed column from the members of an object. Returns false if the kind is
 * not known: then the column has none. */
bool tokenizer_text_read(struct text_column *column, const struct json_node *object);

void tokenizer_text_write(struct json_writer *writer, const struct text_column *column);

/* The member of "tokenizer" that names a file of its kind: "vocabulary", "merges". */
const char *tokenizer_file_member(size_t file);

#endif
