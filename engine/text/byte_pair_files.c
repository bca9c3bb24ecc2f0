#include "engine/text/byte_pair_files.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "engine/text/text_lines.h"
#include "engine/text/unicode.h"
#include "engine/text/vocabulary.h"

#define VOCABULARY BYTE_PAIR_VOCABULARY_NAME
#define MERGES     BYTE_PAIR_MERGES_NAME

static enum status no_memory(struct error *error)
{
    return error_set(error, ST_NO_MEMORY, "no memory for the tokenizer's files");
}

/* The parser's own message is not passed on: it quotes the text. */
static enum status parse_json(json_t **root, struct text file, struct error *error)
{
    json_error_t where;
    *root = json_loadb(file.bytes, file.size, JSON_REJECT_DUPLICATES, &where);
    /* jansson says nothing if some of its allocations fail. */
    if (*root == NULL &&
        (where.text[0] == '\0' || json_error_code(&where) == json_error_out_of_memory))
        return no_memory(error);
    if (*root == NULL && json_error_code(&where) == json_error_duplicate_key)
        return error_set(
            error, ST_INVALID,
            VOCABULARY
            ": line %d, column %d: a token is there twice: " TOKENIZER_ADVICE,
            where.line, where.column);
    if (*root == NULL)
        return error_set(error, ST_INVALID,
                         VOCABULARY ": line %d, column %d: this is not JSON in UTF-8",
                         where.line, where.column);
    if (!json_is_object(*root))
        return error_set(error, ST_INVALID,
                         VOCABULARY ": is no object of tokens and their ids");
    if (json_object_size(*root) > VOCABULARY_TOKENS_MAX)
        return error_set(error, ST_INVALID, VOCABULARY ": has more than %d tokens",
                         VOCABULARY_TOKENS_MAX);
    return ST_OK;
}

/* Fills in tokens by their ids, and members, the number of each one's member from 1. */
static enum status list_tokens(struct token *tokens, uint32_t *members, json_t *root,
                               struct error *error)
{
    uint32_t count = (uint32_t)json_object_size(root), member = 0;
    const char *text;
    json_t *value;
    json_object_foreach(root, text, value)
    {
        size_t size = strlen(text);
        json_int_t id = json_is_integer(value) ? json_integer_value(value) : -1;
        member++;
        if (size == 0 || size > VOCABULARY_TOKEN_SIZE_MAX)
            return error_set(error, ST_INVALID,
                             VOCABULARY ": member %u: a token has 1 to %d bytes",
                             member, VOCABULARY_TOKEN_SIZE_MAX);
        if (id < 0 || id >= count)
            return error_set(error, ST_INVALID,
                             VOCABULARY
                             ": member %u: the ids of %u tokens are the integers "
                             "0 to %u",
                             member, count, count - 1);
        if (members[id] != 0)
            return error_set(error, ST_INVALID,
                             VOCABULARY
                             ": members %u and %u have the same id: " TOKENIZER_ADVICE,
                             members[id], member);
        members[id] = member;
        tokens[id] = (struct token){text, (uint32_t)size};
    }
    return ST_OK;
}

static enum status read_vocabulary(struct vocabulary **out, uint32_t *count,
                                   struct text file, struct error *error)
{
    json_t *root = NULL;
    struct token *tokens = NULL;
    uint32_t *members = NULL, repeated[2];
    enum status status = parse_json(&root, file, error);
    if (status != ST_OK)
        goto done;
    *count = (uint32_t)json_object_size(root);
    if (*count == 0) {
        status = error_set(error, ST_INVALID, VOCABULARY ": has no tokens");
        goto done;
    }
    tokens = calloc(*count, sizeof *tokens);
    members = calloc(*count, sizeof *members);
    if (tokens == NULL || members == NULL) {
        status = no_memory(error);
        goto done;
    }
    status = list_tokens(tokens, members, root, error);
    if (status == ST_OK) {
        /* jansson has refused equal tokens. */
        status = vocabulary_create(out, tokens, *count, repeated);
        if (status != ST_OK)
            no_memory(error);
    }
done:
    json_decref(root);
    free(tokens);
    free(members);
    return status;
}

static bool is_written_as_itself(unsigned byte)
{
    return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) ||
           byte >= 0xAE;
}

static enum status find_bytes(uint32_t ids[256], const struct vocabulary *vocabulary,
                              struct error *error)
{
    int32_t other = 0x100;
    for (unsigned byte = 0; byte < 256; byte++) {
        char text[UNICODE_SIZE_MAX];
        int32_t code = is_written_as_itself(byte) ? (int32_t)byte : other++;
        ids[byte] = vocabulary_find(vocabulary, text, unicode_encode(text, code));
        if (ids[byte] == VOCABULARY_ABSENT)
            return error_set(error, ST_INVALID,
                             VOCABULARY
                             ": byte 0x%02X, the character U+%04X, has no token: "
                             "is it the vocabulary of a byte-level encoding?",
                             byte, (unsigned)code);
    }
    return ST_OK;
}

static int32_t find_or_none(const struct vocabulary *vocabulary, const char *token)
{
    uint32_t id = vocabulary_find(vocabulary, token, strlen(token));
    return id == VOCABULARY_ABSENT ? -1 : (int32_t)id;
}

static enum status read_merge(struct merge *merge, const struct vocabulary *vocabulary,
                              struct text line, struct error *error)
{
    char joined[2 * VOCABULARY_TOKEN_SIZE_MAX];
    const char *space = memchr(line.bytes, ' ', line.size);
    size_t left = space != NULL ? (size_t)(space - line.bytes) : 0;
    size_t right = space != NULL ? line.size - left - 1 : 0;
    if (left == 0 || right == 0 || memchr(space + 1, ' ', right) != NULL)
        return error_set(error, ST_INVALID,
                         "a merge is two tokens with one space between");
    merge->left = vocabulary_find(vocabulary, line.bytes, left);
    merge->right = vocabulary_find(vocabulary, space + 1, right);
    if (merge->left == VOCABULARY_ABSENT || merge->right == VOCABULARY_ABSENT)
        return error_set(error, ST_INVALID,
                         "the %s token is not in " VOCABULARY ": the two files belong "
                         "together",
                         merge->left == VOCABULARY_ABSENT ? "first" : "second");
    memcpy(joined, line.bytes, left);
    memcpy(joined + left, space + 1, right);
    merge->result = vocabulary_find(vocabulary, joined, left + right);
    if (merge->result == VOCABULARY_ABSENT)
        return error_set(error, ST_INVALID,
                         "the merged token is not in " VOCABULARY
                         ": the two files belong "
                         "together");
    return ST_OK;
}

struct merge_list {
    struct merge *merges;
    uint32_t *lines; /* the number of each one's line */
    uint32_t count;
};

static enum status list_merges(struct merge_list *list,
                               const struct vocabulary *vocabulary, struct text rest,
                               struct error *error)
{
    static const char version[] = "#version";
    struct text line;
    for (uint32_t number = 1; text_lines_next(&rest, &line); number++) {
        if (line.size >= sizeof version - 1 &&
            memcmp(line.bytes, version, sizeof version - 1) == 0)
            continue;
        enum status status =
            read_merge(&list->merges[list->count], vocabulary, line, error);
        if (status != ST_OK)
            return error_within(error, status, MERGES ": line %u", number);
        list->lines[list->count++] = number;
    }
    return ST_OK;
}

static enum status create_table(struct byte_pair *byte_pair,
                                const struct merge_list *list, struct error *error)
{
    uint32_t repeated[2];
    enum status status = merge_table_create(
        &byte_pair->merges, list->merges, list->count, byte_pair->vocabulary, repeated);
    if (status == ST_INVALID)
        return error_set(error, status,
                         MERGES
                         ": lines %u and %u merge the same pair: " TOKENIZER_ADVICE,
                         list->lines[repeated[0]], list->lines[repeated[1]]);
    return status == ST_OK ? ST_OK : no_memory(error);
}

static enum status read_merges(struct byte_pair *byte_pair,
                               const struct vocabulary *vocabulary, struct text file,
                               struct error *error)
{
    size_t lines = text_lines_count(file);
    if (lines > VOCABULARY_TOKENS_MAX)
        return error_set(error, ST_INVALID, MERGES ": has more than %d lines",
                         VOCABULARY_TOKENS_MAX);
    struct merge_list list = {calloc(lines + 1, sizeof *list.merges),
                              calloc(lines + 1, sizeof *list.lines), 0};
    enum status status = list.merges != NULL && list.lines != NULL
                             ? list_merges(&list, vocabulary, file, error)
                             : no_memory(error);
    if (status == ST_OK)
        status = create_table(byte_pair, &list, error);
    free(list.merges);
    free(list.lines);
    return status;
}

enum status byte_pair_files_read(struct byte_pair *byte_pair, struct text vocabulary,
                                 struct text merges, struct error *error)
{
    struct vocabulary *tokens = NULL;
    enum status status =
        read_vocabulary(&tokens, &byte_pair->vocabulary, vocabulary, error);
    if (status == ST_OK)
        status = find_bytes(byte_pair->bytes, tokens, error);
    if (status == ST_OK) {
        byte_pair->start = find_or_none(tokens, "<s>");
        byte_pair->end = find_or_none(tokens, "</s>");
        status = read_merges(byte_pair, tokens, merges, error);
    }
    vocabulary_destroy(tokens);
    return status;
}
