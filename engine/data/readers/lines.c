/* The buffer holds the whole current line and the bytes that were read after it. If the
 * rest of the buffer is too short for another read, read_more moves the current line to
 * the beginning of the buffer. Text that is fed goes to the same place; a line that is
 * not complete yet is searched again from its beginning when more has come. */
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
    struct source *source; /* NULL: the text is fed */
    size_t begin;          /* where the current line begins */
    size_t scanned;        /* no line end between the current line's end and here */
    size_t end;            /* end of the bytes that were read */
    size_t carriage; /* the first carriage return from scanned on; end: there is none.
                        If it is before scanned, it must be searched again. */
    uint64_t count;  /* line ends so far */
    uint64_t before; /* line ends before the current line */
    bool ended;      /* there is no more text */
    bool waits;      /* lines_wait */
    bool cuts_long;  /* a line longer than LINE_SIZE_MAX is cut */
    bool is_cut;     /* the rest of the current line is still to be passed */
    char buffer[BUFFER_SIZE];
};

void line_skip_mark(struct line *line)
{
    static const char mark[] = "\xef\xbb\xbf";
    const size_t size = sizeof mark - 1;
    if (line->number != 1 || line->size < size || memcmp(line->text, mark, size) != 0)
        return;
    line->text += size;
    line->size -= size;
}

bool line_is_blank(const struct line *line, char blank)
{
    for (size_t i = 0; i < line->size; i++)
        if (line->text[i] != ' ' && line->text[i] != blank)
            return false;
    return true;
}

struct lines *lines_create(struct source *source)
{
    struct lines *lines = malloc(sizeof *lines);
    if (lines == NULL)
        return NULL;
    lines->source = source;
    lines->begin = lines->scanned = lines->end = lines->carriage = 0;
    lines->count = lines->before = 0;
    lines->ended = lines->waits = lines->cuts_long = lines->is_cut = false;
    return lines;
}

void lines_destroy(struct lines *lines)
{
    if (lines != NULL)
        hash_zero(lines->buffer, sizeof lines->buffer);
    free(lines);
}

/* Sets carriage to the first carriage return from `from` on. A buffer without one is
 * searched once, however many lines it holds. */
static void find_carriage(struct lines *lines, size_t from)
{
    const char *found = memchr(lines->buffer + from, '\r', lines->end - from);
    lines->carriage = found != NULL ? (size_t)(found - lines->buffer) : lines->end;
}

/* Moves the current line to the beginning of the buffer. */
static void make_room(struct lines *lines)
{
    memmove(lines->buffer, lines->buffer + lines->begin, lines->end - lines->begin);
    lines->scanned -= lines->begin;
    lines->carriage -= lines->begin;
    lines->end -= lines->begin;
    lines->begin = 0;
}

static enum status read_more(struct lines *lines, struct error *error)
{
    if (BUFFER_SIZE - lines->end < READ_SIZE)
        make_room(lines);
    size_t got, before = lines->end;
    enum status status =
        source_read(lines->source, lines->buffer + lines->end, READ_SIZE, &got, error);
    if (status != ST_OK)
        return status;
    lines->end += got;
    lines->ended = got < READ_SIZE;
    if (lines->carriage == before)
        find_carriage(lines, before);
    return ST_OK;
}

size_t lines_feed(struct lines *lines, const char *text, size_t size)
{
    lines->begin = lines->scanned;
    if (lines->carriage < lines->scanned)
        find_carriage(lines, lines->scanned);
    if (BUFFER_SIZE - lines->end < size)
        make_room(lines);
    size_t before = lines->end, room = BUFFER_SIZE - lines->end;
    size_t taken = size < room ? size : room;
    memcpy(lines->buffer + before, text, taken);
    lines->end += taken;
    if (lines->carriage == before)
        find_carriage(lines, before);
    return taken;
}

void lines_feed_end(struct lines *lines)
{
    lines->ended = true;
}

size_t lines_held(const struct lines *lines)
{
    return lines->end - lines->scanned;
}

bool lines_wait(const struct lines *lines)
{
    return lines->waits;
}

/* Begins the current line again, because it is not complete yet. */
static void wait_for_more(struct lines *lines)
{
    lines->scanned = lines->begin;
    lines->count = lines->before;
    lines->waits = true;
    find_carriage(lines, lines->begin);
}

/* The end of the line being read. */
struct ending {
    enum {
        ENDING_SIGN,
        ENDING_FILE,
        ENDING_WAIT,
        ENDING_NONE
    } kind;      /* WAIT: not fed yet; NONE: not within the limit */
    size_t at;   /* end of the line's text */
    size_t next; /* where the next line begins */
};

/* Finds the line's end among the bytes that were read. Returns false if more bytes are
 * needed: no end is there, or a carriage return is the last byte, and a line feed may
 * follow it. */
static bool find_ending_here(struct lines *lines, struct ending *ending)
{
    if (lines->carriage < lines->scanned)
        find_carriage(lines, lines->scanned);
    const char *from = lines->buffer + lines->scanned;
    const char *feed = memchr(from, '\n', lines->carriage - lines->scanned);
    ending->kind = ENDING_SIGN;
    ending->at = feed != NULL ? (size_t)(feed - lines->buffer) : lines->carriage;
    ending->next = ending->at + 1;
    if (ending->at - lines->begin > LINE_SIZE_MAX)
        ending->kind = ENDING_NONE;
    else if (feed == NULL && ending->at == lines->end) {
        ending->kind = ENDING_FILE;
        ending->next = ending->at;
        return lines->ended;
    } else if (feed == NULL && ending->next == lines->end)
        return lines->ended;
    else if (feed == NULL)
        ending->next += lines->buffer[ending->next] == '\n';
    return true;
}

static enum status find_ending(struct lines *lines, struct ending *ending,
                               struct error *error)
{
    while (!find_ending_here(lines, ending)) {
        if (lines->source == NULL) {
            ending->kind = ENDING_WAIT;
            return ST_OK;
        }
        lines->scanned = ending->at;
        enum status status = read_more(lines, error);
        if (status != ST_OK)
            return status;
    }
    return ST_OK;
}

/* Takes the line up to its end. */
static void pass_ending(struct lines *lines, const struct ending *ending)
{
    lines->count += ending->kind == ENDING_SIGN;
    lines->scanned = ending->next;
}

static void set_line(struct lines *lines, struct line *line, size_t at)
{
    line->text = lines->buffer + lines->begin;
    line->size = at - lines->begin;
}

void lines_cut_long(struct lines *lines)
{
    lines->cuts_long = true;
}

/* Passes the rest of a line that was cut. */
static enum status pass_rest(struct lines *lines, struct error *error)
{
    struct ending ending = {.kind = ENDING_NONE};
    while (lines->is_cut && ending.kind == ENDING_NONE) {
        lines->begin = lines->scanned;
        enum status status = find_ending(lines, &ending, error);
        if (status != ST_OK)
            return status;
        if (ending.kind == ENDING_NONE)
            lines->scanned = lines->begin + LINE_SIZE_MAX;
        else
            pass_ending(lines, &ending);
    }
    lines->is_cut = false;
    return ST_OK;
}

enum status lines_next(struct lines *lines, struct line *line, bool *more,
                       struct error *error)
{
    struct ending ending;
    lines->waits = false;
    line->number = 0;
    enum status status = pass_rest(lines, error);
    lines->begin = lines->scanned;
    lines->before = lines->count;
    if (status == ST_OK)
        status = find_ending(lines, &ending, error);
    if (status != ST_OK)
        return status;
    line->number = lines->count + 1;
    if (ending.kind == ENDING_WAIT) {
        wait_for_more(lines);
        *more = false;
        return ST_OK;
    }
    if (ending.kind == ENDING_NONE && lines->cuts_long) {
        *more = lines->is_cut = true;
        lines->scanned = lines->begin + LINE_SIZE_MAX;
        set_line(lines, line, lines->scanned);
        return ST_OK;
    }
    if (ending.kind == ENDING_NONE)
        return error_set(error, ST_IMPORT_FAILED, "the line is longer than %d bytes",
                         LINE_SIZE_MAX);
    *more = ending.kind == ENDING_SIGN || ending.at > lines->begin;
    pass_ending(lines, &ending);
    set_line(lines, line, ending.at);
    return ST_OK;
}

enum status lines_extend(struct lines *lines, struct line *line, bool *more,
                         struct error *error)
{
    size_t held = lines->scanned - lines->begin;
    struct ending ending;
    lines->waits = false;
    enum status status = find_ending(lines, &ending, error);
    if (status != ST_OK)
        return status;
    if (ending.kind == ENDING_WAIT) {
        wait_for_more(lines);
        *more = false;
        return ST_OK;
    }
    *more = ending.kind == ENDING_SIGN ||
            (ending.kind == ENDING_FILE && ending.at > lines->begin + held);
    if (!*more) {
        lines->scanned = lines->begin + held;
        set_line(lines, line, lines->begin + line->size);
        return ST_OK;
    }
    pass_ending(lines, &ending);
    set_line(lines, line, ending.at);
    return ST_OK;
}
