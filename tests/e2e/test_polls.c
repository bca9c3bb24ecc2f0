/* Goal: answers to polls are rendered once for each version of a job and shared. Each
 * must show the job as it is: after a change, to several clients at once, for more jobs
 * than there are cached answers, when the same job is requested in other ways, and
 * after a restart. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

enum { ANSWERS_KEPT = 1024, MANY_JOBS = ANSWERS_KEPT + 30, POLLERS = 3 };

static int begin(void **state)
{
    stage_begin_with(state, (const char *const[]){"--workers", "1", "--threads", "1",
                                                  "--queue-length-max", "2000", NULL});
    ready_points(&((struct stage *)*state)->client, "points", 500, 1, SAMPLE_BUDGET(8));
    return 0;
}

static const char *const two_workers[] = {"--workers", "2", NULL};

static int begin_two(void **state)
{
    return stage_begin_with(state, two_workers);
}

static struct client *client_of(void **state)
{
    return &((struct stage *)*state)->client;
}

static const char *submit_endless(struct client *client)
{
    return submit(client, SAMPLE_JOB, "points", SAMPLE_ENDLESS, 1000000.0);
}

static void assert_same_body(const struct reply *a, const struct reply *b)
{
    assert_int_equal(a->size, b->size);
    assert_memory_equal(a->body, b->body, a->size);
}

static void a_change_is_in_the_next_answer(void **state)
{
    struct client *client = client_of(state);
    char before[256], after[256], stale[300], path[80];
    const char *running = submit_endless(client), *queued = submit_endless(client);
    await_training(client, running);
    snprintf(path, sizeof path, "/v1/jobs/%s", queued);
    const struct reply *asked = client_get(client, "%s", path);
    assert_string_equal(reply_text(asked, "state"), "QUEUED");
    assert_true(reply_header(asked, "etag", before));
    assert_same_body(asked, client_get(client, "%s", path));
    const struct reply *cancelled = cancel(client, queued);
    const struct reply *then = client_get(client, "%s", path);
    assert_same_body(cancelled, then);
    assert_string_equal(reply_text(then, "state"), "CANCELLED");
    assert_true(reply_header(then, "etag", after));
    assert_string_not_equal(before, after);
    snprintf(stale, sizeof stale, "If-None-Match: %s", before);
    assert_status(client_get_with(client, path, stale), 200);
    const struct reply *page = client_get(client, "/v1/jobs?page_size=1");
    assert_string_equal(reply_text(page, "jobs.0.state"), "CANCELLED");
    cancel(client, running);
    assert_string_not_equal(
        reply_text(client_get(client, "/v1/jobs/%s", running), "state"), "RUNNING");
    await_end(client, running);
}

/* Only the name that a request gives itself (X-Request-Id) may differ. */
static void the_same_job_reads_the_same_however_it_is_asked(void **state)
{
    static const char *const names[] = {"etag", "cache-control", "content-type",
                                        "x-content-type-options", "retry-after"};
    struct client *client = client_of(state), other;
    client_init(&other, client->daemon);
    char path[80], plain[256], named[256];
    const char *job = submit_endless(client);
    await_training(client, job);
    const char *queued = submit_endless(client);
    snprintf(path, sizeof path, "/v1/jobs/%s", queued);
    const struct reply *one = client_get(client, "%s", path);
    const struct reply *two = client_get_with(&other, path, "X-Request-Id: mine-8");
    assert_same_body(one, two);
    assert_false(reply_header(one, "x-request-id", plain));
    assert_true(reply_header(two, "x-request-id", named));
    assert_string_equal(named, "mine-8");
    const struct reply *head =
        client_send(client, &(struct request){.method = "HEAD", .path = path});
    assert_status(head, 200);
    assert_int_equal(head->size, 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_true(reply_header(one, names[i], plain));
        assert_true(reply_header(two, names[i], named));
        assert_string_equal(plain, named);
        assert_true(reply_header(head, names[i], named));
        assert_string_equal(plain, named);
    }
    cancel(client, queued);
    cancel(client, job);
    await_end(client, job);
    assert_false(reply_header(client_get(client, "%s", path), "retry-after", plain));
    client_fini(&other);
}

struct poller {
    const struct daemon *daemon;
    const char *job;
    atomic_bool *cancelled; /* acknowledged before the poll was sent */
    unsigned polls, stale, backwards;
    bool saw_end;
};

enum { TAG_SIZE = 256, TAGS_MAX = 64, GROWING = 3 };

struct told { /* what a poller knows of the job */
    size_t rank;
    double numbers[GROWING];
    char tags[TAGS_MAX][TAG_SIZE]; /* (count), of different answers, oldest first */
    size_t count, last;            /* last: index of the last answer's tag */
};

/* The position of a cancelled job's state in the order of its states. */
static size_t rank_of(const struct reply *job)
{
    static const char *const states[] = {"QUEUED", "RUNNING", "CANCELLING",
                                         "CANCELLED"};
    size_t rank = 0;
    while (strcmp(reply_text(job, "state"), states[rank]) != 0)
        assert_true(++rank < sizeof states / sizeof states[0]);
    return rank;
}

/* Returns whether the answer is older than the earlier ones: in an earlier state, with
 * a number that decreased, or with a tag that another one has followed. */
static bool is_past(struct told *told, const struct reply *job)
{
    static const char *const growing[GROWING] = {
        "progress.step", "privacy.authorised_steps", "privacy.epsilon_spent"};
    char tag[TAG_SIZE];
    bool past = rank_of(job) < told->rank;
    told->rank = rank_of(job);
    for (size_t i = 0; i < GROWING; i++) {
        const double number = reply_number(job, growing[i]);
        past = past || number < told->numbers[i];
        told->numbers[i] = number;
    }
    assert_true(reply_header(job, "etag", tag));
    size_t place = 0;
    while (place < told->count && strcmp(told->tags[place], tag) != 0)
        place++;
    assert_true(place < TAGS_MAX);
    if (place == told->count)
        memcpy(told->tags[told->count++], tag, sizeof tag);
    past = past || place < told->last;
    told->last = place;
    return past;
}

static void *poll_until_the_end(void *argument)
{
    struct poller *poller = argument;
    struct told told = {0};
    while (!poller->saw_end) {
        struct client client;
        client_init(&client, poller->daemon);
        bool cancelled = atomic_load(poller->cancelled);
        const struct reply *reply = client_get(&client, "/v1/jobs/%s", poller->job);
        poller->backwards += is_past(&told, reply);
        poller->stale +=
            cancelled && strcmp(reply_text(reply, "state"), "RUNNING") == 0;
        poller->saw_end = strcmp(reply_text(reply, "state"), "CANCELLED") == 0;
        poller->polls++;
        client_fini(&client);
    }
    return NULL;
}

static void no_client_is_told_of_the_past(void **state)
{
    struct client *client = client_of(state);
    struct poller pollers[POLLERS];
    pthread_t threads[POLLERS];
    atomic_bool cancelled = false;
    const char *job = submit(client, SAMPLE_JOB, "points", SAMPLE_LONG, 1000000.0);
    await_training(client, job);
    for (int i = 0; i < POLLERS; i++) {
        pollers[i] = (struct poller){
            .daemon = client->daemon, .job = job, .cancelled = &cancelled};
        assert_int_equal(
            pthread_create(&threads[i], NULL, poll_until_the_end, &pollers[i]), 0);
    }
    /* Two changes of progress, then two of state. */
    double step = reply_number(client_get(client, "/v1/jobs/%s", job), "progress.step");
    step = reply_number(await_step(client, job, (uint64_t)step + 1), "progress.step");
    await_step(client, job, (uint64_t)step + 1);
    cancel(client, job);
    atomic_store(&cancelled, true);
    for (int i = 0; i < POLLERS; i++) {
        pthread_join(threads[i], NULL);
        assert_true(pollers[i].polls > 0);
        assert_int_equal(pollers[i].stale, 0);
        assert_int_equal(pollers[i].backwards, 0);
    }
}

/* The cached answers of the jobs that were requested longest ago are dropped, and made
 * again. */
static void more_jobs_than_answers_are_kept_of_read_right(void **state)
{
    struct client *client = client_of(state);
    const char **jobs = calloc(MANY_JOBS, sizeof *jobs);
    char *bodies[MANY_JOBS];
    const char *running = submit_endless(client);
    await_training(client, running);
    for (int i = 0; i < MANY_JOBS; i++)
        jobs[i] = submit_endless(client);
    for (int i = 0; i < MANY_JOBS; i++) {
        const struct reply *reply = client_get(client, "/v1/jobs/%s", jobs[i]);
        assert_string_equal(reply_text(reply, "id"), jobs[i]);
        assert_string_equal(reply_text(reply, "state"), "QUEUED");
        bodies[i] = reply->body;
    }
    const struct reply *page = client_get(client, "/v1/jobs?page_size=1000");
    for (int i = 0; i < 1000; i++) {
        const json_t *item =
            json_array_get(json_object_get(page->json, "jobs"), (size_t)i);
        assert_string_equal(json_string_value(json_object_get(item, "id")),
                            jobs[MANY_JOBS - 1 - i]);
    }
    for (int i = 0; i < MANY_JOBS; i++)
        assert_string_equal(client_get(client, "/v1/jobs/%s", jobs[i])->body,
                            bodies[i]);
    cancel(client, running);
    free(jobs);
}

/* Stores the pages of the list of all jobs, two a page, in texts; returns how many
 * there are. */
static size_t pages_of(struct client *client, const char *query, const char **texts)
{
    size_t count = 0;
    char path[300];
    snprintf(path, sizeof path, "/v1/jobs?page_size=2%s", query);
    for (;;) {
        const struct reply *page = client_get(client, "%s", path);
        texts[count++] = page->body;
        const json_t *next = reply_at(page, "next_page_token");
        if (json_is_null(next))
            return count;
        snprintf(path, sizeof path, "/v1/jobs?page_size=2%s&page_token=%s", query,
                 json_string_value(next));
    }
}

static void tag_of(char tag[256], struct client *client, const char *job)
{
    assert_true(reply_header(client_get(client, "/v1/jobs/%s", job), "etag", tag));
}

/* One job for every way in which a job can end, with evaluations and releases. queued
 * becomes the tag of the fifth while it was queued. */
static size_t end_jobs(struct client *client, const char **jobs, char queued[256])
{
    static const char learning[] =
        "{'dataset':'points','evaluation':'open','model':{'preset':'linear'},"
        "'algorithm':{'name':'%s'},'batch_size':50,'steps':40,"
        "'privacy':{'noise_multiplier':100}}";
    jobs[0] = submit(client, learning, "dpsgd");
    jobs[1] = submit(client, learning, "dcsgd_p");
    await_end(client, jobs[0]);
    await_end(client, jobs[1]);
    jobs[2] = submit(client, SAMPLE_JOB, "points", SAMPLE_ENDLESS, 100000.0);
    jobs[3] = submit(client, SAMPLE_JOB, "points", SAMPLE_ENDLESS, 100000.0);
    await_training(client, jobs[2]);
    await_training(client, jobs[3]);
    jobs[4] = submit(client, SAMPLE_JOB, "points", 10, 100000.0);
    tag_of(queued, client, jobs[4]);
    for (size_t i = 5; i-- > 2;) {
        cancel(client, jobs[i]);
        await_end(client, jobs[i]);
    }
    jobs[5] = submit(client, "{'dataset':'open','model':{'preset':'linear'},"
                             "'algorithm':{'name':'sgd'},'batch_size':50,'steps':3}");
    await_end(client, jobs[5]);
    return 6;
}

/* Requests a job with a tag and expects this status. */
static void assert_answered(struct client *client, const char *job, const char *tag,
                            unsigned status)
{
    char path[80], header[300];
    snprintf(path, sizeof path, "/v1/jobs/%s", job);
    snprintf(header, sizeof header, "If-None-Match: %s", tag);
    assert_status(client_get_with(client, path, header), status);
}

static void a_restart_changes_no_answer(void **state)
{
    enum { TEXTS_MAX = 32, JOBS = 6 };
    static const char *const queries[] = {"", "&state=CANCELLED", "&dataset=open"};
    struct stage *stage = *state;
    struct client *client = &stage->client;
    ready_points(client, "points", 500, 1, SAMPLE_BUDGET(4));
    ready_points(client, "open", 300, 2, SAMPLE_PUBLIC);
    const char *jobs[JOBS], *before[TEXTS_MAX], *after[TEXTS_MAX];
    char tags[JOBS][256], queued[256];
    size_t count = end_jobs(client, jobs, queued), texts = 0, again = 0;
    for (size_t i = 0; i < 3; i++)
        texts += pages_of(client, queries[i], before + texts);
    assert_int_equal(texts, 3 + 2 + 1);
    for (size_t i = 0; i < count; i++) {
        before[texts + i] = client_get(client, "/v1/jobs/%s", jobs[i])->body;
        tag_of(tags[i], client, jobs[i]);
    }
    assert_int_equal(daemon_stop(&stage->daemon, SIGTERM), 0);
    daemon_start(&stage->daemon, two_workers);
    for (size_t i = 0; i < 3; i++)
        again += pages_of(client, queries[i], after + again);
    assert_int_equal(again, texts);
    for (size_t i = 0; i < count; i++)
        after[texts + i] = client_get(client, "/v1/jobs/%s", jobs[i])->body;
    for (size_t i = 0; i < texts + count; i++)
        assert_string_equal(after[i], before[i]);
    /* A client whose tag is current gets 304, and one with an older tag gets the
     * job. */
    for (size_t i = 0; i < count; i++) {
        assert_answered(client, jobs[i], tags[i], 304);
        assert_answered(client, jobs[i], tags[(i + 1) % count], 200);
    }
    assert_answered(client, jobs[4], queued, 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_is_in_the_next_answer),
        cmocka_unit_test(the_same_job_reads_the_same_however_it_is_asked),
        cmocka_unit_test(no_client_is_told_of_the_past),
        cmocka_unit_test(more_jobs_than_answers_are_kept_of_read_right),
    };
    const struct CMUnitTest restarts[] = {
        cmocka_unit_test_setup_teardown(a_restart_changes_no_answer, begin_two,
                                        stage_end),
    };
    return cmocka_run_group_tests(tests, begin, stage_end) +
           cmocka_run_group_tests(restarts, NULL, NULL);
}
