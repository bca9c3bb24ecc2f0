/* Goal: the events of a job and of the lists report what a poll would, in the order in
 * which it was shown, from any cursor on: nothing that was only recorded, and each
 * point exactly once. Method: a service on its own directory whose runs and ticks the
 * test controls. */
#include "service/process/daemon_state.h"
#include "service/datasets/dataset_info.h"
#include "service/datasets/datasets.h"
#include "service/jobs/job_events.h"

#include "service/datasets/dataset_changes.h"
#include "service/runs/run_result.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/job_admin.h"
#include "service/jobs/list_events.h"
#include "service/server/clock_tick.h"
#include "tests/expect.h"
#include "tests/service/service_fixture.h"

enum { FIRST = 1000, MANY = 40 };

struct scene_job {
    struct scene scene;
    struct job *job;
    struct event_feed feed;
};

static struct job *submit(struct scene *scene)
{
    struct job_plan plan = scene_plan(
        scene, "\"name\":\"dpsgd\"",
        "\"batch_size\":50,\"steps\":1000,\"privacy\":{\"noise_multiplier\":1000}");
    return scene_submit(scene, &plan, &plan.mechanism);
}

static void begin(struct scene_job *with)
{
    struct scene *scene = &with->scene;
    scene_open(scene);
    scene_import(
        scene, scene_declare(scene, "points", "{\"epsilon\":8,\"delta\":1e-5}"), "0.5");
    with->job = submit(scene);
    with->feed = job_events_feed(&scene->context, with->job, false);
    clock_tick_run(&scene->context, FIRST); /* it begins */
}

/* Returns what is newer than the cursor, and moves the cursor past it. The caller frees
 * it. */
static char *read_news(const struct event_feed *feed, struct event_cursor *cursor,
                       bool *is_last)
{
    const struct event_key key = {.subject = feed->subject,
                                  .version = feed->kind->version(feed),
                                  .from = *cursor};
    struct event_batch *batch = feed->kind->compose(feed, &key);
    char *text = strndup(batch->text, batch->size);
    *cursor = batch->to;
    if (is_last != NULL)
        *is_last = batch->is_last;
    event_batch_drop(batch);
    return text;
}

static void assert_news(const struct event_feed *feed, struct event_cursor *cursor,
                        const char *expected)
{
    char *text = read_news(feed, cursor, NULL);
    if (strcmp(text, expected) != 0)
        fail_msg("%s\nand not\n%s", text, expected);
    free(text);
}

static void assert_holds(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("no %s in %s", part, text);
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        count++;
    return count;
}

static void record(struct scene_job *with, uint64_t step, bool evaluated)
{
    struct jobs *jobs = with->scene.context.jobs;
    const struct job_progress progress = {
        .step = step, .authorised_steps = step + 10, .epsilon_spent = 0.25};
    const struct evaluation_point point = {.step = step, .loss = 0.5, .quality = 0.75};
    job_record(jobs, with->job, &progress, evaluated ? &point : NULL);
}

static void hand_over(struct scene_job *with)
{
    struct run_result *ending = run_result_create();
    ending->status = ST_INTERNAL;
    ending->reason = REASON_DIVERGED;
    job_hand_over(with->scene.context.jobs, with->job, ending);
}

/* Returns the id in the second to last line of the text. */
static const char *id_in(const char *text)
{
    static char id[64];
    const char *at = strstr(text, "\nid: ");
    assert_non_null(at);
    assert_int_equal(sscanf(at, "\nid: %63s", id), 1);
    assert_string_equal(at + 5 + strlen(id), "\n\n"); /* the last event ends the text */
    return id;
}

static void what_is_recorded_is_no_event_before_the_tick(void **state)
{
    (void)state;
    char expected[512];
    struct scene_job with;
    struct event_cursor cursor = {0};
    begin(&with);
    free(read_news(&with.feed, &cursor, NULL));
    uint64_t version = cursor.version;
    record(&with, 10, true);
    assert_true(with.feed.kind->version(&with.feed) == version);
    assert_news(&with.feed, &cursor, "");
    clock_tick_run(&with.scene.context, FIRST + 2);
    assert_true(with.feed.kind->version(&with.feed) > version);
    snprintf(expected, sizeof expected,
             "event: evaluation\ndata: {\"step\":10,\"accuracy\":0.75,\"loss\":0.5}\n\n"
             "event: progress\ndata: {\"id\":\"%s\",\"step\":10,\"steps\":1000,"
             "\"epsilon_spent\":0.25,\"seconds_left\":198}\nid: %s-%llu-1-0-10-1\n\n",
             job_id(with.job)->text, with.scene.context.nonce,
             (unsigned long long)with.feed.kind->version(&with.feed));
    assert_news(&with.feed, &cursor, expected);
    assert_news(&with.feed, &cursor, "");
    hand_over(&with);
    assert_news(&with.feed, &cursor, "");
    scene_close(&with.scene);
}

static void the_end_is_the_last_event_and_its_id_is_known(void **state)
{
    (void)state;
    bool is_last = false, ended = false;
    struct scene_job with;
    struct event_cursor cursor = {0}, again;
    begin(&with);
    char *snapshot = read_news(&with.feed, &cursor, &is_last);
    assert_holds(snapshot, "event: snapshot\ndata: {\"id\":\"job_");
    assert_holds(snapshot, "\"state\":\"RUNNING\"");
    assert_false(is_last);
    char before[64];
    snprintf(before, sizeof before, "%s", id_in(snapshot));
    record(&with, 20, true);
    hand_over(&with);
    clock_tick_run(&with.scene.context, FIRST + 1);
    char *news = read_news(&with.feed, &cursor, &is_last);
    assert_true(is_last);
    assert_int_equal(count_of(news, "event: "), 4);
    assert_holds(news, "\"state\":\"FAILED\",\"state_reason\":\"diverged\"");
    assert_holds(news, "event: end\ndata: {\"state\":\"FAILED\",\"model\":null}\nid: ");
    again = job_events_cursor(&with.feed, id_in(news), &ended);
    assert_true(ended && again.begun);
    again = job_events_cursor(&with.feed, before, &ended);
    assert_false(ended);
    char *resumed = read_news(&with.feed, &again, &is_last);
    assert_string_equal(resumed, news);
    free(resumed);
    free(news);
    free(snapshot);
    scene_close(&with.scene);
}

static void ids_that_are_not_known_begin_anew(void **state)
{
    (void)state;
    bool ended = true;
    struct scene_job with;
    char ahead[64];
    begin(&with);
    snprintf(ahead, sizeof ahead, "%s-1000000-0-0-0-1", with.scene.context.nonce);
    const char *const ids[] = {NULL, "", "x", "0000000000000000-1", ahead};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        assert_false(job_events_cursor(&with.feed, ids[i], &ended).begun);
        assert_false(ended);
        assert_false(list_events_cursor(&with.feed, ids[i]).begun);
    }
    scene_close(&with.scene);
}

/* Pretends that another daemon sent the earlier events. */
static struct event_cursor cursor_of_another(struct scene_job *with, const char *id,
                                             bool *ended)
{
    char *nonce = with->scene.context.nonce;
    assert_memory_equal(nonce, id, strlen(nonce));
    memset(nonce, 'e', strlen(nonce));
    return job_events_cursor(&with->feed, id, ended);
}

static void another_daemon_goes_on_behind_every_point_that_was_read(void **state)
{
    (void)state;
    bool ended = true, is_last = false;
    struct scene_job with;
    struct event_cursor cursor = {0};
    begin(&with);
    free(read_news(&with.feed, &cursor, NULL));
    record(&with, 10, true);
    clock_tick_run(&with.scene.context, FIRST + 1);
    char *news = read_news(&with.feed, &cursor, NULL);
    record(&with, 20, true);
    record(&with, 30, true);
    clock_tick_run(&with.scene.context, FIRST + 2);
    struct event_cursor other = cursor_of_another(&with, id_in(news), &ended);
    assert_true(other.begun);
    assert_false(ended);
    assert_true(other.version < with.feed.kind->version(&with.feed));
    free(news);
    news = read_news(&with.feed, &other, NULL);
    assert_int_equal(count_of(news, "event: evaluation"), 2);
    assert_holds(news, "data: {\"step\":20,");
    assert_holds(news, "data: {\"step\":30,");
    assert_int_equal(count_of(news, "event: progress"), 1);
    assert_int_equal(count_of(news, "event: state"), 1);
    assert_int_equal(count_of(news, "event: change"), 1);
    assert_int_equal(count_of(news, "event: "), 5);
    assert_news(&with.feed, &other, ""); /* once */
    free(news);
    record(&with, 40, true);
    hand_over(&with);
    clock_tick_run(&with.scene.context, FIRST + 3);
    news = read_news(&with.feed, &other, &is_last);
    assert_int_equal(count_of(news, "event: evaluation"), 1);
    assert_true(is_last);
    memset(with.scene.context.nonce, 'e', strlen(with.scene.context.nonce));
    char id[64];
    snprintf(id, sizeof id, "%s", id_in(news));
    memset(with.scene.context.nonce, 'd', strlen(with.scene.context.nonce));
    assert_true(job_events_cursor(&with.feed, id, &ended).begun && ended);
    free(news);
    scene_close(&with.scene);
}

/* This daemon shows less than the client read elsewhere: nothing goes back, nothing
 * comes twice. */
static void a_daemon_that_knows_less_waits_until_it_knows_more(void **state)
{
    (void)state;
    bool ended = true;
    struct scene_job with;
    char id[64];
    begin(&with);
    record(&with, 10, true);
    clock_tick_run(&with.scene.context, FIRST + 1);
    snprintf(id, sizeof id,
             "0123456789abcdef-9-3-0-30-3"); /* three points, and ended */
    struct event_cursor cursor = job_events_cursor(&with.feed, id, &ended);
    assert_true(cursor.begun);
    assert_false(ended);
    char *news = read_news(&with.feed, &cursor, NULL);
    assert_int_equal(count_of(news, "event: "), 1);
    assert_holds(news, "event: change");
    free(news);
    record(&with, 20, true);
    clock_tick_run(&with.scene.context, FIRST + 2);
    assert_news(&with.feed, &cursor, "");
    record(&with, 30, true);
    record(&with, 40, true);
    clock_tick_run(&with.scene.context, FIRST + 3);
    news = read_news(&with.feed, &cursor, NULL);
    assert_int_equal(count_of(news, "event: evaluation"), 1);
    assert_holds(news, "data: {\"step\":40,");
    assert_int_equal(count_of(news, "event: progress"), 1);
    free(news);
    scene_close(&with.scene);
}

/* More points than one batch takes: they arrive in order, and the id with the last of
 * them. */
static void many_points_come_in_several_batches(void **state)
{
    (void)state;
    struct scene_job with;
    struct event_cursor cursor = {0};
    size_t points = 0, ids = 0, batches = 0;
    begin(&with);
    free(read_news(&with.feed, &cursor, NULL));
    for (uint64_t step = 1; step <= MANY; step++)
        record(&with, step, true);
    clock_tick_run(&with.scene.context, FIRST + 1);
    for (; ids == 0; batches++) {
        char *news = read_news(&with.feed, &cursor, NULL);
        points += count_of(news, "event: evaluation");
        ids += count_of(news, "\nid: ");
        free(news);
    }
    assert_int_equal(points, MANY);
    assert_true(batches > 1);
    assert_true(cursor.version == with.feed.kind->version(&with.feed));
    scene_close(&with.scene);
}

static void lists_tell_each_change_once_and_its_budget(void **state)
{
    (void)state;
    struct scene_job with;
    begin(&with);
    struct daemon_state *context = &with.scene.context;
    const struct dataset *points = datasets_find(context->datasets, "points");
    struct event_feed all = list_events_feed(context, NULL, "");
    struct event_feed of_points = list_events_feed(context, points, "default");
    struct dataset *other = scene_declare(&with.scene, "other", "\"public\"");
    struct event_feed of_other = list_events_feed(context, other, "");
    struct event_feed of_strangers = list_events_feed(context, NULL, "strangers");
    struct event_cursor cursor = {0}, same = {0}, none = {0}, stranger = {0};
    char *text = read_news(&all, &cursor, NULL);
    assert_holds(text, "event: snapshot\ndata: {\"dataset\":null}\nid: ");
    free(text);
    free(read_news(&of_points, &same, NULL));
    free(read_news(&of_other, &none, NULL));
    free(read_news(&of_strangers, &stranger, NULL));
    struct job *second = submit(&with.scene);
    record(&with, 10, false);
    clock_tick_run(context, FIRST + 1);
    char *news = read_news(&all, &cursor, NULL);
    assert_int_equal(count_of(news, "event: state"), 1);
    assert_int_equal(count_of(news, "event: progress"), 1);
    assert_int_equal(count_of(news, "event: budget"), 1);
    assert_holds(news, job_id(second)->text);
    assert_holds(news,
                 "\"state\":\"QUEUED\",\"state_reason\":null,\"queue_position\":1");
    assert_holds(news, "data: {\"dataset\":\"points\",\"share\":{\"order\":");
    text = read_news(&of_points, &same, NULL);
    assert_string_equal(text, news);
    free(text);
    assert_news(&of_other, &none, "");
    assert_news(&of_strangers, &stranger, "");
    assert_true(none.version == cursor.version);
    assert_news(&all, &cursor, "");
    free(news);
    scene_close(&with.scene);
}

/* --- datasets --- */

static void a_dataset_that_is_registered_or_moves_is_told(void **state)
{
    (void)state;
    struct scene_job with;
    begin(&with);
    struct daemon_state *context = &with.scene.context;
    struct event_feed all = list_events_feed(context, NULL, "");
    struct event_feed of_strangers = list_events_feed(context, NULL, "strangers");
    struct event_feed of_points =
        list_events_feed(context, datasets_find(context->datasets, "points"), "");
    struct event_cursor cursor = {0}, strangers = {0}, points = {0};
    free(read_news(&all, &cursor, NULL));
    free(read_news(&of_strangers, &strangers, NULL));
    free(read_news(&of_points, &points, NULL));
    struct dataset *dataset = scene_declare(&with.scene, "more", "\"public\"");
    char *news = read_news(&all, &cursor, NULL);
    assert_holds(news, "event: dataset\ndata: {\"id\":\"more\",\"state\":\"CREATED\"}");
    assert_int_equal(count_of(news, "event:"), 1);
    free(news);
    assert_int_equal(scene_import(&with.scene, dataset, "0.25").state, DATASET_READY);
    news = read_news(&all, &cursor, NULL);
    assert_holds(news, "event: dataset\ndata: {\"id\":\"more\",\"state\":\"READY\"}");
    assert_int_equal(count_of(news, "event:"), 1);
    free(news);
    assert_news(&all, &cursor, "");
    assert_news(&of_strangers, &strangers, "");
    assert_news(&of_points, &points, "");
    scene_close(&with.scene);
}

/* More changes than are remembered: the client must read the lists again, once. */
static void whoever_misses_datasets_is_told_so(void **state)
{
    (void)state;
    struct scene_job with;
    begin(&with);
    struct daemon_state *context = &with.scene.context;
    const struct dataset_id points = {"points"};
    struct event_feed all = list_events_feed(context, NULL, "");
    struct event_cursor cursor = {0};
    free(read_news(&all, &cursor, NULL));
    for (int more = 0; more < 2; more++) {
        struct event_cursor slow = cursor;
        for (int i = 0; i < DATASET_CHANGES_KEPT + more; i++)
            jobs_note_dataset(context->jobs, &points);
        char *news = read_news(&all, &slow, NULL);
        assert_holds(news, more ? "event: snapshot" : "event: dataset");
        assert_int_equal(count_of(news, "event:"), 1);
        free(news);
        assert_news(&all, &slow, "");
        cursor = slow;
    }
    scene_close(&with.scene);
}

static void a_name_is_a_change_that_is_told(void **state)
{
    (void)state;
    char expected[128];
    struct scene_job with;
    struct event_cursor cursor = {0};
    struct caption named = {0}; /* unchanged: setting it again is also a change */
    begin(&with);
    free(read_news(&with.feed, &cursor, NULL));
    struct store_tx *tx = scene_begin(&with.scene);
    scene_commit(tx,
                 job_caption_put(with.scene.context.jobs, tx, with.job, &named, NULL));
    snprintf(expected, sizeof expected,
             "event: change\ndata: {\"id\":\"%s\"}\nid: ", job_id(with.job)->text);
    char *news = read_news(&with.feed, &cursor, NULL);
    assert_holds(news, expected);
    assert_int_equal(count_of(news, "event: "), 1);
    free(news);
    scene_close(&with.scene);
}

/* A cached line equals a newly composed one, and follows the job's newest version. */
static void a_line_of_a_list_follows_its_job(void **state)
{
    (void)state;
    struct scene_job with;
    begin(&with);
    struct jobs *jobs = with.scene.context.jobs;
    char *before = job_summary_text(jobs, with.job);
    char *again = job_summary_text(jobs, with.job);
    assert_string_equal(before, again);
    assert_holds(before, "\"progress\":{\"step\":0,");
    record(&with, 30, true);
    clock_tick_run(&with.scene.context, FIRST + 1);
    char *then = job_summary_text(jobs, with.job);
    assert_holds(then, "\"progress\":{\"step\":30,");
    assert_holds(then, "\"evaluation\":{\"step\":30,");
    assert_null(strstr(then, "history"));
    free(before);
    free(again);
    free(then);
    scene_close(&with.scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_recorded_is_no_event_before_the_tick),
        cmocka_unit_test(the_end_is_the_last_event_and_its_id_is_known),
        cmocka_unit_test(ids_that_are_not_known_begin_anew),
        cmocka_unit_test(another_daemon_goes_on_behind_every_point_that_was_read),
        cmocka_unit_test(a_daemon_that_knows_less_waits_until_it_knows_more),
        cmocka_unit_test(many_points_come_in_several_batches),
        cmocka_unit_test(lists_tell_each_change_once_and_its_budget),
        cmocka_unit_test(a_dataset_that_is_registered_or_moves_is_told),
        cmocka_unit_test(whoever_misses_datasets_is_told_so),
        cmocka_unit_test(a_name_is_a_change_that_is_told),
        cmocka_unit_test(a_line_of_a_list_follows_its_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
