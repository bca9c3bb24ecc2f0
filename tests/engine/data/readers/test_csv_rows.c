/* Goal: rows that arrive in pieces of any length are the features that an import makes
 * of the same text; the faults of each row are named by line and cell, without its text;
 * memory holds one record. */
#include <string.h>

#include "tests/expect.h"
#include "tests/engine/data/readers/ingest_fixture.h"
#include "engine/data/readers/csv_rows.h"
#include "engine/data/readers/lines.h"
#include "engine/data/readers/reader_registry.h"

enum { FEATURES = 4, ROWS_MAX = 8 };

static char n_age[] = "age", n_job[] = "job", n_note[] = "note", n_pay[] = "pay";
static char v_clerk[] = "clerk", v_cook[] = "cook; chief", v_na[] = "NA";
static char v_low[] = "<=50K", v_high[] = ">50K", v_default[] = "25";
static char *jobs[] = {v_clerk, v_cook}, *pays[] = {v_low, v_high}, *missing[] = {v_na};
static struct column columns[] = {
    {.name = n_age,
     .kind = COLUMN_NUMERIC,
     .low = 0,
     .high = 100,
     .fallback = v_default,
     .missing_count = 1,
     .missing = missing},
    {.name = n_note, .kind = COLUMN_IGNORED},
    {.name = n_job,
     .kind = COLUMN_CATEGORICAL,
     .value_count = 2,
     .values = jobs,
     .other = true},
    {.name = n_pay, .kind = COLUMN_LABEL, .value_count = 2, .values = pays},
};

static struct schema people(bool header)
{
    return (struct schema){
        .reader = &csv_reader,
        .task = TASK_CLASSIFICATION,
        .classes = 2,
        .header = header,
        .dialect = {.delimiter = DELIMITER_SEMICOLON, .decimal_comma = true},
        .column_count = 4,
        .columns = columns};
}

/* What was read of a text. */
struct seen {
    size_t rows, faults;
    float features[ROWS_MAX][FEATURES];
    uint64_t lines[ROWS_MAX];
    struct csv_rows_place places[ROWS_MAX];
    char texts[ROWS_MAX][sizeof((struct error *)NULL)->text];
};

/* Reads the rows that can be read now. Returns false at the end. */
static bool drain(struct csv_rows *rows, struct seen *seen)
{
    for (;;) {
        enum csv_rows_got got;
        struct csv_rows_place place;
        struct error error = {0};
        float spare[FEATURES];
        enum status status = csv_rows_next(
            rows, &got, seen->rows < ROWS_MAX ? seen->features[seen->rows] : spare,
            &place, &error);
        if (status != ST_OK) {
            assert_int_equal(status, ST_INVALID);
            assert_true(seen->faults < ROWS_MAX);
            seen->places[seen->faults] = place;
            strcpy(seen->texts[seen->faults++], error.text);
            continue;
        }
        if (got != CSV_ROWS_ROW)
            return got == CSV_ROWS_WAIT;
        assert_true(seen->rows < ROWS_MAX);
        seen->lines[seen->rows++] = place.line;
    }
}

/* Reads a text that comes in pieces of this size. */
static void read_in(struct seen *seen, const struct schema *schema, const char *text,
                    size_t size, size_t piece)
{
    struct csv_rows *rows = NULL;
    *seen = (struct seen){0};
    assert_int_equal(csv_rows_open(&rows, schema, NULL), ST_OK);
    for (size_t at = 0; at < size;) {
        size_t next = piece < size - at ? piece : size - at;
        size_t taken = csv_rows_feed(rows, text + at, next);
        assert_true(taken > 0);
        at += taken;
        drain(rows, seen);
    }
    csv_rows_feed_end(rows);
    assert_false(drain(rows, seen));
    csv_rows_close(rows);
}

/* Texts that are the same three rows. */
static void rows_in_pieces_are_the_features_of_an_import(void **state)
{
    (void)state;
    static const struct {
        bool header;
        const char *text;
        uint64_t lines[3];
    } texts[] = {
        {true,
         "age;note;job;pay\n75,5;x;clerk;>50K\n;;\"cook; chief\";?\nNA;;baker;\n",
         {2, 3, 4}},
        {true,
         "\xef\xbb\xbfjob;age\r\nclerk;75,5\r\n\"cook; chief\";\r\nbaker;NA",
         {2, 3, 4}},
        {true,
         "\"pay\";\"job\";\"age\"\r>50K;clerk;7,55e1\r\r;\"cook; chief\";NA\rx;baker; "
         "\r",
         {2, 4, 5}},
        {false,
         "75,5;\"a\n\"\"b;c\r\n\";clerk;>50K\n\n ;;\"cook; chief\";\nNA;;baker;",
         {1, 5, 6}},
        {false, "75,5;clerk\n;\"cook; chief\"\nNA;baker\n\n", {1, 2, 3}},
    };
    static const float expected[3][FEATURES] = {
        {0.51F, 1, 0, 0}, {-0.5F, 0, 1, 0}, {-0.5F, 0, 0, 1}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct schema schema = people(texts[i].header);
        size_t size = strlen(texts[i].text);
        for (size_t piece = 1; piece <= size; piece++) {
            struct seen seen;
            read_in(&seen, &schema, texts[i].text, size, piece);
            assert_int_equal(seen.faults, 0);
            assert_int_equal(seen.rows, 3);
            for (size_t row = 0; row < 3; row++) {
                assert_memory_equal(seen.features[row], expected[row],
                                    sizeof expected[row]);
                assert_int_equal(seen.lines[row], texts[i].lines[row]);
            }
        }
    }
}

/* What is said of texts that are wrong; each fault is one of a line and a cell. */
static void faults_name_their_lines_and_cells(void **state)
{
    (void)state;
    static const struct {
        bool header;
        const char *text;
        size_t rows, faults;
        struct csv_rows_place first, last;
        const char *said; /* by the last */
    } texts[] = {
        {true, "", 0, 0, {0}, {0}, ""},
        {true, "age;job\n", 0, 0, {0}, {0}, ""},
        {true,
         "age;job\nold;clerk\n1;clerk\n\nx\"y;clerk\n",
         1,
         2,
         {2, 1},
         {5, 1},
         "a quote stands inside"},
        {true,
         "job;age\nclerk;1.5\nclerk;1;2\n",
         0,
         2,
         {2, 2},
         {3, 0},
         "more than 2 cells, the first line has 2"},
        {true, "job;age\nclerk\n", 0, 1, {2, 0}, {2, 0}, "it contains no semicolons"},
        {true, "job;age\n\"clerk;1\n2;3", 0, 1, {2, 1}, {2, 1}, "never closed"},
        {true, "job;age;job\nclerk;1;clerk\n", 0, 1, {1, 3}, {1, 3}, "twice"},
        {true,
         "job;note\nclerk;1\n",
         0,
         1,
         {1, 0},
         {1, 0},
         "lacks the declared column \"age\""},
        {true,
         "job;age;wage\nclerk;1;2\n",
         0,
         1,
         {1, 3},
         {1, 3},
         "names \"wage\", which is not declared"},
        {true,
         "clerk;1\ncook;2\n",
         0,
         1,
         {1, 0},
         {1, 0},
         "is the first line a record?"},
        {true, "job,age\nclerk,1\n", 0, 1, {1, 0}, {1, 0}, "it contains no semicolons"},
        {false,
         "1;a;clerk\n",
         0,
         1,
         {1, 0},
         {1, 0},
         "the 4 declared columns, or only the 2 that make features"},
        {false, "1;clerk\n1;a;clerk;x\n", 1, 1, {2, 0}, {2, 0}, "the first line has 2"},
        {false, "x;clerk\n1;a;clerk;x\nx;a;clerk;x", 1, 2, {1, 1}, {3, 1}, "decimal"},
        {true, "PAR1\x15\x04\x15", 0, 1, {0}, {0}, "Parquet"},
        {true, "\x1f\x8b\x08\x08", 0, 1, {0}, {0}, "gzip: unpack it"},
        {false, "PK\x03\x04;1\n1;clerk\n", 0, 1, {0}, {0}, "zip"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct schema schema = people(texts[i].header);
        size_t size = strlen(texts[i].text);
        for (size_t piece = 1; piece <= size + 1; piece += size + (size == 0)) {
            struct seen seen;
            read_in(&seen, &schema, texts[i].text, size, piece);
            assert_int_equal(seen.rows, texts[i].rows);
            assert_int_equal(seen.faults, texts[i].faults);
            if (seen.faults == 0)
                continue;
            const struct csv_rows_place *last = &seen.places[seen.faults - 1];
            assert_int_equal(seen.places[0].line, texts[i].first.line);
            assert_int_equal(seen.places[0].column, texts[i].first.column);
            assert_int_equal(last->line, texts[i].last.line);
            assert_int_equal(last->column, texts[i].last.column);
            if (strstr(seen.texts[seen.faults - 1], texts[i].said) == NULL)
                fail_msg("text %zu: %s", i, seen.texts[seen.faults - 1]);
        }
    }
}

/* A line may have LINE_SIZE_MAX bytes; one more ends the text. */
static void a_line_has_a_greatest_length(void **state)
{
    (void)state;
    const struct schema schema = people(false);
    static const char row[] = "75,5;clerk\n";
    for (size_t more = 0; more < 2; more++) {
        struct seen seen;
        size_t size = LINE_SIZE_MAX + more;
        char *text = malloc(size + 2 * sizeof row);
        assert_non_null(text);
        memset(text, ' ', size);
        memcpy(text, row, sizeof row - 2);
        strcpy(text + size, "\n");
        strcpy(text + size + 1, row);
        read_in(&seen, &schema, text, strlen(text), 256 << 10);
        assert_int_equal(seen.rows, more == 0 ? 2 : 0);
        assert_int_equal(seen.faults, more);
        if (more > 0)
            assert_non_null(strstr(seen.texts[0], "longer than 1048576 bytes"));
        free(text);
    }
}

/* However long the text, no more than a record and a piece is taken at once. */
static void what_is_held_is_bounded(void **state)
{
    (void)state;
    enum { PIECE = 1 << 20, PIECES_MAX = 3 };
    const struct schema schema = people(false);
    struct csv_rows *rows = NULL;
    char *text = malloc(PIECE);
    assert_non_null(text);
    memset(text, 'a', PIECE);
    assert_int_equal(csv_rows_open(&rows, &schema, NULL), ST_OK);
    size_t taken = 0, last = PIECE;
    for (size_t i = 0; i < PIECES_MAX && last > 0; i++) {
        last = csv_rows_feed(rows, text, PIECE);
        taken += last;
    }
    assert_int_equal(last, 0);
    assert_true(taken <= PIECES_MAX * PIECE);
    csv_rows_close(rows);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_in_pieces_are_the_features_of_an_import),
        cmocka_unit_test(faults_name_their_lines_and_cells),
        cmocka_unit_test(a_line_has_a_greatest_length),
        cmocka_unit_test(what_is_held_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
