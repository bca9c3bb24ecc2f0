/* Goal: a job that has ended never shows less than it was charged. Method: jobs for
 * which the ledger and the row disagree, read whole as verify does. */
#include "accountant/ledger/ledger.h"
#include "service/recovery/charge_check.h"

#include "service/jobs/job_facts.h"
#include "service/jobs/job_plan.h"
#include "service/runs/settlement.h"
#include "tests/expect.h"
#include "tests/service/service_fixture.h"

enum { AUTHORISED = 4, STEPS = 40 };

static struct scene scene;
static struct jobs *whole; /* the rows of all */
static struct error error;

static int begin(void **state)
{
    (void)state;
    scene = (struct scene){0};
    scene_open(&scene);
    scene_import(
        &scene, scene_declare(&scene, "points", "{\"epsilon\":8,\"delta\":1e-5}"), "0");
    return 0;
}

static int end(void **state)
{
    (void)state;
    scene_close(&scene);
    return 0;
}

static struct job *submit(void)
{
    struct job_plan plan = scene_plan(
        &scene, "\"name\":\"dpsgd\"",
        "\"batch_size\":50,\"steps\":40,\"privacy\":{\"noise_multiplier\":20}");
    return scene_submit(&scene, &plan, &plan.mechanism);
}

/* Ends a job that is charged for this many steps, and records what it shows. */
static void end_job(struct job *job, uint64_t authorised, struct job_progress shown)
{
    if (authorised > 0)
        assert_int_equal(
            ledger_authorise(scene.context.ledger, job_id(job), authorised, NULL),
            ST_OK);
    job_record(scene.context.jobs, job, &shown, NULL);
    const struct settlement settlement = {
        .job = job,
        .move = {.state = JOB_CANCELLED, .reason = REASON_USER_CANCEL, .second = 5000}};
    assert_int_equal(settlement_commit(&scene.context, &settlement, NULL), ST_OK);
}

static enum status check(void)
{
    struct store_tx *tx = scene_begin(&scene);
    const struct jobs_base base = {.datasets = scene.context.datasets,
                                   .long_polls = scene.context.long_polls,
                                   .reads_all = true};
    error = (struct error){0};
    assert_int_equal(jobs_open(&whole, tx, &base, NULL), ST_OK);
    enum status status = charge_check_run(whole, scene.context.ledger, tx, &error);
    jobs_close(whole);
    store_rollback(tx);
    return status;
}

/* Returns the price of this many steps. */
static double price(const struct job *job, uint64_t steps)
{
    return job_plan_spent(job_plan(job), steps);
}

static void what_was_charged_may_be_shown(void **state)
{
    (void)state;
    struct job *some = submit(), *none = submit(), *all = submit(), *before = submit(),
               *open = submit();
    end_job(some, AUTHORISED,
            (struct job_progress){3, AUTHORISED, price(some, AUTHORISED)});
    end_job(none, 0, (struct job_progress){0, 0, 0});
    end_job(all, STEPS, (struct job_progress){STEPS, STEPS, price(all, STEPS)});
    /* Earlier versions computed looser figures. */
    end_job(before, AUTHORISED,
            (struct job_progress){3, AUTHORISED, 1.01 * price(before, AUTHORISED)});
    /* An unfinished job shows less than its charge. */
    assert_int_equal(
        ledger_authorise(scene.context.ledger, job_id(open), AUTHORISED, NULL), ST_OK);
    if (check() != ST_OK)
        fail_msg("%s", error.text);
}

static void other_steps_than_were_charged_are_found(void **state)
{
    (void)state;
    static const uint64_t shown[] = {0, AUTHORISED - 1, AUTHORISED + 1};
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        begin(NULL);
        struct job *job = submit();
        end_job(job, AUTHORISED,
                (struct job_progress){0, shown[i], price(job, shown[i])});
        assert_int_equal(check(), ST_CORRUPT);
        assert_non_null(strstr(error.text, job_id(job)->text));
        assert_non_null(strstr(error.text, "steps are not those that were charged"));
        end(NULL);
    }
}

static void an_epsilon_below_that_of_the_steps_is_found(void **state)
{
    (void)state;
    static const double shares[] = {0, .5, 1 - 1e-5};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        begin(NULL);
        struct job *job = submit();
        end_job(
            job, AUTHORISED,
            (struct job_progress){0, AUTHORISED, shares[i] * price(job, AUTHORISED)});
        assert_int_equal(check(), ST_CORRUPT);
        assert_non_null(strstr(error.text, job_id(job)->text));
        assert_non_null(strstr(error.text, "its epsilon is not that"));
        end(NULL);
    }
}

static void an_epsilon_above_what_was_planned_is_found(void **state)
{
    (void)state;
    struct job *job = submit();
    end_job(job, AUTHORISED,
            (struct job_progress){0, AUTHORISED, 1.001 * price(job, STEPS)});
    assert_int_equal(check(), ST_CORRUPT);
    assert_non_null(strstr(error.text, "its epsilon is not that"));
}

static void an_epsilon_of_no_steps_is_found(void **state)
{
    (void)state;
    end_job(submit(), 0, (struct job_progress){0, 0, .001});
    assert_int_equal(check(), ST_CORRUPT);
    assert_non_null(strstr(error.text, "an epsilon of no steps"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_charged_may_be_shown, begin, end),
        cmocka_unit_test(other_steps_than_were_charged_are_found),
        cmocka_unit_test(an_epsilon_below_that_of_the_steps_is_found),
        cmocka_unit_test_setup_teardown(an_epsilon_above_what_was_planned_is_found,
                                        begin, end),
        cmocka_unit_test_setup_teardown(an_epsilon_of_no_steps_is_found, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
