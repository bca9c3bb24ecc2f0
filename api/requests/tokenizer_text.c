#include "api/requests/tokenizer_text.h"

#include <string.h>

#include "api/json/json_word.h"
#include "api/limits.h"
#include "api/requests/schema_value.h"

_Static_assert((int)LIMIT_TOKENS == (int)TEXT_COLUMN_LENGTH_MAX,
               "the contract and the engine agree");
_Static_assert((int)LIMIT_TEXT_CELL == (int)TOKENIZER_TEXT_SIZE_MAX,
               "the contract and the engine agree");

enum { KINDS_MAX = 8, FRAME_SIZE = 2 };

static const char *const file_members[TOKENIZER_FILES_MAX] = {"vocabulary", "merges"};

const char *tokenizer_file_member(size_t file)
{
    return file_members[file];
}

static const struct tokenizer_kind *read_kind(struct json_node node)
{
    const char *names[KINDS_MAX] = {NULL};
    size_t index;
    for (size_t i = 0; tokenizer_kinds[i] != NULL && i + 1 < KINDS_MAX; i++)
        names[i] = tokenizer_kinds[i]->name;
    return json_read_word(&index, node, names) ? tokenizer_kinds[index] : NULL;
}

static void read_file(struct file_id *file, struct json_node node)
{
    size_t refusals = json_refusals(node);
    const char *id = json_read_text(node);
    if (json_refusals(node) == refusals && !file_id_parse(file, id))
        json_refuse(node, "must be the id of an uploaded file, fil_...");
}

static bool read_option(const struct json_node *object, const char *name, bool has)
{
    struct json_node node = json_member(object, name);
    if (!has)
        schema_value_refuse(object, name, "the kind has no such option");
    return has && json_present(node) && json_read_flag(node);
}

static bool is_digest(const char *text)
{
    return strlen(text) == SHA256_HEX_SIZE - 1 &&
           strspn(text, "0123456789abcdef") == SHA256_HEX_SIZE - 1;
}

static void read_digests(struct text_column *column, struct json_node list)
{
    size_t count = text_column_files(column);
    if (count == 0 && json_present(list))
        json_refuse(list, "the kind has no files");
    if (count == 0 || !json_present(list) ||
        json_read_array(list, count, count) != count)
        return;
    for (size_t i = 0; i < count; i++) {
        struct json_node node = json_element(&list, i);
        size_t refusals = json_refusals(node);
        const char *text = json_read_text(node);
        if (is_digest(text))
            memcpy(column->sha256[i], text, SHA256_HEX_SIZE);
        else if (json_refusals(node) == refusals)
            json_refuse(node, "must be the SHA-256 of the file: 64 digits 0 to f");
    }
}

static void read_tokenizer(struct text_column *column, const struct json_node *object)
{
    const struct tokenizer_kind *kind = column->kind;
    struct json_node tokens = json_member(object, "tokens");
    for (size_t i = 0; i < TOKENIZER_FILES_MAX; i++)
        if (kind->files[i] != NULL)
            read_file(&column->files[i], json_member(object, file_members[i]));
        else
            schema_value_refuse(object, file_members[i], "the kind has no such file");
    column->options.lower = read_option(object, "lower", kind->has_lower);
    column->options.prefix_space =
        read_option(object, "prefix_space", kind->has_prefix_space);
    column->options.framed = kind->frame_start != NULL;
    if (json_present(tokens))
        column->vocabulary =
            (uint32_t)json_read_count(tokens, 1, TOKENIZER_FILE_SIZE_MAX);
    read_digests(column, json_member(object, "sha256"));
}

bool tokenizer_text_read(struct text_column *column, const struct json_node *object)
{
    struct json_node tokenizer = json_member(object, "tokenizer");
    struct json_node length = json_member(object, "length");
    json_read_object(tokenizer, (const char *const[]){
                                    "kind", file_members[0], file_members[1], "lower",
                                    "prefix_space", "tokens", "sha256", NULL});
    column->kind = read_kind(json_member(&tokenizer, "kind"));
    bool framed = column->kind != NULL && column->kind->frame_start != NULL;
    column->length =
        (uint32_t)json_read_count(length, framed ? FRAME_SIZE + 1 : 2, LIMIT_TOKENS);
    if (column->kind != NULL)
        read_tokenizer(column, &tokenizer);
    return column->kind != NULL;
}

static void write_digests(struct json_writer *writer, const struct text_column *column)
{
    json_write_array(writer, "sha256");
    for (size_t i = 0; i < text_column_files(column); i++)
        json_write_text(writer, NULL, column->sha256[i]);
    json_write_array_end(writer);
}

void tokenizer_text_write(struct json_writer *writer, const struct text_column *column)
{
    json_write_count(writer, "length", column->length);
    json_write_object(writer, "tokenizer");
    json_write_text(writer, "kind", column->kind->name);
    for (size_t i = 0; i < text_column_files(column); i++)
        json_write_text(writer, file_members[i], column->files[i].text);
    if (column->options.lower)
        json_write_flag(writer, "lower", true);
    if (column->options.prefix_space)
        json_write_flag(writer, "prefix_space", true);
    if (column->vocabulary > 0)
        json_write_count(writer, "tokens", column->vocabulary);
    if (text_column_files(column) > 0 && column->sha256[0][0] != '\0')
        write_digests(writer, column);
    json_write_object_end(writer);
}
