/* Goal: answers, refusals and durations are counted in the right places, and a duration
 * that must stay private is not counted. */
#include "api/http/exposition.h"
#include "service/process/counters.h"

#include <string.h>

#include "tests/expect.h"

static const struct route *route_of(const char *name)
{
    for (size_t i = 0; i < ROUTE_COUNT; i++)
        if (strcmp(route_at(i)->name, name) == 0)
            return route_at(i);
    fail_msg("no route %s", name);
    return NULL;
}

static int make(void **state)
{
    *state = calloc(1, sizeof(struct counters));
    return *state == NULL;
}

static int drop(void **state)
{
    free(*state);
    return 0;
}

static uint64_t timed(const struct counters *counters)
{
    uint64_t count = 0;
    for (size_t i = 0; i <= DURATION_BOUNDS; i++)
        count += atomic_load(&counters->answer_time.in[i]);
    return count;
}

static void answers_are_counted_by_route_and_status(void **state)
{
    struct counters *counters = *state;
    const struct route *route = route_of("job_get");
    for (unsigned i = 0; i < 3; i++)
        counters_answer(counters, &(struct answer){route, 304, ST_OK, -1});
    counters_answer(counters, &(struct answer){NULL, 404, ST_NOT_FOUND, -1});
    counters_answer(counters, &(struct answer){NULL, 1000, ST_INTERNAL, -1});
    assert_int_equal(
        atomic_load(&counters->answers[route_index(route)][304 - COUNTED_STATUS_MIN]),
        3);
    assert_int_equal(
        atomic_load(&counters->answers[ROUTE_COUNT][404 - COUNTED_STATUS_MIN]), 1);
    assert_int_equal(timed(counters), 0);
}

static void refusals_are_counted_by_code(void **state)
{
    struct counters *counters = *state;
    const struct route *get = route_of("job_get");
    counters_refuse_job(counters, ST_BUDGET_EXHAUSTED);
    counters_answer(counters, &(struct answer){get, 404, ST_NOT_FOUND, -1});
    counters_answer(counters, &(struct answer){get, 403, ST_FORBIDDEN_ORIGIN, -1});
    for (unsigned i = 0; i < STATUS_COUNT; i++) {
        assert_int_equal(atomic_load(&counters->jobs_refused[i]),
                         i == ST_BUDGET_EXHAUSTED);
        assert_int_equal(atomic_load(&counters->not_let_in[i]),
                         i == ST_FORBIDDEN_ORIGIN);
    }
}

static void durations_fall_between_bounds(void **state)
{
    struct counters *counters = *state;
    const struct route *get = route_of("job_get");
    static const int64_t durations_ns[] = {0, 500000, 500001, 7500000000};
    for (size_t i = 0; i < 4; i++)
        counters_answer(counters, &(struct answer){get, 200, ST_OK, durations_ns[i]});
    assert_int_equal(atomic_load(&counters->answer_time.in[0]), 2);
    assert_int_equal(atomic_load(&counters->answer_time.in[1]), 1);
    assert_int_equal(atomic_load(&counters->answer_time.in[DURATION_BOUNDS]), 1);
    struct exposition out;
    exposition_open(&out);
    exposition_family(&out, "t", EXPOSE_HISTOGRAM, "T.");
    durations_write(&counters->answer_time, &out);
    char *text = exposition_close(&out);
    assert_non_null(strstr(text, "t_bucket{le=\"0.001\"} 3\n"));
    assert_non_null(strstr(text, "t_sum 7.501"));
    assert_non_null(strstr(text, "\nt_count 4\n"));
    free(text);
}

/* A route that waits for the store or the ledger, or reads a private file, must not be
 * timed. */
static void no_route_that_may_wait_for_private_work_is_timed(void **state)
{
    (void)state;
    static const char *const timed_routes[] = {
        "job_get", "algorithm_list", "dashboard_item", "openapi",
        "version", "livez",          "readyz"};
    size_t found = 0;
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        const struct route *route = route_at(i);
        bool from_memory = route->run == RUN_AT_ONCE || route->run == RUN_AS_LONG_POLL;
        assert_true(!route->timed || (from_memory && route->body == BODY_NONE));
        for (size_t j = 0; j < sizeof timed_routes / sizeof *timed_routes; j++)
            found += route->timed && strcmp(route->name, timed_routes[j]) == 0;
        found -= route->timed;
    }
    assert_int_equal(found, 0); /* each timed one is on the list */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(answers_are_counted_by_route_and_status, make,
                                        drop),
        cmocka_unit_test_setup_teardown(refusals_are_counted_by_code, make, drop),
        cmocka_unit_test_setup_teardown(durations_fall_between_bounds, make, drop),
        cmocka_unit_test(no_route_that_may_wait_for_private_work_is_timed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
