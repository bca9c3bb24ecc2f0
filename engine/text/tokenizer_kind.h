/*
 * tokenizer_kind.h - the kinds of tokenizer, as rows: their files, their options, and how
 * they turn a text into ids.
 *
 * To add a kind: write engine/text/NAME.c with its row, and add a line to
 * TOKENIZER_TABLE. tokenizer.h opens a kind and adds what all have in common.
 *
 * Threads: constant data.
 */
#ifndef ENGINE_TEXT_TOKENIZER_KIND_H
#define ENGINE_TEXT_TOKENIZER_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* A row is the name of a struct tokenizer_kind. */
#define TOKENIZER_TABLE(ROW)                                                           \
    ROW(wordpiece_tokenizer)                                                           \
    ROW(byte_pair_tokenizer)                                                           \
    ROW(bytes_tokenizer)

enum { TOKENIZER_FILES_MAX = 2 };

/* Ends the refusals of a vocabulary. A file that is corrected by hand has other ids than
 * the model was trained with. */
#define TOKENIZER_ADVICE "take the file that the model was published with"

/* Bytes of a text, or of a whole file; borrowed. */
struct text {
    const char *bytes;
    size_t size;
};

struct tokenizer_options {
    bool lower;        /* wordpiece: the vocabulary is uncased */
    bool prefix_space; /* byte_pair: a text that does not begin with a space gets one */
    bool framed;       /* ids of the frame are put around the texts (tokenizer.h) */
};

/* The ids of a text, as far as there is room for them. */
struct id_list {
    int32_t *ids;
    size_t room, count;
};

/* Appends the id. Returns whether the list takes more. */
static inline bool id_list_put(struct id_list *list, uint32_t id)
{
    if (list->count < list->room)
        list->ids[list->count++] = (int32_t)id;
    return list->count < list->room;
}

/* The content of a kind's files. */
struct tokenizer_model {
    void *state;         /* of the kind */
    uint32_t vocabulary; /* every id is below this count */
    /* The ids of frame_start and frame_end; -1 if the vocabulary has no such token. */
    int32_t start, end;
};

struct tokenizer_kind {
    const char *name;
    const char *files[TOKENIZER_FILES_MAX]; /* their usual names; NULL after the last */
    bool has_lower, has_prefix_space;       /* which options it takes */

    /* The tokens of a frame, and how many ends are between two texts. NULL and 0:
     * the kind has no frame. */
    const char *frame_start, *frame_end;
    size_t frame_between;

    /* Reads the files, in the order of `files`, into model. The texts are borrowed for
     * the call.
     *   ST_INVALID    a file is refused; error->text names it, its line or member and
     *                 the rule, and has no byte of it
     *   ST_NO_MEMORY */
    enum status (*open)(struct tokenizer_model *model, const struct text *files,
                        const struct tokenizer_options *options, struct error *error);

    /* Appends the text's ids until the list is full.
     *   ST_NO_MEMORY  the list is as it was */
    enum status (*encode)(const void *state, struct text text, struct id_list *list);

    void (*destroy)(void *state); /* NULL is allowed */
};

#define DECLARE(name) extern const struct tokenizer_kind name;
TOKENIZER_TABLE(DECLARE)
#undef DECLARE

#endif
