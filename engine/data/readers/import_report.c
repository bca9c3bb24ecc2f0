#include "engine/data/readers/import_report.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "engine/data/readers/id_text.h"

struct import_report *import_report_create(const struct schema *schema)
{
    struct import_report *report = calloc(1, sizeof *report);
    if (report == NULL)
        return NULL;
    report->columns = calloc(schema->column_count, sizeof *report->columns);
    if (report->columns == NULL) {
        free(report);
        return NULL;
    }
    for (; report->column_count < schema->column_count; report->column_count++) {
        struct column_report *column = &report->columns[report->column_count];
        column->name = strdup(schema->columns[report->column_count].name);
        CHECK(column->name != NULL);
    }
    return report;
}

static void text_destroy(char *text)
{
    if (text != NULL)
        hash_zero(text, strlen(text));
    free(text);
}

static void cell_fini(struct reported_cell *cell)
{
    text_destroy(cell->text);
    text_destroy(cell->reason);
    *cell = (struct reported_cell){0};
}

static void column_clear(struct column_report *column)
{
    for (size_t i = 0; i < column->cell_count; i++)
        cell_fini(&column->cells[i]);
    for (size_t i = 0; i < column->word_count; i++)
        text_destroy(column->words[i]);
    free(column->cells);
    free(column->words);
    *column = (struct column_report){.name = column->name};
}

void import_report_clear(struct import_report *report)
{
    for (size_t i = 0; i < report->column_count; i++)
        column_clear(&report->columns[i]);
    for (size_t i = 0; i < report->line_count; i++)
        cell_fini(&report->lines[i]);
    report->faults = report->faulty_lines = 0;
    report->line_count = report->size = 0;
}

void import_report_destroy(struct import_report *report)
{
    if (report == NULL)
        return;
    import_report_clear(report);
    for (size_t i = 0; i < report->column_count; i++)
        free(report->columns[i].name);
    free(report->columns);
    free(report);
}

uint64_t import_report_faults(const struct import_report *report)
{
    return report->faults;
}

/* Returns a copy of the text, at most REPORT_CELL_SIZE bytes, or NULL if the report has
 * no room for it. A byte 0 would end the copy, so it becomes one that is no UTF-8 and is
 * shown as such. */
static char *keep(struct import_report *report, const char *text, size_t size)
{
    if (size > REPORT_CELL_SIZE)
        size = REPORT_CELL_SIZE;
    if (report->size + size + 1 > REPORT_SIZE_MAX)
        return NULL;
    char *copy = malloc(size + 1);
    CHECK(copy != NULL);
    for (size_t i = 0; i < size; i++)
        copy[i] = text[i] != '\0' ? text[i] : '\xff';
    copy[size] = '\0';
    report->size += size + 1;
    return copy;
}

static bool keep_fault(struct import_report *report, struct reported_cell *out,
                       const struct reported_cell *place, struct cell cell,
                       const char *reason)
{
    *out = *place;
    out->reason = keep(report, reason, strlen(reason));
    if (cell.text != NULL)
        out->text = keep(report, cell.text, cell.size);
    if (out->reason != NULL && (cell.text == NULL || out->text != NULL))
        return true;
    cell_fini(out);
    return false;
}

/* Finds the word among the column's words. *at is its place, or the place where it
 * belongs. */
static bool find_word(const struct column_report *column, struct cell word, size_t *at)
{
    size_t low = 0, high = column->word_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const char *known = column->words[middle];
        const int order = strncmp(known, word.text, word.size);
        if (order == 0 && known[word.size] == '\0') {
            *at = middle;
            return true;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *at = low;
    return false;
}

/* Adds a word that could be declared: not one that is cut off, holds a byte 0 or is not
 * UTF-8. */
static void add_word(struct import_report *report, struct column_report *column,
                     struct cell word)
{
    size_t at;
    if (word.size > REPORT_CELL_SIZE || memchr(word.text, '\0', word.size) != NULL ||
        !id_text_is_utf8(word.text, word.size)) {
        column->words_left = true;
        return;
    }
    if (find_word(column, word, &at))
        return;
    if (column->words == NULL)
        column->words = calloc(REPORT_WORDS_MAX, sizeof *column->words);
    CHECK(column->words != NULL);
    char *copy = column->word_count < REPORT_WORDS_MAX
                     ? keep(report, word.text, word.size)
                     : NULL;
    if (copy == NULL) {
        column->words_left = true;
        return;
    }
    memmove(&column->words[at + 1], &column->words[at],
            (column->word_count - at) * sizeof *column->words);
    column->words[at] = copy;
    column->word_count++;
}

void import_report_add_cell(struct import_report *report,
                            const struct cell_fault *fault)
{
    struct column_report *column = &report->columns[fault->column];
    const struct reported_cell place = {.line = fault->line, .column = fault->place};
    CHECK(fault->column < report->column_count);
    column->faults++;
    report->faults++;
    if (fault->is_word)
        add_word(report, column, fault->cell);
    if (column->cells == NULL)
        column->cells = calloc(REPORT_CELLS_MAX, sizeof *column->cells);
    CHECK(column->cells != NULL);
    if (column->cell_count < REPORT_CELLS_MAX)
        column->cell_count += keep_fault(report, &column->cells[column->cell_count],
                                         &place, fault->cell, fault->reason);
}

void import_report_add_line(struct import_report *report, uint64_t line, uint64_t place,
                            struct cell shown, const char *reason)
{
    const struct reported_cell at = {.line = line, .column = place};
    report->faulty_lines++;
    report->faults++;
    if (report->line_count < REPORT_LINES_MAX)
        report->line_count +=
            keep_fault(report, &report->lines[report->line_count], &at, shown, reason);
}
