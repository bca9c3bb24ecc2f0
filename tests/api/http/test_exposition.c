/* Goal: metrics are written in Prometheus' text format 0.0.4. Method: texts made by
 * hand from the format's description; tests/watch/check has the real promtool read the
 * daemon's answers. */
#include "api/http/exposition.h"

#include <string.h>

#include "tests/expect.h"

static void a_family_is_its_help_its_kind_and_its_samples(void **state)
{
    (void)state;
    struct exposition out;
    exposition_open(&out);
    exposition_family(&out, "a_total", EXPOSE_COUNTER, "How many a.");
    exposition_sample(&out, 3, "state", "QUEUED", "reason", "", (char *)NULL);
    exposition_sample(&out, 9007199254740992.0, (char *)NULL);
    exposition_family(&out, "b", EXPOSE_GAUGE, "B.");
    exposition_sample(&out, 0.1, "name", "a \"quoted\" \\ and\nbroken", (char *)NULL);
    char *text = exposition_close(&out);
    assert_string_equal(text, "# HELP a_total How many a.\n"
                              "# TYPE a_total counter\n"
                              "a_total{state=\"QUEUED\",reason=\"\"} 3\n"
                              "a_total 9007199254740992\n"
                              "# HELP b B.\n"
                              "# TYPE b gauge\n"
                              "b{name=\"a \\\"quoted\\\" \\\\ and\\nbroken\"} "
                              "0.10000000000000001\n");
    free(text);
}

static void what_is_no_number_has_a_name(void **state)
{
    (void)state;
    struct exposition out;
    exposition_open(&out);
    exposition_family(&out, "c", EXPOSE_GAUGE, "C.");
    exposition_sample(&out, INFINITY, (char *)NULL);
    exposition_sample(&out, -INFINITY, (char *)NULL);
    exposition_sample(&out, NAN, (char *)NULL);
    exposition_sample(&out, -2.5, (char *)NULL);
    char *text = exposition_close(&out);
    assert_non_null(strstr(text, "\nc +Inf\nc -Inf\nc NaN\nc -2.5\n"));
    free(text);
}

static void buckets_of_a_histogram_are_cumulative(void **state)
{
    (void)state;
    static const double bounds[] = {0.0005, 0.25, 10};
    static const uint64_t in[] = {4, 0, 2, 1};
    const struct exposition_buckets buckets = {3, bounds, in, 12.75};
    struct exposition out;
    exposition_open(&out);
    exposition_family(&out, "d_seconds", EXPOSE_HISTOGRAM, "D.");
    exposition_histogram(&out, &buckets);
    char *text = exposition_close(&out);
    assert_string_equal(text, "# HELP d_seconds D.\n"
                              "# TYPE d_seconds histogram\n"
                              "d_seconds_bucket{le=\"0.0005\"} 4\n"
                              "d_seconds_bucket{le=\"0.25\"} 4\n"
                              "d_seconds_bucket{le=\"10\"} 6\n"
                              "d_seconds_bucket{le=\"+Inf\"} 7\n"
                              "d_seconds_sum 12.75\n"
                              "d_seconds_count 7\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_family_is_its_help_its_kind_and_its_samples),
        cmocka_unit_test(what_is_no_number_has_a_name),
        cmocka_unit_test(buckets_of_a_histogram_are_cumulative),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
