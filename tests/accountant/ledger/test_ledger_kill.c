/* Goal: a process killed at any moment loses nothing that it acknowledged and shows
 * nothing half-done. Method: children with SIGKILL between every pair of statements of
 * a submission, at every named point of a job's life, and at random. KILLS=n in the
 * environment sets the number of random ones. */
#include "accountant/ledger/ledger.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "accountant/ledger/ledger_view.h"
#include "tests/expect.h"
#include "accountant/audit/verify.h"
#include "base/random.h"
#include "store/rows/idempotency_rows.h"
#include "store/rows/job_rows.h"
#include "tests/accountant/ledger_fixture.h"
#include "tests/store/place_fixture.h"

enum { KILLS = 50, JOBS_MAX = 400, STEPS = 9 };

/* The acknowledgements that the child received, in memory that outlives the child. */
struct told {
    unsigned submitted; /* jobs, in order */
    uint64_t authorised[JOBS_MAX], ran[JOBS_MAX];
    bool settled[JOBS_MAX];
};

static struct told *told_create(void)
{
    void *memory = mmap(NULL, sizeof(struct told), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    return memory;
}

static void told_destroy(struct told *told)
{
    assert_int_equal(munmap(told, sizeof *told), 0);
}

/* Kills this process at the at-th pass; 0: never. */
struct fuse {
    int at, passed;
};

static void pass(struct fuse *fuse)
{
    if (++fuse->passed == fuse->at)
        raise(SIGKILL);
}

static bool submit(struct kit *kit, unsigned job, struct fuse *fuse)
{
    struct store_tx *tx;
    struct ledger_entry_name entry;
    struct dataset_id dataset = kit_dataset("a");
    struct job_id id = kit_job(job);
    struct mechanism m = kit_gaussian(230.85, STEPS);
    struct ledger_claim claim = {&dataset,         &id,           &m,
                                 &principal_local, PARTS_UNNAMED, NULL};
    char key[16];
    snprintf(key, sizeof key, "key-%u", job);
    struct idempotency_row key_row = {
        .name = {"default", "local", "POST /v1/jobs", key},
        .location = "/v1/jobs/x",
        .body = "{}"};
    struct job_row row = {.id = id,
                          .version = 1,
                          .state = "QUEUED",
                          .spec = "{}",
                          .detail = "{}",
                          .created_by = "local"};
    bool good = store_begin(kit->store, STORE_LEDGER, &tx, NULL) == ST_OK;
    pass(fuse);
    good = good && idempotency_row_insert(tx, &key_row, NULL) == ST_OK;
    pass(fuse);
    good = good && job_row_insert(tx, &row, NULL) == ST_OK;
    pass(fuse);
    good = good && ledger_reserve(kit->ledger, tx, &claim, &entry, NULL) == ST_OK;
    pass(fuse);
    good = good && store_commit(tx, NULL) == ST_OK;
    pass(fuse);
    mechanism_fini(&m);
    return good;
}

/* Runs one job from submission to settlement, in blocks of four steps, and records each
 * acknowledgement. */
static bool live(struct kit *kit, unsigned job, struct told *told, struct fuse *fuse)
{
    if (!submit(kit, job, fuse))
        return false;
    told->submitted = job + 1;
    for (uint64_t steps = 4; steps <= STEPS - 1; steps += 4) {
        pass(fuse); /* before_authorise */
        if (kit_authorise(kit, job, steps) != ST_OK)
            return false;
        pass(fuse); /* after_authorise */
        told->authorised[job] = steps;
        told->ran[job] = steps;
        pass(fuse); /* after a block */
    }
    pass(fuse); /* before_commit */
    if (kit_settle(kit, job) != ST_OK)
        return false;
    pass(fuse); /* after_commit_before_reply */
    told->settled[job] = true;
    return true;
}

static pid_t start(const char *path, struct told *told, int fuse_at, unsigned jobs)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct fuse fuse = {fuse_at, 0};
        struct kit kit = kit_open(path);
        for (unsigned job = told->submitted; job < jobs; job++) {
            if (!live(&kit, job, told, &fuse))
                _exit(1);
        }
        kit_close(&kit);
        _exit(0);
    }
    return child;
}

struct counts {
    unsigned jobs, keys;
};

static bool count_job(void *context, const struct job_row *row)
{
    (void)row;
    ((struct counts *)context)->jobs++;
    return true;
}

static bool count_key(void *context, const struct idempotency_row *row)
{
    (void)row;
    ((struct counts *)context)->keys++;
    return true;
}

/* Checks that every job has all three of its rows, and that everything acknowledged is
 * there. */
static unsigned check(const char *path, const struct told *told)
{
    struct kit kit = kit_open(path);
    struct counts counts = {0};
    struct verify_report report;
    struct error error = {0};
    unsigned reserved = 0;
    if (verify_store(kit.store, &report, &error) != ST_OK)
        fail_msg("%s", error.text);
    struct store_tx *tx = kit_begin(&kit);
    assert_int_equal(job_rows_walk(tx, count_job, &counts, NULL), ST_OK);
    for (unsigned job = 0; job < JOBS_MAX; job++) {
        struct job_id id = kit_job(job);
        struct ledger_entry_name entry;
        char key[16];
        unsigned keys = counts.keys;
        snprintf(key, sizeof key, "key-%u", job);
        assert_int_equal(
            idempotency_row_find(
                tx,
                &(struct idempotency_name){"default", "local", "POST /v1/jobs", key},
                count_key, &counts, NULL),
            ST_OK);
        bool here = ledger_reservation(kit.ledger, &id, &entry);
        assert_int_equal(here, counts.keys - keys);
        reserved += here;
        assert_true(here || job >= told->submitted);
        uint64_t authorised = ledger_authorised(kit.ledger, &id);
        assert_true(authorised >= told->authorised[job] &&
                    authorised >= told->ran[job]);
    }
    store_rollback(tx);
    assert_int_equal(counts.jobs, reserved);
    for (unsigned job = 0; job < told->submitted; job++) {
        if (told->settled[job])
            assert_int_equal(kit_settle(&kit, job), ST_NOT_FOUND);
    }
    kit_close(&kit);
    return reserved;
}

static void grant_all(const char *path)
{
    struct kit kit = kit_open(path);
    assert_int_equal(kit_grant(&kit, "a", 8, 1e-5, 0), ST_OK);
    kit_close(&kit);
}

static void a_kill_between_any_two_statements_leaves_all_or_nothing(void **state)
{
    (void)state;
    bool finished = false;
    int at = 1;
    for (; !finished; at++) {
        struct place place = place_make();
        struct told *told = told_create();
        int ended;
        grant_all(place.path);
        pid_t child = start(place.path, told, at, 2);
        assert_int_equal(waitpid(child, &ended, 0), child);
        finished = WIFEXITED(ended) && WEXITSTATUS(ended) == 0;
        assert_true(finished || (WIFSIGNALED(ended) && WTERMSIG(ended) == SIGKILL));
        unsigned reserved = check(place.path, told);
        if (at <= 4)
            assert_int_equal(reserved, 0);
        else if (at <= 16)
            assert_int_equal(reserved, 1);
        told_destroy(told);
        place_remove(&place);
    }
    assert_int_equal(at - 2, 2 * 13); /* the points of two jobs */
}

/* All rounds use one store: each restart continues where the last process was
 * killed. */
static void a_kill_at_random_loses_nothing(void **state)
{
    (void)state;
    const char *asked = getenv("KILLS");
    long kills = asked != NULL ? atol(asked) : KILLS;
    struct place place = place_make();
    struct told *told = told_create();
    grant_all(place.path);
    for (long i = 0; i < kills; i++) {
        uint32_t wait_us;
        int ended;
        random_bytes(&wait_us, sizeof wait_us);
        if (told->submitted > JOBS_MAX / 2) { /* a fresh store before room runs out */
            place_remove(&place);
            told_destroy(told);
            place = place_make();
            told = told_create();
            grant_all(place.path);
        }
        pid_t child = start(place.path, told, 0, JOBS_MAX);
        struct timespec pause = {0, 1000L * (wait_us % 25000)};
        nanosleep(&pause, NULL);
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, &ended, 0), child);
        unsigned reserved = check(place.path, told);
        assert_true(reserved <= told->submitted + 1);
        told->submitted = reserved;
    }
    told_destroy(told);
    place_remove(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kill_between_any_two_statements_leaves_all_or_nothing),
        cmocka_unit_test(a_kill_at_random_loses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
