/* The buffer holds the whole current line and the bytes that were read after it. If the
 * rest of the buffer is too short for another read, read_more moves the current line to
 * the beginning of the buffer. */
#include "engine/data/readers/lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum {
    READ_SIZE = 256 << 10,
    /* Room for a line of almost the greatest length, followed by a full read. */
    BUFFER_SIZE = LINE_SIZE_MAX + 4 * READ_SIZE,
};

struct lines {
    struct source *source;
    size_t begin;   /* where the current line begins */
    size_t scanned; /* no line feed between the current line's end and here */
    size_t end;     /* end of the bytes that were read */
    uint64_t count; /* line feeds so far */
    bool ended;     /* the source has no more */
    char buffer[BUFFER_SIZE];
};

struct lines *lines_create(struct source *source)
{
    struct lines *lines = malloc(sizeof *lines);
    if (lines == NULL)
        return NULL;
    lines->source = source;
    lines->begin = lines->scanned = lines->end = 0;
    lines->count = 0;
    lines->ended = false;
    return lines;
}

void lines_destroy(struct lines *lines)
{
    if (lines != NULL)
        hash_zero(lines->buffer, sizeof lines->buffer);
    free(lines);
}

static enum status read_more(struct lines *lines, struct error *error)
{
    if (BUFFER_SIZE - lines->end < READ_SIZE) {
        memmove(lines->buffer, lines->buffer + lines->begin, lines->end - lines->begin);
        lines->scanned -= lines->begin;
        lines->end -= lines->begin;
        lines->begin = 0;
    }
    size_t got;
    enum status status =
        source_read(lines->source, lines->buffer + lines->end, READ_SIZE, &got, error);
    if (status != ST_OK)
        return status;
    lines->end += got;
    lines->ended = got < READ_SIZE;
    return ST_OK;
}

/* The end of the line being read: a line feed, the end of the file, or nothing within
 * the limit. */
enum run_result { ENDING_FEED, ENDING_FILE, ENDING_NONE };

static enum status find_ending(struct lines *lines, size_t *at, enum run_result *ending,
                               struct error *error)
{
    for (;;) {
        const char *from = lines->buffer + lines->scanned;
        const char *feed = memchr(from, '\n', lines->end - lines->scanned);
        *at = feed != NULL ? (size_t)(feed - lines->buffer) : lines->end;
        if (*at - lines->begin > LINE_SIZE_MAX)
            *ending = ENDING_NONE;
        else if (feed != NULL)
            *ending = ENDING_FEED;
        else if (lines->ended)
            *ending = ENDING_FILE;
        else {
            lines->scanned = lines->end;
            enum status status = read_more(lines, error);
            if (status != ST_OK)
                return status;
            continue;
        }
        return ST_OK;
    }
}

static void set_line(struct lines *lines, struct line *line, size_t at)
{
    line->text = lines->buffer + lines->begin;
    line->size = at - lines->begin;
}

enum status lines_next(struct lines *lines, struct line *line, bool *more,
                       struct error *error)
{
    size_t at;
    enum run_result ending;
    lines->begin = lines->scanned;
    line->number = 0;
    enum status status = find_ending(lines, &at, &ending, error);
    if (status != ST_OK)
        return status;
    line->number = lines->count + 1;
    if (ending == ENDING_NONE)
        return error_set(error, ST_IMPORT_FAILED, "the line is longer than %d bytes",
                         LINE_SIZE_MAX);
    *more = ending == ENDING_FEED || at > lines->begin;
    lines->count += ending == ENDING_FEED;
    lines->scanned = ending == ENDING_FEED ? at + 1 : at;
    set_line(lines, line, at);
    return ST_OK;
}

enum status lines_extend(struct lines *lines, struct line *line, bool *more,
                         struct error *error)
{
    size_t at, held = lines->scanned - lines->begin;
    enum run_result ending;
    enum status status = find_ending(lines, &at, &ending, error);
    if (status != ST_OK)
        return status;
    *more =
        ending == ENDING_FEED || (ending == ENDING_FILE && at > lines->begin + held);
    if (!*more) {
        lines->scanned = lines->begin + held;
        set_line(lines, line, lines->begin + line->size);
        return ST_OK;
    }
    lines->count += ending == ENDING_FEED;
    lines->scanned = ending == ENDING_FEED ? at + 1 : at;
    set_line(lines, line, at);
    return ST_OK;
}
