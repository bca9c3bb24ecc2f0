/*
 * service_fixture.h - a service on its own directory whose threads do nothing: the test
 * itself imports, runs and ticks. Include after tests/expect.h; one scene at a time.
 *
 * Ownership: scene_close releases what scene_open has allocated.
 */
#ifndef TESTS_SERVICE_SERVICE_FIXTURE_H
#define TESTS_SERVICE_SERVICE_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include "accountant/ledger/entry.h"
#include "accountant/ledger/ledger.h"
#include "api/requests/dataset_request.h"
#include "base/part.h"
#include "engine/trainer.h"
#include "service/process/daemon_state.h"
#include "service/runs/job_scheduler.h"
#include "service/datasets/dataset_info.h"
#include "service/datasets/dataset_write.h"
#include "service/datasets/datasets.h"
#include "service/ingest/importer.h"
#include "service/jobs/job_plan.h"
#include "service/planning/planner.h"
#include "service/threads/pool.h"
#include "service/server/daemon_lifecycle.h"
#include "store/blobs/blob_name.h"
#include "store/rows/ledger_rows.h"
#include "tests/store/place_fixture.h"

struct dataset;

enum { SCENE_RECORDS = 500 };

struct scene {
    struct place place;
    char database[96];
    struct config config;
    struct daemon_state context;
};

static inline void scene_do_nothing(void *context, void *item)
{
    (void)context, (void)item;
}

static inline void scene_wake_nobody(void *waiting)
{
    (void)waiting;
}

static inline bool scene_suspend_nobody(void *waiting)
{
    (void)waiting;
    return false;
}

static inline void scene_open(struct scene *scene)
{
    enum config_outcome outcome;
    struct error error = {0};
    const struct daemon_lifecycle_hooks hooks = {
        scene_do_nothing, scene_do_nothing, scene_wake_nobody, scene_suspend_nobody,
        scene_suspend_nobody};
    scene->place = place_make();
    snprintf(scene->database, sizeof scene->database, "%s/epsilond.db",
             scene->place.folder);
    const char *const argv[] = {"epsilond",  "--data-dir", scene->place.folder,
                                "--workers", "1",          "--threads",
                                "1",         NULL};
    log_level_set(LOG_INFO);
    /* config_read does not change them. */
    if (config_read(&scene->config, &outcome, 7, (char **)(uintptr_t)argv, &error) !=
            ST_OK ||
        daemon_lifecycle_open(&scene->context, &scene->config, &hooks, &error) != ST_OK)
        fail_msg("%s", error.text);
    pool_destroy(scene->context.runners);
    scene->context.runners = pool_create(1, 1, scene_do_nothing, &scene->context);
}

static inline void scene_close(struct scene *scene)
{
    daemon_lifecycle_close(&scene->context);
    place_remove(&scene->place);
}

static inline struct store_tx *scene_begin(struct scene *scene)
{
    struct store_tx *tx = NULL;
    assert_int_equal(store_begin(scene->context.store, STORE_LEDGER, &tx, NULL), ST_OK);
    return tx;
}

static inline void scene_commit(struct store_tx *tx, enum status status)
{
    assert_int_equal(status, ST_OK);
    assert_int_equal(store_commit(tx, NULL), ST_OK);
}

/* Returns how many steps of a job, or of any other charged object, are authorised, as
 * another process reads it. */
static inline uint64_t scene_authorised_on_disk(const struct scene *scene,
                                                const char *id)
{
    struct store *store = NULL;
    struct store_tx *tx = NULL;
    uint64_t authorised = 0;
    assert_int_equal(store_open_read(&store, scene->database, NULL), ST_OK);
    assert_int_equal(store_begin(store, STORE_LEDGER, &tx, NULL), ST_OK);
    assert_int_equal(mark_row_find(tx, id, &authorised, NULL), ST_OK);
    store_rollback(tx);
    store_close(store);
    return authorised;
}

/* Returns the path of a file of the data directory. */
static inline const char *scene_path(const struct scene *scene, const char *name)
{
    static char path[BLOB_PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", scene->place.folder, name);
    return path;
}

/* Declares a csv dataset with these columns, a label, and this member privacy, and
 * grants it in the ledger if privacy is a budget. */
static inline struct dataset *scene_declare_columns(struct scene *scene, const char *id,
                                                    const char *columns,
                                                    const char *privacy)
{
    char text[512];
    struct daemon_state *context = &scene->context;
    struct dataset_spec spec;
    struct dataset *dataset = NULL;
    snprintf(text, sizeof text,
             "{\"id\":\"%s\",\"format\":\"csv\",\"task\":\"classification\","
             "\"classes\":2,\"columns\":[%s,{\"name\":\"y\",\"kind\":\"label\","
             "\"values\":[\"a\",\"b\"]}],\"privacy\":%s}",
             id, columns, privacy);
    assert_int_equal(dataset_spec_parse(&spec, json_text_of(text), NULL), ST_OK);
    struct store_tx *tx = scene_begin(scene);
    assert_int_equal(
        datasets_add(context->datasets, tx,
                     &(struct dataset_addition){&spec, &principal_local, false},
                     &dataset, NULL),
        ST_OK);
    const struct dataset_spec *added = dataset_spec(dataset);
    const struct ledger_promise promise = {&added->id, &added->grant, &principal_local,
                                           NULL};
    scene_commit(tx, added->is_public
                         ? ST_OK
                         : ledger_grant(context->ledger, tx, &promise, NULL));
    return dataset;
}

/* Declares points on a line. */
static inline struct dataset *scene_declare(struct scene *scene, const char *id,
                                            const char *privacy)
{
    return scene_declare_columns(
        scene, id, "{\"name\":\"x\",\"kind\":\"numeric\",\"range\":[0,1]}", privacy);
}

/* Uploads SCENE_RECORDS points, the first of which has this x, and imports them. */
static inline struct dataset_info
scene_import(struct scene *scene, struct dataset *dataset, const char *first)
{
    char name[BLOB_FILE_NAME_SIZE];
    struct dataset_info info = {.state = DATASET_IMPORTING};
    snprintf(name, sizeof name, "uploads/%s.data", dataset_spec(dataset)->id.text);
    FILE *file = fopen(scene_path(scene, name), "w");
    assert_non_null(file);
    fprintf(file, "%s,a\n", first);
    for (int i = 1; i < SCENE_RECORDS; i++)
        fprintf(file, "%g,%s\n", i / (double)SCENE_RECORDS, i % 3 == 0 ? "a" : "b");
    assert_int_equal(fclose(file), 0);
    struct store_tx *tx = scene_begin(scene);
    scene_commit(tx, dataset_move(scene->context.datasets, tx, dataset, &info, NULL));
    importer_run(&scene->context, dataset);
    dataset_read(scene->context.datasets, dataset, &info);
    return info;
}

/* Returns the plan that planner_plan makes for a job on the dataset "points". */
static inline struct job_plan scene_plan(struct scene *scene, const char *algorithm,
                                         const char *rest)
{
    char body[512];
    struct job_request request;
    struct job_plan plan = {0};
    struct trainer_cost cost;
    struct error error = {0};
    const struct planner_inquiry inquiry = {&request, &principal_local, NULL};
    snprintf(body, sizeof body,
             "{\"dataset\":\"points\",\"model\":{\"preset\":\"linear\"},"
             "\"algorithm\":{%s},%s}",
             algorithm, rest);
    if (job_request_parse(&request, json_text_of(body), &error) != ST_OK ||
        planner_plan(&scene->context, &inquiry, &plan, &cost, &error) != ST_OK)
        fail_msg("%s", error.text);
    return plan;
}

/* Reserves m for the job and queues it as the write queue does. */
static inline struct job *scene_submit(struct scene *scene, struct job_plan *plan_take,
                                       const struct mechanism *m)
{
    struct job *job = NULL;
    struct ledger_entry_name entry = {0};
    struct job_addition addition = {.plan_take = plan_take, .owner = &principal_local};
    job_id_make(&addition.id);
    const struct ledger_claim claim = {&plan_take->request.dataset,
                                       &addition.id,
                                       m,
                                       &principal_local,
                                       PARTS_UNNAMED,
                                       NULL};
    struct store_tx *tx = scene_begin(scene);
    assert_int_equal(ledger_reserve(scene->context.ledger, tx, &claim, &entry, NULL),
                     ST_OK);
    addition.ledger_seq = entry.seq;
    scene_commit(tx, jobs_add(scene->context.jobs, tx, &addition, &job, NULL));
    return job;
}

/* Opens the scene with a queued job on "points", of 40 steps. */
static inline struct job *scene_open_with_job(struct scene *scene)
{
    scene_open(scene);
    struct dataset *points =
        scene_declare(scene, "points", "{\"epsilon\":8,\"delta\":1e-5}");
    assert_int_equal(scene_import(scene, points, "0").state, DATASET_READY);
    struct job_plan plan = scene_plan(
        scene, "\"name\":\"dpsgd\"",
        "\"batch_size\":50,\"steps\":40,\"privacy\":{\"noise_multiplier\":20}");
    return scene_submit(scene, &plan, &plan.mechanism);
}

#endif
