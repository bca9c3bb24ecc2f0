/* Goal: each row of a query is one line of csv, whatever its cells hold, in the
 * form that the csv reader reads. Method: a table of awkward cells. */
#include <string.h>

#include "tests/expect.h"

#include "service/ingest/query_csv.h"

struct text {
    size_t size, room; /* room: more is not taken */
    char bytes[1 << 18];
};

static bool keep(void *context, const char *text, size_t size)
{
    struct text *kept = context;
    if (size > kept->room - kept->size)
        return false;
    memcpy(kept->bytes + kept->size, text, size);
    kept->size += size;
    return true;
}

static void open_csv(struct query_csv *csv, struct text *text, char delimiter)
{
    *text = (struct text){.room = sizeof text->bytes};
    *csv = (struct query_csv){.delimiter = delimiter, .write = keep, .context = text};
}

static void each_cell_is_written_so_that_it_is_read(void **state)
{
    (void)state;
    static struct query_csv csv;
    static struct text text;
    static const struct {
        const char *cells[2];
        char delimiter;
        const char *line;
    } cases[] = {
        {{"1.5e-3", "no"}, ',', "1.5e-3,no\n"},
        {{NULL, NULL}, ',', "\"\",\n"},
        {{"", ""}, '\t', "\"\"\t\n"},
        {{"a,b", "c;d"}, ';', "\"a,b\";\"c;d\"\n"},
        {{"say \"a\"", "\""}, ',', "\"say \"\"a\"\"\",\"\"\"\"\n"},
        {{"1\n2\r\n3", "\n"}, '|', "\"1 2  3\"|\" \"\n"},
        {{" ", "\t"}, ',', "\" \",\"\t\"\n"},
        {{"PK\003\004", "\xef\xbb\xbf"}, ',', "\"PK\003\004\",\"\xef\xbb\xbf\"\n"},
        {{"-Infinity", "2024-01-31"}, ',', "-Infinity,2024-01-31\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pg_cell cells[2];
        for (size_t k = 0; k < 2; k++)
            cells[k] = (struct pg_cell){
                cases[i].cells[k],
                cases[i].cells[k] != NULL ? strlen(cases[i].cells[k]) : 0};
        open_csv(&csv, &text, cases[i].delimiter);
        assert_true(query_csv_row(&csv, cells, 2));
        assert_true(query_csv_end(&csv));
        assert_int_equal(text.size, strlen(cases[i].line));
        assert_memory_equal(text.bytes, cases[i].line, text.size);
    }
}

static void a_cell_may_be_longer_than_the_room(void **state)
{
    (void)state;
    static struct query_csv csv;
    static struct text text;
    static char long_text[2 * QUERY_CSV_ROOM];
    memset(long_text, 'a', sizeof long_text);
    const struct pg_cell cell = {long_text, sizeof long_text};
    open_csv(&csv, &text, ',');
    assert_true(query_csv_row(&csv, &cell, 1));
    assert_true(query_csv_end(&csv));
    assert_int_equal(text.size, sizeof long_text + 1);
    assert_memory_equal(text.bytes, long_text, sizeof long_text);
}

static void what_cannot_be_written_ends_it(void **state)
{
    (void)state;
    static struct query_csv csv;
    static struct text text;
    const struct pg_cell cell = {"a", 1};
    open_csv(&csv, &text, ',');
    text.room = QUERY_CSV_ROOM;
    size_t rows = 0;
    while (query_csv_row(&csv, &cell, 1))
        rows++;
    assert_true(rows >= QUERY_CSV_ROOM / 2);
    assert_false(query_csv_end(&csv));
    assert_true(text.size <= QUERY_CSV_ROOM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_cell_is_written_so_that_it_is_read),
        cmocka_unit_test(a_cell_may_be_longer_than_the_room),
        cmocka_unit_test(what_cannot_be_written_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
