/* Goal: every line is returned complete, once and in order, for every length and every
 * place at which the buffer ends. */
#include "tests/expect.h"
#include "tests/engine/data/readers/ingest_fixture.h"
#include "engine/data/readers/lines.h"

struct opened {
    struct ingest ingest;
    struct source *source;
    struct lines *lines;
};

static void open_text(struct opened *opened, const char *text, size_t size)
{
    const struct source_bounds bounds = {UINT64_C(1) << 30, NULL};
    ingest_init(&opened->ingest);
    write_file(opened->ingest.data, text, size);
    assert_int_equal(source_open(&opened->source, opened->ingest.data, bounds, NULL),
                     ST_OK);
    opened->lines = lines_create(opened->source);
    assert_non_null(opened->lines);
}

static void close_text(struct opened *opened)
{
    lines_destroy(opened->lines);
    source_close(opened->source);
    ingest_fini(&opened->ingest);
}

/* Lines of all lengths, so that reads and the buffer end at every place in a line. */
static void lines_of_all_lengths_come_whole(void **state)
{
    (void)state;
    static const size_t lengths[] = {0,     1,       262143, 262144, 262145, 1048576,
                                     7,     1048575, 524288, 3,      999983, 1048576,
                                     31337, 0,       786432, 1048576};
    enum { COUNT = sizeof lengths / sizeof *lengths, ROUNDS = 4 };
    char *text = malloc((size_t)ROUNDS * COUNT * (1048576 + 1));
    size_t size = 0;
    assert_non_null(text);
    for (size_t i = 0; i < ROUNDS * COUNT; i++) {
        memset(text + size, (int)('a' + i % 26), lengths[i % COUNT]);
        size += lengths[i % COUNT];
        text[size++] = '\n';
    }
    struct opened opened;
    open_text(&opened, text, size);
    struct line line;
    bool more;
    for (size_t i = 0; i < ROUNDS * COUNT; i++) {
        assert_int_equal(lines_next(opened.lines, &line, &more, NULL), ST_OK);
        assert_true(more);
        assert_int_equal(line.number, i + 1);
        assert_int_equal(line.size, lengths[i % COUNT]);
        for (size_t j = 0; j < line.size; j++)
            if (line.text[j] != (char)('a' + i % 26))
                fail();
    }
    assert_int_equal(lines_next(opened.lines, &line, &more, NULL), ST_OK);
    assert_false(more);
    assert_int_equal(lines_next(opened.lines, &line, &more, NULL), ST_OK);
    assert_false(more);
    close_text(&opened);
    free(text);
}

static void a_last_line_needs_no_line_feed(void **state)
{
    (void)state;
    struct opened opened;
    struct line line;
    bool more;
    open_text(&opened, "a\n\nbc", 5);
    static const char *const expected[] = {"a", "", "bc"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(lines_next(opened.lines, &line, &more, NULL), ST_OK);
        assert_true(more);
        assert_int_equal(line.size, strlen(expected[i]));
        assert_memory_equal(line.text, expected[i], line.size);
    }
    assert_int_equal(lines_next(opened.lines, &line, &more, NULL), ST_OK);
    assert_false(more);
    close_text(&opened);
    open_text(&opened, "", 0);
    assert_int_equal(lines_next(opened.lines, &line, &more, NULL), ST_OK);
    assert_false(more);
    close_text(&opened);
}

/* Lines that end in carriage returns, with line feeds or without, at every place at
 * which a read ends. */
static void a_carriage_return_ends_a_line_wherever_a_read_ends(void **state)
{
    (void)state;
    static const char tail[] = "\r\n\rb\n\r\nc\r\rd\r";
    static const char *const after[] = {"", "b", "", "c", "", "d"};
    enum { READ = 262144, AROUND = 8, LINES = sizeof after / sizeof *after };
    char *text = malloc(READ + 64);
    assert_non_null(text);
    for (size_t first = READ - AROUND; first <= READ + 1; first++) {
        struct opened opened;
        struct line line;
        bool more;
        memset(text, 'a', first);
        memcpy(text + first, tail, sizeof tail - 1);
        open_text(&opened, text, first + sizeof tail - 1);
        assert_int_equal(lines_next(opened.lines, &line, &more, NULL), ST_OK);
        assert_int_equal(line.size, first);
        for (size_t i = 0; i < LINES; i++) {
            assert_int_equal(lines_next(opened.lines, &line, &more, NULL), ST_OK);
            assert_true(more);
            assert_int_equal(line.number, i + 2);
            assert_int_equal(line.size, strlen(after[i]));
            assert_memory_equal(line.text, after[i], line.size);
        }
        assert_int_equal(lines_next(opened.lines, &line, &more, NULL), ST_OK);
        assert_false(more);
        close_text(&opened);
        /* Extended, a line keeps its line ends. */
        open_text(&opened, text, first + sizeof tail - 1);
        assert_int_equal(lines_next(opened.lines, &line, &more, NULL), ST_OK);
        for (size_t i = 0; i < LINES; i++)
            assert_int_equal(lines_extend(opened.lines, &line, &more, NULL), ST_OK);
        assert_int_equal(line.size, first + sizeof tail - 2);
        assert_memory_equal(line.text, text, line.size);
        assert_int_equal(lines_extend(opened.lines, &line, &more, NULL), ST_OK);
        assert_false(more);
        close_text(&opened);
    }
    free(text);
}

static void one_byte_too_many_is_refused_with_its_line(void **state)
{
    (void)state;
    struct opened opened;
    struct line line;
    struct error error = {0};
    bool more;
    char *text = malloc(LINE_SIZE_MAX + 4);
    assert_non_null(text);
    memcpy(text, "x\n", 2);
    memset(text + 2, 'y', LINE_SIZE_MAX + 1);
    text[LINE_SIZE_MAX + 3] = '\n';
    for (size_t size = LINE_SIZE_MAX + 3; size < LINE_SIZE_MAX + 5; size++) {
        open_text(&opened, text, size);
        assert_int_equal(lines_next(opened.lines, &line, &more, NULL), ST_OK);
        assert_int_equal(lines_next(opened.lines, &line, &more, &error),
                         ST_IMPORT_FAILED);
        assert_int_equal(line.number, 2);
        close_text(&opened);
    }
    free(text);
}

static void extending_joins_lines_and_counts_them(void **state)
{
    (void)state;
    struct opened opened;
    struct line line;
    bool more;
    open_text(&opened, "ab\ncd\n\nef", 9);
    assert_int_equal(lines_next(opened.lines, &line, &more, NULL), ST_OK);
    assert_int_equal(lines_extend(opened.lines, &line, &more, NULL), ST_OK);
    assert_true(more);
    assert_int_equal(lines_extend(opened.lines, &line, &more, NULL), ST_OK);
    assert_true(more);
    assert_int_equal(line.size, 6);
    assert_memory_equal(line.text, "ab\ncd\n", 6);
    assert_int_equal(line.number, 1);
    assert_int_equal(lines_next(opened.lines, &line, &more, NULL), ST_OK);
    assert_int_equal(line.number, 4);
    assert_int_equal(lines_extend(opened.lines, &line, &more, NULL), ST_OK);
    assert_false(more);
    assert_int_equal(line.size, 2);
    assert_memory_equal(line.text, "ef", 2);
    close_text(&opened);
}

static void extending_beyond_the_limit_leaves_the_line(void **state)
{
    (void)state;
    struct opened opened;
    struct line line;
    bool more;
    size_t size = 700000 + 1 + 700000 + 1;
    char *text = malloc(size);
    assert_non_null(text);
    memset(text, 'a', size);
    text[700000] = text[size - 1] = '\n';
    open_text(&opened, text, size);
    assert_int_equal(lines_next(opened.lines, &line, &more, NULL), ST_OK);
    assert_int_equal(lines_extend(opened.lines, &line, &more, NULL), ST_OK);
    assert_false(more);
    assert_int_equal(line.size, 700000);
    assert_memory_equal(line.text, text, 700000);
    assert_int_equal(lines_next(opened.lines, &line, &more, NULL), ST_OK);
    assert_true(more);
    assert_int_equal(line.number, 2);
    assert_int_equal(line.size, 700000);
    close_text(&opened);
    free(text);
}

static void a_failing_source_has_no_line(void **state)
{
    (void)state;
    struct ingest ingest;
    struct source *source;
    struct line line;
    bool more;
    atomic_bool cancel = true;
    ingest_init(&ingest);
    write_file(ingest.data, "a\n", 2);
    assert_int_equal(source_open(&source, ingest.data,
                                 (struct source_bounds){1 << 20, &cancel}, NULL),
                     ST_OK);
    struct lines *lines = lines_create(source);
    assert_int_equal(lines_next(lines, &line, &more, NULL), ST_CANCELLED);
    assert_int_equal(line.number, 0);
    lines_destroy(lines);
    lines_destroy(NULL);
    source_close(source);
    ingest_fini(&ingest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_all_lengths_come_whole),
        cmocka_unit_test(a_last_line_needs_no_line_feed),
        cmocka_unit_test(a_carriage_return_ends_a_line_wherever_a_read_ends),
        cmocka_unit_test(one_byte_too_many_is_refused_with_its_line),
        cmocka_unit_test(extending_joins_lines_and_counts_them),
        cmocka_unit_test(extending_beyond_the_limit_leaves_the_line),
        cmocka_unit_test(a_failing_source_has_no_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
