/* Reads csv: RFC 4180, where a line feed may also stand alone; blanks outside quotes are
 * dropped. There is one file, data. Its cells are the declared columns, in their order or
 * in that of its header.
 *
 * How it works: next_record takes a line, and the lines behind it as long as a quote is
 * open. The header, where there is one, says which declared column stands where in the
 * file (read_header fills in places). A record without quotes is read at once
 * (csv_plain.h). One with quotes, or with a fault, goes the long way: cut takes it apart
 * in the buffer of the line itself and leaves each cell where its column was declared, so
 * that add_cells encodes them in the declared order. What is not as declared is blamed on
 * its line and cell of the file. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "engine/data/encode.h"
#include "engine/data/lexicon.h"
#include "engine/data/readers/csv_plain.h"
#include "engine/data/readers/lines.h"
#include "engine/data/readers/persons.h"
#include "engine/data/readers/reading.h"

struct csv_cell {
    struct cell cell;
    uint64_t line;   /* where it begins */
    uint64_t column; /* its column in the file, from 1 */
};

struct csv {
    struct reading *reading;
    struct source *source;
    struct lines *lines;
    struct encoder *encoders; /* (columns) */
    struct csv_cell *cells;   /* (columns) of the current record, in declared order */
    /* (columns) places[i] is the declared column that is column i of the file. */
    size_t *places;
    struct csv_plain plain;
    bool quoted; /* whether the current record has a quote */
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

/* Makes doubled quotes single and puts the text between the quotes at its own
 * beginning. */
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

/* Cuts the cell that starts here; the cursor is then at what separates it, or the end. */
static enum status cut_cell(struct csv *csv, struct cursor *cursor,
                            struct csv_cell *cut)
{
    skip_blanks(cursor);
    cut->line = cursor->line;
    cut->column = cursor->column + 1;
    return cursor->at < cursor->end && *cursor->at == '"'
               ? cut_quoted(csv, cursor, &cut->cell)
               : cut_plain(csv, cursor, &cut->cell);
}

static size_t count_of(const struct line *line, char separator)
{
    size_t count = 0;
    for (size_t i = 0; i < line->size; i++)
        count += line->text[i] == separator;
    return count;
}

/* What else would separate the line into as many cells as there are columns, or NULL. */
static const char *other_separator(const struct csv *csv, const struct line *line)
{
    static const struct {
        char separator;
        const char *name;
    } others[] = {{';', "semicolons"}, {'\t', "tabs"}, {'|', "bars"}};
    size_t count = csv->reading->schema->column_count;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (count > 1 && count_of(line, others[i].separator) == count - 1)
            return others[i].name;
    return NULL;
}

static enum status refuse_separator(struct csv *csv, const struct line *line,
                                    const char *name)
{
    return reading_refuse(csv->reading, line->number, 0,
                          "the cells of the line are separated by %s: csv has commas, "
                          "and a point in numbers",
                          name);
}

/* Refuses a line that has another number of cells than there are columns. */
static enum status refuse_count(struct csv *csv, const struct line *line, size_t cells)
{
    size_t count = csv->reading->schema->column_count;
    const char *other = other_separator(csv, line);
    if (other != NULL)
        return refuse_separator(csv, line, other);
    return reading_refuse(csv->reading, line->number, 0,
                          "the line has %s%zu cells, %zu columns are declared, the "
                          "label and ignored ones among them",
                          cells > count ? "more than " : "",
                          cells > count ? count : cells, count);
}

/* Cuts a record into its cells, as many as there are columns. */
static enum status cut(struct csv *csv, const struct line *line)
{
    size_t count = csv->reading->schema->column_count;
    struct cursor cursor = {line->text, line->text + line->size, line->number, 0};
    for (;; cursor.column++, cursor.at++) {
        if (cursor.column == count)
            return refuse_count(csv, line, count + 1);
        enum status status =
            cut_cell(csv, &cursor, &csv->cells[csv->places[cursor.column]]);
        if (status != ST_OK)
            return status;
        if (cursor.at == cursor.end)
            break;
    }
    if (cursor.column + 1 < count)
        return refuse_count(csv, line, cursor.column + 1);
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
    csv->quoted = memchr(line->text, '"', line->size) != NULL;
    bool open = csv->quoted && quotes_are_open(line->text, line->size), longer = open;
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

/* An editor's last empty line is no record, but where there is one column it is an empty
 * cell. */
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

enum { NAME_SHOWN = 60 }; /* bytes of a header's cell in a reason */

/* What is known of a header so far. */
struct header {
    struct lexicon *names; /* those of the declared columns */
    bool *found;           /* (columns) */
    size_t cells, matches;
    /* The first that is not declared, and the first that was there before; column 0:
     * there is none. */
    struct csv_cell unknown, twice;
};

static void trim_end(struct cell *cell)
{
    while (cell->size > 0 && strchr(" \t", cell->text[cell->size - 1]) != NULL)
        cell->size--;
}

static void meet(struct csv *csv, struct header *header, struct csv_cell *cut)
{
    trim_end(&cut->cell);
    uint32_t place = lexicon_find(header->names, cut->cell.text, cut->cell.size);
    header->cells++;
    if (place == LEXICON_ABSENT) {
        if (header->unknown.column == 0)
            header->unknown = *cut;
        return;
    }
    header->matches++;
    if (header->found[place] && header->twice.column == 0)
        header->twice = *cut;
    /* Where there are more cells than columns, one is unknown or there twice, and the
     * header is refused. */
    if (header->cells <= csv->reading->schema->column_count)
        csv->places[header->cells - 1] = place;
    header->found[place] = true;
}

/* The first declared column that the header lacks, or NULL. */
static const char *missing_name(const struct csv *csv, const struct header *header)
{
    const struct schema *schema = csv->reading->schema;
    for (size_t i = 0; i < schema->column_count; i++)
        if (!header->found[i])
            return schema->columns[i].name;
    return NULL;
}

static int shown_size(struct cell cell)
{
    return cell.size < NAME_SHOWN ? (int)cell.size : NAME_SHOWN;
}

/* A first line of which no cell names a column may be a record: it is not quoted. */
static enum status judge_header(struct csv *csv, const struct line *line,
                                const struct header *header)
{
    struct reading *reading = csv->reading;
    const char *missing = missing_name(csv, header);
    char lacks[NAME_SHOWN + 32] = "";
    struct cell unknown = header->unknown.cell, twice = header->twice.cell;
    if (header->matches == 0 && header->cells != reading->schema->column_count)
        return refuse_count(csv, line, header->cells);
    if (header->matches == 0)
        return reading_refuse(reading, line->number, 0,
                              "the header names none of the declared columns: is the "
                              "first line a record?");
    if (header->twice.column > 0)
        return reading_refuse(reading, header->twice.line, header->twice.column,
                              "the header names the column \"%.*s\" twice",
                              shown_size(twice), twice.text);
    if (missing != NULL)
        snprintf(lacks, sizeof lacks, "lacks the declared column \"%.60s\"", missing);
    if (header->unknown.column > 0)
        return reading_refuse(reading, header->unknown.line, header->unknown.column,
                              "the header names \"%.*s\", which is not declared%s%s",
                              shown_size(unknown), unknown.text,
                              missing != NULL ? ", and " : "", lacks);
    if (missing != NULL)
        return reading_refuse(reading, line->number, 0, "the header %s", lacks);
    return ST_OK;
}

/* What the header keeps of cells points into the line, which stays until the next one. */
static enum status meet_all(struct csv *csv, const struct line *line,
                            struct header *header)
{
    struct cursor cursor = {line->text, line->text + line->size, line->number, 0};
    for (;; cursor.column++, cursor.at++) {
        struct csv_cell cut = {0};
        enum status status = cut_cell(csv, &cursor, &cut);
        if (status != ST_OK)
            return status;
        meet(csv, header, &cut);
        if (cursor.at == cursor.end)
            return ST_OK;
    }
}

/* Learns from the header where each declared column stands. */
static enum status read_header(struct csv *csv, const struct line *line)
{
    const struct schema *schema = csv->reading->schema;
    struct header header = {0};
    char **names = calloc(schema->column_count, sizeof *names);
    header.found = calloc(schema->column_count, sizeof *header.found);
    for (size_t i = 0; names != NULL && i < schema->column_count; i++)
        names[i] = schema->columns[i].name;
    if (names != NULL)
        header.names = lexicon_create(names, schema->column_count);
    enum status status = ST_OK;
    if (header.names == NULL || header.found == NULL)
        status = error_set(csv->reading->error, ST_NO_MEMORY, "no memory for a header");
    if (status == ST_OK)
        status = meet_all(csv, line, &header);
    if (status == ST_OK)
        status = judge_header(csv, line, &header);
    lexicon_destroy(header.names);
    free(header.found);
    free(names);
    return status;
}

static enum status add_target(struct csv *csv, const struct csv_target *target)
{
    struct reading *reading = csv->reading;
    return reading->schema->task == TASK_REGRESSION
               ? matrix_writer_value(reading->writer, target->value, reading->error)
               : matrix_writer_class(reading->writer, target->class_index,
                                     reading->error);
}

static enum status add_cell(struct csv *csv, size_t column, float *features,
                            struct csv_target *target)
{
    const struct column *declared = &csv->reading->schema->columns[column];
    switch (declared->kind) {
    case COLUMN_NUMERIC:
    case COLUMN_CATEGORICAL:
        return encoder_features(&csv->encoders[column],
                                features + csv->plain.offsets[column],
                                csv->cells[column].cell, &csv->reason);
    case COLUMN_LABEL:
        return csv_target_encode(target, csv->reading->schema->task,
                                 &csv->encoders[column], csv->cells[column].cell,
                                 &csv->reason);
    case COLUMN_PRIVACY_ID:
        return persons_read_id(&target->id, csv->cells[column].cell, &csv->reason);
    case COLUMN_IGNORED: return ST_OK;
    }
    return ST_OK;
}

static enum status read_cells(struct csv *csv, const struct line *line, float *features,
                              struct csv_target *target)
{
    struct reading *reading = csv->reading;
    enum status status = cut(csv, line);
    if (status != ST_OK)
        return status;
    for (size_t i = 0; i < reading->schema->column_count && status == ST_OK; i++) {
        status = add_cell(csv, i, features, target);
        if (status == ST_INVALID && csv->records == 0 &&
            other_separator(csv, line) != NULL) /* numbers with commas in them */
            status = refuse_separator(csv, line, other_separator(csv, line));
        if (status == ST_INVALID)
            status = reading_refuse(reading, csv->cells[i].line, csv->cells[i].column,
                                    "%s", csv->reason.text);
    }
    return status;
}

static enum status add_record(struct csv *csv, const struct line *line)
{
    struct matrix_writer *writer = csv->reading->writer;
    struct csv_target target;
    size_t room;
    float *features = matrix_writer_rows(writer, &room);
    bool plain = !csv->quoted &&
                 csv_plain_read(&csv->plain, features, &target, line->text, line->size);
    enum status status = ST_OK;
    if (!plain)
        status = read_cells(csv, line, features, &target);
    if (status == ST_OK)
        status = add_target(csv, &target);
    if (status == ST_OK && csv->reading->persons != NULL)
        status = persons_add(csv->reading->persons, target.id, csv->reading->error);
    if (status == ST_OK)
        status = matrix_writer_advance(writer, 1, csv->reading->error);
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
        status = header ? read_header(csv, &line) : add_record(csv, &line);
        header = false;
        if (status != ST_OK)
            return status;
    }
}

static enum status csv_open(struct csv *csv)
{
    struct reading *reading = csv->reading;
    const struct schema *schema = reading->schema;
    enum status status = reading_open(reading, &csv->source, 0);
    if (status != ST_OK)
        return status;
    csv->lines = lines_create(csv->source);
    csv->encoders = calloc(schema->column_count, sizeof *csv->encoders);
    csv->cells = calloc(schema->column_count, sizeof *csv->cells);
    csv->places = calloc(schema->column_count, sizeof *csv->places);
    if (csv->lines == NULL || csv->encoders == NULL || csv->cells == NULL ||
        csv->places == NULL)
        return error_set(reading->error, ST_NO_MEMORY, "no memory to read a csv");
    for (size_t i = 0; i < schema->column_count; i++)
        csv->places[i] = i;
    for (size_t i = 0; i < schema->column_count && status == ST_OK; i++)
        status = encoder_init(&csv->encoders[i], &schema->columns[i], reading->error);
    if (status == ST_OK)
        status = csv_plain_init(&csv->plain, schema, csv->encoders, csv->places,
                                reading->error);
    return status == ST_OK ? reading_begin(reading, ELEMENT_F32) : status;
}

static void csv_close(struct csv *csv)
{
    for (size_t i = 0; csv->encoders != NULL && i < csv->reading->schema->column_count;
         i++)
        encoder_fini(&csv->encoders[i]);
    csv_plain_fini(&csv->plain);
    free(csv->encoders);
    free(csv->cells);
    free(csv->places);
    lines_destroy(csv->lines);
    source_close(csv->source);
}

static enum status read_file(struct reading *reading)
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

const struct reader csv_reader = {
    .name = "csv",
    .form = FORM_COLUMNS,
    .is_text = true,
    .files = {"data"},
    .read = read_file,
};
