#include "engine/data/readers/csv_header.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/data/readers/csv_cells.h"
#include "engine/data/string_index.h"

enum { NAME_SHOWN = 60 }; /* bytes of a header's cell in a reason */

/* The part of a header that was read so far. */
struct header {
    struct reading *reading;
    size_t *places;             /* (columns) the result of csv_header_read */
    struct string_index *names; /* the names of the declared columns */
    bool *found;                /* (columns) */
    size_t cells, matches;
    /* The first cell whose name is not declared, and the first whose name occurred
     * before; column 0: there is none. */
    struct table_cell unknown, twice;
};

static void trim_end(struct cell *cell)
{
    while (cell->size > 0 && strchr(" \t", cell->text[cell->size - 1]) != NULL)
        cell->size--;
}

static void meet(struct header *header, struct table_cell *cut)
{
    trim_end(&cut->cell);
    uint32_t place = string_index_find(header->names, cut->cell.text, cut->cell.size);
    header->cells++;
    if (place == STRING_INDEX_ABSENT) {
        if (header->unknown.column == 0)
            header->unknown = *cut;
        return;
    }
    header->matches++;
    if (header->found[place] && header->twice.column == 0)
        header->twice = *cut;
    /* If there are more cells than columns, one is unknown or repeated, and the header
     * is refused. */
    if (header->cells <= header->reading->schema->column_count)
        header->places[header->cells - 1] = place;
    header->found[place] = true;
}

/* Returns the first declared column that the header lacks and must have, or NULL. */
static const char *missing_name(const struct header *header)
{
    const struct schema *schema = header->reading->schema;
    for (size_t i = 0; i < schema->column_count; i++)
        if (!header->found[i] &&
            (!header->reading->predicts || schema_is_feature(&schema->columns[i])))
            return schema->columns[i].name;
    return NULL;
}

static int shown_size(struct cell cell)
{
    return cell.size < NAME_SHOWN ? (int)cell.size : NAME_SHOWN;
}

/* A first line in which no cell names a column may be a record, so the error text must
 * not quote it. */
static enum status judge(const struct header *header, const struct line *line)
{
    struct reading *reading = header->reading;
    const char *missing = missing_name(header);
    char lacks[NAME_SHOWN + 32] = "";
    struct cell unknown = header->unknown.cell, twice = header->twice.cell;
    const bool lone = header->cells == 1;
    if (header->matches == 0 && header->cells != reading->schema->column_count &&
        (lone || !reading->predicts))
        return csv_cells_refuse_count(reading, line, header->cells);
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

/* The header keeps pointers into the line, which remains valid until the next line is
 * read. */
static enum status meet_all(struct header *header, const struct line *line)
{
    struct csv_cursor cursor = csv_cursor_at(line);
    for (;; cursor.column++, cursor.at++) {
        struct table_cell cut = {0};
        enum status status = csv_cells_cut(header->reading, &cursor, &cut);
        if (status != ST_OK)
            return status;
        meet(header, &cut);
        if (cursor.at == cursor.end)
            return ST_OK;
    }
}

enum status csv_header_read(struct reading *reading, const struct line *line,
                            size_t *places, size_t *cells)
{
    const struct schema *schema = reading->schema;
    struct header header = {.reading = reading, .places = places};
    char **names = calloc(schema->column_count, sizeof *names);
    header.found = calloc(schema->column_count, sizeof *header.found);
    for (size_t i = 0; names != NULL && i < schema->column_count; i++)
        names[i] = schema->columns[i].name;
    if (names != NULL)
        header.names = string_index_create(names, schema->column_count);
    enum status status = ST_OK;
    if (header.names == NULL || header.found == NULL)
        status = error_set(reading->error, ST_NO_MEMORY, "no memory for a header");
    if (status == ST_OK)
        status = meet_all(&header, line);
    if (status == ST_OK)
        status = judge(&header, line);
    if (status == ST_OK)
        *cells = header.cells;
    string_index_destroy(header.names);
    free(header.found);
    free(names);
    return status;
}
