/* Goal: a job that had ended before the start is complete, though its row is read only
 * on demand. Method: the jobs of one store opened twice, once as a start does and once
 * with every row read whole, and rows that were changed from outside. */
#include "service/jobs/job_text.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "service/jobs/job.h"
#include "service/jobs/job_facts.h"
#include "service/runs/settlement.h"
#include "store/rows/job_rows.h"
#include "tests/expect.h"
#include "tests/service/act_fixture.h"
#include "tests/service/service_fixture.h"

enum { SECOND = 5000, THREADS = 4, DAMAGED = 75 };

static struct scene scene;
static struct job *job;

static int begin(void **state)
{
    (void)state;
    static const struct evaluation_point point = {3, 0.25, 0.75};
    const struct job_progress progress = {
        .step = 3, .authorised_steps = 7, .epsilon_spent = 0.125};
    scene = (struct scene){0};
    scene_open(&scene);
    scene_import(&scene,
                 scene_declare(&scene, "points", "{\"epsilon\":8,\"delta\":1e-5}"),
                 "0.5");
    struct job_plan plan = scene_plan(&scene, "\"name\":\"dpsgd\"",
                                      "\"epochs\":2,\"privacy\":{\"epsilon\":1}");
    job = scene_submit(&scene, &plan, &plan.mechanism);
    job_scheduler_begin(&scene.context, SECOND);
    job_record(scene.context.jobs, job, &progress, &point);
    const struct settlement settlement = {
        .job = job,
        .move = {.state = JOB_FAILED, .reason = REASON_INTERNAL, .second = SECOND + 2}};
    assert_int_equal(settlement_commit(&scene.context, &settlement, NULL), ST_OK);
    return 0;
}

static int end(void **state)
{
    (void)state;
    scene_close(&scene);
    return 0;
}

static enum status open_jobs(struct jobs **jobs, bool reads_all, struct error *error)
{
    struct store_tx *tx = NULL;
    const struct jobs_base base = {.datasets = scene.context.datasets,
                                   .long_polls = scene.context.long_polls,
                                   .reads_all = reads_all};
    assert_int_equal(store_begin(scene.context.store, STORE_READ, &tx, NULL), ST_OK);
    enum status status = jobs_open(jobs, tx, &base, error);
    store_rollback(tx);
    return status;
}

static struct job *reopened(struct jobs **jobs, bool reads_all)
{
    assert_int_equal(open_jobs(jobs, reads_all, NULL), ST_OK);
    struct job *found = jobs_find(*jobs, job_id(job)->text);
    assert_non_null(found);
    return found;
}

static void a_job_that_had_ended_is_read_when_it_is_asked_for(void **state)
{
    (void)state;
    struct jobs *jobs, *all;
    struct job *unread = reopened(&jobs, false), *whole = reopened(&all, true);
    assert_null(job_text_body_read(unread->kept));
    assert_non_null(job_text_body_read(whole->kept));
    assert_int_equal(job_check(whole, NULL), ST_OK);
    char *text = job_text(jobs, unread), *expected = job_text(all, whole);
    char *before = job_text(scene.context.jobs, job);
    assert_string_equal(text, expected);
    assert_string_equal(text, before);
    assert_non_null(job_text_body_read(unread->kept));
    assert_int_equal(job_plan(unread)->request.train.steps,
                     job_plan(job)->request.train.steps);
    free(before);
    free(expected);
    free(text);
    jobs_close(all);
    jobs_close(jobs);
}

static void lists_read_no_body(void **state)
{
    (void)state;
    struct jobs *jobs;
    struct evaluation_point point = {0};
    const struct job *unread = reopened(&jobs, false);
    assert_string_equal(job_dataset(unread)->text, "points");
    assert_ptr_equal(job_algorithm(unread), job_algorithm(job));
    assert_string_equal(job_owner(unread), job_owner(job));
    assert_string_equal(job_project(unread), job_project(job));
    assert_true(job_is_private(unread) && !job_is_measured(unread));
    assert_true(job_epsilon_planned(unread) == job_epsilon_planned(job));
    assert_null(job_sweep(unread));
    assert_true(job_evaluation(jobs, unread, &point) && point.quality == 0.75);
    assert_int_equal(job_state(jobs, unread), JOB_FAILED);
    assert_int_equal(job_ledger_seq(unread), job_ledger_seq(job));
    assert_int_equal(job_shown(jobs, unread).authorised_steps, 7);
    assert_int_equal(jobs_tally(jobs).by_state[JOB_FAILED], 1);
    assert_null(job_text_body_read(unread->kept));
    jobs_close(jobs);
}

/* A job that is still to run is compared with its reservation at the start
 * (consistency_check.h). */
static void a_job_that_has_not_ended_is_read_whole(void **state)
{
    (void)state;
    struct jobs *jobs;
    struct job_plan plan = scene_plan(&scene, "\"name\":\"dpsgd\"",
                                      "\"epochs\":2,\"privacy\":{\"epsilon\":1}");
    job = scene_submit(&scene, &plan, &plan.mechanism);
    assert_non_null(job_text_body_read(reopened(&jobs, false)->kept));
    jobs_close(jobs);
}

static void *ask(void *kept)
{
    return job_text_body(kept);
}

static void many_who_ask_at_once_get_one_body(void **state)
{
    (void)state;
    struct jobs *jobs;
    pthread_t threads[THREADS];
    const struct job *unread = reopened(&jobs, false);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask, unread->kept), 0);
    for (size_t i = 0; i < THREADS; i++) {
        void *body = NULL;
        pthread_join(threads[i], &body);
        assert_ptr_equal(body, job_text_body_read(unread->kept));
    }
    jobs_close(jobs);
}

static bool copy_row(void *context, const struct job_row *row)
{
    struct job_row *copy = context;
    *copy = *row;
    copy->state = job_state_name(JOB_FAILED);
    copy->detail = strdup(row->detail);
    copy->spec = NULL;
    copy->created_by = NULL;
    return true;
}

/* Replaces a text in the row's detail with another of the same length. */
static void damage(const char *was, const char *now)
{
    struct job_row row;
    struct store_tx *tx = scene_begin(&scene);
    assert_int_equal(job_row_find(tx, job_id(job), copy_row, &row, NULL), ST_OK);
    char *detail = strdup(row.detail), *at = strstr(detail, was);
    assert_non_null(at);
    memcpy(at, now, strlen(now));
    row.replaces = row.version;
    row.version++;
    free((char *)(uintptr_t)row.detail);
    row.detail = detail;
    scene_commit(tx, job_row_update(tx, &row, NULL));
    free(detail);
}

/* Returns the exit status of a child process that asks for the body. */
static int asked_for(const struct job *unread)
{
    int code = 0;
    pid_t child = fork();
    if (child == 0) {
        job_text_body(unread->kept);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &code, 0), child);
    return WEXITSTATUS(code);
}

static void of_a_row_that_was_changed_nothing_is_answered(void **state)
{
    (void)state;
    struct jobs *jobs = NULL;
    struct error error = {0};
    const struct job *unread = reopened(&jobs, false);
    assert_int_equal(asked_for(unread), 0);
    jobs_close(jobs);
    damage("\"noise_multiplier\":", "\"noisf_multiplier\":");
    assert_int_equal(open_jobs(&jobs, true, &error), ST_INVALID);
    assert_non_null(strstr(error.text, "table job, row job_"));
    unread = reopened(&jobs, false);
    assert_int_equal(asked_for(unread), DAMAGED);
    for (int again = 0; again < 2; again++) {
        error = (struct error){0};
        assert_int_equal(job_check(unread, &error), ST_INTERNAL);
        assert_non_null(strstr(error.text, job_id(job)->text));
        assert_null(strstr(error.text, "multiplier"));
    }
    assert_string_equal(job_dataset(unread)->text, "points");
    jobs_close(jobs);
}

static void what_an_outline_says_is_checked_at_the_start(void **state)
{
    (void)state;
    struct jobs *jobs = NULL;
    struct error error = {0};
    damage("\"state_reason\":\"internal\"", "\"state_reason\":\"intermal\"");
    assert_int_equal(open_jobs(&jobs, false, &error), ST_CORRUPT);
    assert_non_null(strstr(error.text, "is no reason"));
    damage("\"state_reason\":\"intermal\"", "\"state_reason\":\"internal\"");
    damage("\"ledger_seq\":", "\"ledger_sep\":");
    assert_int_equal(open_jobs(&jobs, false, &error), ST_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_job_that_had_ended_is_read_when_it_is_asked_for, begin, end),
        cmocka_unit_test_setup_teardown(a_job_that_has_not_ended_is_read_whole, begin,
                                        end),
        cmocka_unit_test_setup_teardown(lists_read_no_body, begin, end),
        cmocka_unit_test_setup_teardown(many_who_ask_at_once_get_one_body, begin, end),
        cmocka_unit_test_setup_teardown(of_a_row_that_was_changed_nothing_is_answered,
                                        begin, end),
        cmocka_unit_test_setup_teardown(what_an_outline_says_is_checked_at_the_start,
                                        begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
