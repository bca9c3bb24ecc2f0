/* Goal: the guarantee shown after a restored backup holds for everything that was
 * released, also by a lost history, and a truncated store is distinguished from one
 * that continued. Method: stores that are copied and put back, with or without their
 * head file; the true delta of the Gaussians that ran in all of them by the exact
 * profile (Balle and Wang 2018, Theorem 8), which no code of the ledger computes. */
#include "accountant/ledger/ledger_fork.h"

#include "tests/expect.h"
#include "accountant/ledger/ledger_freeze.h"
#include "accountant/ledger/ledger_seal.h"
#include "accountant/ledger/ledger_view.h"
#include "accountant/audit/verify.h"
#include "tests/accountant/ledger_fixture.h"
#include "tests/store/place_fixture.h"

enum { PATH_SIZE = 96 };

static const double epsilon_granted = 1, delta_granted = 1e-5;

struct scene {
    struct place place;
    struct kit kit;
    char head[PATH_SIZE], backup[PATH_SIZE];
    unsigned jobs; /* submitted, in all histories */
    double spent;  /* mu^2 of all Gaussians that ran, in all histories */
    double whole;  /* mu^2 of a Gaussian that fills the budget */
};

/* Returns the largest mu^2 that a filter admits at one of its orders: a mu^2 / 2 <=
 * B(a). */
static double room(struct kit *kit)
{
    struct balance balance = kit_balance(kit, "a");
    double most = 0;
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++)
        most = fmax(most, 2 * balance.capacity[i] / curve_orders[balance.weighted[i]]);
    return most * (1 - 1e-9);
}

static struct scene begin(void)
{
    struct scene scene = {.place = place_make()};
    snprintf(scene.head, sizeof scene.head, "%s/head", scene.place.folder);
    snprintf(scene.backup, sizeof scene.backup, "%s/backup.db", scene.place.folder);
    scene.kit = kit_open(scene.place.path);
    bool frozen = true;
    assert_int_equal(ledger_head_file(scene.kit.ledger, scene.head, &frozen, NULL),
                     ST_OK);
    assert_false(frozen);
    assert_int_equal(kit_grant(&scene.kit, "a", epsilon_granted, delta_granted, 0),
                     ST_OK);
    scene.whole = room(&scene.kit);
    return scene;
}

static bool use_head_at(struct scene *scene, const char *path)
{
    bool frozen = false;
    struct error error = {0};
    if (ledger_head_file(scene->kit.ledger, path, &frozen, &error) != ST_OK)
        fail_msg("%s", error.text);
    return frozen;
}

static bool use_head(struct scene *scene)
{
    return use_head_at(scene, scene->head);
}

/* Runs jobs that together use this share of the budget. */
static void run(struct scene *scene, unsigned jobs, double share)
{
    double squared = share * scene->whole / jobs;
    for (unsigned i = 0; i < jobs; i++) {
        unsigned job = ++scene->jobs;
        assert_int_equal(kit_reserve(&scene->kit, "a", job, 1 / sqrt(squared), 1),
                         ST_OK);
        assert_int_equal(kit_authorise(&scene->kit, job, 1), ST_OK);
        assert_int_equal(kit_settle(&scene->kit, job), ST_OK);
        scene->spent += squared;
    }
}

static void restart(struct scene *scene)
{
    kit_close(&scene->kit);
    scene->kit = kit_open(scene->place.path);
}

static void take_backup(struct scene *scene)
{
    kit_close(&scene->kit);
    place_copy(scene->place.path, scene->backup);
    scene->kit = kit_open(scene->place.path);
    assert_false(use_head(scene));
}

/* Starts on the backup, without the head file. */
static void restore(struct scene *scene)
{
    kit_close(&scene->kit);
    place_copy(scene->backup, scene->place.path);
    scene->kit = kit_open(scene->place.path);
}

static void end(struct scene *scene)
{
    kit_close(&scene->kit);
    place_remove(&scene->place);
}

struct shown {
    struct guarantee all;
    size_t timelines;
    double most; /* sum of what the other timelines may have spent */
};

static struct shown show(struct scene *scene)
{
    struct epochs epochs = {0};
    struct balance balance;
    struct dataset_id id = kit_dataset("a");
    assert_int_equal(ledger_epochs(scene->kit.ledger, &id, &epochs, &balance, NULL),
                     ST_OK);
    struct shown shown = {odometer_guarantee(&epochs), balance.timelines, 0};
    assert_int_equal(epochs_timelines(&epochs), balance.timelines);
    for (size_t t = 0; t < epochs.timeline_count; t++)
        shown.most += fmax(epochs.timelines[t].most[0], epochs.timelines[t].most[1]);
    epochs_fini(&epochs);
    return shown;
}

static double phi(double x)
{
    return erfc(-x / sqrt(2)) / 2;
}

/* Returns delta at epsilon of all Gaussians that ran, together. */
static double true_delta(const struct scene *scene, double epsilon)
{
    double mu = sqrt(scene->spent);
    return phi(mu / 2 - epsilon / mu) - exp(epsilon) * phi(-mu / 2 - epsilon / mu);
}

static void expect_kept(struct scene *scene)
{
    struct shown shown = show(scene);
    assert_true(true_delta(scene, shown.all.epsilon) <= shown.all.delta);
}

static void expect_verified(struct scene *scene)
{
    struct verify_report report;
    struct error error = {0};
    if (verify_store(scene->kit.store, &report, &error) != ST_OK)
        fail_msg("%s", error.text);
}

/* Two histories each fill (1, 1e-5). If they were counted once, as if the lost one had
 * been cut off, (1, 1e-5) would be shown, and the true delta at 1 is 2.98e-4. */
static void both_histories_of_a_fork_are_counted(void **state)
{
    (void)state;
    struct scene scene = begin();
    take_backup(&scene);
    run(&scene, 4, 1);
    restore(&scene);
    run(&scene, 4, 1);
    restart(&scene);
    assert_true(use_head(&scene));
    assert_true(fabs(true_delta(&scene, epsilon_granted) - 2.98e-4) < .005e-4);
    expect_kept(&scene);
    assert_int_equal(show(&scene).timelines, 2);
    expect_verified(&scene);
    end(&scene);
}

/* This holds however the lengths of the two histories compare. A store is a truncation
 * only if its last entry belongs to the lost history. */
static void a_fork_is_no_truncation_however_long_it_is(void **state)
{
    (void)state;
    static const struct {
        unsigned lost, since; /* jobs */
        size_t timelines;
        bool freezes;
    } rows[] = {
        {200, 4, 2, true}, /* four large jobs after a restore */
        {4, 4, 2, true},   {1, 30, 2, true},
        {1, 1, 2, true},   {3, 0, 1, true}, /* nothing ran: truncated */
        {0, 3, 1, false},                   /* nothing was lost */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct scene scene = begin();
        run(&scene, 2, .25);
        take_backup(&scene);
        if (rows[i].lost > 0)
            run(&scene, rows[i].lost, .75);
        restore(&scene);
        if (rows[i].since > 0)
            run(&scene, rows[i].since, .75);
        restart(&scene);
        assert_int_equal(use_head(&scene), rows[i].freezes);
        struct shown shown = show(&scene);
        assert_int_equal(shown.timelines, rows[i].timelines);
        assert_int_equal(shown.all.epsilon > epsilon_granted, rows[i].timelines > 1);
        expect_kept(&scene);
        expect_verified(&scene);
        restart(&scene); /* noted once, for ever */
        assert_false(use_head(&scene));
        assert_true(show(&scene).all.epsilon == shown.all.epsilon);
        end(&scene);
    }
}

/* Entries that both histories share count once: S is of the shared prefix only. */
static void a_timeline_adds_what_the_shared_entries_left(void **state)
{
    (void)state;
    static const double shares[] = {0, .25, .5, .9};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        struct scene scene = begin();
        if (shares[i] > 0)
            run(&scene, 3, shares[i]);
        struct balance before = kit_balance(&scene.kit, "a");
        take_backup(&scene);
        run(&scene, 2, (1 - shares[i]) / 2);
        restore(&scene);
        run(&scene, 5, 1 - shares[i]);
        restart(&scene);
        assert_true(use_head(&scene));
        double most = 0;
        for (size_t a = 0; a < LEDGER_WEIGHTED; a++)
            most = fmax(most,
                        before.capacity[a] - before.committed.at[before.weighted[a]]);
        assert_true(show(&scene).most == most);
        expect_kept(&scene);
        end(&scene);
    }
}

/* A head file of the earlier format consists of the line only. */
static void a_head_file_that_knows_its_newest_hash_counts_a_fork(void **state)
{
    (void)state;
    struct scene scene = begin();
    char chain[PATH_SIZE + 8];
    snprintf(chain, sizeof chain, "%s.chain", scene.head);
    run(&scene, 2, .5);
    restart(&scene);
    assert_int_equal(unlink(chain), 0);
    assert_false(use_head(&scene)); /* converted to the new format */
    take_backup(&scene);
    run(&scene, 2, .5);
    restore(&scene);
    assert_true(use_head(&scene));
    assert_int_equal(show(&scene).timelines, 1);
    end(&scene);

    scene = begin();
    take_backup(&scene);
    run(&scene, 2, .5);
    restore(&scene);
    assert_int_equal(
        unlink(chain[0] != '\0' ? strcat(strcpy(chain, scene.head), ".chain") : chain),
        0);
    assert_true(use_head(&scene)); /* truncated or forked: unknown */
    assert_int_equal(show(&scene).timelines, 2);
    expect_verified(&scene);
    end(&scene);
}

/* A backup from before the fork does not know of it; the head file does. */
static void a_fork_outlives_another_restore(void **state)
{
    (void)state;
    struct scene scene = begin();
    take_backup(&scene);
    run(&scene, 2, 1);
    restore(&scene);
    run(&scene, 4, 1);
    restart(&scene);
    assert_true(use_head(&scene));
    restore(&scene);
    assert_int_equal(show(&scene).timelines, 1);
    assert_true(use_head(&scene));
    assert_int_equal(show(&scene).timelines, 2);
    expect_kept(&scene);
    restore(&scene); /* begins a third history */
    run(&scene, 1, 1);
    restart(&scene);
    assert_true(use_head(&scene));
    assert_int_equal(show(&scene).timelines, 3);
    expect_kept(&scene);
    expect_verified(&scene);
    end(&scene);
}

/* Marks are not part of the chain: a queued job of the backup runs after the restore,
 * and is killed before it leaves an entry. It ran in the lost history too. */
static void steps_of_a_restored_job_count_twice(void **state)
{
    (void)state;
    struct scene scene = begin();
    const double noise = 1 / sqrt(scene.whole / 100);
    assert_int_equal(kit_reserve(&scene.kit, "a", 1, noise, 100), ST_OK);
    take_backup(&scene);
    assert_int_equal(kit_authorise(&scene.kit, 1, 100), ST_OK);
    assert_int_equal(kit_settle(&scene.kit, 1), ST_OK);
    restore(&scene);
    assert_int_equal(kit_authorise(&scene.kit, 1, 100), ST_OK);
    scene.spent = 2 * scene.whole;
    restart(&scene);
    assert_true(use_head(&scene));
    assert_int_equal(show(&scene).timelines, 1); /* no other history was seen */
    expect_kept(&scene);
    restart(&scene);
    assert_false(use_head(&scene));
    expect_kept(&scene);
    end(&scene);
}

static void regrant(struct scene *scene)
{
    struct store_tx *tx = kit_begin(&scene->kit);
    struct dataset_id id = kit_dataset("a");
    struct grant grant = {RELATION_ZERO_OUT,
                          epsilon_granted,
                          delta_granted,
                          0,
                          {0, 0},
                          PRIVACY_UNIT_RECORD,
                          0};
    const struct ledger_promise promise = {&id, &grant, &principal_local, NULL};
    assert_int_equal(kit_end(tx, ledger_regrant(scene->kit.ledger, tx, &promise, NULL)),
                     ST_OK);
}

/* Each daemon has its own head file, and each file names a different entry of the lost
 * history. */
static void two_head_files_name_one_timeline(void **state)
{
    (void)state;
    char other[PATH_SIZE], chain[PATH_SIZE + 8], other_chain[PATH_SIZE + 8];
    for (int forks = 0; forks < 2; forks++) {
        struct scene scene = begin();
        snprintf(other, sizeof other, "%s/other", scene.place.folder);
        snprintf(chain, sizeof chain, "%s.chain", scene.head);
        snprintf(other_chain, sizeof other_chain, "%s.chain", other);
        take_backup(&scene);
        run(&scene, 2, .5);
        place_copy(scene.head, other);
        place_copy(chain, other_chain);
        run(&scene, 2, .5);
        restore(&scene);
        if (forks)
            run(&scene, 1, .5);
        restart(&scene);
        assert_true(use_head(&scene));
        regrant(&scene);
        struct shown shown = show(&scene);
        assert_int_equal(shown.timelines, 1 + forks);
        restart(&scene);
        assert_false(use_head_at(&scene, other)); /* nothing new */
        assert_false(kit_balance(&scene.kit, "a").frozen);
        assert_int_equal(show(&scene).timelines, shown.timelines);
        assert_true(show(&scene).all.epsilon == shown.all.epsilon);
        end(&scene);
    }
}

static void a_timeline_weighs_beside_every_later_epoch(void **state)
{
    (void)state;
    struct scene scene = begin();
    take_backup(&scene);
    run(&scene, 2, 1);
    restore(&scene);
    run(&scene, 2, 1);
    restart(&scene);
    assert_true(use_head(&scene));
    struct shown before = show(&scene);
    regrant(&scene);
    run(&scene, 2, 1);
    struct shown after = show(&scene);
    assert_true(after.all.epsilon > before.all.epsilon);
    assert_true(after.all.delta == delta_granted);
    expect_kept(&scene);
    expect_verified(&scene);
    end(&scene);
}

static void seal(struct scene *scene)
{
    struct seal done;
    char folder[PATH_SIZE];
    bool any = false;
    snprintf(folder, sizeof folder, "%s/archive", scene->place.folder);
    mkdir(folder, 0700);
    assert_int_equal(ledger_seal(scene->kit.ledger, folder, &done, &any, NULL), ST_OK);
    assert_true(any);
}

/* The file keeps the hash of every SEAL, and of every entry since the newest SEAL: a
 * backup made after that SEAL is compared, and one made before it counts as a fork of
 * unknown place. */
static void archived_entries_are_compared_by_their_seal(void **state)
{
    (void)state;
    static const struct {
        bool before; /* the backup was made before the ledger was sealed */
        unsigned since;
        size_t timelines;
    } rows[] = {{false, 0, 1}, {false, 1, 2}, {true, 0, 2}, {true, 1, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct scene scene = begin();
        run(&scene, 3, .25);
        if (rows[i].before)
            take_backup(&scene);
        seal(&scene);
        restart(&scene);
        assert_false(use_head(&scene));
        run(&scene, 2, .25);
        if (!rows[i].before)
            take_backup(&scene);
        run(&scene, 2, .25);
        restore(&scene);
        if (rows[i].since > 0)
            run(&scene, rows[i].since, .25);
        restart(&scene);
        assert_true(use_head(&scene));
        struct shown shown = show(&scene);
        assert_int_equal(shown.timelines, rows[i].timelines);
        struct balance balance = kit_balance(&scene.kit, "a");
        if (rows[i].before) /* what was spent before the fork is not known */
            assert_true(shown.most == fmax(balance.capacity[0], balance.capacity[1]));
        expect_kept(&scene);
        expect_verified(&scene);
        restart(&scene);
        assert_false(use_head(&scene));
        end(&scene);
    }
}

/* Nothing shows that both histories hold the same units in each part. */
static void a_divided_dataset_adds_its_whole_capacity(void **state)
{
    (void)state;
    struct scene scene = begin();
    struct store_tx *tx = kit_begin(&scene.kit);
    struct dataset_id id = kit_dataset("b");
    struct grant grant = {RELATION_ZERO_OUT,   2, 1e-5, 0, {0.1, 7},
                          PRIVACY_UNIT_RECORD, 0};
    const struct ledger_promise promise = {&id, &grant, &principal_local, NULL};
    assert_int_equal(kit_dataset_row(tx, "b"), ST_OK);
    assert_int_equal(kit_end(tx, ledger_grant(scene.kit.ledger, tx, &promise, NULL)),
                     ST_OK);
    struct mechanism m = kit_gaussian(20, 1);
    assert_int_equal(kit_reserve_m(&scene.kit, "b", 90, &m), ST_OK);
    assert_int_equal(kit_authorise(&scene.kit, 90, 1), ST_OK);
    assert_int_equal(kit_settle(&scene.kit, 90), ST_OK);
    mechanism_fini(&m);
    take_backup(&scene);
    run(&scene, 1, .5);
    restore(&scene);
    run(&scene, 2, .5);
    restart(&scene);
    assert_true(use_head(&scene));
    for (enum part part = PART_TRAIN; part <= PART_HOLDOUT; part++) {
        struct epochs epochs = {0};
        struct balance balance;
        const struct ledger_part asked = {&id, part};
        assert_int_equal(
            ledger_part_read(scene.kit.ledger, &asked, &epochs, &balance, NULL), ST_OK);
        double whole = fmax(balance.capacity[0], balance.capacity[1]);
        assert_close(odometer_guarantee(&epochs).epsilon, 2 + whole, 1e-12);
        epochs_fini(&epochs);
    }
    expect_verified(&scene);
    end(&scene);
}

/* Verification finds a row that claims less than the entries leave. */
static void a_timeline_that_was_altered_is_found(void **state)
{
    (void)state;
    struct scene scene = begin();
    take_backup(&scene);
    run(&scene, 1, .5);
    restore(&scene);
    run(&scene, 1, .25);
    restart(&scene);
    assert_true(use_head(&scene));
    uint8_t bytes[ENTRY_CURVE_SIZE] = {0};
    struct timeline_row row = {.dataset = "a",
                               .epoch = 1,
                               .hash = {9},
                               .seen = true,
                               .most = bytes,
                               .most_size = sizeof bytes};
    struct verify_report report;
    struct error error = {0};
    struct store_tx *tx = kit_begin(&scene.kit);
    assert_int_equal(timeline_row_insert(tx, &row, NULL), ST_OK);
    assert_int_equal(verify_budgets(tx, &report, NULL, &error), ST_CORRUPT);
    assert_non_null(strstr(error.text, "timeline"));
    store_rollback(tx);
    end(&scene);
}

/* The head itself adds one more timeline to the 16 others that it lists. */
static void one_timeline_too_many_is_refused(void **state)
{
    (void)state;
    struct scene scene = begin();
    struct head head;
    bool found = false, frozen = false;
    struct error error = {0};
    take_backup(&scene);
    run(&scene, 1, .5);
    assert_int_equal(head_file_read(scene.head, &head, &found, NULL), ST_OK);
    for (uint8_t i = 0; i < HEAD_TIMELINES_MAX; i++)
        assert_true(head_timelines_add(
            &head.timelines,
            &(struct head_timeline){{.seq = 5, .hash = {i}}, 1, true}));
    restore(&scene);
    run(&scene, 2, .5);
    restart(&scene);
    assert_int_equal(head_file_write(scene.head, &head, NULL), ST_OK);
    assert_int_equal(ledger_head_file(scene.kit.ledger, scene.head, &frozen, &error),
                     ST_INVALID);
    assert_non_null(strstr(error.text, "timelines"));
    end(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_histories_of_a_fork_are_counted),
        cmocka_unit_test(a_fork_is_no_truncation_however_long_it_is),
        cmocka_unit_test(a_timeline_adds_what_the_shared_entries_left),
        cmocka_unit_test(a_head_file_that_knows_its_newest_hash_counts_a_fork),
        cmocka_unit_test(a_fork_outlives_another_restore),
        cmocka_unit_test(steps_of_a_restored_job_count_twice),
        cmocka_unit_test(two_head_files_name_one_timeline),
        cmocka_unit_test(a_timeline_weighs_beside_every_later_epoch),
        cmocka_unit_test(archived_entries_are_compared_by_their_seal),
        cmocka_unit_test(a_divided_dataset_adds_its_whole_capacity),
        cmocka_unit_test(a_timeline_that_was_altered_is_found),
        cmocka_unit_test(one_timeline_too_many_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
