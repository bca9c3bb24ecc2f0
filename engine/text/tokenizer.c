#include "engine/text/tokenizer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "engine/text/unicode.h"

struct tokenizer {
    const struct tokenizer_kind *kind;
    struct tokenizer_model model;
    bool framed;
};

#define ADDRESS(name) &(name),
const struct tokenizer_kind *const tokenizer_kinds[] = {TOKENIZER_TABLE(ADDRESS) NULL};
#undef ADDRESS

const struct tokenizer_kind *tokenizer_kind_find(const char *name)
{
    for (size_t i = 0; tokenizer_kinds[i] != NULL; i++)
        if (strcmp(tokenizer_kinds[i]->name, name) == 0)
            return tokenizer_kinds[i];
    return NULL;
}

static enum status check_options(const struct tokenizer_kind *kind,
                                 const struct tokenizer_options *options,
                                 struct error *error)
{
    const char *surplus = options->lower && !kind->has_lower ? "lower case"
                          : options->prefix_space && !kind->has_prefix_space
                              ? "space before the text"
                          : options->framed && kind->frame_start == NULL ? "frame"
                                                                         : NULL;
    if (surplus != NULL)
        return error_set(error, ST_INVALID,
                         "a tokenizer of kind %s has no %s: leave it out", kind->name,
                         surplus);
    return ST_OK;
}

/* Reads a whole file; on ST_OK the caller frees *bytes. */
static enum status read_file(char **bytes, size_t *size, const char *path,
                             struct error *error)
{
    FILE *file = fopen(path, "rb");
    enum status status = ST_OK;
    size_t room = 1 << 16;
    *bytes = NULL;
    *size = 0;
    if (file == NULL)
        return error_set(error, ST_IO, "cannot be opened: %s", strerror(errno));
    do {
        char *more = realloc(*bytes, room *= 2);
        if (more == NULL) {
            status = error_set(error, ST_NO_MEMORY, "no memory for its bytes");
            break;
        }
        *bytes = more;
        *size += fread(more + *size, 1, room - *size, file);
    } while (*size == room && *size <= TOKENIZER_FILE_SIZE_MAX);
    if (status == ST_OK && ferror(file))
        status = error_set(error, ST_IO, "cannot be read: %s", strerror(errno));
    if (status == ST_OK && *size > TOKENIZER_FILE_SIZE_MAX)
        status = error_set(error, ST_INVALID,
                           "has more than %d bytes: is it the vocabulary?",
                           TOKENIZER_FILE_SIZE_MAX);
    fclose(file);
    if (status != ST_OK) {
        free(*bytes);
        *bytes = NULL;
    }
    return status;
}

static bool is_text(const char *bytes, size_t size)
{
    int32_t code = 0;
    for (size_t at = 0; at < size && code != UNICODE_INVALID;)
        at += unicode_decode(&code, bytes + at, size - at);
    return size > 0 && code != UNICODE_INVALID && memchr(bytes, '\0', size) == NULL;
}

enum status tokenizer_check_file(const char *path, struct error *error)
{
    char *bytes;
    size_t size;
    enum status status = read_file(&bytes, &size, path, error);
    if (status == ST_OK && !is_text(bytes, size))
        status = error_set(error, ST_INVALID,
                           "no text in UTF-8: send vocab.txt, vocab.json or merges.txt "
                           "as the model was published with it");
    free(bytes);
    return status;
}

static enum status read_model(struct tokenizer *t, const char *const *paths,
                              const struct tokenizer_options *options,
                              struct error *error)
{
    char *bytes[TOKENIZER_FILES_MAX] = {NULL};
    struct text files[TOKENIZER_FILES_MAX] = {{0}};
    enum status status = ST_OK;
    for (size_t i = 0; i < TOKENIZER_FILES_MAX && t->kind->files[i] != NULL; i++) {
        status = read_file(&bytes[i], &files[i].size, paths[i], error);
        if (status != ST_OK) {
            error_within(error, status, "%s", t->kind->files[i]);
            break;
        }
        files[i].bytes = bytes[i];
    }
    if (status == ST_OK)
        status = t->kind->open(&t->model, files, options, error);
    for (size_t i = 0; i < TOKENIZER_FILES_MAX; i++)
        free(bytes[i]);
    return status;
}

static enum status check_frame(const struct tokenizer *t, struct error *error)
{
    const char *absent = t->model.start < 0 ? t->kind->frame_start
                         : t->model.end < 0 ? t->kind->frame_end
                                            : NULL;
    if (t->framed && absent != NULL)
        return error_set(
            error, ST_INVALID,
            "%s: there is no token %s: ask for no frame, or " TOKENIZER_ADVICE,
            t->kind->files[0], absent);
    return ST_OK;
}

enum status tokenizer_open(struct tokenizer **out, const struct tokenizer_kind *kind,
                           const char *const *paths,
                           const struct tokenizer_options *options, struct error *error)
{
    enum status status = check_options(kind, options, error);
    if (status != ST_OK)
        return status;
    struct tokenizer *t = calloc(1, sizeof *t);
    if (t == NULL)
        return error_set(error, ST_NO_MEMORY, "no memory for the tokenizer");
    t->kind = kind;
    t->framed = options->framed;
    status = read_model(t, paths, options, error);
    if (status == ST_OK)
        status = check_frame(t, error);
    if (status != ST_OK) {
        tokenizer_close(t);
        return status;
    }
    *out = t;
    return ST_OK;
}

void tokenizer_close(struct tokenizer *tokenizer)
{
    if (tokenizer == NULL)
        return;
    tokenizer->kind->destroy(tokenizer->model.state);
    free(tokenizer);
}

uint32_t tokenizer_vocabulary(const struct tokenizer *tokenizer)
{
    return tokenizer->model.vocabulary;
}

size_t tokenizer_frame_size(const struct tokenizer *tokenizer, size_t texts)
{
    if (!tokenizer->framed)
        return 0;
    return texts == 1 ? 2 : 2 + tokenizer->kind->frame_between;
}

/* The number of ids that stay of each of two texts if `room` are left for both. Neither
 * result depends on how many ids beyond `room` a text has, so they are not counted. */
static void cut_longer(size_t kept[2], const size_t counts[2], size_t room)
{
    size_t half = room - room / 2;
    size_t beside_second = counts[1] < room ? room - counts[1] : 0;
    kept[0] = half > beside_second ? half : beside_second;
    if (kept[0] > counts[0])
        kept[0] = counts[0];
    kept[1] = counts[1] < room - kept[0] ? counts[1] : room - kept[0];
}

static enum status encode_texts(const struct tokenizer *t, const struct text *texts,
                                struct id_list *lists, size_t count,
                                struct error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (texts[i].size > TOKENIZER_TEXT_SIZE_MAX)
            return error_set(error, ST_INVALID, "the text has more than %d bytes",
                             TOKENIZER_TEXT_SIZE_MAX);
        if (t->kind->encode(t->model.state, texts[i], &lists[i]) != ST_OK)
            return error_set(error, ST_NO_MEMORY, "no memory for the ids of a text");
    }
    return ST_OK;
}

static void put_text(struct id_list *row, const struct id_list *list, size_t kept)
{
    memmove(row->ids + row->count, list->ids, kept * sizeof *row->ids);
    row->count += kept;
}

static void compose(const struct tokenizer *t, struct id_list *row,
                    const struct id_list *lists, size_t count)
{
    size_t counts[2] = {lists[0].count, count == 2 ? lists[1].count : 0}, kept[2];
    cut_longer(kept, counts, row->room - tokenizer_frame_size(t, count));
    if (t->framed)
        id_list_put(row, (uint32_t)t->model.start);
    put_text(row, &lists[0], kept[0]);
    for (size_t i = 0; count == 2 && i < t->kind->frame_between; i++)
        id_list_put(row, (uint32_t)t->model.end);
    if (count == 2)
        put_text(row, &lists[1], kept[1]);
    if (t->framed)
        id_list_put(row, (uint32_t)t->model.end);
    while (row->count < row->room)
        row->ids[row->count++] = -1;
}

enum status tokenizer_encode(const struct tokenizer *tokenizer,
                             const struct text *texts, size_t count, int32_t *ids,
                             size_t length, struct error *error)
{
    CHECK(count == 1 || (count == 2 && tokenizer->framed));
    size_t frame = tokenizer_frame_size(tokenizer, count);
    CHECK(length > frame);
    size_t room = length - frame;
    int32_t *apart = calloc(count * room, sizeof *apart);
    if (apart == NULL)
        return error_set(error, ST_NO_MEMORY, "no memory for the ids of a text");
    struct id_list lists[TOKENIZER_TEXTS_MAX] = {
        {apart, room, 0}, {count == 2 ? apart + room : NULL, room, 0}};
    enum status status = encode_texts(tokenizer, texts, lists, count, error);
    if (status == ST_OK)
        compose(tokenizer, &(struct id_list){ids, length, 0}, lists, count);
    free(apart);
    return status;
}
