/* Goal: each row is answered, or the rows without an answer are named by their place
 * among all rows; a value that is no number is never written. */
#include "api/views/predict_answer.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/fault.h"
#include "engine/data/readers/reader_registry.h"
#include "tests/expect.h"

static const double odd[] = {NAN, INFINITY, -INFINITY};

static const struct schema classes = {
    .reader = &idx_reader, .task = TASK_CLASSIFICATION, .classes = 2};
static const struct schema values = {.reader = &idx_reader,
                                     .task = TASK_REGRESSION,
                                     .has_target_range = true,
                                     .target_low = 0,
                                     .target_high = 10};

static void rows_are_answered_in_their_order(void **state)
{
    (void)state;
    struct predict_answer answer;
    const double outputs[] = {.25, .75, 1, 0};
    predict_answer_open(&answer, &classes);
    assert_int_equal(predict_answer_add(&answer, outputs, 2, NULL), ST_OK);
    assert_int_equal(predict_answer_add(&answer, outputs, 1, NULL), ST_OK);
    char *text = predict_answer_finish(&answer);
    json_auto_t *json = json_loads(text, 0, NULL);
    const json_t *rows = json_object_get(json, "outputs");
    assert_int_equal(json_array_size(rows), 3);
    static const int best[] = {1, 0, 1};
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(
            json_integer_value(json_object_get(json_array_get(rows, i), "class")),
            best[i]);
    free(text);
}

/* The row belongs to the second addition, after two rows that have been answered. */
static void a_row_without_an_answer_is_named_by_its_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++)
        for (size_t place = 0; place < 2; place++) {
            struct predict_answer answer;
            struct faults faults = {0};
            struct error error = {.faults = &faults};
            const double good[] = {.5, .5, .5, .5};
            double bad[] = {.25, .75, .5, .5, 1, 0};
            bad[2 + place] = odd[i];
            predict_answer_open(&answer, &classes);
            assert_int_equal(predict_answer_add(&answer, good, 2, &error), ST_OK);
            assert_int_equal(predict_answer_add(&answer, bad, 3, &error), ST_NO_ANSWER);
            assert_int_equal(error.status, ST_NO_ANSWER);
            assert_int_equal(faults.count, 1);
            assert_string_equal(faults.list[0].pointer, "/inputs/3");
            free(predict_answer_finish(&answer));
        }
}

static void so_is_that_of_a_regression(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct predict_answer answer;
        struct error error = {0};
        const double outputs[] = {0, odd[i]};
        predict_answer_open(&answer, &values);
        assert_int_equal(predict_answer_add(&answer, outputs, 2, &error), ST_NO_ANSWER);
        assert_string_equal(error.pointer, "/inputs/1");
        free(predict_answer_finish(&answer));
    }
}

static void the_first_of_many_are_named(void **state)
{
    (void)state;
    enum { ROWS = 2 * LIMIT_FAULTS };
    struct predict_answer answer;
    struct faults faults = {0};
    struct error error = {.faults = &faults};
    double outputs[2 * ROWS];
    for (size_t j = 0; j < 2 * ROWS; j++)
        outputs[j] = (double)NAN;
    predict_answer_open(&answer, &classes);
    assert_int_equal(predict_answer_add(&answer, outputs, ROWS, &error), ST_NO_ANSWER);
    assert_int_equal(faults.count, LIMIT_FAULTS);
    assert_string_equal(faults.list[LIMIT_FAULTS - 1].pointer, "/inputs/31");
    free(predict_answer_finish(&answer));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_answered_in_their_order),
        cmocka_unit_test(a_row_without_an_answer_is_named_by_its_place),
        cmocka_unit_test(so_is_that_of_a_regression),
        cmocka_unit_test(the_first_of_many_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
