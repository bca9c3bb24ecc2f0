/* Goal: whatever fails and whenever, everything acknowledged is still there after a
 * restart, or the restart is refused. Method: every change of the disk fails in turn,
 * every allocation in turn, every part of the file is damaged in turn. ALLOCATIONS=all
 * in the environment tries every allocation, not only a sample. */
#include "accountant/ledger/ledger.h"

#include <sys/wait.h>

#include "accountant/ledger/ledger_freeze.h"
#include "accountant/ledger/ledger_view.h"
#include "tests/expect.h"
#include "tests/accountant/ledger_life_fixture.h"
#include "tests/store/fault_vfs_fixture.h"
#include "tests/store/place_fixture.h"
#include "tests/torture_fixture.h"

/* Under a sanitizer, in which each point takes ten times as long, every third one is
 * tried, and a fifth of the damages. FULL=1 tries all. */
static bool sample_points(void)
{
    return SANITIZED && getenv("FULL") == NULL;
}

/* Most changes of the disk, and most allocations, of a new database make its tables,
 * before anything is acknowledged. So every point of a database that has its tables is
 * tried, and a tenth of the points of a new one. */
enum { NEW_SHARE = 10 };

static struct place with_tables; /* a database in which nothing has happened */

static int make_tables(void **state)
{
    (void)state;
    with_tables = place_make();
    struct kit kit = kit_open(with_tables.path);
    kit_close(&kit);
    return 0;
}

static int remove_tables(void **state)
{
    (void)state;
    place_remove(&with_tables);
    return 0;
}

static struct place place_for(bool is_new)
{
    struct place place = place_make();
    if (!is_new)
        place_copy(with_tables.path, place.path);
    return place;
}

/* Fails every stride-th change of the disk of a life, until one makes fewer. */
static void fail_disks(const struct fault_plan *plan, bool is_new, long stride)
{
    long failed = 1, point = 1;
    for (; failed > 0; point += stride) {
        struct place place = place_for(is_new);
        struct acknowledged done = {0};
        fault_plan = *plan;
        fault_plan.at = point;
        bool good = scene_play(place.path, &done);
        failed = fault_plan.failed;
        fault_plan = (struct fault_plan){0};
        assert_true(good || failed > 0);
        scene_check(place.path, &done);
        place_remove(&place);
    }
    assert_true(point > 50); /* two syncs and writes a transaction, 20 transactions */
}

static void a_failing_disk_loses_nothing_acknowledged(void **state)
{
    (void)state;
    static const struct fault_plan plans[] = {
        {.kind = FAULT_IO},
        {.kind = FAULT_IO, .sticky = 1},
        {.kind = FAULT_FULL, .sticky = 1},
        {.kind = FAULT_IO, .torn = 1, .sticky = 1}};
    for (size_t p = 0; p < sizeof plans / sizeof *plans; p++) {
        fail_disks(&plans[p], false, sample_points() ? 3 : 1);
        fail_disks(&plans[p], true, getenv("FULL") != NULL ? 1 : NEW_SHARE);
    }
}

struct starved {
    struct acknowledged done;
    bool plenty; /* it ended before the n-th allocation */
};

/* Runs the scene in a child whose n-th allocation fails. */
static void play_starved(const char *path, struct starved *starved, long n)
{
    int ended;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        torture_silence();
        torture_fail_at(n);
        scene_play(path, &starved->done);
        starved->plenty = torture_spared();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &ended, 0), child);
    /* A failed small allocation aborts the process; it must not crash in any other
     * way. */
    assert_true(WIFEXITED(ended) || WTERMSIG(ended) == SIGABRT);
}

/* Fails every stride-th allocation of a life, until one needs fewer allocations. */
static void starve_lives(bool is_new, long stride)
{
    const char *asked = getenv("ALLOCATIONS");
    long n = 1;
    bool plenty = false;
    if (asked != NULL && strcmp(asked, "all") == 0)
        stride = 1;
    for (; !plenty; n += stride) {
        struct place place = place_for(is_new);
        struct starved *starved = torture_shared(sizeof *starved);
        play_starved(place.path, starved, n);
        plenty = starved->plenty;
        scene_check(place.path, &starved->done);
        torture_unshare(starved, sizeof *starved);
        place_remove(&place);
    }
    assert_true(n > 1000);
}

static void a_failing_allocation_loses_nothing_acknowledged(void **state)
{
    (void)state;
    if (!torture_possible())
        skip_because("a sanitizer has an allocator of its own");
    starve_lives(false, 37);
    starve_lives(true, 37 * NEW_SHARE);
}

/* Reads both balances. Returns false if the start is refused. */
static bool read_balances(const char *path, struct balance balances[2])
{
    struct kit kit = {0};
    bool good = store_open(&kit.store, path, NULL) == ST_OK &&
                ledger_open(&kit.ledger, kit.store, NULL) == ST_OK;
    for (int i = 0; good && i < 2; i++) {
        struct dataset_id id = kit_dataset(scene_names[i]);
        good = ledger_balance(kit.ledger, &id, &balances[i], NULL) == ST_OK;
    }
    ledger_close(kit.ledger);
    store_close(kit.store);
    return good;
}

static void expect_refused_or_same(const char *path, const struct balance truth[2])
{
    struct balance found[2];
    if (!read_balances(path, found))
        return;
    for (int i = 0; i < 2; i++)
        assert_same_balance(&found[i], &truth[i]);
}

static void flip(const char *path, long at, int bits)
{
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    int byte = fgetc(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    fputc(byte ^ bits, file);
    assert_int_equal(fclose(file), 0);
}

static void a_damaged_file_is_refused_or_says_the_same(void **state)
{
    (void)state;
    struct place place = place_make();
    struct acknowledged done = {0};
    struct balance truth[2];
    struct stat found;
    char copy[80];
    assert_true(scene_play(place.path, &done));
    assert_true(read_balances(place.path, truth));
    snprintf(copy, sizeof copy, "%s.good", place.path);
    place_copy(place.path, copy);
    assert_int_equal(stat(copy, &found), 0);
    long damages = sample_points() ? 100 : 500;
    for (long at = 1; at < found.st_size; at += found.st_size / damages) {
        place_copy(copy, place.path);
        flip(place.path, at, 1 << at % 8);
        expect_refused_or_same(place.path, truth);
    }
    for (long size = 4096; size < found.st_size; size += 4096) {
        place_copy(copy, place.path);
        assert_int_equal(truncate(place.path, size - size % 3 * 100), 0);
        expect_refused_or_same(place.path, truth);
    }
    place_remove(&place);
}

/* SQLite silently drops the torn end of its log, and acknowledged entries with it. The
 * head file shows the loss, and the budgets are frozen. */
static void a_torn_log_is_noticed_by_the_head(void **state)
{
    (void)state;
    struct place place = place_make();
    char head[80], wal[80], db_copy[80], wal_copy[80], head_copy[80];
    bool frozen;
    struct kit kit = kit_open(place.path);
    snprintf(head, sizeof head, "%s/head", place.folder);
    snprintf(wal, sizeof wal, "%s-wal", place.path);
    snprintf(db_copy, sizeof db_copy, "%s/copy.db", place.folder);
    snprintf(wal_copy, sizeof wal_copy, "%s/copy.db-wal", place.folder);
    snprintf(head_copy, sizeof head_copy, "%s/copy-head", place.folder);
    assert_int_equal(ledger_head_file(kit.ledger, head, &frozen, NULL), ST_OK);
    assert_int_equal(kit_grant(&kit, "a", 4, 1e-5, 0), ST_OK);
    kit_close(&kit);
    kit = kit_open(place.path);
    assert_int_equal(ledger_head_file(kit.ledger, head, &frozen, NULL), ST_OK);
    for (unsigned job = 0; job < 4; job++) {
        assert_int_equal(kit_reserve(&kit, "a", job, 23.85, 9), ST_OK);
        assert_int_equal(kit_authorise(&kit, job, 5), ST_OK);
    }
    struct stat found;
    unsigned noticed = 0, tried = 0;
    assert_int_equal(stat(wal, &found), 0);
    for (long cut = found.st_size / 40; cut < found.st_size;
         cut += found.st_size / 40) {
        place_copy(place.path, db_copy);
        place_copy(wal, wal_copy);
        place_copy(head, head_copy);
        assert_int_equal(truncate(wal_copy, found.st_size - cut), 0);
        struct kit torn = {0};
        bool opened = store_open(&torn.store, db_copy, NULL) == ST_OK &&
                      ledger_open(&torn.ledger, torn.store, NULL) == ST_OK;
        if (opened &&
            ledger_head_file(torn.ledger, head_copy, &frozen, NULL) == ST_OK) {
            struct balance balance = kit_balance(&torn, "a");
            assert_true(frozen && balance.frozen);
            noticed++;
        }
        tried++;
        ledger_close(torn.ledger);
        store_close(torn.store);
        unlink(db_copy);
        unlink(wal_copy);
    }
    assert_int_equal(noticed, tried);
    kit_close(&kit);
    place_remove(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failing_disk_loses_nothing_acknowledged),
        cmocka_unit_test(a_failing_allocation_loses_nothing_acknowledged),
        cmocka_unit_test(a_damaged_file_is_refused_or_says_the_same),
        cmocka_unit_test(a_torn_log_is_noticed_by_the_head),
    };
    fault_install();
    return cmocka_run_group_tests(tests, make_tables, remove_tables);
}
