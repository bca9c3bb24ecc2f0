/*
 * byte_pair_files.h - the two files of a byte-level byte-pair encoding, strictly read.
 *
 *   vocab.json   {TOKEN: ID, ...}; the ids are 0 to the number of tokens - 1, each once
 *   merges.txt   TOKEN, a space, TOKEN on each line, the first merge first; lines that
 *                begin with #version are left out
 *
 * In both files a byte is written as one character: 0x21 to 0x7E, 0xA1 to 0xAC and 0xAE
 * to 0xFF as the character of that number, and the others, in their order, as U+0100,
 * U+0101 and so on (GPT-2's bytes_to_unicode), so that 0x20 is U+0120.
 *
 * Refused, in addition to text that is not JSON in UTF-8: a token that is there twice,
 * empty or longer than VOCABULARY_TOKEN_SIZE_MAX bytes, a byte without a token, more than
 * VOCABULARY_TOKENS_MAX tokens or merges, and a merge of a token, or into one, that
 * vocab.json does not have, or of the same pair as another.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_TEXT_BYTE_PAIR_FILES_H
#define ENGINE_TEXT_BYTE_PAIR_FILES_H

#include "engine/text/merge_table.h"
#include "engine/text/tokenizer_kind.h"

#define BYTE_PAIR_VOCABULARY_NAME "vocab.json"
#define BYTE_PAIR_MERGES_NAME     "merges.txt"

struct byte_pair {
    struct merge_table *merges;
    uint32_t bytes[256]; /* the id of each byte's token */
    uint32_t vocabulary; /* number of tokens */
    int32_t start, end;  /* ids of "<s>" and "</s>", or -1 */
};

/* On ST_OK the caller destroys byte_pair->merges.
 *   ST_INVALID    the files violate the above; error->text names the file and the line or
 *                 member, and has no byte of them
 *   ST_NO_MEMORY */
enum status byte_pair_files_read(struct byte_pair *byte_pair, struct text vocabulary,
                                 struct text merges, struct error *error);

#endif
