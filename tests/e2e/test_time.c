/* Goal: the only things that reveal how long a run took are few marks, each after a
 * random wait, at whole seconds. Method: two jobs of different private speed are
 * compared byte by byte from outside, and everything that carries or could carry a time
 * is examined: ids, hashes, progress, versions, the order of entries, the moments at
 * which waiting clients are answered. A slow run is one whose daemon is stopped for
 * moments at a time. */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/expect.h"
#include "tests/e2e/chain_fixture.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"
#include "tests/e2e/stream_fixture.h"

enum { WORKERS = 6 };
#define STEPS   (150000 / SAMPLE_SHORTER)
#define QUARTER (STEPS / 4)

#define LEARNING                                                                       \
    "{'dataset':'%s','evaluation':'open','model':{'preset':'linear'},'algorithm':"     \
    "{'name':'dpsgd'},'batch_size':50,'steps':%d,'privacy':{'noise_multiplier':%g}}"

static double wall(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static time_t time_of(const char *text)
{
    struct tm parts = {0};
    assert_int_equal(sscanf(text, "%d-%d-%dT%d:%d:%dZ", &parts.tm_year, &parts.tm_mon,
                            &parts.tm_mday, &parts.tm_hour, &parts.tm_min,
                            &parts.tm_sec),
                     6);
    parts.tm_year -= 1900;
    parts.tm_mon--;
    return timegm(&parts);
}

/* Returns the seconds since 1970 in the first ten characters of an id's ULID. */
static double ulid_time(const char *id)
{
    static const char crockford[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    double ms = 0;
    for (int i = 4; i < 14; i++) {
        const char *digit = strchr(crockford, id[i]);
        assert_non_null(digit);
        ms = 32 * ms + (double)(digit - crockford);
    }
    return ms / 1000;
}

/* --- two jobs --- */

struct stalls { /* of a daemon that is stopped for moments at a time */
    pid_t pid;
    atomic_bool over;
};

static void *stall(void *argument)
{
    struct stalls *stalls = argument;
    const struct timespec moment = {.tv_nsec = 50000000};
    while (!atomic_load(&stalls->over)) {
        assert_int_equal(kill(stalls->pid, SIGSTOP), 0);
        nanosleep(&moment, NULL);
        assert_int_equal(kill(stalls->pid, SIGCONT), 0);
        nanosleep(&moment, NULL);
    }
    return NULL;
}

enum { SHOWN_MAX = 4000 };

struct seen { /* all that is visible of a job from its submission to its end */
    double before, after; /* the test's clock before and after its submission */
    const struct reply *job, *model;
    char *entry; /* the bytes of its COMMIT */
    unsigned long first_version, last_version;
    size_t count;
    double steps[SHOWN_MAX], authorised[SHOWN_MAX], spent[SHOWN_MAX];
    double evaluated[SHOWN_MAX]; /* step of the last evaluation shown */
};

/* Returns the version that the stream of its events counts: changes of any job, and of
 * datasets. */
static unsigned long version_of(const struct client *client, const char *job)
{
    char path[96];
    struct event_stream stream;
    struct event event;
    snprintf(path, sizeof path, "/v1/jobs/%s/events", job);
    stream_open(&stream, client->daemon, path, NULL);
    stream_expect(&stream, &event, "snapshot");
    while (event.id[0] == '\0') { /* for an ended job it comes with the end */
        event_fini(&event);
        assert_true(stream_next(&stream, &event));
    }
    unsigned long version = strtoul(strchr(event.id, '-') + 1, NULL, 10);
    event_fini(&event);
    stream_close(&stream);
    return version;
}

static bool is_over(const struct reply *job)
{
    return !json_is_null(reply_at(job, "end_time"));
}

static void note(struct seen *seen, const struct reply *job)
{
    assert_true(seen->count < SHOWN_MAX);
    seen->steps[seen->count] = reply_number(job, "progress.step");
    const json_t *history = reply_at(job, "metrics.history");
    const json_t *last = json_array_get(history, json_array_size(history) - 1);
    seen->evaluated[seen->count] = json_number_value(json_object_get(last, "step"));
    seen->authorised[seen->count] = reply_number(job, "privacy.authorised_steps");
    seen->spent[seen->count++] = reply_number(job, "privacy.epsilon_spent");
    seen->job = job;
}

/* Notes every version of it: each answer has a different ETag than the one before. */
static void follow(struct client *client, struct seen *seen, const char *id)
{
    char path[80], tag[256], header[300];
    snprintf(path, sizeof path, "/v1/jobs/%s?wait=20", id);
    seen->first_version = version_of(client, id);
    note(seen, client_get(client, "/v1/jobs/%s", id));
    while (!is_over(seen->job)) {
        assert_true(reply_header(seen->job, "etag", tag));
        snprintf(header, sizeof header, "If-None-Match: %s", tag);
        const struct reply *next = client_get_with(client, path, header);
        if (next->status == 200)
            note(seen, next);
    }
    seen->last_version = version_of(client, id);
    assert_string_equal(reply_text(seen->job, "state"), "SUCCEEDED");
}

/* Returns the bytes of the job's COMMIT in the ledger's lines. */
static char *commit_of(struct client *client, const char *dataset, const char *job)
{
    char path[96], *rest = NULL;
    snprintf(path, sizeof path, "/v1/datasets/%s/ledger?page_size=1000", dataset);
    const struct reply *lines =
        client_get_with(client, path, "Accept: application/x-ndjson");
    assert_status(lines, 200);
    char *text = strdup(lines->body), *found = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL && found == NULL;
         line = strtok_r(NULL, "\n", &rest))
        if (strstr(line, job) != NULL && strstr(line, "\"COMMIT\"") != NULL)
            found = strdup(line);
    free(text);
    assert_non_null(found);
    return found;
}

static void see(struct stage *stage, struct seen *seen, const char *dataset,
                bool stalled)
{
    struct client *client = &stage->client;
    struct stalls stalls = {.pid = stage->daemon.pid};
    pthread_t thread;
    seen->before = wall();
    const char *id = submit(client, LEARNING, dataset, STEPS, 1e5);
    seen->after = wall();
    if (stalled)
        assert_int_equal(pthread_create(&thread, NULL, stall, &stalls), 0);
    follow(client, seen, id);
    atomic_store(&stalls.over, true);
    if (stalled)
        pthread_join(thread, NULL);
    seen->model = model_of(client, seen->job);
    seen->entry = commit_of(client, dataset, id);
}

struct scene {
    struct stage *stage;
    struct seen seen[2]; /* a quick one, and one that was stopped at times */
};

static int begin(void **state)
{
    static struct scene scene;
    void *stage;
    stage_begin_with(&stage,
                     (const char *const[]){"--workers", "6", "--threads", "1", NULL});
    scene.stage = stage;
    struct client *client = &scene.stage->client;
    ready_points(client, "quick", 500, 1, SAMPLE_BUDGET(4));
    ready_points(client, "stall", 500, 2, SAMPLE_BUDGET(4));
    ready_points(client, "open", 100, 3, SAMPLE_PUBLIC);
    see(scene.stage, &scene.seen[0], "quick", false);
    see(scene.stage, &scene.seen[1], "stall", true);
    *state = &scene;
    return 0;
}

static int end(void **state)
{
    struct scene *scene = *state;
    void *stage = scene->stage;
    free(scene->seen[0].entry);
    free(scene->seen[1].entry);
    return stage_end(&stage);
}

static const struct scene *scene_of(void **state)
{
    return *state;
}

static struct client *client_of(void **state)
{
    return &scene_of(state)->stage->client;
}

/* Names and drawings, in which any two jobs differ; and times, which are whole
 * seconds. */
static bool may_differ(const char *name)
{
    static const char *const names[] = {
        "id",         "job",      "dataset", "model",    "seq",         "ledger_seq",
        "hash",       "prev",     "sha256",  "accuracy", "loss",        "create_time",
        "start_time", "end_time", "time",    "reserve",  "model_sha256"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static void expect_alike(const char *name, const json_t *a, const json_t *b)
{
    const char *key;
    json_t *value;
    if (json_is_object(a) && json_is_object(b) &&
        json_object_size(a) == json_object_size(b)) {
        json_object_foreach((json_t *)(uintptr_t)a, key, value)
            expect_alike(key, value, json_object_get(b, key));
    } else if (json_is_array(a) && json_array_size(a) == json_array_size(b)) {
        for (size_t i = 0; i < json_array_size(a); i++)
            expect_alike(name, json_array_get(a, i), json_array_get(b, i));
    } else if (may_differ(name)) {
        assert_int_equal(json_typeof(a), json_typeof(b));
    } else if (!json_equal(a, b)) {
        fail_msg("%s differs", name);
    }
}

/* Steps are authorised in blocks fixed in advance, and shown in quarters; what was
 * spent is a function of what was authorised. */
static void expect_quarters(const struct seen *seen)
{
    for (size_t i = 0; i < seen->count; i++) {
        assert_true(fmod(seen->steps[i], QUARTER) == 0);
        assert_true(fmod(seen->authorised[i], QUARTER) == 0);
        /* The authorised steps follow from the mark that is shown. */
        assert_true(seen->authorised[i] == fmin(seen->steps[i] + QUARTER, STEPS) ||
                    (seen->authorised[i] == 0 && seen->steps[i] == 0));
        for (size_t k = 0; k < i; k++)
            assert_true((seen->spent[i] == seen->spent[k]) ==
                        (seen->authorised[i] == seen->authorised[k]));
    }
}

static void expect_id_of(const struct seen *seen, const char *id)
{
    assert_true(ulid_time(id) >= floor(seen->before * 1000) / 1000);
    assert_true(ulid_time(id) <= seen->after);
}

/* Submitted, begun, and then one version for the first authorisation, one for each
 * quarter but the last, and the end: counted in the answers to polls, and in the
 * versions for followers. */
static void expect_a_version_a_mark(const struct seen *seen)
{
    enum { CHANGES = 1 + 1 + 3 + 1 };
    assert_true(seen->count <= 1 + CHANGES);
    assert_true(seen->last_version - seen->first_version <= CHANGES);
}

/* Tries all thousand milliseconds, as any reader of the entry can. */
static void expect_a_whole_second_hashed(const char *line)
{
    json_auto_t *entry = json_loads(line, 0, NULL);
    assert_non_null(entry);
    uint64_t second =
        (uint64_t)time_of(json_string_value(json_object_get(entry, "time")));
    assert_true(chain_hash_fits(line, entry, 1000 * second));
    for (unsigned ms = 1; ms < 1000; ms++)
        assert_false(chain_hash_fits(line, entry, 1000 * second + ms));
}

static uint64_t count_of(const json_t *entry, const char *name)
{
    return (uint64_t)json_integer_value(json_object_get(entry, name));
}

/* --- claims about both --- */

static void steps_are_shown_in_quarters(void **state)
{
    const struct scene *scene = scene_of(state);
    for (int i = 0; i < 2; i++)
        expect_quarters(&scene->seen[i]);
}

static void a_mark_makes_one_version(void **state)
{
    const struct scene *scene = scene_of(state);
    for (int i = 0; i < 2; i++)
        expect_a_version_a_mark(&scene->seen[i]);
}

/* It has one evaluation for each hundredth or so, and they appear with the quarters. */
static void evaluations_come_with_the_quarters(void **state)
{
    const struct scene *scene = scene_of(state);
    for (int i = 0; i < 2; i++) {
        const struct seen *seen = &scene->seen[i];
        for (size_t k = 0; k < seen->count; k++)
            assert_true(seen->evaluated[k] <= seen->steps[k]);
        assert_true(seen->evaluated[seen->count - 1] == STEPS);
    }
}

static void ids_tell_when_the_job_was_submitted(void **state)
{
    const struct scene *scene = scene_of(state);
    for (int i = 0; i < 2; i++) {
        expect_id_of(&scene->seen[i], reply_text(scene->seen[i].job, "id"));
        expect_id_of(&scene->seen[i], reply_text(scene->seen[i].job, "model"));
    }
}

static void a_hash_tells_a_whole_second(void **state)
{
    const struct scene *scene = scene_of(state);
    for (int i = 0; i < 2; i++)
        expect_a_whole_second_hashed(scene->seen[i].entry);
}

static void everything_else_is_the_same(void **state)
{
    const struct seen *seen = scene_of(state)->seen;
    json_auto_t *a = json_loads(seen[0].entry, 0, NULL);
    json_auto_t *b = json_loads(seen[1].entry, 0, NULL);
    expect_alike("", a, b);
    expect_alike("", seen[0].job->json, seen[1].job->json);
    expect_alike("", seen[0].model->json, seen[1].model->json);
}

/* The later a job was submitted the sooner it is done. Rounds of such jobs run until
 * two ends have fallen into one second three times. */
static void ends_of_a_second_are_in_order_of_submission(void **state)
{
    struct client *client = client_of(state);
    for (int pairs = 0; pairs < 3;) {
        const char *jobs[WORKERS];
        for (int i = 0; i < WORKERS; i++)
            jobs[i] =
                submit(client, SAMPLE_JOB, "quick",
                       1 + 2000 / SAMPLE_SHORTER * (unsigned)(WORKERS - 1 - i), 3e4);
        uint64_t last = 0;
        time_t second = 0;
        for (int i = 0; i < WORKERS; i++) {
            await_success(client, jobs[i]);
            char *line = commit_of(client, "quick", jobs[i]);
            json_auto_t *entry = json_loads(line, 0, NULL);
            time_t now = time_of(json_string_value(json_object_get(entry, "time")));
            assert_true(now != second || count_of(entry, "seq") > last);
            pairs += now == second;
            second = now;
            last = count_of(entry, "seq");
            free(line);
        }
    }
}

/* --- waiting --- */

struct waiting {
    const struct daemon *daemon;
    char path[80];
    double phase; /* position in its second of the answer */
};

static void *wait_for_end(void *argument)
{
    struct waiting *waiting = argument;
    struct client client;
    client_init(&client, waiting->daemon);
    const struct reply *job;
    do {
        job = client_get(&client, "%s", waiting->path);
        waiting->phase = fmod(wall(), 1);
    } while (!is_over(job));
    client_fini(&client);
    return NULL;
}

/* Jobs of different lengths, which begin at different times. */
static double phases_of_ends(struct client *client, int round)
{
    struct waiting all[WORKERS];
    pthread_t threads[WORKERS];
    double sum = 0;
    for (int i = 0; i < WORKERS; i++) {
        unsigned steps = 1000 + (7919 * (unsigned)(WORKERS * round + i)) % 20000;
        const char *job =
            submit(client, SAMPLE_JOB, "quick", steps / SAMPLE_SHORTER, 3e4);
        all[i].daemon = client->daemon;
        snprintf(all[i].path, sizeof all[i].path, "/v1/jobs/%s?wait=60", job);
        assert_int_equal(pthread_create(&threads[i], NULL, wait_for_end, &all[i]), 0);
        nanosleep(&(struct timespec){.tv_nsec = 97000000L * ((i + round) % 3)}, NULL);
    }
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(threads[i], NULL);
        sum += all[i].phase;
    }
    return sum;
}

static double phase_of_import(struct client *client, int round)
{
    char id[32];
    snprintf(id, sizeof id, "import-%d", round);
    nanosleep(&(struct timespec){.tv_nsec = 131000000L * (round % 7)}, NULL);
    ready_points(client, id, 100, 50 + (unsigned)round, SAMPLE_PUBLIC);
    return fmod(wall(), 1);
}

/* If answers came when runs end they would fall anywhere within a second: the mean of n
 * is then 1/2 with a deviation of 1/sqrt(12 n), and five deviations below it is never
 * seen, in none of the tries. Answers at a tick come at a second's beginning. On a busy
 * machine they come later, and the test tries again. */
static void who_waits_is_answered_when_a_second_begins(void **state)
{
    enum { ROUNDS = 5, COUNT = ROUNDS * (WORKERS + 1), TRIES = 8 };
    struct client *client = client_of(state);
    double mean = 1;
    for (int try = 0; try < TRIES && !(mean < 0.5 - 5 / sqrt(12.0 * COUNT)); try++) {
        double sum = 0;
        for (int round = try * ROUNDS; round < (try + 1) * ROUNDS; round++)
            sum += phases_of_ends(client, round) + phase_of_import(client, round);
        mean = sum / COUNT;
    }
    assert_true(mean < 0.5 - 5 / sqrt(12.0 * COUNT));
}

/* --- the random waits --- */

/* Returns the seconds between a job's start and its end, as shown. */
static double shown_seconds(const struct reply *job)
{
    return (double)(time_of(reply_text(job, "end_time")) -
                    time_of(reply_text(job, "start_time")));
}

/* A separate wait at each quarter, up to WIDTH: the sum of four has the mean 2 WIDTH
 * and the deviation WIDTH / sqrt 3. The mean of n such sums is five deviations lower
 * with a chance of 3e-7, and a busy machine only makes it longer. If the quarters had
 * one phase, or only the end had a wait, it would be far lower. The jobs have ten
 * steps. */
static void the_end_of_a_private_job_is_shown_after_its_waits(void **state)
{
    (void)state;
    enum { WIDTH = 3, JOBS = 8 };
    void *stage;
    const char *jobs[JOBS];
    double sum = 0;
    stage_begin_with(&stage, (const char *const[]){"--workers", "8", "--threads", "1",
                                                   "--reveal-delay", "3", NULL});
    struct client *client = &((struct stage *)stage)->client;
    ready_points(client, "few", 500, 4, SAMPLE_BUDGET(4));
    for (int i = 0; i < JOBS; i++)
        jobs[i] = submit(client, SAMPLE_JOB, "few", 10, 3e4);
    for (int i = 0; i < JOBS; i++)
        sum += shown_seconds(await_success(client, jobs[i]));
    assert_true(sum / JOBS > 2 * WIDTH - 5 * WIDTH / sqrt(3.0 * JOBS));
    stage_end(&stage);
}

/* A cancellation finds exactly the steps authorised that the shown mark says. */
static void a_cancellation_finds_no_more_than_is_shown(void **state)
{
    struct client *client = client_of(state);
    const char *job = submit(client, SAMPLE_JOB, "quick", SAMPLE_LONG, 1e5);
    double shown = reply_number(await_step(client, job, SAMPLE_QUARTER),
                                "privacy.authorised_steps");
    assert_true(shown == 2 * SAMPLE_QUARTER);
    cancel(client, job);
    const struct reply *ended = await_end(client, job);
    assert_string_equal(reply_text(ended, "state"), "CANCELLED");
    assert_true(reply_number(ended, "privacy.authorised_steps") == shown);
    assert_true(reply_number(ended, "progress.step") == SAMPLE_QUARTER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_shown_in_quarters),
        cmocka_unit_test(a_mark_makes_one_version),
        cmocka_unit_test(evaluations_come_with_the_quarters),
        cmocka_unit_test(the_end_of_a_private_job_is_shown_after_its_waits),
        cmocka_unit_test(a_cancellation_finds_no_more_than_is_shown),
        cmocka_unit_test(ids_tell_when_the_job_was_submitted),
        cmocka_unit_test(a_hash_tells_a_whole_second),
        cmocka_unit_test(everything_else_is_the_same),
        cmocka_unit_test(ends_of_a_second_are_in_order_of_submission),
        cmocka_unit_test(who_waits_is_answered_when_a_second_begins),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
