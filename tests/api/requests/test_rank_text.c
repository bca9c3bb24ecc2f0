/* Goal: messages between the daemon and rank 0 read back as they were meant, and no
 * other text is accepted. Method: round trips, and texts with one thing wrong. */
#include "api/requests/rank_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/expect.h"

static void a_plan_reads_back(void **state)
{
    (void)state;
    struct rank_plan plan = {.dataset = strdup("{\"a\":1}"),
                             .request = strdup("{\"b\":\"c\\nd\"}"),
                             .records = 60000,
                             .noise_multiplier = 0.1 + 0.2,
                             .ranks = 3,
                             .threads = 8,
                             .patience_s = 120,
                             .matrix = {"/data/a b.matrix", {{1, 2, 255}, 1 << 20}},
                             .body = {"/data/weights/b", {{3, 4}, 1 << 10}},
                             .model = "/data/scratch/m"},
                     read;
    char *text = rank_plan_render(&plan);
    assert_int_equal(rank_plan_parse(&read, text, strlen(text), NULL), ST_OK);
    assert_string_equal(read.dataset, plan.dataset);
    assert_string_equal(read.request, plan.request);
    assert_int_equal(read.records, 60000);
    assert_true(read.noise_multiplier == 0.1 + 0.2);
    assert_int_equal(read.ranks, 3);
    assert_int_equal(read.threads, 8);
    assert_int_equal(read.patience_s, 120);
    assert_string_equal(read.matrix.path, plan.matrix.path);
    assert_memory_equal(read.matrix.seal.sha256, plan.matrix.seal.sha256, SHA256_SIZE);
    assert_int_equal(read.matrix.seal.size, 1 << 20);
    assert_string_equal(read.weights.path, "");
    assert_string_equal(read.body.path, plan.body.path);
    assert_memory_equal(read.body.seal.sha256, plan.body.seal.sha256, SHA256_SIZE);
    assert_int_equal(read.body.seal.size, 1 << 10);
    assert_string_equal(read.model, plan.model);
    rank_plan_fini(&read);
    for (size_t size = 0; size < strlen(text); size++)
        assert_int_equal(rank_plan_parse(&read, text, size, NULL), ST_INVALID);
    rank_plan_fini(&plan);
    free(text);
}

static void a_head_is_of_this_version(void **state)
{
    (void)state;
    char head[RANK_HEAD_SIZE];
    size_t bytes = 0;
    rank_head_render(head, 12345);
    head[strcspn(head, "\n")] = '\0';
    assert_int_equal(rank_head_parse(&bytes, head, NULL), ST_OK);
    assert_int_equal(bytes, 12345);
    static const char *const bad[] = {"",
                                      "epsilond-rank",
                                      "epsilond-rank 9.9.9 10",
                                      "epsilond-rank " EPSILOND_VERSION " 99999999999",
                                      "epsilond-rank " EPSILOND_VERSION " -1",
                                      "GET / HTTP/1.1"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        assert_int_equal(rank_head_parse(&bytes, bad[k], NULL), ST_INVALID);
}

static void an_order_reads_back(void **state)
{
    (void)state;
    const struct rank_order orders[] = {
        {false, 7, true}, {false, 8, false}, {true, 0, false}};
    for (size_t k = 0; k < 3; k++) {
        struct rank_order read;
        char *text = rank_order_render(&orders[k]);
        assert_int_equal(rank_order_parse(&read, text, NULL), ST_OK);
        assert_true(read.is_over == orders[k].is_over &&
                    read.until == orders[k].until &&
                    read.wants_model == orders[k].wants_model);
        free(text);
    }
    static const char *const bad[] = {
        "",
        "{}",
        "[]",
        "{\"over\":false,\"until\":-1,\"model\":false}",
        "{\"until\":5,\"model\":false}",
        "{\"over\":false,\"until\":5,\"model\":false,\"x\":1}"};
    struct rank_order read;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        assert_int_equal(rank_order_parse(&read, bad[k], NULL), ST_INVALID);
}

static void a_report_reads_back(void **state)
{
    (void)state;
    struct rank_report read, report = {.step = 41,
                                       .has_next = true,
                                       .next = {1.0 / 3, 1.1, 1},
                                       .number_count = 3,
                                       .numbers = {0.1, NAN, -INFINITY},
                                       .has_model = true,
                                       .model_sha256 = {9, 8, 7},
                                       .noise = "{\"scale\":1e-5}"};
    char *text = rank_report_render(&report);
    assert_null(strchr(text, '\n'));
    assert_int_equal(rank_report_parse(&read, text, NULL), ST_OK);
    assert_int_equal(read.failure, ST_OK);
    assert_int_equal(read.step, 41);
    assert_true(read.has_next && read.next.sampling_rate == 1.0 / 3 &&
                read.next.noise_multiplier == 1.1 && read.next.steps == 1);
    assert_int_equal(read.number_count, 3);
    assert_true(read.numbers[0] == 0.1 && isnan(read.numbers[1]) &&
                isnan(read.numbers[2]));
    assert_true(read.has_model);
    assert_memory_equal(read.model_sha256, report.model_sha256, SHA256_SIZE);
    assert_string_equal(read.noise, report.noise);
    free(text);
    report =
        (struct rank_report){.failure = ST_DATASET_CORRUPT, .detail = "bytes \"x\""};
    text = rank_report_render(&report);
    assert_int_equal(rank_report_parse(&read, text, NULL), ST_OK);
    assert_int_equal(read.failure, ST_DATASET_CORRUPT);
    assert_string_equal(read.detail, "bytes \"x\"");
    free(text);
}

static void what_is_no_report_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "mpirun: warning",
        "{}",
        "{\"step\":1}",
        "{\"step\":-1,\"released\":[]}",
        "{\"step\":1,\"released\":[\"x\"]}",
        "{\"step\":1,\"released\":[],\"model\":\"ab\"}",
        "{\"step\":1,\"released\":[],\"next\":{\"sampling_rate\":2.0,"
        "\"noise_multiplier\":1.0,\"steps\":1}}",
        "{\"step\":1,\"released\":[],\"next\":{\"sampling_rate\":0.5,"
        "\"noise_multiplier\":0.0,\"steps\":1}}",
        "{\"failed\":\"ok\",\"detail\":\"\"}",
        "{\"failed\":\"boredom\",\"detail\":\"\"}"};
    struct rank_report read;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        assert_int_equal(rank_report_parse(&read, bad[k], NULL), ST_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_reads_back),
        cmocka_unit_test(a_head_is_of_this_version),
        cmocka_unit_test(an_order_reads_back),
        cmocka_unit_test(a_report_reads_back),
        cmocka_unit_test(what_is_no_report_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
