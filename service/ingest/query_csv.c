#include "service/ingest/query_csv.h"

#include "base/hash.h"

static void flush(struct query_csv *csv)
{
    if (!csv->failed && csv->size > 0)
        csv->failed = !csv->write(csv->context, csv->room, csv->size);
    csv->size = 0;
}

static void put(struct query_csv *csv, char byte)
{
    if (csv->size == sizeof csv->room)
        flush(csv);
    csv->room[csv->size++] = byte;
}

static bool is_plain(char byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= 'a' && byte <= 'z') || byte == '.' || byte == '-' || byte == '+' ||
           byte == '_' || byte == ':';
}

/* Returns whether the cell is written as it is. The reader is quicker without quotes. The
 * first cell of a row is quoted if it is empty, because an empty line is no record. */
static bool is_bare(const struct pg_cell *cell, bool is_first)
{
    size_t i = 0;
    while (i < cell->size && is_plain(cell->text[i]))
        i++;
    return i == cell->size && !(is_first && cell->size == 0);
}

static void put_quoted(struct query_csv *csv, const struct pg_cell *cell)
{
    put(csv, '"');
    for (size_t i = 0; i < cell->size; i++) {
        char byte = cell->text[i];
        if (byte == '"')
            put(csv, '"');
        put(csv, byte == '\n' || byte == '\r' || byte == '\0' ? ' ' : byte);
    }
    put(csv, '"');
}

static void put_bare(struct query_csv *csv, const struct pg_cell *cell)
{
    for (size_t i = 0; i < cell->size; i++)
        put(csv, cell->text[i]);
}

bool query_csv_row(struct query_csv *csv, const struct pg_cell *cells, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            put(csv, csv->delimiter);
        if (is_bare(&cells[i], i == 0))
            put_bare(csv, &cells[i]);
        else
            put_quoted(csv, &cells[i]);
    }
    put(csv, '\n');
    return !csv->failed;
}

bool query_csv_end(struct query_csv *csv)
{
    flush(csv);
    hash_zero(csv->room, sizeof csv->room);
    return !csv->failed;
}
