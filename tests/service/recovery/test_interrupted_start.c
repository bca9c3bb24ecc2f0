/* Goal: a daemon that starts while others run, and loses its connection while it reads
 * the rows and the ledger, still starts, and compares only data of one moment. Method:
 * two services of one database of a real server. While the second reads its statistics
 * requests, after its jobs and before the ledger, all sessions are ended and the first
 * submits a job. */
#include "base/status.h"
#include "service/jobs/job_plan.h"
#include "tests/expect.h"
#include "tests/service/pair_fixture.h"

struct statistics_runs;

static struct pair pair;
static unsigned calls;
static unsigned cut_at; /* the call at which the connections break; 0: none */

enum status __real_statistics_runs_open(struct statistics_runs **out,
                                        struct store_tx *tx, struct datasets *datasets,
                                        struct error *error);
enum status __wrap_statistics_runs_open(struct statistics_runs **out,
                                        struct store_tx *tx, struct datasets *datasets,
                                        struct error *error);

static struct job *submit(void)
{
    struct job_plan plan = scene_plan(&pair.here, "\"name\":\"dpsgd\"",
                                      "\"epochs\":2,\"privacy\":{\"epsilon\":1}");
    return scene_submit(&pair.here, &plan, &plan.mechanism);
}

enum status __wrap_statistics_runs_open(struct statistics_runs **out,
                                        struct store_tx *tx, struct datasets *datasets,
                                        struct error *error)
{
    if (++calls == cut_at) {
        assert_int_equal(
            postgres_sql(&server, &pair.database,
                         "SELECT pg_terminate_backend(pid,60000) FROM pg_stat_activity"
                         " WHERE usename='epsilond' AND pid<>pg_backend_pid()"),
            0);
        submit();
    }
    return __real_statistics_runs_open(out, tx, datasets, error);
}

static void a_start_that_loses_its_connection_reads_all_of_it_again(void **state)
{
    (void)state;
    struct job *jobs[2];
    cut_at = 2; /* the first service is open already */
    pair_open(&pair, jobs);
    assert_int_equal(calls, 3);
    assert_int_equal(asked(&pair, "SELECT count(*) FROM job"), 3);
    struct job *third = submit();
    assert_int_equal(store_look(pair.there.context.store, NULL), ST_OK);
    assert_int_equal(state_in(&pair.there, third), JOB_QUEUED);
    assert_false(store_poisoned(pair.there.context.store));
    pair_close(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_start_that_loses_its_connection_reads_all_of_it_again),
    };
    if (!postgres_make_for_stores(&server, true))
        return 0;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    postgres_remove(&server);
    return failed;
}
