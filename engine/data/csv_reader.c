/* csv: RFC 4180 with line feeds allowed alone; blanks outside quotes are dropped. One
 * file, data, whose cells are the declared columns in their order. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "engine/data/encode.h"
#include "engine/data/lines.h"
#include "engine/data/reader.h"

struct csv_cell {
    struct cell cell;
    uint64_t line; /* on which it begins */
};

struct csv {
    struct reading *reading;
    struct source *source;
    struct lines *lines;
    struct encoder *encoders; /* (columns) */
    struct csv_cell *cells;   /* (columns) of the current record */
    uint64_t records;
    struct error reason; /* why a cell does not encode */
};

struct cursor { /* the rest of a record that is being cut */
    char *at, *end;
    uint64_t line;
    size_t column; /* from 0 */
};

static void skip_blanks(struct cursor *cursor)
{
    while (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\t'))
        cursor->at++;
}

/* Puts the text between the quotes, doubled ones made single, at its own beginning. */
static enum status cut_quoted(struct csv *csv, struct cursor *cursor, struct cell *cell)
{
    uint64_t first_line = cursor->line;
    char *out = ++cursor->at;
    cell->text = out;
    for (;; cursor->at++) {
        if (cursor->at == cursor->end)
            return reading_refuse(csv->reading, first_line, cursor->column + 1,
                                  "the quoted cell is never closed");
        if (*cursor->at == '"') {
            if (cursor->at + 1 == cursor->end || cursor->at[1] != '"')
                break;
            cursor->at++;
        }
        cursor->line += *cursor->at == '\n';
        *out++ = *cursor->at;
    }
    cursor->at++;
    cell->size = (size_t)(out - cell->text);
    skip_blanks(cursor);
    if (cursor->at < cursor->end && *cursor->at != ',')
        return reading_refuse(csv->reading, cursor->line, cursor->column + 1,
                              "text follows the closing quote");
    return ST_OK;
}

static enum status cut_plain(struct csv *csv, struct cursor *cursor, struct cell *cell)
{
    cell->text = cursor->at;
    while (cursor->at < cursor->end && *cursor->at != ',') {
        if (*cursor->at == '"')
            return reading_refuse(csv->reading, cursor->line, cursor->column + 1,
                                  "a quote stands inside a cell that is not quoted");
        cursor->at++;
    }
    cell->size = (size_t)(cursor->at - cell->text);
    return ST_OK;
}

/* Cuts a record into its cells, as many as there are columns. */
static enum status cut(struct csv *csv, const struct line *line)
{
    size_t count = csv->reading->schema->column_count;
    struct cursor cursor = {line->text, line->text + line->size, line->number, 0};
    for (;; cursor.column++, cursor.at++) {
        if (cursor.column == count)
            return reading_refuse(
                csv->reading, line->number, 0,
                "the line has more cells than the %zu columns declared", count);
        struct csv_cell *cell = &csv->cells[cursor.column];
        skip_blanks(&cursor);
        cell->line = cursor.line;
        enum status status = cursor.at < cursor.end && *cursor.at == '"'
                                 ? cut_quoted(csv, &cursor, &cell->cell)
                                 : cut_plain(csv, &cursor, &cell->cell);
        if (status != ST_OK)
            return status;
        if (cursor.at == cursor.end)
            break;
    }
    if (cursor.column + 1 < count)
        return reading_refuse(csv->reading, line->number, 0,
                              "the line has %zu cells, %zu columns are declared",
                              cursor.column + 1, count);
    return ST_OK;
}

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

/* A record goes on as long as it has an odd number of quotes. */
static enum status next_record(struct csv *csv, struct line *line, bool *more)
{
    struct reading *reading = csv->reading;
    enum status status = lines_next(csv->lines, line, more, reading->error);
    reading->place.line = line->number;
    if (status != ST_OK || !*more)
        return status;
    bool open = quotes_are_open(line->text, line->size), longer = open;
    while (open && longer) {
        size_t before = line->size;
        status = lines_extend(csv->lines, line, &longer, reading->error);
        if (status != ST_OK) {
            reading->place.line = 0;
            return status;
        }
        open ^= quotes_are_open(line->text + before, line->size - before);
    }
    if (line->size > 0 && line->text[line->size - 1] == '\r')
        line->size--;
    return ST_OK;
}

/* An editor's last empty line is no record; of a single column it is an empty cell. */
static bool is_empty(const struct csv *csv, const struct line *line)
{
    if (csv->reading->schema->column_count == 1)
        return false;
    for (size_t i = 0; i < line->size; i++) {
        if (line->text[i] != ' ' && line->text[i] != '\t')
            return false;
    }
    return true;
}

static void skip_byte_order_mark(struct line *line)
{
    if (line->size >= 3 && memcmp(line->text, "\xef\xbb\xbf", 3) == 0) {
        line->text += 3;
        line->size -= 3;
    }
}

static enum status check_header(struct csv *csv, const struct line *line)
{
    const struct schema *schema = csv->reading->schema;
    enum status status = cut(csv, line);
    for (size_t i = 0; i < schema->column_count && status == ST_OK; i++) {
        const char *name = schema->columns[i].name;
        struct cell cell = csv->cells[i].cell;
        while (cell.size > 0 && strchr(" \t", cell.text[cell.size - 1]) != NULL)
            cell.size--;
        if (cell.size != strlen(name) || memcmp(cell.text, name, cell.size) != 0)
            status = reading_refuse(
                csv->reading, csv->cells[i].line, i + 1,
                "the header does not name the declared column \"%.60s\"", name);
    }
    return status;
}

static enum status add_label(struct csv *csv, size_t column)
{
    struct reading *reading = csv->reading;
    struct cell cell = csv->cells[column].cell;
    enum status status;
    if (reading->schema->task == TASK_REGRESSION) {
        float value;
        status = encoder_target(&csv->encoders[column], &value, cell, &csv->reason);
        return status != ST_OK
                   ? status
                   : matrix_writer_value(reading->writer, value, reading->error);
    }
    uint32_t place;
    status = encoder_class(&csv->encoders[column], &place, cell, &csv->reason);
    return status != ST_OK
               ? status
               : matrix_writer_class(reading->writer, place, reading->error);
}

static enum status add_cell(struct csv *csv, size_t column, float **out)
{
    const struct column *declared = &csv->reading->schema->columns[column];
    enum status status = ST_OK;
    switch (declared->kind) {
    case COLUMN_NUMERIC:
    case COLUMN_CATEGORICAL:
        status = encoder_features(&csv->encoders[column], *out, csv->cells[column].cell,
                                  &csv->reason);
        *out += encode_width(declared);
        return status;
    case COLUMN_LABEL: return add_label(csv, column);
    case COLUMN_IGNORED: return ST_OK;
    }
    return status;
}

static enum status add_record(struct csv *csv, const struct line *line)
{
    struct reading *reading = csv->reading;
    enum status status = cut(csv, line);
    if (status != ST_OK)
        return status;
    size_t room;
    float *out = matrix_writer_rows(reading->writer, &room);
    for (size_t i = 0; i < reading->schema->column_count && status == ST_OK; i++) {
        status = add_cell(csv, i, &out);
        if (status == ST_INVALID)
            status = reading_refuse(reading, csv->cells[i].line, i + 1, "%s",
                                    csv->reason.text);
    }
    if (status == ST_OK)
        status = matrix_writer_advance(reading->writer, 1, reading->error);
    csv->records++;
    return status;
}

static enum status read_records(struct csv *csv)
{
    struct reading *reading = csv->reading;
    bool header = reading->schema->header, first = true;
    for (;;) {
        struct line line;
        bool more;
        enum status status = next_record(csv, &line, &more);
        if (status != ST_OK || !more)
            return status;
        if (first)
            skip_byte_order_mark(&line);
        first = false;
        if (is_empty(csv, &line))
            continue;
        status = header ? check_header(csv, &line) : add_record(csv, &line);
        header = false;
        if (status != ST_OK)
            return status;
    }
}

static enum status csv_open(struct csv *csv)
{
    struct reading *reading = csv->reading;
    const struct schema *schema = reading->schema;
    enum status status =
        reading_open(reading, &csv->source, "data", reading->files->data);
    if (status != ST_OK)
        return status;
    csv->lines = lines_create(csv->source);
    csv->encoders = calloc(schema->column_count, sizeof *csv->encoders);
    csv->cells = calloc(schema->column_count, sizeof *csv->cells);
    if (csv->lines == NULL || csv->encoders == NULL || csv->cells == NULL)
        return error_set(reading->error, ST_NO_MEMORY, "no memory to read a csv");
    for (size_t i = 0; i < schema->column_count && status == ST_OK; i++)
        status = encoder_init(&csv->encoders[i], &schema->columns[i], reading->error);
    return status == ST_OK ? reading_begin(reading, ELEMENT_F32) : status;
}

static void csv_close(struct csv *csv)
{
    for (size_t i = 0; csv->encoders != NULL && i < csv->reading->schema->column_count;
         i++)
        encoder_fini(&csv->encoders[i]);
    free(csv->encoders);
    free(csv->cells);
    lines_destroy(csv->lines);
    source_close(csv->source);
}

enum status csv_read(struct reading *reading)
{
    CHECK(schema_label(reading->schema) != NULL);
    struct csv csv = {.reading = reading};
    enum status status = csv_open(&csv);
    if (status == ST_OK)
        status = read_records(&csv);
    if (status == ST_OK && csv.records == 0)
        status = reading_refuse(reading, 0, 0, "the file holds no records");
    csv_close(&csv);
    return status;
}
