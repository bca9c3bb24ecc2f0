/* Goal: what one daemon of a shared store writes is what another shows, for each kind
 * of object: created, changed and deleted; and pointers found earlier stay valid.
 * Method: two memories of the rows of one store. One makes the changes, and the other
 * receives which rows changed, in the order in which a poll would deliver them. */
#include <stddef.h>

#include "accountant/ledger/entry.h"
#include "accountant/ledger/ledger.h"
#include "api/requests/charge_request.h"
#include "api/requests/dataset_request.h"
#include "api/requests/key_policy.h"
#include "api/requests/key_request.h"
#include "engine/feature_cache.h"
#include "engine/feature_file.h"
#include "service/identity/access_keys.h"
#include "service/jobs/charges.h"
#include "service/process/daemon_state.h"
#include "service/datasets/dataset_info.h"
#include "service/datasets/dataset_write.h"
#include "service/datasets/datasets.h"
#include "service/recovery/store_changes.h"

#include "service/recovery/consistency_check.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/job_plan.h"
#include "service/process/job_state.h"
#include "service/jobs/job_admin.h"
#include "service/models/models.h"
#include "service/jobs/statistics_runs.h"
#include "service/jobs/sweeps.h"
#include "service/threads/epoch_reclaim.h"
#include "service/webhooks/webhooks.h"
#include "store/rows/model_rows.h"
#include "tests/expect.h"
#include "tests/service/service_fixture.h"
#include "tests/service/webhook_fixture.h"

struct feature_cache;

static struct two {
    struct scene scene;
    struct daemon_state *here, there; /* there: with its own rows */
} two;

static const char budget[] = "{\"epsilon\":8,\"delta\":1e-5}";
static const char run[] =
    "\"batch_size\":50,\"steps\":40,\"privacy\":{\"noise_multiplier\":20}";

static int begin(void **state)
{
    (void)state;
    struct store_tx *tx = NULL;
    struct consistency_check rows;
    scene_open(&two.scene);
    two.here = &two.scene.context;
    two.there = *two.here;
    const struct jobs_base base = {.long_polls = two.here->long_polls};
    assert_int_equal(store_begin(two.here->store, STORE_READ, &tx, NULL), ST_OK);
    assert_int_equal(consistency_check_open(&rows, tx, &base, NULL), ST_OK);
    store_rollback(tx);
    two.there.datasets = rows.datasets;
    two.there.jobs = rows.jobs;
    two.there.models = rows.models;
    two.there.statistics_runs = rows.surveys;
    two.there.weight_files = rows.weight_files;
    two.there.charges = rows.charges;
    two.there.webhooks = rows.webhooks;
    two.there.keys = rows.keys;
    two.there.logins = rows.logins;
    two.there.policy_proposals = rows.policy_proposals;
    two.there.sweeps = sweeps_create(rows.jobs);
    return 0;
}

static int end(void **state)
{
    (void)state;
    sweeps_destroy(two.there.sweeps);
    consistency_check_close(
        &(struct consistency_check){.datasets = two.there.datasets,
                                    .jobs = two.there.jobs,
                                    .models = two.there.models,
                                    .surveys = two.there.statistics_runs,
                                    .weight_files = two.there.weight_files,
                                    .charges = two.there.charges,
                                    .webhooks = two.there.webhooks,
                                    .keys = two.there.keys,
                                    .logins = two.there.logins,
                                    .policy_proposals = two.there.policy_proposals});
    scene_close(&two.scene);
    return 0;
}

static enum status tell_all(const struct change_feed_change *changes, size_t count)
{
    struct store_tx *tx = NULL;
    assert_int_equal(store_begin(two.here->store, STORE_READ, &tx, NULL), ST_OK);
    enum status status = store_changes_renew(&two.there, tx, changes, count, NULL);
    store_rollback(tx);
    return status;
}

/* Delivers the change twice; the second time must change nothing. */
static void tell(enum change_feed_what what, const char *id)
{
    struct change_feed_change change = {.what = what};
    snprintf(change.id, sizeof change.id, "%s", id);
    assert_int_equal(tell_all(&change, 1), ST_OK);
    assert_int_equal(tell_all(&change, 1), ST_OK);
}

static struct dataset_info read_there(const char *id)
{
    struct dataset_info info;
    const struct dataset *dataset = datasets_find(two.there.datasets, id);
    assert_non_null(dataset);
    dataset_read(two.there.datasets, dataset, &info);
    return info;
}

static void declare_anew(const char *id, const char *task)
{
    char text[256];
    struct dataset_spec spec;
    struct dataset *out;
    const struct dataset_renewal renewal = {&spec, NULL};
    snprintf(text, sizeof text,
             "{\"id\":\"%s\",\"format\":\"libsvm\",\"task\":\"classification\","
             "\"classes\":%s,\"features\":{\"count\":4},\"privacy\":\"public\"}",
             id, task);
    assert_int_equal(dataset_spec_parse(&spec, json_text_of(text), NULL), ST_OK);
    struct store_tx *tx = scene_begin(&two.scene);
    scene_commit(tx,
                 datasets_declare_anew(two.here->datasets, tx, &renewal, &out, NULL));
}

static void
a_dataset_is_declared_anew_and_whoever_visits_keeps_the_one_before(void **state)
{
    (void)state;
    struct reclaim_reader visit;
    struct datasets *datasets = two.there.datasets;
    scene_declare(&two.scene, "points", "\"public\"");
    assert_null(datasets_find(datasets, "points"));
    tell(CHANGE_FEED_DATASET, "points");
    assert_int_equal(read_there("points").state, DATASET_CREATED);
    assert_int_equal(datasets_count(datasets), 1);
    datasets_enter(datasets, &visit);
    const struct dataset *before = datasets_find(datasets, "points");
    declare_anew("points", "3");
    tell(CHANGE_FEED_DATASET, "points");
    const struct dataset *after = datasets_find(datasets, "points");
    assert_ptr_not_equal(after, before);
    assert_int_equal(dataset_spec(before)->schema.classes, 2);
    assert_int_equal(dataset_spec(after)->schema.classes, 3);
    assert_int_equal(datasets_count(datasets), 1);
    datasets_leave(datasets, &visit);
}

/* A request that waits for an import is answered when the import has ended, at any
 * daemon. */
static void whoever_waits_for_an_import_is_woken_by_its_end(void **state)
{
    (void)state;
    struct long_polls *polls = two.there.long_polls;
    struct dataset *points = scene_declare(&two.scene, "points", budget);
    tell(CHANGE_FEED_DATASET, "points");
    long_polls_lock(polls);
    assert_true(long_polls_add(polls, datasets_find(two.there.datasets, "points"), &two,
                               INT64_MAX));
    long_polls_unlock(polls);
    assert_int_equal(long_polls_count(polls), 1);
    scene_import(&two.scene, points, "0.5");
    assert_int_equal(long_polls_count(polls), 1);
    tell(CHANGE_FEED_DATASET, "points");
    assert_int_equal(long_polls_count(polls), 0);
}

/* Features computed here from the rows of points, which the other daemon deletes. */
static void keep_features(struct feature_cache *cache)
{
    static const float row[] = {1, 2};
    struct feature_file *file = NULL;
    const struct feature_name name = {.dataset = "points"};
    assert_int_equal(feature_file_create(&file, two.scene.place.folder, 1, 2, NULL),
                     ST_OK);
    assert_true(feature_file_write(file, 0, row));
    assert_int_equal(feature_file_map(file, NULL), ST_OK);
    feature_cache_keep(cache, &name, file);
    feature_file_let_go(file);
}

static bool has_features(struct feature_cache *cache)
{
    const struct feature_name name = {.dataset = "points"};
    struct feature_file *file = feature_cache_find(cache, &name);
    if (file != NULL)
        feature_file_let_go(file);
    return file != NULL;
}

static void features_go_with_a_dataset_that_another_deletes(void **state)
{
    (void)state;
    const struct feature_cache_limits limits = {1 << 20, 3600};
    struct feature_cache *before = two.there.feature_cache,
                         *cache = feature_cache_create(&limits);
    struct dataset_info info = {.state = DATASET_DELETED};
    struct dataset *points = scene_declare(&two.scene, "points", budget);
    two.there.feature_cache = cache;
    scene_import(&two.scene, points, "0.5");
    feature_cache_trim(cache, 0, UINT64_MAX / 2);
    keep_features(cache);
    tell(CHANGE_FEED_DATASET, "points");
    assert_true(has_features(cache));
    struct store_tx *tx = scene_begin(&two.scene);
    scene_commit(tx, dataset_move(two.here->datasets, tx, points, &info, NULL));
    tell(CHANGE_FEED_DATASET, "points");
    assert_false(has_features(cache));
    two.there.feature_cache = before;
    feature_cache_destroy(cache);
}

static void a_dataset_is_imported_and_deleted(void **state)
{
    (void)state;
    struct dataset_info info = {.state = DATASET_DELETED};
    struct dataset *points = scene_declare(&two.scene, "points", budget);
    tell(CHANGE_FEED_DATASET, "points");
    const struct dataset *known = datasets_find(two.there.datasets, "points");
    uint64_t version = datasets_version(two.there.datasets);
    scene_import(&two.scene, points, "0.5");
    tell(CHANGE_FEED_DATASET, "points");
    assert_int_equal(read_there("points").state, DATASET_READY);
    assert_int_equal(read_there("points").detail.records, SCENE_RECORDS);
    assert_true(read_there("points").has_sha256);
    assert_true(datasets_version(two.there.datasets) > version);
    struct store_tx *tx = scene_begin(&two.scene);
    scene_commit(tx, dataset_move(two.here->datasets, tx, points, &info, NULL));
    tell(CHANGE_FEED_DATASET, "points");
    assert_int_equal(read_there("points").state, DATASET_DELETED);
    info.state = DATASET_IMPORTING;
    tx = scene_begin(&two.scene);
    assert_int_equal(dataset_move(two.there.datasets, tx,
                                  datasets_find(two.there.datasets, "points"), &info,
                                  NULL),
                     ST_CONFLICT);
    store_rollback(tx);
    assert_ptr_equal(datasets_find(two.there.datasets, "points"), known);
}

static void import_points(void)
{
    scene_import(&two.scene, scene_declare(&two.scene, "points", budget), "0.5");
    tell(CHANGE_FEED_DATASET, "points");
}

static struct job *submit(void)
{
    struct job_plan plan = scene_plan(&two.scene, "\"name\":\"dpsgd\"", run);
    return scene_submit(&two.scene, &plan, &plan.mechanism);
}

static void move_job(struct job *job, enum job_state to)
{
    const struct job_move move = {.state = to, .second = 7};
    struct store_tx *tx = scene_begin(&two.scene);
    scene_commit(tx, job_move(two.here->jobs, tx, job, &move, NULL));
}

static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct change_feed_change *)a)->id,
                  ((const struct change_feed_change *)b)->id);
}

static void jobs_are_listed_in_the_order_in_which_they_were_submitted(void **state)
{
    (void)state;
    enum { JOBS = 6 };
    struct job *jobs[JOBS];
    struct change_feed_change changes[JOBS];
    import_points();
    for (unsigned i = 0; i < JOBS; i++) {
        jobs[i] = submit();
        changes[i].what = CHANGE_FEED_JOB;
        snprintf(changes[i].id, CHANGE_FEED_ID_SIZE, "%s", job_id(jobs[i])->text);
    }
    qsort(changes, JOBS, sizeof *changes, by_id);
    assert_int_equal(tell_all(changes, JOBS), ST_OK);
    assert_int_equal(jobs_count(two.there.jobs), JOBS);
    for (unsigned i = 0; i < JOBS; i++)
        assert_string_equal(job_id(jobs_at(two.there.jobs, i))->text,
                            job_id(jobs[i])->text);
    for (unsigned i = 0; i < JOBS; i++)
        assert_int_equal(job_number(jobs_at(two.there.jobs, i)), job_number(jobs[i]));
    assert_int_equal(jobs_tally(two.there.jobs).queued, JOBS);
    assert_ptr_equal(jobs_tally(two.there.jobs).next, jobs_at(two.there.jobs, 0));
}

static void a_job_ends_and_is_deleted(void **state)
{
    (void)state;
    import_points();
    struct job *job = submit();
    const char *id = job_id(job)->text;
    tell(CHANGE_FEED_JOB, id);
    struct job *known = jobs_find(two.there.jobs, id);
    assert_int_equal(job_state(two.there.jobs, known), JOB_QUEUED);
    move_job(job, JOB_RUNNING);
    tell(CHANGE_FEED_JOB, id);
    assert_int_equal(jobs_tally(two.there.jobs).running, 1);
    move_job(job, JOB_FAILED);
    tell(CHANGE_FEED_JOB, id);
    assert_int_equal(jobs_tally(two.there.jobs).by_state[JOB_FAILED], 1);
    struct store_tx *tx = scene_begin(&two.scene);
    scene_commit(tx, job_remove(two.here->jobs, tx, job, NULL));
    tell(CHANGE_FEED_JOB, id);
    assert_null(jobs_find(two.there.jobs, id));
    assert_ptr_equal(jobs_find_ever(two.there.jobs, id), known);
    assert_int_equal(jobs_tally(two.there.jobs).by_state[JOB_FAILED], 0);
}

/* The other daemon never saw its end. */
static void a_job_that_ended_and_was_deleted_between_two_looks_is_gone(void **state)
{
    (void)state;
    size_t count;
    import_points();
    struct job *job = submit();
    const char *id = job_id(job)->text;
    tell(CHANGE_FEED_JOB, id);
    move_job(job, JOB_CANCELLED);
    struct store_tx *tx = scene_begin(&two.scene);
    scene_commit(tx, job_remove(two.here->jobs, tx, job, NULL));
    tell(CHANGE_FEED_JOB, id);
    assert_null(jobs_find(two.there.jobs, id));
    assert_int_equal(jobs_tally(two.there.jobs).queued, 0);
    assert_null(jobs_tally(two.there.jobs).next);
    free(jobs_active(two.there.jobs, &count));
    assert_int_equal(count, 0);
    tell(CHANGE_FEED_JOB, "job_00000000000000000000000000"); /* created and deleted */
}

/* A sweep is counted like its runs, at any daemon where they ended. */
static void a_sweep_ends_with_the_last_of_its_runs(void **state)
{
    (void)state;
    enum { RUNS = 3 };
    struct job *runs[RUNS];
    struct change_feed_change changes[RUNS];
    struct sweep_course course;
    struct sweep_id id;
    size_t count;
    import_points();
    sweep_id_make(&id);
    struct store_tx *tx = scene_begin(&two.scene);
    for (unsigned i = 0; i < RUNS; i++) {
        struct job_plan plan = scene_plan(&two.scene, "\"name\":\"dpsgd\"", run);
        struct job_addition addition = {.plan_take = &plan, .owner = &principal_local};
        plan.sweep = (struct sweep_run){
            .id = id, .run = i, .runs = RUNS, .settings = strdup("{\"/steps\":3}")};
        job_id_make(&addition.id);
        changes[i].what = CHANGE_FEED_JOB;
        snprintf(changes[i].id, CHANGE_FEED_ID_SIZE, "%s", addition.id.text);
        assert_int_equal(jobs_add(two.here->jobs, tx, &addition, &runs[i], NULL),
                         ST_OK);
    }
    scene_commit(tx, ST_OK);
    qsort(changes, RUNS, sizeof *changes, by_id);
    assert_int_equal(tell_all(changes, RUNS), ST_OK);
    assert_int_equal(tell_all(changes, RUNS), ST_OK);
    const struct sweep *sweep = sweeps_find(two.there.sweeps, id.text);
    assert_non_null(sweep);
    struct job **found = sweep_runs(sweep, &count);
    assert_int_equal(count, RUNS);
    for (unsigned i = 0; i < RUNS; i++)
        assert_string_equal(job_id(found[i])->text, job_id(runs[i])->text);
    move_job(runs[0], JOB_CANCELLED);
    move_job(runs[2], JOB_RUNNING);
    assert_int_equal(tell_all(changes, RUNS), ST_OK);
    tx = scene_begin(&two.scene);
    assert_true(sweeps_end_run(two.there.sweeps, tx, found[1], true, &course));
    assert_int_equal(course.open, 1);
    assert_int_equal(course.cancelled, 2);
    store_rollback(tx);
    free(found);
}

static void a_model_is_there_until_it_is_deleted(void **state)
{
    (void)state;
    char card[128];
    import_points();
    struct job *job = submit();
    struct model_row row = {.job = *job_id(job), .size = 1, .card = card};
    model_id_make(&row.id);
    snprintf(card, sizeof card, "{\"model\":\"%s\",\"job\":\"%s\"}", row.id.text,
             row.job.text);
    struct store_tx *tx = scene_begin(&two.scene);
    scene_commit(tx, models_add(two.here->models, tx, &row, NULL));
    tell(CHANGE_FEED_MODEL, row.id.text);
    const struct model_row *known = models_find(two.there.models, row.id.text);
    assert_non_null(known);
    assert_string_equal(known->card, card);
    tx = scene_begin(&two.scene);
    scene_commit(tx, model_remove(two.here->models, tx,
                                  models_find(two.here->models, row.id.text), NULL));
    tell(CHANGE_FEED_MODEL, row.id.text);
    assert_null(models_find(two.there.models, row.id.text));
    assert_true(model_is_removed(two.there.models, known));
    assert_int_equal(models_count(two.there.models), 1);
}

/* The job shows no model that another daemon deleted. */
static void a_job_shows_no_model_that_is_gone(void **state)
{
    (void)state;
    struct model_id model, shown;
    import_points();
    struct job *job = submit();
    model_id_make(&model);
    move_job(job, JOB_RUNNING);
    const struct job_move done = {.state = JOB_SUCCEEDED, .model = &model, .second = 9};
    struct store_tx *tx = scene_begin(&two.scene);
    scene_commit(tx, job_move(two.here->jobs, tx, job, &done, NULL));
    tell(CHANGE_FEED_JOB, job_id(job)->text);
    struct job *known = jobs_find(two.there.jobs, job_id(job)->text);
    assert_true(job_model(two.there.jobs, known, &shown));
    assert_string_equal(shown.text, model.text);
    tx = scene_begin(&two.scene);
    scene_commit(tx, job_drop_model(two.here->jobs, tx, job, NULL));
    tell(CHANGE_FEED_JOB, job_id(job)->text);
    assert_false(job_model(two.there.jobs, known, &shown));
    assert_true(job_published(two.there.jobs, known));
}

static void an_uploaded_file_is_there_until_it_is_deleted(void **state)
{
    (void)state;
    struct weights_row row = {.project = "fraud",
                              .created_by = "ana",
                              .kind = "tokenizer",
                              .note = "from nowhere",
                              .size = 4};
    file_id_make(&row.id);
    struct store_tx *tx = scene_begin(&two.scene);
    scene_commit(tx, weight_files_add(two.here->weight_files, tx, &row, NULL));
    tell(CHANGE_FEED_WEIGHTS, row.id.text);
    const struct weights_row *known =
        weight_files_find(two.there.weight_files, row.id.text);
    assert_non_null(known);
    assert_string_equal(known->note, "from nowhere");
    tx = scene_begin(&two.scene);
    scene_commit(tx, weight_files_remove(two.here->weight_files, tx, &row, NULL));
    tell(CHANGE_FEED_WEIGHTS, row.id.text);
    assert_null(weight_files_find(two.there.weight_files, row.id.text));
    assert_true(weight_file_is_removed(two.there.weight_files, known));
}

/* A poll delivers changes sorted by id, which is not the order of creation. */
static void whatever_is_listed_comes_in_the_order_of_the_store(void **state)
{
    (void)state;
    enum { THINGS = 5 };
    static const char *const datasets[THINGS] = {"e", "a", "d", "b", "c"};
    struct change_feed_change changes[2 * THINGS];
    for (size_t i = 0; i < THINGS; i++) {
        struct weights_row row = {
            .project = "p", .created_by = "ana", .kind = "weights", .note = ""};
        snprintf(row.id.text, sizeof row.id.text, "fil_%026zu", 99 - i * i);
        struct store_tx *tx = scene_begin(&two.scene);
        scene_commit(tx, weight_files_add(two.here->weight_files, tx, &row, NULL));
        scene_declare(&two.scene, datasets[i], "\"public\"");
        changes[i].what = CHANGE_FEED_DATASET;
        snprintf(changes[i].id, CHANGE_FEED_ID_SIZE, "%s", datasets[i]);
        changes[THINGS + i].what = CHANGE_FEED_WEIGHTS;
        snprintf(changes[THINGS + i].id, CHANGE_FEED_ID_SIZE, "%s", row.id.text);
    }
    qsort(changes, THINGS, sizeof *changes, by_id);
    qsort(changes + THINGS, THINGS, sizeof *changes, by_id);
    assert_int_equal(tell_all(changes, 2 * THINGS), ST_OK);
    for (size_t i = 0; i < THINGS; i++) {
        const struct dataset *dataset = datasets_at(two.there.datasets, i);
        assert_string_equal(dataset_spec(dataset)->id.text, datasets[i]);
        const struct weights_row *here = weight_files_at(two.here->weight_files, i),
                                 *there = weight_files_at(two.there.weight_files, i);
        assert_string_equal(there->id.text, here->id.text);
        assert_int_equal(there->number, here->number);
    }
}

static void things_are_called_what_another_calls_them(void **state)
{
    (void)state;
    char named[CHANGE_FEED_ID_SIZE];
    import_points();
    struct job *job = submit();
    tell(CHANGE_FEED_JOB, job_id(job)->text);
    struct caption of_job = {.display_name = strdup("night")}, none = {0};
    struct caption of_dataset = {.display_name = strdup("points on a line")};
    struct store_tx *tx = scene_begin(&two.scene);
    assert_int_equal(dataset_caption_put(two.here->datasets, tx,
                                         datasets_find(two.here->datasets, "points"),
                                         &of_dataset, NULL),
                     ST_OK);
    scene_commit(tx, job_caption_put(two.here->jobs, tx, job, &of_job, NULL));
    tell(CHANGE_FEED_CAPTION, "dataset/points");
    snprintf(named, sizeof named, "job/%s", job_id(job)->text);
    tell(CHANGE_FEED_CAPTION, named);
    struct job *known = jobs_find(two.there.jobs, job_id(job)->text);
    struct caption found = job_caption(two.there.jobs, known);
    assert_string_equal(found.display_name, "night");
    caption_fini(&found);
    found = dataset_caption(two.there.datasets,
                            datasets_find(two.there.datasets, "points"));
    assert_string_equal(found.display_name, "points on a line");
    caption_fini(&found);
    tx = scene_begin(&two.scene);
    scene_commit(tx, job_caption_put(two.here->jobs, tx, job, &none, NULL));
    tell(CHANGE_FEED_CAPTION, named);
    found = job_caption(two.there.jobs, known);
    assert_true(caption_is_empty(&found));
    caption_fini(&found);
    tell(CHANGE_FEED_CAPTION, "model/mdl_00000000000000000000000000");
}

static enum status come_in(const struct access_key_made *made)
{
    struct principal principal;
    return access_keys_verify(two.there.keys, made->text, &principal, NULL);
}

static void a_key_lets_in_until_it_is_revoked_anywhere(void **state)
{
    (void)state;
    struct access_key_made made;
    struct access_key key;
    const struct key_policy narrower = {.max_open_jobs = 1};
    const struct key_request request = {
        .principal = {.name = "ana", .project = "fraud", .role = ROLE_ANALYST},
        .days = 9,
        .policy = {.max_open_jobs = 3}};
    struct store_tx *tx = scene_begin(&two.scene);
    scene_commit(tx, access_keys_add(two.here->keys, tx, &request, &made, NULL));
    assert_int_equal(come_in(&made), ST_KEY_UNKNOWN);
    tell(CHANGE_FEED_ACCESS_KEY, made.id);
    assert_int_equal(come_in(&made), ST_OK);
    assert_true(access_keys_any(two.there.keys));
    tx = scene_begin(&two.scene);
    scene_commit(tx, access_keys_limit(two.here->keys, tx, made.id, &narrower, NULL));
    tell(CHANGE_FEED_ACCESS_KEY, made.id);
    assert_true(access_keys_find(two.there.keys, made.id, &key));
    assert_int_equal(key.policy.max_open_jobs, 1);
    assert_true(key.used_day > 0); /* known only here */
    tx = scene_begin(&two.scene);
    scene_commit(tx, access_keys_revoke(two.here->keys, tx, made.id, NULL));
    tell(CHANGE_FEED_ACCESS_KEY, made.id);
    assert_int_equal(come_in(&made), ST_KEY_REVOKED);
    assert_int_equal(access_keys_count(two.there.keys), 1);
}

static void a_webhook_changes_and_is_deleted(void **state)
{
    (void)state;
    struct webhook found, webhook = hook_make(&two.scene, 1u << EVENT_JOB_FAILED);
    tell(CHANGE_FEED_WEBHOOK, webhook.id.text);
    assert_true(webhooks_find(two.there.webhooks, webhook.id.text, &found));
    assert_false(found.disabled);
    webhook.disabled = true;
    struct store_tx *tx = scene_begin(&two.scene);
    scene_commit(tx, webhooks_put(two.here->webhooks, tx, &webhook, NULL));
    tell(CHANGE_FEED_WEBHOOK, webhook.id.text);
    assert_true(webhooks_find(two.there.webhooks, webhook.id.text, &found));
    assert_true(found.disabled);
    tx = scene_begin(&two.scene);
    scene_commit(tx, webhooks_delete(two.here->webhooks, tx, &webhook.id, NULL));
    tell(CHANGE_FEED_WEBHOOK, webhook.id.text);
    assert_false(webhooks_find(two.there.webhooks, webhook.id.text, &found));
}

static void a_charge_is_granted_blocks_and_ends(void **state)
{
    (void)state;
    static const char body[] =
        "{\"dataset\":\"points\",\"engine\":\"opacus\",\"unit\":\"record\","
        "\"block_steps\":10,\"mechanism\":{\"kind\":\"gaussian\","
        "\"noise_multiplier\":40,\"steps\":25,\"neighbour\":\"add_remove\"}}";
    struct charge_request declared;
    struct charge *charge = NULL;
    struct charge_addition addition = {.request_take = &declared,
                                       .owner = &principal_local,
                                       .info = {.lease_end_s = 900},
                                       .create_s = 1};
    struct charge_info info;
    import_points();
    assert_int_equal(charge_request_parse(&declared, json_text_of(body), NULL), ST_OK);
    charge_id_make(&addition.id);
    struct store_tx *tx = scene_begin(&two.scene);
    scene_commit(tx, charges_add(two.here->charges, tx, &addition, &charge, NULL));
    tell(CHANGE_FEED_CHARGE, addition.id.text);
    struct charge *known = charges_find(two.there.charges, addition.id.text);
    assert_non_null(known);
    assert_int_equal(charges_next_end(two.there.charges), 900);
    charge_read(two.here->charges, charge, &info);
    info.blocks = 2;
    info.lease_end_s = 1000;
    tx = scene_begin(&two.scene);
    scene_commit(tx, charge_move(two.here->charges, tx, charge, &info, NULL));
    tell(CHANGE_FEED_CHARGE, addition.id.text);
    charge_read(two.there.charges, known, &info);
    assert_int_equal(info.blocks, 2);
    assert_int_equal(charges_next_end(two.there.charges), 1000);
    info.state = CHARGE_SETTLED;
    info.end_s = 7;
    tx = scene_begin(&two.scene);
    scene_commit(tx, charge_move(two.here->charges, tx, charge, &info, NULL));
    tell(CHANGE_FEED_CHARGE, addition.id.text);
    assert_int_equal(charges_tally(two.there.charges).by_state[CHARGE_OPEN], 0);
    assert_int_equal(charges_tally(two.there.charges).by_state[CHARGE_SETTLED], 1);
    assert_int_equal(charges_next_end(two.there.charges), INT64_MAX);
}

/* Reserves a request and adds it, as the write queue does; the questions are left
 * out. */
static struct statistics_run *ask(void)
{
    struct ledger_entry_name entry;
    const struct dataset *points = datasets_find(two.here->datasets, "points");
    struct statistics_run *survey = calloc(1, sizeof *survey);
    assert_non_null(survey);
    mechanism_init(&survey->mechanism, MECHANISM_GAUSSIAN, RELATION_ZERO_OUT,
                   (struct mechanism_run){1, 90, 1});
    survey->dataset = dataset_spec(points)->id;
    survey->project = dataset_owner(points)->project;
    strcpy(survey->owner, principal_local.name);
    survey_id_make(&survey->id);
    const struct job_id holder = holder_of_survey(&survey->id);
    const struct ledger_claim claim = {.dataset = &survey->dataset,
                                       .job = &holder,
                                       .mechanism = &survey->mechanism,
                                       .principal = &principal_local};
    struct store_tx *tx = scene_begin(&two.scene);
    assert_int_equal(ledger_reserve(two.here->ledger, tx, &claim, &entry, NULL), ST_OK);
    survey->ledger_seq = entry.seq;
    const struct statistics_run_addition addition = {survey, "{}", "{}", 1000};
    scene_commit(tx,
                 statistics_runs_add(two.here->statistics_runs, tx, &addition, NULL));
    return survey;
}

static void expect_noise(void *context, const struct statistics_run *survey)
{
    assert_int_equal(survey->mechanism.run_count, 1);
    assert_true(survey->mechanism.runs[0].noise_multiplier == 90);
    ++*(unsigned *)context;
}

/* It holds what the ledger says, and this daemon must not end it. */
static void a_survey_of_another_counts_until_it_ends(void **state)
{
    (void)state;
    unsigned looked = 0;
    import_points();
    struct statistics_run *survey = ask();
    const struct survey_id id = survey->id;
    const struct dataset_id dataset = survey->dataset;
    tell(CHANGE_FEED_SURVEY, id.text);
    assert_true(statistics_runs_runs(two.there.statistics_runs, id.text));
    assert_int_equal(statistics_runs_on(two.there.statistics_runs, &dataset), 1);
    assert_int_equal(statistics_runs_count(two.there.statistics_runs), 1);
    assert_int_equal(statistics_runs_here(two.there.statistics_runs), 0);
    assert_null(statistics_runs_at(two.there.statistics_runs, 0));
    statistics_runs_look(two.there.statistics_runs, expect_noise, &looked);
    assert_int_equal(looked, 1);
    const struct statistics_run_end ended = {.reason = REASON_INTERNAL, .second = 7};
    struct store_tx *tx = scene_begin(&two.scene);
    scene_commit(
        tx, statistics_runs_end(two.here->statistics_runs, tx, survey, &ended, NULL));
    tell(CHANGE_FEED_SURVEY, id.text);
    assert_false(statistics_runs_runs(two.there.statistics_runs, id.text));
    assert_int_equal(statistics_runs_count(two.there.statistics_runs), 0);
}

/* Otherwise a daemon that has just started would compute a key's share without it. */
static void a_survey_of_another_holds_its_price_at_a_start(void **state)
{
    (void)state;
    unsigned looked = 0;
    struct store_tx *tx = NULL;
    struct statistics_runs *read = NULL;
    import_points();
    const struct survey_id id = ask()->id;
    assert_int_equal(store_begin(two.here->store, STORE_READ, &tx, NULL), ST_OK);
    assert_int_equal(statistics_runs_open(&read, tx, two.here->datasets, NULL), ST_OK);
    store_rollback(tx);
    struct daemon_state starting = *two.here;
    starting.statistics_runs = read;
    assert_int_equal(store_changes_begin(&starting, NULL), ST_OK);
    assert_int_equal(statistics_runs_here(read), 0);
    assert_true(statistics_runs_runs(read, id.text));
    statistics_runs_look(read, expect_noise, &looked);
    assert_int_equal(looked, 1);
    statistics_runs_close(read);
}

/* A daemon also receives its own changes, which are in its memory already, and ignores
 * them. */
static void what_runs_here_is_left_to_whoever_runs_it(void **state)
{
    (void)state;
    import_points();
    const struct survey_id id = ask()->id;
    struct change_feed_change change = {.what = CHANGE_FEED_SURVEY};
    struct store_tx *tx = NULL;
    snprintf(change.id, sizeof change.id, "%s", id.text);
    assert_int_equal(store_begin(two.here->store, STORE_READ, &tx, NULL), ST_OK);
    assert_int_equal(store_changes_renew(two.here, tx, &change, 1, NULL), ST_OK);
    store_rollback(tx);
    assert_int_equal(statistics_runs_here(two.here->statistics_runs), 1);
    assert_int_equal(statistics_runs_count(two.here->statistics_runs), 1);
}

static void what_a_table_does_not_hold_is_damage(void **state)
{
    (void)state;
    static const struct change_feed_change wrong[] = {
        {CHANGE_FEED_DATASET, "../points"}, {CHANGE_FEED_JOB, "job"},
        {CHANGE_FEED_MODEL, "mdl"},         {CHANGE_FEED_CHARGE, "chg"},
        {CHANGE_FEED_WEIGHTS, "file"},      {CHANGE_FEED_WEBHOOK, "whk"},
        {CHANGE_FEED_CAPTION, "points"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(tell_all(&wrong[i], 1), ST_CORRUPT);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(a_dataset_is_declared_anew_and_whoever_visits_keeps_the_one_before),
        TEST(whoever_waits_for_an_import_is_woken_by_its_end),
        TEST(features_go_with_a_dataset_that_another_deletes),
        TEST(a_dataset_is_imported_and_deleted),
        TEST(jobs_are_listed_in_the_order_in_which_they_were_submitted),
        TEST(a_job_ends_and_is_deleted),
        TEST(a_job_that_ended_and_was_deleted_between_two_looks_is_gone),
        TEST(a_sweep_ends_with_the_last_of_its_runs),
        TEST(a_model_is_there_until_it_is_deleted),
        TEST(a_job_shows_no_model_that_is_gone),
        TEST(an_uploaded_file_is_there_until_it_is_deleted),
        TEST(whatever_is_listed_comes_in_the_order_of_the_store),
        TEST(things_are_called_what_another_calls_them),
        TEST(a_key_lets_in_until_it_is_revoked_anywhere),
        TEST(a_webhook_changes_and_is_deleted),
        TEST(a_charge_is_granted_blocks_and_ends),
        TEST(a_survey_of_another_counts_until_it_ends),
        TEST(a_survey_of_another_holds_its_price_at_a_start),
        TEST(what_runs_here_is_left_to_whoever_runs_it),
        TEST(what_a_table_does_not_hold_is_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
