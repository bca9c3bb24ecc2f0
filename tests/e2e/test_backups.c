/* Goal: a backup that is made while the daemon is busy is a complete directory of its
 * own and restores the state it was made from. A restore is refused if the backup was
 * damaged, is older than the head kept elsewhere, or would overwrite something.
 * `epsilond ping` says whether the daemon is ready, and the daemon reports its state to
 * the process that started it. */
#include <dirent.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "tests/expect.h"
#include "tests/e2e/key_fixture.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

enum { NAME_SIZE = 128, PATH_SIZE = 512 };

struct scene {
    struct stage *stage;
    char head[96], folder[96], backup[PATH_SIZE]; /* backup: the file made first */
    const char *done, *model;                     /* a job and its model */
};

static struct scene scene;

static int run(const char *const *arguments)
{
    return daemon_run(&scene.stage->daemon, arguments);
}

/* Finds the file of the folder whose name begins so; there must be exactly one. */
static void only_file(char path[PATH_SIZE], const char *folder, const char *beginning)
{
    DIR *opened = opendir(folder);
    struct dirent *entry;
    path[0] = '\0';
    assert_non_null(opened);
    while ((entry = readdir(opened)) != NULL) {
        if (strncmp(entry->d_name, beginning, strlen(beginning)) != 0)
            continue;
        assert_string_equal(path, "");
        snprintf(path, PATH_SIZE, "%s/%s", folder, entry->d_name);
    }
    closedir(opened);
    assert_string_not_equal(path, "");
}

static int count_files(const char *folder)
{
    DIR *opened = opendir(folder);
    struct dirent *entry;
    int count = 0;
    assert_non_null(opened);
    while ((entry = readdir(opened)) != NULL)
        count += entry->d_name[0] != '.' || strstr(entry->d_name, "unfinished") != NULL;
    closedir(opened);
    return count;
}

static void end_key(struct daemon *host, const char *data_dir, const char *key)
{
    char id[16];
    snprintf(id, sizeof id, "%.8s", key + strlen("dpk_"));
    assert_int_equal(
        daemon_run(host, (const char *const[]){"key", "revoke", id, "--data-dir",
                                               data_dir, NULL}),
        0);
}

static int make_backup(const char *folder)
{
    return run((const char *const[]){"backup", folder, "--data-dir",
                                     scene.stage->daemon.data_dir, NULL});
}

static int restore(const char *backup, const char *data_dir, const char *head)
{
    return run((const char *const[]){"restore", backup, "--data-dir", data_dir,
                                     head != NULL ? "--head-file" : NULL, head, NULL});
}

/* Two datasets, a job that has published a model, and a job that trains while the
 * backup is made. */
static int begin(void **state)
{
    if (stage_begin(state) != 0)
        return 1;
    struct stage *stage = scene.stage = *state;
    struct client *client = &stage->client;
    snprintf(scene.head, sizeof scene.head, "%s/head", stage->daemon.directory);
    snprintf(scene.folder, sizeof scene.folder, "%s/backups", stage->daemon.directory);
    mkdir(scene.folder, 0700);
    daemon_stop(&stage->daemon, SIGTERM);
    daemon_start(&stage->daemon, (const char *const[]){"--head-file", scene.head,
                                                       "--workers", "1", NULL});
    ready_points(client, "points", 500, 1, SAMPLE_BUDGET(4));
    ready_points(client, "open", 300, 2, SAMPLE_PUBLIC);
    const struct reply *job = train(client, SAMPLE_JOB, "points", 100, 20.0);
    scene.done = reply_text(job, "id");
    scene.model = reply_text(job, "model");
    const char *running = submit(client, SAMPLE_JOB, "points", SAMPLE_ENDLESS, 30000.0);
    await_training(client, running);
    assert_int_equal(make_backup(scene.folder), 0);
    only_file(scene.backup, scene.folder, "epsilond-");
    cancel(client, running);
    await_end(client, running);
    return 0;
}

static void a_backup_beside_a_job_that_trains_verifies(void **state)
{
    (void)state;
    struct stat info;
    unsigned long long seq = 0;
    assert_int_equal(count_files(scene.folder), 1);
    assert_int_equal(
        run((const char *const[]){"verify", "--data-dir", scene.backup, NULL}), 0);
    assert_int_equal(stat(scene.backup, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    /* The ledger has four entries: GRANT, RESERVE, COMMIT, RESERVE. */
    assert_int_equal(
        sscanf(strrchr(scene.backup, '/'), "/epsilond-%*[0-9TZ]-%llu-", &seq), 1);
    assert_int_equal(seq, 4);
}

static void a_restored_directory_serves_what_it_was(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    char restored[PATH_SIZE];
    snprintf(restored, sizeof restored, "%s/restored", stage->daemon.directory);
    const struct reply *budget = client_get(client, "/v1/datasets/points/budget");
    const struct reply *model =
        client_get(client, "/v1/models/%s/content", scene.model);
    assert_int_equal(restore(scene.backup, restored, NULL), 0);
    daemon_stop(&stage->daemon, SIGTERM);
    struct daemon kept = stage->daemon;
    snprintf(stage->daemon.data_dir, sizeof stage->daemon.data_dir, "%.79s", restored);
    daemon_start(&stage->daemon, NULL);
    assert_int_equal(daemon_verify(&stage->daemon), 0);
    const struct reply *again =
        client_get(client, "/v1/models/%s/content", scene.model);
    assert_int_equal(again->size, model->size);
    assert_memory_equal(again->body, model->body, model->size);
    assert_string_equal(
        reply_text(client_get(client, "/v1/jobs/%s", scene.done), "state"),
        "SUCCEEDED");
    /* Steps that were authorised when the backup was made are spent. They cannot cost
     * more than the daemon's own count, because its job went on. */
    double spent =
        reply_number(client_get(client, "/v1/datasets/points/budget"), "epsilon_spent");
    assert_true(spent > 0 && spent <= reply_number(budget, "epsilon_spent"));
    train(client, SAMPLE_JOB, "points", 10, 30.0);
    daemon_stop(&stage->daemon, SIGTERM);
    memcpy(stage->daemon.data_dir, kept.data_dir, sizeof kept.data_dir);
    daemon_start(&stage->daemon, (const char *const[]){"--head-file", scene.head,
                                                       "--workers", "1", NULL});
}

static void an_older_head_than_the_one_kept_elsewhere_is_refused(void **state)
{
    struct stage *stage = *state;
    char older[PATH_SIZE], restored[PATH_SIZE], newest[PATH_SIZE];
    snprintf(older, sizeof older, "%s/older", stage->daemon.directory);
    assert_int_equal(restore(scene.backup, older, scene.head), 65);
    assert_int_not_equal(access(older, F_OK), 0);
    assert_true(daemon_logged(&stage->daemon, "older than the head on record"));
    assert_true(daemon_logged(&stage->daemon, "nothing is restored"));
    /* A backup of the current state is not older than the head. */
    snprintf(newest, sizeof newest, "%s/newest", stage->daemon.directory);
    mkdir(newest, 0700);
    assert_int_equal(make_backup(newest), 0);
    char made[PATH_SIZE];
    only_file(made, newest, "epsilond-");
    snprintf(restored, sizeof restored, "%s/of-now", stage->daemon.directory);
    assert_int_equal(restore(made, restored, scene.head), 0);
}

/* A key that was revoked after the backup is valid in the restored directory, and the
 * command reports it. */
static void restore_says_which_keys_are_good_again(void **state)
{
    struct stage *stage = *state;
    struct daemon host = {0}; /* a second data directory, with keys */
    char key[KEY_SIZE], gone[KEY_SIZE], folder[PATH_SIZE], made[PATH_SIZE],
        restored[PATH_SIZE], line[PATH_SIZE];
    daemon_init(&host);
    snprintf(folder, sizeof folder, "%s/kept", host.directory);
    snprintf(restored, sizeof restored, "%s/restored", host.directory);
    mkdir(folder, 0700);
    key_make(&host, "gone", "analyst", "fraud", gone);
    end_key(&host, host.data_dir, gone);
    key_make(&host, "leaver", "auditor", "fraud", key);
    assert_int_equal(
        run((const char *const[]){"backup", folder, "--data-dir", host.data_dir, NULL}),
        0);
    only_file(made, folder, "epsilond-");
    end_key(&host, host.data_dir, key);
    assert_int_equal(restore(made, restored, NULL), 0);
    snprintf(line, sizeof line, "%.8s  ACTIVE ", key + strlen("dpk_"));
    assert_true(
        daemon_logged(&stage->daemon, "REVOKED AFTER THIS BACKUP ARE GOOD AGAIN"));
    assert_true(daemon_logged(&stage->daemon, line));
    snprintf(line, sizeof line, "%.8s  REVOKED", gone + strlen("dpk_"));
    assert_false(daemon_logged(&stage->daemon, line));
    end_key(&host, restored, key);
    daemon_fini(&host);
}

/* Flips a byte in the middle of the file; a second call flips it back. */
static void flip(const char *path)
{
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    long middle = ftell(file) / 2;
    fseek(file, middle, SEEK_SET);
    int byte = fgetc(file);
    fseek(file, middle, SEEK_SET);
    fputc(byte ^ 1, file);
    assert_int_equal(fclose(file), 0);
}

static void a_backup_of_which_one_bit_is_flipped_is_refused(void **state)
{
    struct stage *stage = *state;
    char restored[PATH_SIZE], path[PATH_SIZE];
    static const char *const files[] = {"datasets/points.matrix",
                                        "datasets/open.matrix", "models"};
    snprintf(restored, sizeof restored, "%s/damaged", stage->daemon.directory);
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%.300s/%s", scene.backup, files[i]);
        if (i == 2) {
            char folder[PATH_SIZE];
            memcpy(folder, path, sizeof folder);
            only_file(path, folder, "mdl_");
        }
        flip(path);
        assert_int_equal(restore(scene.backup, restored, NULL), 65);
        assert_int_not_equal(access(restored, F_OK), 0);
        flip(path);
    }
    assert_int_equal(unlink(path), 0);
    assert_int_not_equal(restore(scene.backup, restored, NULL), 0);
    assert_int_not_equal(access(restored, F_OK), 0);
}

static void nothing_is_written_over(void **state)
{
    struct stage *stage = *state;
    char newest[PATH_SIZE], made[PATH_SIZE];
    snprintf(newest, sizeof newest, "%s/newest", stage->daemon.directory);
    only_file(made, newest, "epsilond-");
    assert_int_equal(restore(made, stage->daemon.data_dir, NULL), 64);
    assert_int_equal(restore("/nowhere/at/all", newest, NULL), 64);
    assert_status(client_get(&stage->client, "/readyz"), 200);
    assert_int_equal(daemon_verify(&stage->daemon), 0);
}

static void what_cannot_be_backed_up_leaves_nothing(void **state)
{
    struct stage *stage = *state;
    char folder[PATH_SIZE], nowhere[PATH_SIZE];
    snprintf(folder, sizeof folder, "%s/empty", stage->daemon.directory);
    snprintf(nowhere, sizeof nowhere, "%s/nowhere", stage->daemon.directory);
    mkdir(folder, 0700);
    assert_int_equal(
        run((const char *const[]){"backup", folder, "--data-dir", nowhere, NULL}), 75);
    assert_int_equal(make_backup(nowhere), 75);
    assert_int_equal(count_files(folder), 0);
    assert_int_equal(run((const char *const[]){"backup", NULL}), 64);
    assert_int_equal(run((const char *const[]){"restore", folder, NULL}), 64);
}

static void ping_says_whether_the_daemon_is_ready(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    char address[64];
    snprintf(address, sizeof address, "127.0.0.1:%u", stage->daemon.port);
    const char *const ping[] = {"ping", "--listen", address, NULL};
    assert_int_equal(run(ping), 0);
    const char *job = submit(client, SAMPLE_JOB, "points", SAMPLE_ENDLESS, 100000.0);
    await_training(client, job);
    assert_int_equal(kill(stage->daemon.pid, SIGTERM), 0);
    while (client_get(client, "/readyz")->status == 200)
        usleep(10000);
    assert_int_equal(run(ping), 1);
    cancel(client, job);
    assert_int_equal(daemon_wait(&stage->daemon), 0);
    assert_int_equal(run(ping), 1);
    assert_int_equal(run((const char *const[]){"ping", "--listen", "nowhere", NULL}),
                     64);
    daemon_start(&stage->daemon, NULL);
}

/* Reads messages from the socket until one equals wanted. */
static void expect_message(int listening, const char *wanted)
{
    char got[64] = "";
    while (strcmp(got, wanted) != 0) {
        ssize_t size = recv(listening, got, sizeof got - 1, 0);
        assert_true(size > 0);
        got[size] = '\0';
    }
}

static void whoever_started_it_is_told_how_it_goes(void **state)
{
    struct stage *stage = *state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s/notify",
             stage->daemon.directory);
    int listening = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listening, (const struct sockaddr *)&address, sizeof address),
                     0);
    daemon_stop(&stage->daemon, SIGTERM);
    setenv("NOTIFY_SOCKET", address.sun_path, 1);
    daemon_start(&stage->daemon, NULL);
    unsetenv("NOTIFY_SOCKET");
    expect_message(listening, "READY=1");
    expect_message(listening, "WATCHDOG=1");
    expect_message(listening, "WATCHDOG=1");
    assert_int_equal(kill(stage->daemon.pid, SIGTERM), 0);
    expect_message(listening, "STOPPING=1");
    assert_int_equal(daemon_wait(&stage->daemon), 0);
    close(listening);
    daemon_start(&stage->daemon, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_backup_beside_a_job_that_trains_verifies),
        cmocka_unit_test(a_restored_directory_serves_what_it_was),
        cmocka_unit_test(an_older_head_than_the_one_kept_elsewhere_is_refused),
        cmocka_unit_test(restore_says_which_keys_are_good_again),
        cmocka_unit_test(a_backup_of_which_one_bit_is_flipped_is_refused),
        cmocka_unit_test(nothing_is_written_over),
        cmocka_unit_test(what_cannot_be_backed_up_leaves_nothing),
        cmocka_unit_test(ping_says_whether_the_daemon_is_ready),
        cmocka_unit_test(whoever_started_it_is_told_how_it_goes),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
