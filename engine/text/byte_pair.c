/* byte_pair - byte-level byte-pair encoding, the tokenizer of GPT-2 and RoBERTa (Radford et
 * al. 2019; Sennrich, Haddow, Birch 2016). Its files are those of byte_pair_files.h.
 *
 * Each piece of the pre-tokenizer begins as its bytes. As long as two neighbours are the
 * pair of a merge, the merge of the lowest rank, the leftmost of them, is made. A piece
 * of n bytes has at most n - 1 merges, each of which makes two new pairs, so the queue
 * takes fewer than 3 n entries and the work is O(n log n). */
#include <stdlib.h>
#include <string.h>

#include "engine/text/byte_pair_files.h"
#include "engine/text/merge_queue.h"
#include "engine/text/pre_tokenizer.h"

struct byte_pair_state {
    struct byte_pair files;
    bool prefix_space;
};

#define NO_SYMBOL UINT32_MAX

/* A part of a piece, at the place of its first byte. */
struct symbol {
    uint32_t id; /* of its token; NO_SYMBOL: it was merged into one before */
    uint32_t previous, next; /* places, or NO_SYMBOL */
};

/* Room for the merges of a piece. */
struct merging {
    const struct merge_table *merges;
    struct symbol *symbols;
    struct merge_queue queue;
    size_t room; /* bytes of the longest piece */
};

static enum status make_room(struct merging *merging, size_t size)
{
    if (size <= merging->room)
        return ST_OK;
    struct symbol *symbols = realloc(merging->symbols, size * sizeof *symbols);
    if (symbols != NULL)
        merging->symbols = symbols;
    struct possible_merge *entries =
        realloc(merging->queue.entries, 3 * size * sizeof *entries);
    if (entries != NULL)
        merging->queue.entries = entries;
    if (symbols == NULL || entries == NULL)
        return ST_NO_MEMORY;
    merging->room = size;
    return ST_OK;
}

/* Queues the merge of the symbol at this place with the next one, if there is one. */
static void consider(struct merging *merging, uint32_t place)
{
    const struct symbol *symbol = &merging->symbols[place];
    if (symbol->next == NO_SYMBOL)
        return;
    uint32_t rank = merge_table_find(merging->merges, symbol->id,
                                     merging->symbols[symbol->next].id);
    if (rank != MERGE_ABSENT)
        merge_queue_push(&merging->queue, (struct possible_merge){rank, place});
}

/* Makes the merge, unless one of its symbols has been merged with another since. */
static void merge(struct merging *merging, struct possible_merge possible)
{
    const struct merge *rule = merge_table_at(merging->merges, possible.rank);
    struct symbol *left = &merging->symbols[possible.position];
    if (left->id != rule->left || left->next == NO_SYMBOL ||
        merging->symbols[left->next].id != rule->right)
        return;
    struct symbol *right = &merging->symbols[left->next];
    left->id = rule->result;
    left->next = right->next;
    right->id = NO_SYMBOL;
    if (left->next != NO_SYMBOL)
        merging->symbols[left->next].previous = possible.position;
    consider(merging, possible.position);
    if (left->previous != NO_SYMBOL)
        consider(merging, left->previous);
}

static enum status merge_piece(struct merging *merging, const uint32_t bytes[256],
                               struct text piece)
{
    struct possible_merge possible;
    uint32_t count = (uint32_t)piece.size;
    if (make_room(merging, piece.size) != ST_OK)
        return ST_NO_MEMORY;
    for (uint32_t i = 0; i < count; i++)
        merging->symbols[i] = (struct symbol){bytes[(unsigned char)piece.bytes[i]],
                                              i == 0 ? NO_SYMBOL : i - 1,
                                              i + 1 == count ? NO_SYMBOL : i + 1};
    for (uint32_t i = 0; i < count; i++)
        consider(merging, i);
    while (merge_queue_pop(&merging->queue, &possible))
        merge(merging, possible);
    return ST_OK;
}

static enum status encode_pieces(const struct byte_pair_state *state, struct text text,
                                 struct id_list *list)
{
    struct merging merging = {.merges = state->files.merges};
    enum status status = ST_OK;
    bool takes_more = list->count < list->room;
    for (size_t at = 0, size; takes_more && at < text.size; at += size) {
        size = pre_tokenizer_piece(text.bytes + at, text.size - at);
        status = merge_piece(&merging, state->files.bytes,
                             (struct text){text.bytes + at, size});
        if (status != ST_OK)
            break;
        for (uint32_t i = 0; i != NO_SYMBOL && takes_more; i = merging.symbols[i].next)
            takes_more = id_list_put(list, merging.symbols[i].id);
    }
    free(merging.symbols);
    free(merging.queue.entries);
    return status;
}

static enum status byte_pair_encode(const void *opaque, struct text text,
                                    struct id_list *list)
{
    const struct byte_pair_state *state = opaque;
    size_t before = list->count;
    char *prefixed = NULL;
    if (state->prefix_space && text.size > 0 && text.bytes[0] != ' ') {
        prefixed = malloc(text.size + 1);
        if (prefixed == NULL)
            return ST_NO_MEMORY;
        prefixed[0] = ' ';
        memcpy(prefixed + 1, text.bytes, text.size);
        text = (struct text){prefixed, text.size + 1};
    }
    enum status status = encode_pieces(state, text, list);
    if (status != ST_OK)
        list->count = before;
    free(prefixed);
    return status;
}

static void byte_pair_destroy(void *opaque)
{
    struct byte_pair_state *state = opaque;
    if (state == NULL)
        return;
    merge_table_destroy(state->files.merges);
    free(state);
}

static enum status byte_pair_open(struct tokenizer_model *model,
                                  const struct text *files,
                                  const struct tokenizer_options *options,
                                  struct error *error)
{
    struct byte_pair_state *state = calloc(1, sizeof *state);
    if (state == NULL)
        return error_set(error, ST_NO_MEMORY, "no memory for the tokenizer");
    enum status status = byte_pair_files_read(&state->files, files[0], files[1], error);
    if (status != ST_OK) {
        byte_pair_destroy(state);
        return status;
    }
    state->prefix_space = options->prefix_space;
    *model = (struct tokenizer_model){state, state->files.vocabulary,
                                      state->files.start, state->files.end};
    return ST_OK;
}

const struct tokenizer_kind byte_pair_tokenizer = {
    .name = "byte_pair",
    .files = {BYTE_PAIR_VOCABULARY_NAME, BYTE_PAIR_MERGES_NAME},
    .has_prefix_space = true,
    .frame_start = "<s>",
    .frame_end = "</s>",
    .frame_between = 2,
    .open = byte_pair_open,
    .encode = byte_pair_encode,
    .destroy = byte_pair_destroy,
};
