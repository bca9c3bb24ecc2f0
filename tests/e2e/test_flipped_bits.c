/* Goal: `epsilond verify` reports in advance everything that a start would refuse, by
 * table and row or by file. Method: a data directory with datasets, jobs in several
 * states and models; copies of it with one bit flipped, at positions drawn with a fixed
 * seed. `epsilond regrant` shows whether a start refuses: it opens everything that a
 * start opens, and ends by itself, with 64 once it finds that there is no such dataset.
 * FLIPS flips, or 80. */
#include <math.h>
#include <signal.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

enum { FLIPS = 80, FILE_FLIPS = 12, OUTPUT_SIZE = 1024 };

struct scene {
    struct daemon *daemon;
    char copy[96]; /* a copy of the data directory */
    char database[112];
    uint8_t *bytes; /* the unchanged database */
    size_t size;
    const char *model;
    uint64_t dice;
};

static uint64_t roll(struct scene *scene)
{
    scene->dice = scene->dice * 6364136223846793005u + 1442695040888963407u;
    return scene->dice >> 33;
}

/* Runs a shell command with its output in `output`; returns its exit code. */
static int shell(char output[OUTPUT_SIZE], const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static int shell(char output[OUTPUT_SIZE], const char *format, ...)
{
    char command[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t size = fread(output, 1, OUTPUT_SIZE - 1, pipe);
    output[size] = '\0';
    while (fgetc(pipe) != EOF)
        continue;
    int status = pclose(pipe);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int verify(const struct scene *scene, char output[OUTPUT_SIZE])
{
    return shell(output, "\"$EPSILOND\" verify --data-dir '%s' 2>&1", scene->copy);
}

static int open_all(const struct scene *scene, char output[OUTPUT_SIZE])
{
    return shell(
        output,
        "\"$EPSILOND\" regrant nobody --epsilon 1 --delta 1e-5 --data-dir '%s' "
        "2>&1",
        scene->copy);
}

static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(*size);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

static void write_file(const char *path, const uint8_t *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

/* Makes one job each that succeeded, was cancelled, was stopped, and waits, each with a
 * mark. */
static struct scene make_scene(void **state)
{
    static const char *const options[] = {"--workers", "1", "--drain-timeout", "0",
                                          NULL};
    char output[OUTPUT_SIZE];
    struct stage *stage = *state;
    struct client *client = &stage->client;
    struct scene scene = {.daemon = &stage->daemon, .dice = 20261122};
    assert_int_equal(daemon_stop(scene.daemon, SIGTERM), 0);
    daemon_start(scene.daemon, options);
    ready_points(client, "points", 300, 1, SAMPLE_BUDGET(4));
    ready_points(client, "open", 200, 2, SAMPLE_PUBLIC);
    declare_points(client, "blank", SAMPLE_BUDGET(2));
    const struct reply *done = train(client, SAMPLE_JOB, "points", 20, 33.0);
    scene.model = reply_text(done, "model");
    train(client, SAMPLE_JOB, "open", 7, 1.0);
    const char *job = submit(client, SAMPLE_JOB, "points", SAMPLE_ENDLESS, 30000.0);
    await_training(client, job);
    cancel(client, job);
    await_end(client, job);
    assert_status(client_create(client, "/v1/statistics",
                                "{'dataset':'points','statistics':[{'kind':'mean',"
                                "'column':'x'}],'privacy':{'noise_multiplier':90}}"),
                  201);
    job = submit(client, SAMPLE_JOB, "points", SAMPLE_ENDLESS, 30000.0);
    submit(client, SAMPLE_JOB, "points", 30, 50.0);
    await_training(client, job);
    assert_int_equal(daemon_stop(scene.daemon, SIGTERM), 0);
    snprintf(scene.copy, sizeof scene.copy, "%s/copy", scene.daemon->directory);
    snprintf(scene.database, sizeof scene.database, "%s/epsilond.db", scene.copy);
    assert_int_equal(
        shell(output, "cp -a '%s' '%s'", scene.daemon->data_dir, scene.copy), 0);
    scene.bytes = read_file(scene.database, &scene.size);
    return scene;
}

/* Restores the copy after a start may have changed it. */
static void mend(const struct scene *scene)
{
    char output[OUTPUT_SIZE];
    assert_int_equal(shell(output, "rm -f '%s'-*", scene->database), 0);
    write_file(scene->database, scene->bytes, scene->size);
}

static bool names_a_place(const char *output)
{
    static const char *const places[] = {"table ", "ledger entry ", "audit row ",
                                         "database: "};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (strstr(output, places[i]) != NULL)
            return true;
    return false;
}

/* The minimum number of flips that are refused for a row outside the ledger. One in
 * eight is. For fewer flips than FLIPS the minimum is three deviations below the mean,
 * which may be none. */
static double least_rows(unsigned flips)
{
    double expected = flips / 8.0;
    return flips < FLIPS ? expected - 3 * sqrt(expected * 7 / 8) : flips / 20;
}

static void a_start_refuses_nothing_that_verify_found_good(void **state)
{
    struct scene scene = make_scene(state);
    char said[OUTPUT_SIZE], opened[OUTPUT_SIZE];
    const char *asked = getenv("FLIPS");
    unsigned flips = asked != NULL ? (unsigned)atoi(asked) : FLIPS;
    unsigned refused = 0, rows = 0, told = 0;
    if (verify(&scene, said) != 0)
        fail_msg("%s", said);
    assert_int_equal(open_all(&scene, opened), 64);
    for (unsigned i = 0; i < flips; i++) {
        mend(&scene);
        size_t at;
        do
            at = (size_t)roll(&scene) % scene.size;
        while (scene.bytes[at] == 0); /* most of a page is empty */
        uint8_t bit = (uint8_t)(1u << roll(&scene) % 8);
        scene.bytes[at] ^= bit;
        write_file(scene.database, scene.bytes, scene.size);
        int found = verify(&scene, said), start = open_all(&scene, opened);
        scene.bytes[at] ^= bit;
        told += found != 0;
        if (found != 0 && !names_a_place(said))
            fail_msg("byte %zu, bit %02x: verify ends with %d: %s", at, bit, found,
                     said);
        if (start == 64)
            continue;
        refused++;
        rows += strstr(said, "table ") != NULL;
        if (found == 0 || !names_a_place(opened))
            fail_msg("byte %zu, bit %02x: a start ends with %d: %s; verify with %d: %s",
                     at, bit, start, opened, found, said);
    }
    print_message(
        "of %d flips a start refuses %u, verify %u, %u by their row beside the "
        "ledger\n",
        flips, refused, told, rows);
    assert_true(refused >= flips / 4 && rows >= least_rows(flips));
    free(scene.bytes);
}

/* Replaces every occurrence: a page still contains parts of earlier versions. */
static void replace_all(struct scene *scene, const char *was, const char *now)
{
    size_t length = strlen(was), count = 0;
    assert_int_equal(strlen(now), length);
    for (size_t at = 0; at + length <= scene->size; at++)
        if (memcmp(scene->bytes + at, was, length) == 0) {
            memcpy(scene->bytes + at, now, length);
            count++;
        }
    if (count == 0)
        fail_msg("there is no %s", was);
    write_file(scene->database, scene->bytes, scene->size);
}

static void a_damaged_row_is_named_by_verify_and_by_the_start(void **state)
{
    struct scene scene = make_scene(state);
    char model[64], name[64], other[64];
    snprintf(model, sizeof model, "table model, row %s: ", scene.model);
    snprintf(name, sizeof name, "\"model\":\"%s\"", scene.model);
    snprintf(other, sizeof other, "\"model\":\"%s\"", scene.model);
    other[strlen(other) - 2] ^= 1;
    const struct {
        const char *was, *now, *where, *what;
    } all[] = {
        {"CANCELLED", "CANCELLEE", "table job, row job_",
         "state \"CANCELLEE\" is no state"},
        {"QUEUED", "QUEVED", "table job, row job_", "state \"QUEVED\" is no state"},
        {"user_cancel", "user_cancem", "table job, row job_",
         "state_reason \"user_cancem\" is no reason"},
        {"{\"dataset\":\"points\"", "{\"dataset\":\"pointz\"", "table job, row job_",
         "there is no dataset pointz"},
        {"READY", "REACY", "table dataset, row ", "state \"REACY\" is no state"},
        {"\"id\":\"blank\"", "\"id\":\"blanj\"",
         "table dataset, row blank: ", "its spec is of \"blanj\""},
        {"\"privacy\":{\"epsilon\":2.0", "\"privacy\":{\"epsilon\":3.0",
         "table dataset, row blank: ", "not what the ledger was granted"},
        {"RESERVE'", "RESERVF'", "database: ledger is not as this program made it", ""},
        {name, other, "", ""},
        {"\"format\":\"epsilond/1\"", "\"format\":\"epsilond/1'", model, ""},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char said[OUTPUT_SIZE], opened[OUTPUT_SIZE];
        size_t size;
        mend(&scene);
        replace_all(&scene, all[i].was, all[i].now);
        int found = verify(&scene, said), start = open_all(&scene, opened);
        const char *const texts[] = {said, opened};
        for (int k = 0; k < 2; k++)
            if (strstr(texts[k], all[i].where) == NULL ||
                strstr(texts[k], all[i].what) == NULL || found != 65 || start != 65)
                fail_msg("%s: %d and %d, %s", all[i].now, found, start, texts[k]);
        free(scene.bytes);
        snprintf(opened, sizeof opened, "%s/epsilond.db", scene.daemon->data_dir);
        scene.bytes = read_file(opened, &size);
    }
    free(scene.bytes);
}

static void flip_in(struct scene *scene, const char *name)
{
    char path[256], said[OUTPUT_SIZE];
    size_t size;
    snprintf(path, sizeof path, "%s/%s", scene->copy, name);
    uint8_t *bytes = read_file(path, &size);
    for (int i = 0; i < FILE_FLIPS; i++) {
        size_t at = (size_t)roll(scene) % size;
        uint8_t bit = (uint8_t)(1u << roll(scene) % 8);
        bytes[at] ^= bit;
        write_file(path, bytes, size);
        bytes[at] ^= bit;
        if (verify(scene, said) != 65 || strstr(said, name) == NULL)
            fail_msg("%s, byte %zu, bit %02x: %s", name, at, bit, said);
    }
    write_file(path, bytes, size - 1);
    assert_int_equal(verify(scene, said), 65);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(verify(scene, said), 65);
    assert_non_null(strstr(said, name));
    write_file(path, bytes, size);
    free(bytes);
}

static void a_damaged_file_never_verifies(void **state)
{
    struct scene scene = make_scene(state);
    char name[96], said[OUTPUT_SIZE];
    flip_in(&scene, "datasets/points.matrix");
    flip_in(&scene, "datasets/open.matrix");
    snprintf(name, sizeof name, "models/%s.safetensors", scene.model);
    flip_in(&scene, name);
    if (verify(&scene, said) != 0)
        fail_msg("%s", said);
    free(scene.bytes);
}

/* Jobs begin and end, and datasets come and go, while verify reads. */
static void verify_is_of_one_moment_beside_a_busy_daemon(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    ready_points(client, "busy", 300, 9, SAMPLE_BUDGET(8));
    for (unsigned i = 0; i < 12; i++) {
        char id[16], path[32];
        snprintf(id, sizeof id, "passing-%u", i);
        ready_points(client, id, 200, 100 + i, SAMPLE_PUBLIC);
        for (int k = 0; k < 4; k++)
            submit(client, SAMPLE_JOB, "busy", 40, 90.0);
        assert_int_equal(daemon_verify(&stage->daemon), 0);
        snprintf(path, sizeof path, "/v1/datasets/%s", id);
        assert_status(client_delete(client, path), 204);
    }
}

/* With the head kept elsewhere, verify reports what a start would do about a backup. */
static void verify_notices_a_backup_put_back(void **state)
{
    struct stage *stage = *state;
    struct daemon *daemon = &stage->daemon;
    char head[96], said[OUTPUT_SIZE];
    snprintf(head, sizeof head, "%s/head", daemon->directory);
    const char *const options[] = {"--head-file", head, NULL};
    assert_int_equal(daemon_stop(daemon, SIGTERM), 0);
    daemon_start(daemon, options);
    ready_points(&stage->client, "points", 300, 1, SAMPLE_BUDGET(4));
    assert_int_equal(daemon_stop(daemon, SIGTERM), 0);
    assert_int_equal(shell(said, "cp '%s/epsilond.db' '%s/old'", daemon->data_dir,
                           daemon->directory),
                     0);
    daemon_start(daemon, options);
    train(&stage->client, SAMPLE_JOB, "points", 20, 33.0);
    const char *const verify_options[] = {"verify",      "--data-dir", daemon->data_dir,
                                          "--head-file", head,         NULL};
    assert_int_equal(daemon_run(daemon, verify_options), 0);
    assert_int_equal(daemon_stop(daemon, SIGTERM), 0);
    assert_int_equal(shell(said, "cp '%s/old' '%s/epsilond.db'", daemon->directory,
                           daemon->data_dir),
                     0);
    assert_int_equal(daemon_verify(daemon), 0); /* the database does not show it */
    assert_int_equal(daemon_run(daemon, verify_options), 65);
    assert_true(daemon_logged(daemon, "older than the head on record"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_start_refuses_nothing_that_verify_found_good,
                                        stage_begin, stage_end),
        cmocka_unit_test_setup_teardown(
            a_damaged_row_is_named_by_verify_and_by_the_start, stage_begin, stage_end),
        cmocka_unit_test_setup_teardown(a_damaged_file_never_verifies, stage_begin,
                                        stage_end),
        cmocka_unit_test_setup_teardown(verify_is_of_one_moment_beside_a_busy_daemon,
                                        stage_begin, stage_end),
        cmocka_unit_test_setup_teardown(verify_notices_a_backup_put_back, stage_begin,
                                        stage_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
