/* Goal: the daemon survives a clean stop, a kill in the middle of a job, a second
 * daemon, and a flipped byte: after each, the ledger verifies and the budget shows at
 * least what was spent. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

static const char *const two_workers[] = {"--workers", "2", NULL};

static int begin(void **state)
{
    return stage_begin_with(state, two_workers);
}

static const char *text_of(struct client *client, const char *path)
{
    const struct reply *reply = client_get(client, "%s", path);
    assert_status(reply, 200);
    return reply->body;
}

static void nothing_is_lost_by_a_clean_stop(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    ready_points(client, "points", 500, 1, SAMPLE_BUDGET(4));
    ready_points(client, "open", 300, 2, SAMPLE_PUBLIC);
    const char *job = submit(client, "{'dataset':'points','evaluation':'open',"
                                     "'model':{'preset':'linear'},"
                                     "'algorithm':{'name':'dpsgd'},'batch_size':50,"
                                     "'steps':40,'privacy':{'epsilon':1}}");
    const struct reply *ended = await_end(client, job);
    char paths[7][128] = {"/v1/datasets", "/v1/datasets/points/budget",
                          "/v1/datasets/points/ledger", "/v1/ledger/head"};
    snprintf(paths[4], sizeof paths[4], "/v1/jobs/%s", job);
    snprintf(paths[5], sizeof paths[5], "/v1/models/%s", reply_text(ended, "model"));
    snprintf(paths[6], sizeof paths[6], "/v1/models/%s/content",
             reply_text(ended, "model"));
    const char *before[7];
    for (int i = 0; i < 7; i++)
        before[i] = text_of(client, paths[i]);
    assert_int_equal(daemon_stop(&stage->daemon, SIGTERM), 0);
    assert_int_equal(daemon_verify(&stage->daemon), 0);
    daemon_start(&stage->daemon, two_workers);
    for (int i = 0; i < 7; i++)
        assert_string_equal(text_of(client, paths[i]), before[i]);
    assert_status(
        client_post(client, "/v1/jobs:estimate", NULL, SAMPLE_JOB, "points", 5, 50.0),
        200);
}

static void a_killed_job_is_charged_what_it_was_authorised(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    ready_points(client, "points", 500, 1, SAMPLE_BUDGET(4));
    const char *running = submit(client,
                                 "{'dataset':'points','model':{'preset':'linear'},"
                                 "'algorithm':{'name':'dpsgd'},'batch_size':50,"
                                 "'steps':%d,'privacy':{'epsilon':2}}",
                                 SAMPLE_LONG);
    const char *beside = submit(client, SAMPLE_JOB, "points", SAMPLE_ENDLESS, 100000.0);
    const char *queued = submit(client, SAMPLE_JOB, "points", 10, 1000.0);
    await_training(client, beside);
    const struct reply *seen = await_step(client, running, SAMPLE_QUARTER);
    double step_seen = reply_number(seen, "progress.step");
    double spent_seen = reply_number(seen, "privacy.epsilon_spent");
    assert_true(spent_seen > 0);
    daemon_stop(&stage->daemon, SIGKILL);

    assert_int_equal(daemon_verify(&stage->daemon), 0);
    daemon_start(&stage->daemon, two_workers);
    const struct reply *lost = client_get(client, "/v1/jobs/%s", running);
    assert_string_equal(reply_text(lost, "state"), "FAILED");
    assert_string_equal(reply_text(lost, "state_reason"), "worker_lost");
    assert_true(json_is_null(reply_at(lost, "model")));
    assert_false(json_is_null(reply_at(lost, "end_time")));
    double authorised = reply_number(lost, "privacy.authorised_steps");
    assert_true(authorised >= step_seen && authorised < SAMPLE_LONG);
    double charged = reply_number(lost, "privacy.epsilon_spent");
    assert_true(charged >= spent_seen && charged < 2);
    assert_string_equal(
        reply_text(client_get(client, "/v1/jobs/%s", beside), "state_reason"),
        "worker_lost");
    /* The queued job keeps its reservation and its place in the queue. */
    await_success(client, queued);

    const struct reply *budget = client_get(client, "/v1/datasets/points/budget");
    assert_true(reply_number(budget, "epsilon_held") == 0);
    assert_true(reply_number(budget, "epsilon_spent") >= charged * (1 - 1e-12));
    assert_true(reply_number(budget, "epsilon_spent") < 2);
    const struct reply *ledger =
        client_get(client, "/v1/datasets/points/ledger?page_size=100");
    size_t entries = json_array_size(reply_at(ledger, "entries"));
    assert_int_equal(entries, 1 + 3 + 3);
    assert_int_equal(daemon_stop(&stage->daemon, SIGTERM), 0);
    assert_int_equal(daemon_verify(&stage->daemon), 0);
}

static void nothing_is_charged_twice_over_many_kills(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    ready_points(client, "points", 500, 1, SAMPLE_BUDGET(4));
    double spent = 0;
    for (int i = 0; i < 4; i++) {
        const char *job = submit(client,
                                 "{'dataset':'points','model':{'preset':'linear'},"
                                 "'algorithm':{'name':'dpsgd'},'batch_size':50,"
                                 "'steps':%d,'privacy':{'epsilon':0.5}}",
                                 SAMPLE_ENDLESS);
        if (i % 2 == 0)
            await_training(client, job);
        daemon_stop(&stage->daemon, SIGKILL);
        assert_int_equal(daemon_verify(&stage->daemon), 0);
        daemon_start(&stage->daemon, two_workers);
        const struct reply *budget = client_get(client, "/v1/datasets/points/budget");
        double now = reply_number(budget, "epsilon_spent");
        assert_true(now >= spent && now < 4);
        spent = now;
        const struct reply *job_now = client_get(client, "/v1/jobs/%s", job);
        if (strcmp(reply_text(job_now, "state"), "FAILED") != 0) {
            client_act(client, "/v1/jobs/%s:cancel", job);
            await_end(client, job);
        }
    }
    const struct reply *budget = client_get(client, "/v1/datasets/points/budget");
    assert_true(reply_number(budget, "epsilon_held") == 0);
    assert_true(reply_number(budget, "epsilon_spent") <= 4 * 0.5);
}

static void an_upload_cut_by_a_kill_is_not_there(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    assert_status(declare_points(client, "points", SAMPLE_BUDGET(1)), 201);
    daemon_stop(&stage->daemon, SIGKILL);
    daemon_start(&stage->daemon, two_workers);
    assert_string_equal(reply_text(client_get(client, "/v1/datasets/points"), "state"),
                        "CREATED");
    assert_problem(client_act(client, "/v1/datasets/points:import"), 422,
                   "import_failed");
    char *text = sample_points(100, 9);
    assert_status(
        client_put(client, "/v1/datasets/points/files/data", text, strlen(text)), 204);
    free(text);
    daemon_stop(&stage->daemon, SIGKILL);
    daemon_start(&stage->daemon, two_workers);
    assert_status(client_act(client, "/v1/datasets/points:import"), 200);
}

static void a_second_daemon_on_the_directory_is_refused(void **state)
{
    struct stage *stage = *state;
    assert_int_equal(
        daemon_run(&stage->daemon,
                   (const char *const[]){"--data-dir", stage->daemon.data_dir,
                                         "--listen", "127.0.0.1:0", NULL}),
        75);
    assert_status(client_get(&stage->client, "/readyz"), 200);
    /* Verify also works while the daemon runs. */
    assert_int_equal(daemon_verify(&stage->daemon), 0);
}

static void a_term_signal_lets_short_jobs_finish(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    ready_points(client, "points", 500, 1, SAMPLE_BUDGET(4));
    const char *job = submit(client, SAMPLE_JOB, "points", 20000, 10000.0);
    const char *queued[6];
    for (int i = 0; i < 6; i++)
        queued[i] = submit(client, SAMPLE_JOB, "points", 20000, 10000.0);
    await_training(client, job);
    assert_int_equal(daemon_stop(&stage->daemon, SIGTERM), 0);
    daemon_start(&stage->daemon, two_workers);
    assert_string_equal(reply_text(client_get(client, "/v1/jobs/%s", job), "state"),
                        "SUCCEEDED");
    await_success(client, queued[5]);
}

/* The daemon drains until the test has seen the draining state, and then the test
 * cancels. */
static void watch_drain(struct stage *stage)
{
    struct client *client = &stage->client;
    const char *job = submit(client, SAMPLE_JOB, "points", SAMPLE_ENDLESS, 100000.0);
    await_training(client, job);
    assert_int_equal(kill(stage->daemon.pid, SIGTERM), 0);
    const struct reply *ready;
    int polls = 0;
    while ((ready = client_get(client, "/readyz"))->status == 200 && polls++ < 3000)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    assert_status(ready, 503);
    assert_status(client_get(client, "/livez"), 200);
    assert_problem(client_create(client, "/v1/jobs", SAMPLE_JOB, "points", 5, 1000.0),
                   503, "draining");
    cancel(client, job);
    assert_int_equal(daemon_wait(&stage->daemon), 0);
}

static void a_draining_daemon_takes_no_job_and_stops_long_ones(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    ready_points(client, "points", 500, 1, SAMPLE_BUDGET(4));
    watch_drain(stage);
    daemon_start(&stage->daemon, (const char *const[]){"--drain-timeout", "1", NULL});
    const char *job = submit(client, SAMPLE_JOB, "points", SAMPLE_ENDLESS, 100000.0);
    await_training(client, job);
    assert_int_equal(daemon_stop(&stage->daemon, SIGTERM), 0);
    daemon_start(&stage->daemon, NULL);
    const struct reply *stopped = client_get(client, "/v1/jobs/%s", job);
    assert_string_equal(reply_text(stopped, "state"), "FAILED");
    assert_string_equal(reply_text(stopped, "state_reason"), "shutdown");
    assert_true(reply_number(stopped, "privacy.epsilon_spent") > 0);
    assert_int_equal(daemon_verify(&stage->daemon), 0);
}

/* Returns the offset of the first occurrence of these 32 bytes at or after from, or
 * -1. */
static long find_digest(const char *path, const uint8_t digest[32], long from)
{
    FILE *file = fopen(path, "r");
    struct stat info;
    assert_non_null(file);
    assert_int_equal(stat(path, &info), 0);
    size_t size = (size_t)info.st_size;
    uint8_t *bytes = malloc(size);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, size, file), size);
    fclose(file);
    long offset = -1;
    for (size_t i = (size_t)from; i + 32 <= size && offset < 0; i++)
        if (memcmp(bytes + i, digest, 32) == 0)
            offset = (long)i;
    free(bytes);
    return offset;
}

static void digest_of(uint8_t digest[32], const char *hex)
{
    for (int i = 0; i < 32; i++) {
        const char pair[] = {hex[2 * i], hex[2 * i + 1], '\0'};
        digest[i] = (uint8_t)strtoul(pair, NULL, 16);
    }
}

static void flip(const char *path, long offset, unsigned char mask)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    unsigned char byte;
    assert_int_equal(pread(fd, &byte, 1, offset), 1);
    byte ^= mask;
    assert_int_equal(pwrite(fd, &byte, 1, offset), 1);
    close(fd);
}

static void a_changed_ledger_is_not_started_on(void **state)
{
    struct stage *stage = *state;
    uint8_t digest[32];
    ready_points(&stage->client, "points", 500, 1, SAMPLE_BUDGET(4));
    await_end(&stage->client, submit(&stage->client, SAMPLE_JOB, "points", 7, 33.0));
    const struct reply *ledger =
        client_get(&stage->client, "/v1/datasets/points/ledger");
    digest_of(digest, reply_text(ledger, "entries.1.hash"));
    assert_int_equal(daemon_stop(&stage->daemon, SIGTERM), 0);
    char database[128];
    snprintf(database, sizeof database, "%s/epsilond.db", stage->daemon.data_dir);
    const char *const start[] = {"--data-dir", stage->daemon.data_dir, "--listen",
                                 "127.0.0.1:0", NULL};
    unsigned places = 0;
    /* The hash is in its entry, in the next entry as prev, and in the index. */
    for (long at = 0; (at = find_digest(database, digest, at)) >= 0; at++, places++) {
        flip(database, at + 5, 0x01);
        assert_int_equal(daemon_verify(&stage->daemon), 65);
        assert_int_equal(daemon_run(&stage->daemon, start), 65);
        flip(database, at + 5, 0x01);
        assert_int_equal(daemon_verify(&stage->daemon), 0);
    }
    assert_true(places >= 2);
    /* A flipped bit in the file's header: it is no longer a database. */
    flip(database, 3, 0x20);
    assert_int_equal(daemon_verify(&stage->daemon), 65);
    assert_int_equal(daemon_run(&stage->daemon, start), 65);
    flip(database, 3, 0x20);
    daemon_start(&stage->daemon, NULL);
    assert_status(client_get(&stage->client, "/readyz"), 200);
}

/* Bytes 60 to 63 of a SQLite file are user_version, which counts schema steps. */
static void a_newer_schema_is_left_alone(void **state)
{
    struct stage *stage = *state;
    char database[128];
    snprintf(database, sizeof database, "%s/epsilond.db", stage->daemon.data_dir);
    assert_int_equal(daemon_stop(&stage->daemon, SIGTERM), 0);
    flip(database, 62, 0x01);
    assert_int_equal(daemon_verify(&stage->daemon), 78);
    assert_int_equal(
        daemon_run(&stage->daemon,
                   (const char *const[]){"--data-dir", stage->daemon.data_dir,
                                         "--listen", "127.0.0.1:0", NULL}),
        78);
    flip(database, 62, 0x01);
    assert_int_equal(daemon_verify(&stage->daemon), 0);
    daemon_start(&stage->daemon, NULL);
}

static void copy_file(const char *from, const char *to)
{
    char command[300];
    snprintf(command, sizeof command, "cp '%s' '%s'", from, to);
    assert_int_equal(system(command), 0);
}

/* A restored backup does not contain what was spent since; the head kept elsewhere
 * does. */
static void a_restored_backup_freezes_its_datasets_until_a_new_grant(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    struct daemon *daemon = &stage->daemon;
    char head[96], database[128], backup[96];
    snprintf(head, sizeof head, "%s/head", daemon->directory);
    snprintf(database, sizeof database, "%s/epsilond.db", daemon->data_dir);
    snprintf(backup, sizeof backup, "%s/backup.db", daemon->directory);
    const char *const with_head[] = {"--head-file", head, NULL};
    assert_int_equal(daemon_stop(daemon, SIGTERM), 0);
    daemon_start(daemon, with_head);
    ready_points(client, "points", 500, 1, SAMPLE_BUDGET(4));
    assert_int_equal(daemon_stop(daemon, SIGTERM), 0);
    copy_file(database, backup);
    daemon_start(daemon, with_head);
    await_end(client, submit(client, SAMPLE_JOB, "points", 7, 33.0));
    assert_int_equal(daemon_stop(daemon, SIGTERM), 0);

    copy_file(backup, database);
    daemon_start(daemon, with_head);
    assert_problem(client_create(client, "/v1/jobs", SAMPLE_JOB, "points", 7, 33.0),
                   409, "dataset_frozen");
    assert_true(json_is_true(
        reply_at(client_get(client, "/v1/datasets/points/budget"), "frozen")));
    assert_int_equal(daemon_stop(daemon, SIGTERM), 0);
    assert_int_equal(
        daemon_run(daemon, (const char *const[]){"regrant", "points", "--epsilon", "1",
                                                 "--delta", "1e-6", "--data-dir",
                                                 daemon->data_dir, NULL}),
        0);
    daemon_start(daemon, with_head);
    const struct reply *budget = client_get(client, "/v1/datasets/points/budget");
    assert_true(reply_number(budget, "epoch") == 2 &&
                reply_number(budget, "epsilon") == 1);
    await_end(client, submit(client, SAMPLE_JOB, "points", 7, 33.0));
    assert_int_equal(daemon_verify(&stage->daemon), 0);
}

static void a_port_in_use_is_not_shared(void **state)
{
    struct stage *stage = *state;
    char other[96], listen[32];
    snprintf(other, sizeof other, "%s/other", stage->daemon.directory);
    snprintf(listen, sizeof listen, "127.0.0.1:%u", stage->daemon.port);
    assert_int_equal(
        daemon_run(&stage->daemon, (const char *const[]){"--data-dir", other,
                                                         "--listen", listen, NULL}),
        75);
    assert_status(client_get(&stage->client, "/readyz"), 200);
}

static void every_command_says_how_it_is_used(void **state)
{
    static const char *const commands[] = {"verify", "regrant", "backup",     "restore",
                                           "ping",   "key",     "key create", "migrate",
                                           "seal",   "rank"};
    (void)state;
    for (size_t k = 0; k < sizeof commands / sizeof *commands; k++) {
        char command[512];
        snprintf(command, sizeof command,
                 "\"$EPSILOND\" %s --help 2>&1 | grep -q '^usage: epsilond' && "
                 "\"$EPSILOND\" %s --help >/dev/null",
                 commands[k], commands[k]);
        if (system(command) != 0)
            fail_msg("epsilond %s --help", commands[k]);
    }
}

static void wrong_usage_and_places_have_their_exit_codes(void **state)
{
    struct stage *stage = *state;
    struct daemon *daemon = &stage->daemon;
    assert_int_equal(daemon_run(daemon, (const char *const[]){"--version", NULL}), 0);
    assert_int_equal(daemon_run(daemon, (const char *const[]){"--help", NULL}), 0);
    assert_int_equal(daemon_run(daemon, (const char *const[]){"--no-such-flag", NULL}),
                     64);
    char other[96];
    snprintf(other, sizeof other, "%s/other", daemon->directory);
    assert_int_equal(
        daemon_run(daemon, (const char *const[]){"--data-dir", other, "--workers",
                                                 "many", NULL}),
        64);
    /* There are no keys yet, so only loopback is allowed. */
    int code = daemon_run(daemon, (const char *const[]){"--data-dir", other, "--listen",
                                                        "0.0.0.0:0", NULL});
    assert_true(code == 64 || code == 78);
    assert_int_equal(
        daemon_run(daemon, (const char *const[]){"--data-dir", other, "--config",
                                                 "/nowhere", NULL}),
        78);
}

static void the_directory_is_closed_to_others(void **state)
{
    struct stage *stage = *state;
    struct stat info;
    assert_int_equal(stat(stage->daemon.data_dir, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0700);
    char database[128];
    snprintf(database, sizeof database, "%s/epsilond.db", stage->daemon.data_dir);
    assert_int_equal(stat(database, &info), 0);
    assert_int_equal(info.st_mode & 077, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_is_lost_by_a_clean_stop, begin,
                                        stage_end),
        cmocka_unit_test_setup_teardown(a_killed_job_is_charged_what_it_was_authorised,
                                        begin, stage_end),
        cmocka_unit_test_setup_teardown(nothing_is_charged_twice_over_many_kills, begin,
                                        stage_end),
        cmocka_unit_test_setup_teardown(an_upload_cut_by_a_kill_is_not_there, begin,
                                        stage_end),
        cmocka_unit_test_setup_teardown(a_second_daemon_on_the_directory_is_refused,
                                        begin, stage_end),
        cmocka_unit_test_setup_teardown(a_term_signal_lets_short_jobs_finish, begin,
                                        stage_end),
        cmocka_unit_test_setup_teardown(
            a_draining_daemon_takes_no_job_and_stops_long_ones, begin, stage_end),
        cmocka_unit_test_setup_teardown(a_changed_ledger_is_not_started_on, begin,
                                        stage_end),
        cmocka_unit_test_setup_teardown(a_newer_schema_is_left_alone, begin, stage_end),
        cmocka_unit_test_setup_teardown(
            a_restored_backup_freezes_its_datasets_until_a_new_grant, begin, stage_end),
        cmocka_unit_test_setup_teardown(a_port_in_use_is_not_shared, begin, stage_end),
        cmocka_unit_test(every_command_says_how_it_is_used),
        cmocka_unit_test_setup_teardown(wrong_usage_and_places_have_their_exit_codes,
                                        begin, stage_end),
        cmocka_unit_test_setup_teardown(the_directory_is_closed_to_others, begin,
                                        stage_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
