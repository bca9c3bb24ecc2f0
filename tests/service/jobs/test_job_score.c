/* Goal: the score of a job is that of the newest evaluation of its model on its own
 * holdout, whichever daemon reads it and whenever; it makes new versions of the job and
 * of lists. Method: rows of evaluations that are written one by one, and three
 * memories: one that adds each as it ends, one that reads each row, and one that starts
 * afterwards. */
#include "service/jobs/job_score.h"

#include <string.h>

#include "service/jobs/job.h"
#include "service/jobs/job_admin.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/jobs.h"
#include "store/rows/statistics_rows.h"
#include "tests/expect.h"
#include "tests/service/service_fixture.h"

static const char budget[] = "{\"epsilon\":8,\"delta\":1e-5}";
static const char run[] =
    "\"batch_size\":50,\"steps\":40,\"privacy\":{\"noise_multiplier\":20}";

static struct two {
    struct scene scene;
    struct jobs *here, *there; /* there: another memory of the same store */
    struct job *job, *its;     /* the same job, here and there */
    struct model_id model;
} two;

static struct jobs *read_jobs(void)
{
    struct jobs *jobs = NULL;
    struct store_tx *tx = NULL;
    const struct jobs_base base = {.datasets = two.scene.context.datasets,
                                   .long_polls = two.scene.context.long_polls};
    assert_int_equal(store_begin(two.scene.context.store, STORE_READ, &tx, NULL),
                     ST_OK);
    assert_int_equal(jobs_open(&jobs, tx, &base, NULL), ST_OK);
    assert_int_equal(job_scores_load(jobs, tx, NULL), ST_OK);
    store_rollback(tx);
    return jobs;
}

static void move(enum job_state to, const struct model_id *model)
{
    const struct job_move move = {.state = to, .model = model, .second = 7};
    struct store_tx *tx = scene_begin(&two.scene);
    scene_commit(tx, job_move(two.here, tx, two.job, &move, NULL));
}

/* A job on "points" that has made a model; "others" is another dataset. */
static int begin(void **state)
{
    (void)state;
    scene_open(&two.scene);
    two.here = two.scene.context.jobs;
    scene_declare(&two.scene, "others", budget);
    scene_import(&two.scene, scene_declare(&two.scene, "points", budget), "0.5");
    struct job_plan plan = scene_plan(&two.scene, "\"name\":\"dpsgd\"", run);
    two.job = scene_submit(&two.scene, &plan, &plan.mechanism);
    two.model = *job_model_id(two.job);
    move(JOB_RUNNING, NULL);
    move(JOB_SUCCEEDED, &two.model);
    two.there = read_jobs();
    two.its = jobs_find(two.there, job_id(two.job)->text);
    return 0;
}

static int end(void **state)
{
    (void)state;
    jobs_close(two.there);
    scene_close(&two.scene);
    return 0;
}

struct look { /* an evaluation that ended */
    const char *dataset;
    double accuracy;
    int64_t end_ms;
    const char *state;
    bool is_free;
};

/* Writes the row, and tells both memories. */
static struct survey_id look(const struct look *look)
{
    char spec[256], answers[128];
    struct survey_id id;
    survey_id_make_evaluation(&id);
    snprintf(spec, sizeof spec,
             "{\"model\":\"%s\",\"evaluation\":{\"holdout\":true,\"epsilon\":1}}",
             two.model.text);
    snprintf(answers, sizeof answers,
             "{\"part\":\"holdout\",\"accuracy\":{\"value\":%g,\"low\":%g,\"high\":%g},"
             "\"rmse\":null}",
             look->accuracy, look->accuracy / 2, look->accuracy * 1.25);
    const struct statistics_row row = {.id = id,
                                       .dataset = look->dataset,
                                       .state = "RUNNING",
                                       .reason = "",
                                       .spec = spec,
                                       .guarantee = look->is_free ? "" : "{}",
                                       .answers = "",
                                       .create_ms = 1,
                                       .created_by = "local"};
    const struct statistics_row ended = {.id = id,
                                         .state = look->state,
                                         .reason = "",
                                         .answers = answers,
                                         .end_ms = look->end_ms};
    struct dataset_id dataset;
    dataset_id_parse(&dataset, look->dataset);
    struct store_tx *tx = scene_begin(&two.scene);
    assert_int_equal(statistics_row_insert(tx, &row, NULL), ST_OK);
    assert_int_equal(statistics_row_end(tx, &ended, NULL), ST_OK);
    if (!look->is_free && strcmp(look->state, "SUCCEEDED") == 0)
        job_scores_add(
            two.here, tx,
            &(struct later_score){&id, &two.model, &dataset, answers, look->end_ms});
    scene_commit(tx, ST_OK);
    assert_int_equal(store_begin(two.scene.context.store, STORE_READ, &tx, NULL),
                     ST_OK);
    assert_int_equal(job_scores_renew(two.there, tx, id.text, NULL), ST_OK);
    assert_int_equal(job_scores_renew(two.there, tx, id.text, NULL), ST_OK);
    store_rollback(tx);
    return id;
}

static void shows(struct jobs *jobs, double accuracy, const char *evaluation)
{
    struct holdout_score score;
    double figure;
    struct job *job = jobs_find(jobs, job_id(two.job)->text);
    bool exists = job_score(jobs, job, &score);
    assert_int_equal(exists, accuracy > 0);
    assert_int_equal(job_figure(jobs, job, &figure), exists);
    if (!exists)
        return;
    assert_true(score.score.value == accuracy && figure == accuracy);
    assert_true(score.score.low == accuracy / 2 && score.score.high == accuracy * 1.25);
    assert_string_equal(score.evaluation.text, evaluation);
}

/* All three memories show this score. */
static void all_show(double accuracy, const char *evaluation)
{
    struct jobs *started = read_jobs();
    shows(two.here, accuracy, evaluation);
    shows(two.there, accuracy, evaluation);
    shows(started, accuracy, evaluation);
    jobs_close(started);
}

static void the_newest_look_counts_and_no_other(void **state)
{
    (void)state;
    all_show(0, NULL);
    const struct survey_id first =
        look(&(struct look){"points", 0.5, 3000, "SUCCEEDED", false});
    all_show(0.5, first.text);
    static const struct look others[] = {
        {"others", 0.75, 4000, "SUCCEEDED", false}, /* another holdout */
        {"points", 0.75, 4000, "SUCCEEDED", true},  /* it cost nothing */
        {"points", 0.75, 2000, "SUCCEEDED", false}, /* it ended before */
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        look(&others[i]);
        all_show(0.5, first.text);
    }
    const struct survey_id newer =
        look(&(struct look){"points", 0.25, 4000, "SUCCEEDED", false});
    all_show(0.25, newer.text);
    const struct survey_id same =
        look(&(struct look){"points", 0.125, 4000, "SUCCEEDED", false});
    bool is_greater = strcmp(same.text, newer.text) > 0;
    all_show(is_greater ? 0.125 : 0.25, is_greater ? same.text : newer.text);
}

static void a_new_score_makes_new_versions(void **state)
{
    (void)state;
    struct jobs *const memories[] = {two.here, two.there};
    struct job *const jobs[] = {two.job, two.its};
    struct jobs_tally before[2];
    uint64_t versions[2];
    for (size_t i = 0; i < 2; i++) {
        before[i] = jobs_tally(memories[i]);
        versions[i] = jobs[i]->now.version;
    }
    for (unsigned again = 0; again < 2; again++) { /* an older one changes nothing */
        look(&(struct look){"points", 0.5, 3000 - again, "SUCCEEDED", false});
        for (size_t i = 0; i < 2; i++) {
            struct jobs_tally after = jobs_tally(memories[i]);
            assert_true(after.version == before[i].version + 1);
            assert_true(after.later_scores == before[i].later_scores + 1);
            assert_true(jobs[i]->now.version == versions[i] + 1);
        }
    }
}

static void a_score_goes_with_its_model(void **state)
{
    (void)state;
    look(&(struct look){"points", 0.5, 3000, "SUCCEEDED", false});
    struct store_tx *tx = scene_begin(&two.scene);
    scene_commit(tx, job_drop_model(two.here, tx, two.job, NULL));
    struct jobs *started = read_jobs();
    shows(two.here, 0, NULL);
    shows(started, 0, NULL);
    jobs_close(started);
}

/* A figure that the transaction does not keep is never shown. */
static void a_score_is_shown_when_it_is_durable(void **state)
{
    (void)state;
    struct survey_id id;
    struct dataset_id points;
    survey_id_make_evaluation(&id);
    dataset_id_parse(&points, "points");
    struct store_tx *tx = scene_begin(&two.scene);
    job_scores_add(two.here, tx,
                   &(struct later_score){&id, &two.model, &points,
                                         "{\"accuracy\":{\"value\":1,\"low\":1,"
                                         "\"high\":1}}",
                                         9000});
    shows(two.here, 0, NULL);
    store_rollback(tx);
    shows(two.here, 0, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_newest_look_counts_and_no_other, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_new_score_makes_new_versions, begin, end),
        cmocka_unit_test_setup_teardown(a_score_goes_with_its_model, begin, end),
        cmocka_unit_test_setup_teardown(a_score_is_shown_when_it_is_durable, begin,
                                        end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
