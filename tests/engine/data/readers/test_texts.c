/* Goal: a text gets the ids that its tokenizer gives it, and the same ones in every file
 * that holds it: csv, JSON Lines, and rows to predict from. No text is refused. Method: a
 * table of texts, each written in each format, against tokenizer_encode. */
#define _GNU_SOURCE /* memfd_create */
#include "tests/expect.h"
#include "tests/engine/data/readers/ingest_fixture.h"
#include "tests/engine/text/tokenizer_fixture.h"
#include "engine/data/encode.h"
#include "engine/data/readers/csv_rows.h"
#include "engine/data/readers/reader_registry.h"
#include "engine/data/text_column.h"

enum { LENGTH = 6 };

static char n_text[] = "review", n_mood[] = "mood", v_sad[] = "sad", v_glad[] = "glad";
static char *moods[] = {v_sad, v_glad};
static struct text_column words = {.kind = &wordpiece_tokenizer,
                                   .options = {.lower = true, .framed = true},
                                   .length = LENGTH,
                                   .vocabulary = 9};
static struct column columns[] = {
    {.name = n_text, .kind = COLUMN_TEXT, .text = &words},
    {.name = n_mood, .kind = COLUMN_LABEL, .value_count = 2, .values = moods},
};
static const struct text vocabulary[] = {
    TEXT("[UNK]\n[CLS]\n[SEP]\na\ngood\nfilm\n##s\n,\n\"\n")};

static struct schema schema_of(const struct reader *reader)
{
    return (struct schema){.reader = reader,
                           .task = TASK_CLASSIFICATION,
                           .classes = 2,
                           .column_count = 2,
                           .columns = columns};
}

/* A text, as a cell of csv and as a string of JSON. */
static const struct {
    const char *text, *csv, *json;
} texts[] = {
    {"a good film", "a good film", "a good film"},
    {"A GOOD film", " A GOOD film\t",
     "\\t A GOOD film "}, /* blanks around are dropped */
    {"a, good", "\"a, good\"", "a, good"},
    {"good\nfilms", "\"good\nfilms\"", "good\\nfilms"},
    {"a \"film\"", "\"a \"\"film\"\"\"", "a \\\"film\\\""},
    {"", "", ""},
    {"unheard", "unheard", "unhe\\u0061rd"},
    {"a good good good good film", "a good good good good film",
     "a good good good good film"}, /* is cut */
};
enum { TEXTS = sizeof texts / sizeof *texts };

static struct tokenizer *tokenizer;

static int open_tokenizer(void **state)
{
    (void)state;
    tokenizer = opened(&wordpiece_tokenizer, vocabulary, words.options);
    return 0;
}

static int close_tokenizer(void **state)
{
    (void)state;
    tokenizer_close(tokenizer);
    return 0;
}

static void expect_row(const float *row, size_t text)
{
    int32_t ids[LENGTH];
    const struct text bytes = text_of(texts[text].text);
    assert_int_equal(tokenizer_encode(tokenizer, &bytes, 1, ids, LENGTH, NULL), ST_OK);
    for (size_t t = 0; t < LENGTH; t++)
        if (row[t] != (float)ids[t])
            fail_msg("\"%s\", id %zu: %g is not %d", texts[text].text, t,
                     (double)row[t], ids[t]);
}

static void import_texts(struct ingest *ingest, const struct reader *reader,
                         const char *file, bool takes_any)
{
    const struct schema schema = schema_of(reader);
    write_file(ingest->data, file, strlen(file));
    ingest->files = (struct import_files){{ingest->data}};
    struct import import = ingest_import(ingest, &schema);
    import.tokenizer = tokenizer;
    import.takes_any = takes_any;
    ingest->status = import_run(&import, &ingest->result, &ingest->failure);
    assert_int_equal(ingest->status, ST_OK);
    assert_int_equal(matrix_open(&ingest->matrix, ingest->out, NULL), ST_OK);
}

static void each_file_gives_a_text_its_ids(void **state)
{
    (void)state;
    char csv[2048], jsonl[2048], *to_csv = csv, *to_jsonl = jsonl;
    for (size_t i = 0; i < TEXTS; i++) {
        to_csv += sprintf(to_csv, "%s,sad\n", texts[i].csv);
        to_jsonl +=
            sprintf(to_jsonl, "{\"mood\":\"sad\",\"review\":\"%s\"}\n", texts[i].json);
    }
    static const struct {
        const struct reader *reader;
        bool takes_any;
    } imports[] = {{&csv_reader, false}, {&jsonl_reader, false}, {&jsonl_reader, true}};
    for (size_t k = 0; k < sizeof imports / sizeof *imports; k++) {
        struct ingest ingest;
        ingest_init(&ingest);
        import_texts(&ingest, imports[k].reader,
                     imports[k].reader == &csv_reader ? csv : jsonl,
                     imports[k].takes_any);
        assert_int_equal(ingest.matrix.records, TEXTS);
        assert_int_equal(ingest.matrix.features, LENGTH);
        for (uint32_t i = 0; i < TEXTS; i++) {
            float row[LENGTH];
            matrix_gather(&ingest.matrix, row, LENGTH, &i, 1);
            expect_row(row, i);
        }
        ingest_fini(&ingest);
    }
}

static void rows_to_predict_from_have_the_same_ids(void **state)
{
    (void)state;
    struct schema schema = schema_of(&csv_reader);
    struct csv_rows *rows;
    assert_int_equal(csv_rows_open(&rows, &schema, NULL), ST_OK);
    csv_rows_set_tokenizer(rows, tokenizer);
    for (size_t i = 0; i < TEXTS; i++) {
        char line[256];
        int size = snprintf(line, sizeof line, "%s\n", texts[i].csv);
        if (texts[i].csv[0] != '\0') /* an empty line is no row */
            assert_int_equal(csv_rows_feed(rows, line, (size_t)size), size);
    }
    csv_rows_feed_end(rows);
    for (size_t i = 0; i < TEXTS; i++) {
        float row[LENGTH];
        enum csv_rows_got got;
        struct csv_rows_place place;
        if (texts[i].csv[0] == '\0')
            continue;
        assert_int_equal(csv_rows_next(rows, &got, row, &place, NULL), ST_OK);
        assert_int_equal(got, CSV_ROWS_ROW);
        expect_row(row, i);
    }
    csv_rows_close(rows);
}

/* A text has no fault but its size, which no line of a file reaches. */
static void a_text_of_more_than_a_megabyte_is_refused(void **state)
{
    (void)state;
    struct encoder encoder;
    struct error error = {0};
    float row[LENGTH];
    const size_t size = (size_t)TOKENIZER_TEXT_SIZE_MAX + 1;
    char *text = malloc(size);
    assert_non_null(text);
    memset(text, 'a', size);
    assert_int_equal(encoder_init(&encoder, &columns[0], NULL), ST_OK);
    encoder.tokenizer = tokenizer;
    assert_int_equal(
        encoder_features(&encoder, row, (struct cell){text, size - 1}, &error), ST_OK);
    assert_int_equal(encoder_features(&encoder, row, (struct cell){text, size}, &error),
                     ST_INVALID);
    assert_string_equal(error.text,
                        "column \"review\": the text has more than 1048576 bytes");
    encoder.takes_any = true;
    assert_int_equal(encoder_features(&encoder, row, (struct cell){text, size}, NULL),
                     ST_OK);
    encoder_fini(&encoder);
    free(text);
}

/* Another model's ids are no ids of this one. */
static void columns_agree_in_all_that_makes_ids(void **state)
{
    (void)state;
    struct text_column a = words, b = words;
    struct column other[] = {columns[0], columns[1]};
    const struct schema one = schema_of(&csv_reader);
    struct schema two = one;
    strcpy(a.sha256[0], "aa");
    strcpy(b.sha256[0], "aa");
    columns[0].text = &a;
    other[0].text = &b;
    two.columns = other;
    assert_true(schema_agrees(&one, &two));
    snprintf(b.files[0].text, sizeof b.files[0].text, "fil_another_copy");
    assert_true(schema_agrees(&one, &two));
    b.length++;
    assert_false(schema_agrees(&one, &two));
    assert_true(text_column_shares_tokenizer(&a, &b));
    b = a;
    b.options.lower = false;
    assert_false(schema_agrees(&one, &two));
    b = a;
    b.kind = &bytes_tokenizer;
    assert_false(schema_agrees(&one, &two));
    b = a;
    strcpy(b.sha256[0], "ab");
    assert_false(schema_agrees(&one, &two));
    columns[0].text = &words;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_file_gives_a_text_its_ids),
        cmocka_unit_test(rows_to_predict_from_have_the_same_ids),
        cmocka_unit_test(a_text_of_more_than_a_megabyte_is_refused),
        cmocka_unit_test(columns_agree_in_all_that_makes_ids),
    };
    return cmocka_run_group_tests(tests, open_tokenizer, close_tokenizer);
}
