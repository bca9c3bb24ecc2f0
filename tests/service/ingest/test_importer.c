/* Goal: an import leaves only the matrix: no uploaded file, no words about a row in the
 * log, no second copy of the records under another budget; its end does not show how
 * long it took; and only the owner can read where a file is bad. Method: a service on
 * its own directory whose importer the test calls; its log in a file; the linker's
 * --wrap puts the test between the importer, the clock and the code that reads
 * files. */
#include "base/status.h"
#include "engine/data/matrix.h"
#include "engine/data/readers/import.h"
#include "service/datasets/dataset_info.h"
#include "service/ingest/importer.h"

#include <dirent.h>
#include <math.h>

#include "base/clock.h"
#include "service/ingest/import_padding.h"
#include "service/process/process_stats.h"
#include "service/threads/reveal_delay.h"
#include "store/blobs/blob_name.h"
#include "store/blobs/blob_place.h"
#include "tests/expect.h"
#include "tests/service/act_fixture.h"
#include "tests/service/service_fixture.h"

static struct scene scene;

/* --- between the importer and what it calls --- */

static struct faked { /* an import that reads nothing, with a stopped clock */
    bool is_on;
    enum status status;
    int64_t takes, now; /* seconds */
    uint64_t size;
    unsigned waits, stop_at; /* ticks; the one at which the service is stopped */
    unsigned pauses;         /* ticks at which processor time was paused */
    unsigned published, publish_waits; /* how often, and after how many ticks */
    unsigned reveals;                  /* random waits, before any wait for a tick */
} faked;

enum status __real_import_run(const struct import *import, struct import_result *result,
                              struct import_failure *failure);
enum status __wrap_import_run(const struct import *import, struct import_result *result,
                              struct import_failure *failure);
enum status __real_blob_publish(const struct blobs *blobs,
                                const struct blob_draft *draft, struct error *error);
enum status __wrap_blob_publish(const struct blobs *blobs,
                                const struct blob_draft *draft, struct error *error);
int64_t __real_clock_wall_s(void);
int64_t __wrap_clock_wall_s(void);
void __wrap_reveal_delay_wait(struct reveal_delay *delay, struct tick_clock *clock,
                              const atomic_bool *stop);
void __real_tick_clock_wait(struct tick_clock *clock);
void __wrap_tick_clock_wait(struct tick_clock *clock);

enum status __wrap_import_run(const struct import *import, struct import_result *result,
                              struct import_failure *failure)
{
    static uint8_t digest;
    if (!faked.is_on)
        return __real_import_run(import, result, failure);
    faked.now += faked.takes;
    failure->status = faked.status;
    if (faked.status != ST_OK)
        return faked.status;
    FILE *file = fopen(import->path, "w");
    assert_non_null(file);
    fclose(file);
    *result = (struct import_result){.records = SCENE_RECORDS, .size = faked.size};
    result->sha256[0] = result->rows_sha256[0] = ++digest;
    return ST_OK;
}

enum status __wrap_blob_publish(const struct blobs *blobs,
                                const struct blob_draft *draft, struct error *error)
{
    faked.published++;
    faked.publish_waits = faked.waits;
    return __real_blob_publish(blobs, draft, error);
}

int64_t __wrap_clock_wall_s(void)
{
    return faked.is_on ? faked.now : __real_clock_wall_s();
}

void __wrap_reveal_delay_wait(struct reveal_delay *delay, struct tick_clock *clock,
                              const atomic_bool *stop)
{
    (void)clock;
    if (!faked.is_on)
        return;
    assert_ptr_equal(stop, &scene.context.import_cancel);
    assert_true(delay->wait_ns[0] < UINT64_C(1000000) * scene.config.reveal_delay_ms);
    assert_int_equal(faked.waits, 0);
    faked.reveals++;
}

void __wrap_tick_clock_wait(struct tick_clock *clock)
{
    __real_tick_clock_wait(clock);
    faked.now++;
    faked.pauses += atomic_load(&scene.context.process_stats->pauses) > 0;
    if (++faked.waits == faked.stop_at)
        atomic_store(&scene.context.import_cancel, true);
}

static int begin(void **state)
{
    (void)state;
    scene = (struct scene){0};
    faked = (struct faked){0};
    scene_open(&scene);
    return 0;
}

static int end(void **state)
{
    (void)state;
    scene_close(&scene);
    return 0;
}

static unsigned files_in(const char *folder)
{
    unsigned count = 0;
    DIR *files = opendir(scene_path(&scene, folder));
    assert_non_null(files);
    for (struct dirent *entry; (entry = readdir(files)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(files);
    return count;
}

/* Imports a file and copies to `log` what the import logs. */
static struct dataset_info import_logged(struct dataset *dataset, const char *first,
                                         char *log, size_t size)
{
    char path[96];
    snprintf(path, sizeof path, "%s/log", scene.place.folder);
    int kept = dup(STDERR_FILENO);
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(kept >= 0 && file >= 0);
    dup2(file, STDERR_FILENO);
    struct dataset_info info = scene_import(&scene, dataset, first);
    dup2(kept, STDERR_FILENO);
    ssize_t length = pread(file, log, size - 1, 0);
    assert_true(length >= 0);
    log[length] = '\0';
    close(file);
    close(kept);
    return info;
}

static const char budget[] = "{\"epsilon\":8,\"delta\":1e-5}";

static void an_imported_dataset_is_its_matrix_and_nothing_else(void **state)
{
    (void)state;
    struct dataset *points = scene_declare(&scene, "points", budget);
    assert_int_equal(scene_import(&scene, points, "0").state, DATASET_READY);
    assert_int_equal(files_in("uploads"), 0);
    assert_int_equal(files_in("scratch"), 0);
    assert_int_equal(files_in("datasets"), 1);
}

static void the_log_says_that_an_import_failed_and_not_why(void **state)
{
    (void)state;
    char log[4096];
    struct dataset *points = scene_declare(&scene, "points", budget);
    struct dataset_info info = import_logged(points, "secret", log, sizeof log);
    assert_int_equal(info.state, DATASET_FAILED);
    const char *why = strrchr(info.detail.failure.text, '"'); /* after the column */
    assert_non_null(why);
    assert_non_null(strstr(log, "import_ended"));
    assert_non_null(strstr(log, "import_failed"));
    assert_null(strstr(log, why + 1));
    assert_null(strstr(log, "secret"));
    assert_int_equal(files_in("datasets"), 0);
}

static void the_same_records_have_one_budget(void **state)
{
    (void)state;
    struct dataset *points = scene_declare(&scene, "points", budget);
    struct dataset *again = scene_declare(&scene, "again", budget);
    struct dataset *shown = scene_declare(&scene, "shown", "\"public\"");
    struct dataset *others = scene_declare(&scene, "others", budget);
    assert_int_equal(scene_import(&scene, points, "0").state, DATASET_READY);
    assert_int_equal(scene_import(&scene, again, "0").detail.failure.status,
                     ST_DUPLICATE_CONTENT);
    assert_int_equal(scene_import(&scene, shown, "0").detail.failure.status,
                     ST_DUPLICATE_CONTENT);
    assert_int_equal(scene_import(&scene, others, "1").state, DATASET_READY);
    assert_int_equal(files_in("datasets"), 2);
}

/* Maps the dataset's matrix. */
static void open_matrix(struct matrix *matrix, const char *id)
{
    char name[96];
    snprintf(name, sizeof name, "datasets/%s.matrix", id);
    assert_int_equal(matrix_open(matrix, scene_path(&scene, name), NULL), ST_OK);
}

/* Counts the records that are at their position in the file: their feature grows with
 * their line. */
static size_t in_file_order(const char *id)
{
    struct matrix matrix;
    size_t count = 0;
    open_matrix(&matrix, id);
    for (uint32_t i = 0; i < SCENE_RECORDS; i++) {
        float x;
        matrix_gather(&matrix, &x, 1, &i, 1);
        count += fabsf(x - (2 * (float)i / SCENE_RECORDS - 1)) < 1e-6F;
    }
    matrix_close(&matrix);
    return count;
}

static void private_records_lie_in_a_secret_order(void **state)
{
    (void)state;
    struct dataset *points = scene_declare(&scene, "points", budget);
    struct dataset *shown = scene_declare(&scene, "shown", "\"public\"");
    struct dataset_info info = scene_import(&scene, points, "0");
    assert_int_equal(info.state, DATASET_READY);
    assert_true(info.detail.is_shuffled);
    assert_in_range(in_file_order("points"), 0, 12); /* one is expected */
    info = scene_import(&scene, shown, "0.001");
    assert_int_equal(info.state, DATASET_READY);
    assert_false(info.detail.is_shuffled);
    assert_in_range(in_file_order("shown"), SCENE_RECORDS - 1, SCENE_RECORDS);
}

/* A second order would move people from one part to the other. */
static void a_dataset_that_is_ready_is_not_imported_a_second_time(void **state)
{
    (void)state;
    struct dataset *points = scene_declare(&scene, "points", budget);
    struct dataset_info before = scene_import(&scene, points, "0"), after;
    FILE *file = fopen(scene_path(&scene, "uploads/points.data"), "w");
    assert_non_null(file);
    assert_true(fprintf(file, "0,a\n1,b\n") > 0);
    assert_int_equal(fclose(file), 0);
    const struct import_request asked = {&act_of_test, ACKNOWLEDGED_NOTHING};
    struct import_failure failure = {0};
    bool begun = false;
    assert_int_equal(
        importer_start(&scene.context, points, &asked, &begun, &failure, NULL), ST_OK);
    assert_false(begun);
    dataset_read(scene.context.datasets, points, &after);
    assert_int_equal(after.state, DATASET_READY);
    assert_int_equal(after.version, before.version);
    assert_memory_equal(after.sha256, before.sha256, SHA256_SIZE);
    struct matrix matrix;
    uint8_t sha256[SHA256_SIZE];
    open_matrix(&matrix, "points");
    sha256_of(sha256, matrix.map, matrix.map_size);
    assert_memory_equal(sha256, before.sha256, SHA256_SIZE);
    matrix_close(&matrix);
}

/* If its folder cannot be read it is unknown whether a file exists, so the state
 * stays. */
static void only_a_file_that_is_missing_is_reported_as_not_uploaded(void **state)
{
    (void)state;
    struct dataset *points = scene_declare(&scene, "points", budget);
    struct dataset_info info;
    struct import_failure failure = {0};
    struct error error = {0};
    const struct import_request asked = {&act_of_test, ACKNOWLEDGED_NOTHING};
    bool begun = false;
    assert_int_equal(
        importer_start(&scene.context, points, &asked, &begun, &failure, &error),
        ST_IMPORT_FAILED);
    assert_string_equal(error.text, "not uploaded");
    assert_string_equal(failure.text, "not uploaded");
    assert_string_equal(failure.file, "data");
    const char *folder = scene_path(&scene, "uploads");
    assert_int_equal(rmdir(folder), 0);
    FILE *file = fopen(folder, "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    failure = (struct import_failure){0};
    assert_int_equal(
        importer_start(&scene.context, points, &asked, &begun, &failure, NULL), ST_IO);
    assert_string_equal(failure.text, "");
    assert_false(begun);
    dataset_read(scene.context.datasets, points, &info);
    assert_int_equal(info.state, DATASET_CREATED);
    assert_int_equal(unlink(folder), 0);
}

static const char of_records[] =
    "{\"name\":\"x\",\"kind\":\"numeric\",\"range\":[0,1]}";
static const char of_persons[] =
    "{\"name\":\"who\",\"kind\":\"privacy_id\"},"
    "{\"name\":\"x\",\"kind\":\"numeric\",\"range\":[0,1]}";

static enum dataset_state import_faked(const char *id, const char *columns,
                                       const char *privacy, const struct faked *as)
{
    struct dataset *dataset = scene_declare_columns(&scene, id, columns, privacy);
    faked = *as;
    faked.is_on = true;
    faked.now = 1700000000;
    return scene_import(&scene, dataset, "0").state;
}

/* Checks for how many ticks an import waits that took a given number of seconds. */
static void how_long_persons_take_and_where_a_file_is_bad_is_not_seen(void **state)
{
    (void)state;
    static const uint64_t large = 20 * (uint64_t)IMPORT_PADDING_RATE;
    static const struct {
        const char *columns, *privacy;
        struct faked import;
        unsigned waits;
    } cases[] = {
        {of_persons, budget, {.takes = 0, .size = 500}, 8},
        {of_persons, budget, {.takes = 5, .size = 500}, 3},
        {of_persons, budget, {.takes = 7, .size = 500}, 1},
        {of_persons, budget, {.takes = 9, .size = 500}, 23}, /* at 32 */
        {of_persons, budget, {.takes = 0, .size = large}, 21},
        {of_persons, budget, {.takes = 5, .size = large}, 16},
        {of_persons, budget, {.takes = 30, .size = large}, 54}, /* at 84 */
        {of_persons, budget, {.takes = 5, .status = ST_IMPORT_FAILED}, 3},
        {of_records, budget, {.takes = 5, .status = ST_IMPORT_FAILED}, 3},
        {of_records, budget, {.takes = 5, .size = large}, 1}, /* n is public */
        {of_records, "\"public\"", {.takes = 5, .status = ST_IMPORT_FAILED}, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char id[16];
        snprintf(id, sizeof id, "import-%zu", i);
        enum dataset_state ended =
            import_faked(id, cases[i].columns, cases[i].privacy, &cases[i].import);
        assert_int_equal(ended, cases[i].import.status == ST_OK ? DATASET_READY
                                                                : DATASET_FAILED);
        assert_int_equal(faked.waits, cases[i].waits);
        /* A person with access to the files sees the end no earlier than others. */
        assert_int_equal(faked.published, cases[i].import.status == ST_OK);
        if (faked.published > 0)
            assert_int_equal(faked.publish_waits, faked.waits - 1);
        assert_int_equal(faked.pauses, cases[i].privacy == budget ? faked.waits : 0);
        assert_int_equal(faked.reveals, cases[i].privacy == budget);
        process_stats_measure(scene.context.process_stats, 0);
        assert_int_equal(atomic_load(&scene.context.process_stats->pauses), 0);
    }
}

static void a_stop_does_not_show_that_an_import_had_ended(void **state)
{
    (void)state;
    const struct faked import = {.takes = 5, .size = 500, .stop_at = 1};
    assert_int_equal(import_faked("points", of_persons, budget, &import),
                     DATASET_CREATED);
    assert_int_equal(faked.waits, 2);
    assert_int_equal(faked.published, 0);
    assert_int_equal(files_in("scratch"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            an_imported_dataset_is_its_matrix_and_nothing_else, begin, end),
        cmocka_unit_test_setup_teardown(the_log_says_that_an_import_failed_and_not_why,
                                        begin, end),
        cmocka_unit_test_setup_teardown(the_same_records_have_one_budget, begin, end),
        cmocka_unit_test_setup_teardown(private_records_lie_in_a_secret_order, begin,
                                        end),
        cmocka_unit_test_setup_teardown(
            only_a_file_that_is_missing_is_reported_as_not_uploaded, begin, end),
        cmocka_unit_test_setup_teardown(
            a_dataset_that_is_ready_is_not_imported_a_second_time, begin, end),
        cmocka_unit_test_setup_teardown(
            how_long_persons_take_and_where_a_file_is_bad_is_not_seen, begin, end),
        cmocka_unit_test_setup_teardown(a_stop_does_not_show_that_an_import_had_ended,
                                        begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
