#include "engine/data/readers/csv_record.h"

#include <string.h>

#include "engine/data/dialect.h"

static bool quotes_are_open(const char *text, size_t size)
{
    bool open = false;
    const char *end = text + size;
    while ((text = memchr(text, '"', (size_t)(end - text))) != NULL) {
        open = !open;
        text++;
    }
    return open;
}

/* A record continues on the next line as long as it has an odd number of quotes. */
static enum status take(struct reading *reading, struct lines *lines,
                        struct csv_record *record, bool *more)
{
    struct line *line = &record->line;
    enum status status = lines_next(lines, line, more, reading->error);
    reading->place.line = line->number;
    if (status != ST_OK || !*more)
        return status;
    record->quoted = memchr(line->text, '"', line->size) != NULL;
    if (reading->takes_any) /* a record may not change where the next one begins */
        return ST_OK;
    bool open = record->quoted && quotes_are_open(line->text, line->size);
    bool longer = open;
    while (open && longer) {
        size_t before = line->size;
        status = lines_extend(lines, line, &longer, reading->error);
        if (status != ST_OK) {
            reading->place.line = 0;
            return status;
        }
        open ^= quotes_are_open(line->text + before, line->size - before);
    }
    *more = !lines_wait(lines);
    return ST_OK;
}

/* An empty last line, which editors add, is not a record; with only one column it is an
 * empty cell. */
static bool is_empty(const struct reading *reading, const struct line *line)
{
    const struct schema *schema = reading->schema;
    const char second = delimiter_second_blank(schema->dialect.delimiter);
    if (reading
            ->takes_any) /* the number of records may not depend on the declaration */
        return line->size == 0;
    if (schema->column_count == 1)
        return false;
    return line_is_blank(line, second);
}

enum status csv_record_next(struct reading *reading, struct lines *lines,
                            struct csv_record *record, bool *more)
{
    for (;;) {
        enum status status = take(reading, lines, record, more);
        if (status != ST_OK || !*more)
            return status;
        line_skip_mark(&record->line);
        if (!is_empty(reading, &record->line))
            return ST_OK;
    }
}
