/* Goal: event streams from outside: what they send, in which order and when, how a
 * client continues after it was cut off or reads late, and how streams end. */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/limits.h"
#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"
#include "tests/e2e/stream_fixture.h"

#define LEARNING                                                                       \
    "{'dataset':'points','evaluation':'open','model':{'preset':'linear'},'algorithm':" \
    "{'name':'%s'},'batch_size':50,'steps':%d,'privacy':{'noise_multiplier':%g}}"

static const char *const options[] = {"--workers",   "6",     "--threads", "1",
                                      "--log-level", "debug", NULL};

static int begin(void **state)
{
    stage_begin_with(state, options);
    struct client *client = &((struct stage *)*state)->client;
    ready_points(client, "points", 500, 1, SAMPLE_BUDGET(8));
    ready_points(client, "other", 500, 2, SAMPLE_BUDGET(8));
    ready_points(client, "open", 100, 3, SAMPLE_PUBLIC);
    return 0;
}

static struct client *client_of(void **state)
{
    return &((struct stage *)*state)->client;
}

static const char *events_of(const char *job)
{
    static char path[96];
    snprintf(path, sizeof path, "/v1/jobs/%s/events", job);
    return path;
}

static const char *text_at(const struct event *event, const char *name)
{
    const char *text = json_string_value(json_object_get(event->data, name));
    return text != NULL ? text : "";
}

static double number_at(const struct event *event, const char *name)
{
    return json_number_value(json_object_get(event->data, name));
}

static bool is_named(const struct event *event, const char *name)
{
    return strcmp(event->name, name) == 0;
}

static void assert_refused_for(const struct reply *reply, const char *parameter)
{
    assert_problem(reply, 400, "invalid_argument");
    assert_string_equal(reply_text(reply, "errors.0.parameter"), parameter);
}

/* --- what a stream sends --- */

struct heard {                       /* a job's events, from a snapshot to the end */
    double steps[2 * LIMIT_HISTORY]; /* of evaluations, including the snapshot's */
    size_t evaluations, released, progress;
    double last_step, last_at;
    char state[16], model[48];
};

static void hear_snapshot(struct heard *heard, const struct event *event)
{
    const json_t *metrics = json_object_get(event->data, "metrics");
    const json_t *history = json_object_get(metrics, "history");
    for (size_t i = 0; i < json_array_size(history); i++)
        heard->steps[heard->evaluations++] =
            json_number_value(json_object_get(json_array_get(history, i), "step"));
    heard->released += json_array_size(json_object_get(metrics, "released"));
    snprintf(heard->state, sizeof heard->state, "%s", text_at(event, "state"));
}

static void hear(struct heard *heard, const struct event *event)
{
    if (is_named(event, "snapshot"))
        hear_snapshot(heard, event);
    if (is_named(event, "evaluation"))
        heard->steps[heard->evaluations++] = number_at(event, "step");
    heard->released += is_named(event, "released");
    if (is_named(event, "progress")) {
        heard->progress++;
        assert_true(number_at(event, "step") >= heard->last_step);
        heard->last_step = number_at(event, "step");
    }
    if (is_named(event, "state") || is_named(event, "end"))
        snprintf(heard->state, sizeof heard->state, "%s", text_at(event, "state"));
    if (is_named(event, "end"))
        snprintf(heard->model, sizeof heard->model, "%s", text_at(event, "model"));
}

static void expect_all_evaluations(const struct heard *heard, const struct reply *job)
{
    const json_t *history = reply_at(job, "metrics.history");
    assert_int_equal(heard->evaluations, json_array_size(history));
    for (size_t i = 0; i < heard->evaluations; i++)
        assert_true(heard->steps[i] == json_number_value(json_object_get(
                                           json_array_get(history, i), "step")));
}

static void a_job_is_followed_to_its_end(void **state)
{
    struct client *client = client_of(state);
    struct event_stream stream;
    struct event event;
    struct heard heard = {0};
    const char *job = submit(client, LEARNING, "dcsgd_e", 30000 / SAMPLE_SHORTER, 3e3);
    stream_open(&stream, client->daemon, events_of(job), NULL);
    assert_int_equal(stream.status, 200);
    assert_non_null(strstr(stream.head, "Content-Type: text/event-stream\r\n"));
    assert_non_null(strstr(stream.head, "Cache-Control: no-store\r\n"));
    stream_expect(&stream, &event, "snapshot");
    assert_string_equal(text_at(&event, "id"), job);
    hear(&heard, &event);
    for (bool over = false; !over;) {
        event_fini(&event);
        assert_true(stream_next(&stream, &event));
        hear(&heard, &event);
        over = is_named(&event, "end");
        assert_true(!over || event.id[0] != '\0');
        assert_null(json_object_get(event.data, "histogram"));
    }
    event_fini(&event);
    assert_false(stream_next(&stream, &event));
    assert_true(stream.ended);
    stream_close(&stream);
    const struct reply *then = await_success(client, job);
    assert_string_equal(heard.state, "SUCCEEDED");
    assert_string_equal(heard.model, reply_text(then, "model"));
    expect_all_evaluations(&heard, then);
    assert_int_equal(heard.released,
                     json_array_size(reply_at(then, "metrics.released")));
}

static double wall_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* At most one progress event in each tick, so never more events than seconds have
 * begun; the first of these seconds may have begun before the job did. */
static void progress_comes_once_a_second(void **state)
{
    struct client *client = client_of(state);
    struct event_stream stream;
    struct event event;
    double begun = floor(wall_s());
    const char *job = submit(client, SAMPLE_JOB, "points", SAMPLE_LONG, 1e6);
    int seen = 0;
    stream_open(&stream, client->daemon, events_of(job), NULL);
    while (seen < 4) {
        assert_true(stream_next(&stream, &event));
        if (is_named(&event, "progress"))
            assert_true(++seen <= floor(event.at) - begun + 1);
        event_fini(&event);
    }
    cancel(client, job);
    while (stream_next(&stream, &event)) {
        if (is_named(&event, "end"))
            assert_string_equal(text_at(&event, "state"), "CANCELLED");
        event_fini(&event);
    }
    stream_close(&stream);
}

static void histograms_come_where_they_are_asked_for(void **state)
{
    struct client *client = client_of(state);
    struct event_stream stream;
    struct event event;
    char path[128];
    size_t histograms = 0;
    const char *job = submit(client, LEARNING, "dcsgd_e", 60000 / SAMPLE_SHORTER, 3e3);
    snprintf(path, sizeof path, "%s?histograms=1", events_of(job));
    stream_open(&stream, client->daemon, path, NULL);
    while (stream_next(&stream, &event)) {
        histograms += is_named(&event, "released") &&
                      json_is_array(json_object_get(event.data, "histogram"));
        event_fini(&event);
    }
    stream_close(&stream);
    assert_true(histograms > 0);
    assert_refused_for(client_get(client, "%s?histograms=2", events_of(job)),
                       "histograms");
}

/* --- continuing after a cut --- */

static void who_was_cut_off_goes_on_and_misses_nothing(void **state)
{
    struct client *client = client_of(state);
    struct heard heard = {0};
    char id[STREAM_ID_SIZE] = "", job[64];
    bool over = false;
    snprintf(job, sizeof job, "%s",
             submit(client, LEARNING, "dpsgd", 300000 / SAMPLE_SHORTER, 1e5));
    for (int cuts = 0; !over; cuts++) {
        struct event_stream stream;
        struct event event;
        stream_open(&stream, client->daemon, events_of(job), cuts > 0 ? id : NULL);
        assert_int_equal(stream.status, 200);
        /* Reads up to an event with an id: events before it that have none are sent
         * again. */
        bool whole = false;
        while (!whole && stream_next(&stream, &event)) {
            assert_true(cuts == 0 || !is_named(&event, "snapshot"));
            hear(&heard, &event);
            whole = event.id[0] != '\0';
            over = is_named(&event, "end");
            if (whole)
                memcpy(id, event.id, sizeof id);
            event_fini(&event);
        }
        stream_close(&stream);
    }
    expect_all_evaluations(&heard, await_success(client, job));
    char header[128];
    snprintf(header, sizeof header, "Last-Event-ID: %s", id);
    const struct reply *behind = client_get_with(client, events_of(job), header);
    assert_status(behind, 204);
    assert_int_equal(behind->size, 0);
}

/* Reads up to an event with an id; returns whether the end was among the events. */
static bool hear_whole(struct event_stream *stream, struct heard *heard,
                       char id[STREAM_ID_SIZE])
{
    struct event event;
    bool whole = false, over = false;
    while (!whole && stream_next(stream, &event)) {
        hear(heard, &event);
        whole = event.id[0] != '\0';
        over = is_named(&event, "end");
        if (whole)
            memcpy(id, event.id, STREAM_ID_SIZE);
        event_fini(&event);
    }
    assert_true(whole);
    return over;
}

static void restart(struct stage *stage)
{
    assert_int_equal(daemon_stop(&stage->daemon, SIGTERM), 0);
    daemon_start(&stage->daemon, options);
}

/* The id of an event refers to the job, so a daemon that was started again continues
 * after it like the one that sent it. The streams of lists begin again. */
static void who_was_cut_off_by_a_restart_goes_on_too(void **state)
{
    struct stage *stage = *state;
    struct client *client = client_of(state);
    struct event_stream stream, lists;
    struct event event;
    struct heard heard = {0};
    char id[STREAM_ID_SIZE], of_lists[STREAM_ID_SIZE], header[128], job[64];
    snprintf(job, sizeof job, "%s",
             submit(client, LEARNING, "dpsgd", 300000 / SAMPLE_SHORTER, 1e5));
    stream_open(&lists, client->daemon, "/v1/events", NULL);
    stream_expect(&lists, &event, "snapshot");
    memcpy(of_lists, event.id, sizeof of_lists);
    event_fini(&event);
    stream_close(&lists);
    stream_open(&stream, client->daemon, events_of(job), NULL);
    while (heard.evaluations == 0)
        assert_false(hear_whole(&stream, &heard, id));
    stream_close(&stream);
    restart(stage);
    size_t before = heard.evaluations;
    stream_open(&stream, client->daemon, events_of(job), id);
    stream_expect(&stream, &event, "evaluation");
    hear(&heard, &event);
    event_fini(&event);
    assert_true(hear_whole(&stream, &heard, id));
    stream_close(&stream);
    assert_true(heard.evaluations > before);
    expect_all_evaluations(&heard, client_get(client, "/v1/jobs/%s", job));
    snprintf(header, sizeof header, "Last-Event-ID: %s", id);
    assert_status(client_get_with(client, events_of(job), header), 204);
    restart(stage);
    assert_status(client_get_with(client, events_of(job), header), 204);
    stream_open(&lists, client->daemon, "/v1/events", of_lists);
    stream_expect(&lists, &event, "snapshot");
    event_fini(&event);
    stream_close(&lists);
}

static void an_id_that_is_not_known_begins_anew(void **state)
{
    struct client *client = client_of(state);
    struct event_stream stream;
    struct event event;
    char good[STREAM_ID_SIZE], ids[6][STREAM_ID_SIZE];
    char job[64];
    snprintf(job, sizeof job, "%s", submit(client, LEARNING, "dpsgd", 50, 1e3));
    await_success(client, job);
    stream_open(&stream, client->daemon, events_of(job), NULL);
    stream_expect(&stream, &event, "snapshot");
    event_fini(&event);
    stream_expect(&stream, &event, "end");
    memcpy(good, event.id, sizeof good);
    event_fini(&event);
    stream_close(&stream);
    snprintf(ids[0], sizeof ids[0], "garbage");
    snprintf(ids[1], sizeof ids[1], "0000000000000000-1");
    snprintf(ids[2], sizeof ids[2], "%.16s-99999999999", good);
    snprintf(ids[3], sizeof ids[3], "%.16s-99999999999999999999999", good);
    snprintf(ids[4], sizeof ids[4], "%.16s--1", good);
    snprintf(ids[5], sizeof ids[5], "%.16s-99999999999-1-1-1-1", good);
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        stream_open(&stream, client->daemon, events_of(job), ids[i]);
        assert_int_equal(stream.status, 200);
        stream_expect(&stream, &event, "snapshot");
        event_fini(&event);
        stream_close(&stream);
    }
}

static void a_head_is_asked_for_without_following(void **state)
{
    struct client *client = client_of(state);
    char type[256];
    const struct reply *head =
        client_send(client, &(struct request){.method = "HEAD", .path = "/v1/events"});
    assert_status(head, 200);
    assert_int_equal(head->size, 0);
    assert_true(reply_header(head, "content-type", type));
    assert_string_equal(type, "text/event-stream");
    assert_problem(client_get(client, "/v1/jobs/job_01JJZ0000000000000000000AB/events"),
                   404, "not_found");
    assert_problem(client_get_with(client, "/v1/events", "Accept: application/json"),
                   406, "not_acceptable");
    assert_problem(client_get(client, "/v1/events?dataset=nowhere"), 404, "not_found");
    assert_refused_for(client_get(client, "/v1/events?dataset=NO"), "dataset");
}

/* --- lists --- */

static void lists_tell_of_every_job_and_of_budgets(void **state)
{
    struct client *client = client_of(state);
    struct event_stream all, one;
    struct event event;
    bool ended = false, held = false, spent = false;
    stream_open(&all, client->daemon, "/v1/events", NULL);
    stream_expect(&all, &event, "snapshot");
    assert_true(json_is_null(json_object_get(event.data, "dataset")));
    event_fini(&event);
    stream_open(&one, client->daemon, "/v1/events?dataset=other", NULL);
    stream_expect(&one, &event, "snapshot");
    assert_string_equal(text_at(&event, "dataset"), "other");
    event_fini(&event);
    assert_status(declare_points(client, "announced", SAMPLE_PUBLIC), 201);
    stream_expect(&all, &event, "dataset");
    assert_string_equal(text_at(&event, "id"), "announced");
    assert_string_equal(text_at(&event, "state"), "CREATED");
    event_fini(&event);
    const char *first = submit(client, SAMPLE_JOB, "points", 5000, 1e3);
    const char *second = submit(client, SAMPLE_JOB, "other", 5000, 1e3);
    while (!ended) { /* the stream of one dataset has no events of others */
        assert_true(stream_next(&one, &event));
        assert_string_not_equal(text_at(&event, "id"), first);
        ended = strcmp(text_at(&event, "state"), "SUCCEEDED") == 0;
        event_fini(&event);
    }
    const struct reply *budget = client_get(client, "/v1/datasets/other/budget");
    for (ended = false; !ended || !spent;) { /* the stream of all has events of both */
        assert_true(stream_next(&all, &event));
        ended = ended || (strcmp(text_at(&event, "id"), second) == 0 &&
                          strcmp(text_at(&event, "state"), "SUCCEEDED") == 0);
        if (is_named(&event, "budget") &&
            strcmp(text_at(&event, "dataset"), "other") == 0) {
            held = held || json_number_value(json_object_get(
                               json_object_get(event.data, "share"), "held")) > 0;
            spent = number_at(&event, "epsilon_spent") ==
                    reply_number(budget, "epsilon_spent");
        }
        event_fini(&event);
    }
    stream_close(&all);
    stream_close(&one);
    await_success(client, first);
}

/* --- time --- */

enum { JOBS = 6, EACH = 5 };

/* Returns the mean position within a second at which the events of several jobs
 * arrive. */
static double phase_of_events(struct client *client)
{
    struct event_stream streams[JOBS];
    const char *jobs[JOBS];
    struct event event;
    double sum = 0;
    int count = 0;
    for (int i = 0; i < JOBS; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 170000000}, NULL);
        jobs[i] =
            submit(client, SAMPLE_JOB, "open", SAMPLE_LONG + 7919U * (unsigned)i, 1e6);
        stream_open(&streams[i], client->daemon, events_of(jobs[i]), NULL);
        stream_expect(&streams[i], &event, "snapshot");
        event_fini(&event);
    }
    for (int round = 0; round < EACH; round++) {
        for (int i = 0; i < JOBS; i++) {
            assert_true(stream_next(&streams[i], &event));
            sum += fmod(event.at, 1);
            count++;
            event_fini(&event);
        }
    }
    for (int i = 0; i < JOBS; i++) {
        cancel(client, jobs[i]);
        stream_close(&streams[i]);
    }
    for (int i = 0; i < JOBS; i++)
        await_end(client, jobs[i]);
    assert_int_equal(count, JOBS * EACH);
    return sum / count;
}

/* All events of a stream arrive when a second has begun. If they were sent as they
 * happen they would fall anywhere within a second, with a mean of 1/2 and a deviation
 * of 1/sqrt(12 n); five deviations would never be seen, in none of the tries. A client
 * that reads late on a busy machine tries again. */
static void events_come_when_a_second_begins(void **state)
{
    enum { TRIES = 8 };
    int tries = 1;
    while (!(phase_of_events(client_of(state)) < 0.5 - 5 / sqrt(12.0 * JOBS * EACH)))
        assert_in_range(++tries, 1, TRIES);
}

/* --- slow readers, and the end --- */

/* A client that reads nothing for a while misses progress events but no evaluation. */
static void who_reads_late_has_missed_no_evaluation(void **state)
{
    struct client *client = client_of(state);
    struct event_stream stream;
    struct event event;
    struct heard heard = {0};
    const char *job = submit(client, LEARNING, "dpsgd", 300000 / SAMPLE_SHORTER, 1e5);
    stream_open(&stream, client->daemon, events_of(job), NULL);
    const struct reply *then = await_success(client, job);
    while (stream_next(&stream, &event)) {
        hear(&heard, &event);
        event_fini(&event);
    }
    stream_close(&stream);
    expect_all_evaluations(&heard, then);
}

static void a_stop_ends_streams(void **state)
{
    struct stage *stage = *state;
    struct event_stream stream;
    struct event event;
    stream_open(&stream, &stage->daemon, "/v1/events", NULL);
    stream_expect(&stream, &event, "snapshot");
    event_fini(&event);
    assert_int_equal(kill(stage->daemon.pid, SIGTERM), 0);
    while (stream_next(&stream, &event))
        event_fini(&event);
    assert_true(stream.ended);
    stream_close(&stream);
    assert_int_equal(daemon_wait(&stage->daemon), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_is_followed_to_its_end),
        cmocka_unit_test(progress_comes_once_a_second),
        cmocka_unit_test(histograms_come_where_they_are_asked_for),
        cmocka_unit_test(who_was_cut_off_goes_on_and_misses_nothing),
        cmocka_unit_test(who_was_cut_off_by_a_restart_goes_on_too),
        cmocka_unit_test(an_id_that_is_not_known_begins_anew),
        cmocka_unit_test(a_head_is_asked_for_without_following),
        cmocka_unit_test(lists_tell_of_every_job_and_of_budgets),
        cmocka_unit_test(events_come_when_a_second_begins),
        cmocka_unit_test(who_reads_late_has_missed_no_evaluation),
        cmocka_unit_test(a_stop_ends_streams),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
