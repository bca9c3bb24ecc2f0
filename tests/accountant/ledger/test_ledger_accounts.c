/* Goal: a closed account stays in the store until something asks for it, and is then
 * what it would be if a start had read it; and no budget is ever given because an
 * account was not loaded. Method: 4,000 datasets of five entries each; random lives in
 * which one ledger leaves its accounts in the store and its twin cannot; rows that are
 * altered, deleted and inserted while a ledger has not yet asked for them. */
#include "accountant/ledger/ledger_accounts.h"

#include <malloc.h>
#include <pthread.h>

#include "tests/expect.h"
#include "accountant/ledger/head_file.h"
#include "accountant/ledger/ledger_freeze.h"
#include "accountant/ledger/ledger_seal.h"
#include "accountant/audit/verify.h"
#include "base/chain_hash.h"
#include "store/rows/sealed_rows.h"
#include "tests/accountant/accounts_fixture.h"
#include "tests/store/place_fixture.h"

/* No test here is about the disk, so a sync does nothing. */
int fsync(int file)
{
    (void)file;
    return 0;
}

int fdatasync(int file)
{
    (void)file;
    return 0;
}

struct scene {
    struct place place, archive;
    struct kit kit;
};

/* in_memory: such a store has no second connection, so a start reads every account. */
static struct scene scene_make(bool in_memory)
{
    struct scene scene = {.place = place_make(), .archive = place_make()};
    scene.kit = kit_open(in_memory ? ":memory:" : scene.place.path);
    return scene;
}

static void scene_remove(struct scene *scene)
{
    kit_close(&scene->kit);
    place_remove(&scene->place);
    place_remove(&scene->archive);
}

static void do_seal(struct scene *scene)
{
    struct seal seal;
    struct error error = {0};
    bool any = false;
    if (ledger_seal(scene->kit.ledger, scene->archive.folder, &seal, &any, &error) !=
        ST_OK)
        fail_msg("%s", error.text);
    kit_reopen_ledger(&scene->kit);
}

static size_t in_memory(struct scene *scene)
{
    return ledger_accounts_in_memory(scene->kit.ledger);
}

static enum status verify(struct scene *scene, const char *folder, struct error *error)
{
    struct store_tx *tx;
    struct verify_report report = {0};
    assert_int_equal(store_begin(scene->kit.store, STORE_READ, &tx, NULL), ST_OK);
    enum status status = verify_archived(tx, folder, &report, NULL, error);
    store_rollback(tx);
    return status;
}

static void expect_verified(struct scene *scene)
{
    struct error error = {0};
    if (verify(scene, NULL, &error) != ST_OK ||
        verify(scene, scene->archive.folder, &error) != ST_OK)
        fail_msg("%s", error.text);
}

static void expect_same_account(struct ledger *one, struct ledger *other,
                                const struct dataset_id *id)
{
    for (unsigned p = 0; p < PARTS_MAX; p++) {
        const struct ledger_part part = {id, (enum part)p};
        struct epochs epochs[2] = {{0}};
        struct balance balances[2];
        enum status status =
            ledger_part_read(one, &part, &epochs[0], &balances[0], NULL);
        assert_int_equal(ledger_part_read(other, &part, &epochs[1], &balances[1], NULL),
                         status);
        if (status != ST_OK) {
            assert_int_equal(status, ST_NOT_FOUND);
            continue;
        }
        assert_same_balance(&balances[0], &balances[1]);
        assert_int_equal(balances[0].external, balances[1].external);
        assert_int_equal(epochs[0].count, epochs[1].count);
        for (size_t e = 0; e < epochs[0].count; e++)
            assert_memory_equal(&epochs[0].items[e].committed,
                                &epochs[1].items[e].committed, sizeof(struct curve));
        epochs_fini(&epochs[0]);
        epochs_fini(&epochs[1]);
    }
    assert_int_equal(ledger_touched(one, id), ledger_touched(other, id));
    assert_int_equal(ledger_unused(one, id, NULL), ledger_unused(other, id, NULL));
}

/* Opens a ledger on the same rows that reads all accounts at once. */
static struct ledger *read_whole(struct scene *scene)
{
    struct store_tx *tx;
    struct ledger *whole = NULL;
    struct error error = {0};
    assert_int_equal(store_begin(scene->kit.store, STORE_READ, &tx, NULL), ST_OK);
    if (ledger_open_whole(&whole, scene->kit.store, tx, &error) != ST_OK)
        fail_msg("%s", error.text);
    store_rollback(tx);
    return whole;
}

/* --- many --- */

enum {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    DATASETS = 1000,
#else
    DATASETS = 4000,
#endif
};

static size_t allocated(void)
{
    return mallinfo2().uordblks + mallinfo2().hblkhd;
}

static struct dataset_id numbered(unsigned number)
{
    char name[16];
    name_dataset(name, number);
    return kit_dataset(name);
}

static void
behind_a_seal_a_start_loads_the_accounts_that_are_open_and_no_others(void **state)
{
    (void)state;
    struct scene scene = scene_make(false);
    kit_close(&scene.kit);
    accounts_fill(scene.place.path, DATASETS);
    scene.kit = kit_open(scene.place.path);
    do_seal(&scene);
    size_t before = allocated();
    struct ledger *whole = read_whole(&scene);
    size_t all = allocated() - before;
    ledger_close(scene.kit.ledger);
    before = allocated();
    assert_int_equal(ledger_open(&scene.kit.ledger, scene.kit.store, NULL), ST_OK);
    size_t some = allocated() - before;
    print_message("%d datasets, %d entries: %zu bytes for all, %zu for those that are "
                  "open\n",
                  DATASETS, 5 * DATASETS + DATASETS / OPEN_EVERY, all, some);
    assert_int_equal(in_memory(&scene), DATASETS / OPEN_EVERY);
    assert_int_equal(ledger_accounts_in_memory(whole), DATASETS);
    /* A request for one account loads only that account. */
    for (unsigned i = 0; i < 10; i++) {
        const struct dataset_id id = numbered(i * (DATASETS / 10));
        assert_false(ledger_in_memory(scene.kit.ledger, &id));
        expect_same_account(scene.kit.ledger, whole, &id);
        assert_int_equal(in_memory(&scene), DATASETS / OPEN_EVERY + i + 1);
    }
    const struct entry_tally tallies[] = {ledger_tally(scene.kit.ledger),
                                          ledger_tally(whole)};
    assert_memory_equal(&tallies[0], &tallies[1], sizeof tallies[0]);
    for (unsigned i = 0; i < DATASETS; i++) {
        const struct dataset_id id = numbered(i);
        expect_same_account(scene.kit.ledger, whole, &id);
    }
    assert_int_equal(in_memory(&scene), DATASETS);
    ledger_close(whole);
    /* The next start loads the account of an entry that follows the seal. */
    const struct dataset_id changed = numbered(1);
    assert_int_equal(kit_reserve(&scene.kit, changed.text, 999999, 40, 10), ST_OK);
    kit_reopen_ledger(&scene.kit);
    assert_int_equal(in_memory(&scene), DATASETS / OPEN_EVERY + 1);
    assert_true(ledger_in_memory(scene.kit.ledger, &changed));
    expect_verified(&scene);
    scene_remove(&scene);
}

/* --- one life, and its twin --- */

enum { LIVES = 40, DEEDS = 150, NAMES = 9, RECENT = 10 };

struct dice {
    uint64_t word;
};

static unsigned draw(struct dice *dice, unsigned below)
{
    dice->word = dice->word * 6364136223846793005U + 1442695040888963407U;
    return (unsigned)(dice->word >> 33) % below;
}

static enum status grant_again(struct kit *kit, const char *name, double epsilon,
                               enum status (*how)(struct ledger *ledger,
                                                  struct store_tx *tx,
                                                  const struct ledger_promise *promise,
                                                  struct error *error))
{
    struct store_tx *tx = kit_begin(kit);
    const struct dataset_id id = kit_dataset(name);
    const struct grant grant = {RELATION_ZERO_OUT,   epsilon, 1e-5, 0, {0, 0},
                                PRIVACY_UNIT_RECORD, 0};
    return kit_end(
        tx, how(kit->ledger, tx,
                &(struct ledger_promise){&id, &grant, &principal_local, NULL}, NULL));
}

/* Freezes the current epoch, as a start with a newer head does. */
static enum status freeze(struct kit *kit, const char *name)
{
    struct balance balance;
    const struct dataset_id id = kit_dataset(name);
    if (ledger_balance(kit->ledger, &id, &balance, NULL) != ST_OK || balance.frozen)
        return ST_NOT_FOUND;
    struct store_tx *tx = kit_begin(kit);
    const struct freeze_row row = {.dataset = name, .epoch = balance.epoch, .seq = 1};
    assert_int_equal(kit_end(tx, freeze_row_insert(tx, &row, NULL)), ST_OK);
    kit_reopen_ledger(kit);
    return ST_OK;
}

struct deed {
    unsigned what, job, steps;
    double noise, epsilon;
    char name[4];
};

static enum status outlook(struct kit *kit, const struct deed *deed)
{
    struct outlook outlook;
    const struct dataset_id id = kit_dataset(deed->name);
    struct mechanism m = kit_gaussian(deed->noise, 10);
    enum status status = outlook_of(kit, &id, &m, 100, &outlook);
    mechanism_fini(&m);
    return status == ST_OK ? (enum status)(1000 + outlook.times) : status;
}

static enum status act(struct scene *scene, const struct deed *deed)
{
    struct kit *kit = &scene->kit;
    switch (deed->what) {
    case 0: return kit_grant(kit, deed->name, deed->epsilon, 1e-5, 0);
    case 1: return grant_again(kit, deed->name, deed->epsilon, ledger_grant_anew);
    case 2: return freeze(kit, deed->name);
    case 3: return grant_again(kit, deed->name, deed->epsilon, ledger_regrant);
    case 4: return grant_again(kit, deed->name, deed->epsilon, ledger_grant);
    case 5:
    case 6:
    case 7:
    case 8: return kit_reserve(kit, deed->name, deed->job, deed->noise, 10);
    case 9:
    case 10: return kit_authorise(kit, deed->job, deed->steps);
    case 11:
    case 12: return kit_settle(kit, deed->job);
    case 13: return outlook(kit, deed);
    case 14: kit_reopen_ledger(kit); return ST_OK;
    default: break;
    }
    struct seal seal;
    bool any = false;
    enum status status =
        ledger_seal(kit->ledger, scene->archive.folder, &seal, &any, NULL);
    kit_reopen_ledger(kit);
    return status;
}

/* A job has one reservation, so each deed has a new job number; a deed on an existing
 * job picks one of the last jobs. */
static struct deed draw_deed(struct dice *dice, unsigned number)
{
    struct deed deed = {.what = draw(dice, 17),
                        .job = 1000 + number,
                        .steps = 1 + draw(dice, 10),
                        .noise = 15 + draw(dice, 40),
                        .epsilon = 1 + draw(dice, 6)};
    snprintf(deed.name, sizeof deed.name, "n%u", draw(dice, NAMES));
    if (deed.what >= 9)
        deed.job -= 1 + draw(dice, RECENT);
    return deed;
}

static void
whoever_leaves_accounts_in_the_store_decides_as_who_has_them_all(void **state)
{
    (void)state;
    unsigned left_there = 0;
    for (unsigned life = 0; life < LIVES; life++) {
        struct dice dice = {life};
        struct scene some = scene_make(false), all = scene_make(true);
        for (unsigned i = 0; i < DEEDS; i++) {
            const struct deed deed = draw_deed(&dice, i);
            enum status status = act(&some, &deed);
            if (status != act(&all, &deed))
                fail_msg("life %u, deed %u (%u)", life, i, deed.what);
            left_there += in_memory(&some) < in_memory(&all);
        }
        for (unsigned i = 0; i < NAMES; i++) {
            char name[4];
            snprintf(name, sizeof name, "n%u", i);
            const struct dataset_id id = kit_dataset(name);
            expect_same_account(some.kit.ledger, all.kit.ledger, &id);
        }
        expect_verified(&some);
        scene_remove(&some);
        scene_remove(&all);
    }
    print_message("accounts were in the store alone after %u of %d deeds\n", left_there,
                  LIVES * DEEDS);
    assert_true(left_there > LIVES * DEEDS / 10);
}

/* --- an account that is not in memory is not empty --- */

/* Datasets b and d of epsilon 2, of which all that fits is spent, and f, of which
 * nothing is spent; all closed by a seal. */
static struct scene scene_spent(void)
{
    struct scene scene = scene_make(false);
    unsigned job = 1;
    static const char *const names[] = {"b", "d", "f"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(kit_grant(&scene.kit, names[i], 2, 1e-5, 0), ST_OK);
        while (i < 2 && kit_reserve(&scene.kit, names[i], job, 23.85, 10) == ST_OK) {
            assert_int_equal(kit_authorise(&scene.kit, job, 10), ST_OK);
            assert_int_equal(kit_settle(&scene.kit, job++), ST_OK);
        }
    }
    do_seal(&scene);
    assert_int_equal(in_memory(&scene), 0);
    return scene;
}

static void
nothing_is_granted_or_admitted_because_an_account_was_not_loaded(void **state)
{
    (void)state;
    struct scene scene = scene_spent();
    static const char *const none[] = {"a", "c", "e", "g"};
    assert_int_equal(kit_reserve(&scene.kit, "b", 90, 23.85, 10), ST_BUDGET_EXHAUSTED);
    assert_int_equal(grant_again(&scene.kit, "d", 2, ledger_grant), ST_ALREADY_EXISTS);
    kit_reopen_ledger(&scene.kit);
    assert_int_equal(grant_again(&scene.kit, "d", 2, ledger_grant_anew),
                     ST_DATASET_IMMUTABLE);
    kit_reopen_ledger(&scene.kit);
    assert_int_equal(grant_again(&scene.kit, "d", 2, ledger_regrant), ST_INVALID);
    kit_reopen_ledger(&scene.kit);
    struct deed deed = {.name = "b", .noise = 23.85};
    assert_int_equal(outlook(&scene.kit, &deed), 1000);
    assert_int_equal(in_memory(&scene), 1);
    const struct dataset_id d = kit_dataset("d");
    assert_true(ledger_touched(scene.kit.ledger, &d));
    /* A missing dataset is proved to be missing, wherever its place would be. */
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(kit_reserve(&scene.kit, none[i], 90, 23.85, 10), ST_NOT_FOUND);
        assert_int_equal(kit_grant(&scene.kit, none[i], 2, 1e-5, 0), ST_OK);
        assert_int_equal(kit_reserve(&scene.kit, none[i], 91 + (unsigned)i, 23.85, 10),
                         ST_OK);
    }
    assert_int_equal(kit_reserve(&scene.kit, "f", 99, 23.85, 10), ST_OK);
    expect_verified(&scene);
    scene_remove(&scene);
}

static void run_on(const char *path, const char *sql)
{
    sqlite3 *db;
    char *said = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)NULL);
    if (sqlite3_exec(db, sql, NULL, NULL, &said) != SQLITE_OK)
        fail_msg("%s: %s", sql, said);
    sqlite3_close(db);
}

static uint64_t entries_of(struct kit *kit)
{
    struct ledger_entry_name head;
    ledger_head(kit->ledger, &head);
    return head.seq;
}

enum { ASKS = 8 };

/* Asks for the account of d in one of several ways. */
static enum status ask(struct kit *kit, unsigned how)
{
    struct balance balance;
    struct budget_share share;
    struct ledger_left left;
    const struct dataset_id d = kit_dataset("d");
    const struct ledger_part part = {&d, PART_TRAIN};
    const struct deed deed = {.name = "d", .noise = 23.85};
    switch (how) {
    case 0: return kit_reserve(kit, "d", 90, 200, 1);
    case 1: return grant_again(kit, "d", 2, ledger_grant);
    case 2: return grant_again(kit, "d", 2, ledger_grant_anew);
    case 3: return grant_again(kit, "d", 2, ledger_regrant);
    case 4: return ledger_balance(kit->ledger, &d, &balance, NULL);
    case 5: return ledger_share_glance(kit->ledger, &part, &share, NULL);
    case 6: return ledger_left(kit->ledger, &part, &left, NULL);
    default: return outlook(kit, &deed);
    }
}

static void expect_found(const struct place *sound, const char *sql, unsigned how)
{
    struct place place = place_make();
    struct error error = {0};
    place_copy(sound->path, place.path);
    run_on(place.path, sql);
    struct kit kit = kit_open(place.path);
    uint64_t before = entries_of(&kit);
    enum status status = ask(&kit, how);
    if (status != ST_CORRUPT || entries_of(&kit) != before)
        fail_msg("asked %u: %d: %s", how, (int)status, sql);
    /* After that the ledger decides nothing more. */
    assert_true(store_poisoned(kit.store));
    const struct dataset_id d = kit_dataset("d");
    assert_true(ledger_touched(kit.ledger, &d));
    kit_close(&kit);
    struct store *store;
    struct verify_report report;
    assert_int_equal(store_open_read(&store, place.path, NULL), ST_OK);
    if (verify_store(store, &report, &error) != ST_CORRUPT)
        fail_msg("an auditor does not see it: %s", sql);
    store_close(store);
    place_remove(&place);
}

static void whoever_asks_for_an_altered_account_gets_nothing(void **state)
{
    (void)state;
    static const char *const all[] = {
        /* nothing committed; and the neighbour's sum */
        "UPDATE sealed_sum SET body=CAST(substr(body,1,40)||zeroblob(400)||"
        "substr(body,441) AS BLOB) WHERE dataset='d'",
        "UPDATE sealed_sum SET body=(SELECT body FROM sealed_sum WHERE dataset='f') "
        "WHERE dataset='d'",
        /* deleted, with its grant and without; and so are its neighbours */
        "DELETE FROM sealed_sum WHERE dataset='d'",
        "DELETE FROM sealed_sum WHERE dataset='d';"
        "DELETE FROM ledger WHERE dataset='d'",
        "DELETE FROM sealed_sum WHERE dataset>='d';"
        "DELETE FROM ledger WHERE dataset>='d'",
        "DELETE FROM sealed_sum WHERE dataset<='d';"
        "DELETE FROM ledger WHERE dataset<='d'",
        "DELETE FROM sealed_sum;DELETE FROM ledger WHERE dataset IS NOT NULL",
        /* under another name */
        "DELETE FROM sealed_sum WHERE dataset='d';"
        "UPDATE sealed_sum SET dataset='d' WHERE dataset='f'",
        /* its place */
        "UPDATE sealed_sum SET body=CAST(substr(body,1,length(body)-8)||zeroblob(8) AS "
        "BLOB) WHERE dataset='d'",
        "UPDATE sealed_sum SET "
        "body=CAST(substr(body,1,length(body)-8)||X'FF00000000000000'"
        " AS BLOB) WHERE dataset='d'",
        "UPDATE sealed_sum SET body=X'0000000000000000' WHERE dataset='d'",
        "UPDATE sealed_sum SET body=X'00' WHERE dataset='d'",
        /* the grant */
        "DELETE FROM ledger WHERE dataset='d'",
        "UPDATE ledger SET actor='me' WHERE dataset='d'",
        "UPDATE ledger SET curve=(SELECT curve FROM ledger WHERE kind='RESERVE' UNION "
        "ALL"
        " SELECT randomblob(400) LIMIT 1) WHERE dataset='d'",
        "INSERT INTO ledger SELECT "
        "2,dataset,2,job,kind,curve,released,meta,actor,time_ms,"
        "prev,randomblob(32) FROM ledger WHERE dataset='d'",
    };
    struct scene scene = scene_spent();
    kit_close(&scene.kit);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (unsigned how = 0; how < ASKS; how++)
            expect_found(&scene.place, all[i], how);
    scene.kit = kit_open(scene.place.path);
    scene_remove(&scene);
}

/* Rows of a dataset that was never granted must not give it a budget. */
static void a_budget_that_nobody_granted_is_not_taken_from_the_rows(void **state)
{
    (void)state;
    static const char *const all[] = {
        "INSERT INTO sealed_sum SELECT 'e',body FROM sealed_sum WHERE dataset='f'",
        "INSERT INTO ledger SELECT 2,'e',1,job,kind,curve,released,meta,actor,time_ms,"
        "prev,randomblob(32) FROM ledger WHERE dataset='f'",
    };
    struct scene scene = scene_spent();
    struct store_tx *tx = kit_begin(&scene.kit);
    assert_int_equal(kit_end(tx, kit_dataset_row(tx, "e")), ST_OK);
    kit_close(&scene.kit);
    for (size_t i = 0; i < 2; i++) {
        struct place place = place_make();
        place_copy(scene.place.path, place.path);
        run_on(place.path, all[i]);
        struct kit kit = kit_open(place.path);
        assert_int_equal(kit_reserve(&kit, "e", 90, 200, 1), ST_CORRUPT);
        kit_close(&kit);
        place_remove(&place);
    }
    scene.kit = kit_open(scene.place.path);
    scene_remove(&scene);
}

/* --- during an open transaction --- */

static void an_account_is_loaded_beside_a_transaction_that_is_open(void **state)
{
    (void)state;
    struct scene scene = scene_spent();
    struct ledger_left left;
    struct ledger *whole = read_whole(&scene);
    const struct dataset_id b = kit_dataset("b"), d = kit_dataset("d"),
                            f = kit_dataset("f");
    const struct ledger_part part = {&d, PART_TRAIN};
    const struct job_id job = kit_job(90);
    struct mechanism m = kit_gaussian(23.85, 10);
    const struct ledger_claim claim = {&f,  &job, &m, &principal_local, PARTS_UNNAMED,
                                       NULL};
    struct ledger_entry_name entry;
    for (int keeps = 0; keeps < 2; keeps++) {
        kit_reopen_ledger(&scene.kit);
        struct store_tx *tx = kit_begin(&scene.kit);
        assert_int_equal(ledger_reserve(scene.kit.ledger, tx, &claim, &entry, NULL),
                         ST_OK);
        /* Pending changes stay pending, and an account that is loaded is no part of
         * them. */
        assert_int_equal(ledger_left(scene.kit.ledger, &part, &left, NULL), ST_OK);
        expect_same_account(scene.kit.ledger, whole, &b);
        expect_same_account(scene.kit.ledger, whole, &f);
        assert_int_equal(in_memory(&scene), 3);
        assert_int_equal(kit_end(tx, keeps == 1 ? ST_OK : ST_INVALID),
                         keeps == 1 ? ST_OK : ST_INVALID);
        assert_int_equal(in_memory(&scene), 3);
        expect_same_account(scene.kit.ledger, whole, &d);
        assert_int_equal(ledger_reservation(scene.kit.ledger, &job, &entry), keeps);
    }
    mechanism_fini(&m);
    ledger_close(whole);
    whole = read_whole(&scene);
    expect_same_account(scene.kit.ledger, whole, &f);
    ledger_close(whole);
    scene_remove(&scene);
}

static void a_glance_leaves_an_account_in_the_store(void **state)
{
    (void)state;
    struct scene scene = scene_spent();
    struct budget_share glance, share;
    const struct dataset_id d = kit_dataset("d"), e = kit_dataset("e");
    const struct ledger_part part = {&d, PART_TRAIN}, none = {&e, PART_TRAIN};
    assert_int_equal(ledger_share_glance(scene.kit.ledger, &part, &glance, NULL),
                     ST_OK);
    assert_int_equal(ledger_share_glance(scene.kit.ledger, &none, &share, NULL),
                     ST_NOT_FOUND);
    assert_int_equal(in_memory(&scene), 0);
    assert_int_equal(ledger_share(scene.kit.ledger, &part, &share, NULL), ST_OK);
    assert_memory_equal(&glance, &share, sizeof share);
    assert_int_equal(in_memory(&scene), 1);
    scene_remove(&scene);
}

/* --- while the store is read --- */

static struct meanwhile { /* called just before the next read of the store */
    void (*call)(struct scene *scene);
    struct scene *scene;
} meanwhile;

typedef bool visit_sealed(void *context, const struct sealed_row *row);
enum status __real_sealed_row_up_to(struct store_tx *tx, const char *dataset,
                                    visit_sealed *visit, void *context,
                                    struct error *error);
enum status __wrap_sealed_row_up_to(struct store_tx *tx, const char *dataset,
                                    visit_sealed *visit, void *context,
                                    struct error *error);

enum status __wrap_sealed_row_up_to(struct store_tx *tx, const char *dataset,
                                    visit_sealed *visit, void *context,
                                    struct error *error)
{
    const struct meanwhile now = meanwhile;
    meanwhile = (struct meanwhile){0};
    if (now.call != NULL)
        now.call(now.scene);
    return __real_sealed_row_up_to(tx, dataset, visit, context, error);
}

/* Asks for a dataset whose account is in memory. */
static void ask_for_another(struct scene *scene)
{
    assert_int_equal(pthread_mutex_trylock(&scene->kit.ledger->lock), 0);
    pthread_mutex_unlock(&scene->kit.ledger->lock);
    assert_true(kit_balance(&scene->kit, "b").epsilon == 2);
}

static void whoever_asks_the_store_for_an_account_keeps_nobody_waiting(void **state)
{
    (void)state;
    for (unsigned how = 0; how < ASKS; how++) {
        struct scene scene = scene_spent();
        kit_balance(&scene.kit, "b");
        meanwhile = (struct meanwhile){ask_for_another, &scene};
        assert_int_not_equal(ask(&scene.kit, how), ST_CORRUPT);
        assert_null(meanwhile.call);
        scene_remove(&scene);
    }
}

static void *reserve_of_the_same(void *scene)
{
    assert_int_equal(kit_reserve(&((struct scene *)scene)->kit, "f", 99, 23.85, 10),
                     ST_OK);
    return NULL;
}

/* Another thread reserves, with its own connection. */
static void have_the_same_reserved(struct scene *scene)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, reserve_of_the_same, scene), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

/* An account read before the reservation does not replace it. */
static void what_came_while_the_store_was_asked_is_kept(void **state)
{
    (void)state;
    for (int glances = 0; glances < 2; glances++) {
        struct scene scene = scene_spent();
        struct budget_share share;
        const struct dataset_id f = kit_dataset("f");
        const struct ledger_part part = {&f, PART_TRAIN};
        meanwhile = (struct meanwhile){have_the_same_reserved, &scene};
        assert_int_equal(
            glances == 1 ? ledger_share_glance(scene.kit.ledger, &part, &share, NULL)
                         : ledger_share(scene.kit.ledger, &part, &share, NULL),
            ST_OK);
        assert_true(share.held > 0);
        assert_int_equal(in_memory(&scene), 1);
        assert_int_equal(kit_authorise(&scene.kit, 99, 10), ST_OK);
        assert_int_equal(kit_settle(&scene.kit, 99), ST_OK);
        struct ledger *whole = read_whole(&scene);
        expect_same_account(scene.kit.ledger, whole, &f);
        ledger_close(whole);
        scene_remove(&scene);
    }
}

struct asker {
    struct scene *scene;
    unsigned seed;
    pthread_t thread;
};

static void *ask_for_all(void *context)
{
    const struct asker *asker = context;
    struct dice dice = {asker->seed};
    for (unsigned i = 0; i < 300; i++) {
        char name[4];
        struct budget_share share;
        snprintf(name, sizeof name, "n%u", draw(&dice, 30));
        const struct dataset_id id = kit_dataset(name);
        const struct ledger_part part = {&id, PART_TRAIN};
        assert_int_equal(ledger_share(asker->scene->kit.ledger, &part, &share, NULL),
                         ST_OK);
        if (i % 10 == 0)
            assert_int_equal(
                kit_reserve(&asker->scene->kit, name, 1000 * asker->seed + i, 500, 10),
                ST_OK);
    }
    return NULL;
}

static void threads_that_ask_at_once_find_one_account(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    struct scene scene = scene_make(false);
    struct asker askers[THREADS];
    for (unsigned i = 0; i < 30; i++) {
        char name[4];
        snprintf(name, sizeof name, "n%u", i);
        assert_int_equal(kit_grant(&scene.kit, name, 4, 1e-5, 0), ST_OK);
    }
    do_seal(&scene);
    for (unsigned i = 0; i < THREADS; i++) {
        askers[i] = (struct asker){.scene = &scene, .seed = i + 1};
        assert_int_equal(
            pthread_create(&askers[i].thread, NULL, ask_for_all, &askers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(askers[i].thread, NULL);
    assert_true(in_memory(&scene) <= 30);
    struct ledger *whole = read_whole(&scene);
    for (unsigned i = 0; i < 30; i++) {
        char name[4];
        snprintf(name, sizeof name, "n%u", i);
        const struct dataset_id id = kit_dataset(name);
        expect_same_account(scene.kit.ledger, whole, &id);
    }
    ledger_close(whole);
    expect_verified(&scene);
    scene_remove(&scene);
}

/* --- readers of all accounts --- */

static void a_store_older_than_its_head_freezes_what_is_not_in_memory_too(void **state)
{
    (void)state;
    struct scene scene = scene_spent();
    struct head newer = {0};
    char path[80];
    bool frozen = false;
    ledger_head(scene.kit.ledger, &newer.entry);
    newer.entry.seq++;
    snprintf(path, sizeof path, "%s/head", scene.place.folder);
    assert_int_equal(head_file_write(path, &newer, NULL), ST_OK);
    assert_int_equal(ledger_head_file(scene.kit.ledger, path, &frozen, NULL), ST_OK);
    assert_true(frozen);
    assert_int_equal(in_memory(&scene), 3);
    assert_int_equal(kit_reserve(&scene.kit, "f", 90, 23.85, 10), ST_DATASET_FROZEN);
    kit_reopen_ledger(&scene.kit);
    for (const char *const *name = (const char *const[]){"b", "d", "f", NULL}; *name;
         name++)
        assert_int_equal(kit_reserve(&scene.kit, *name, 90, 23.85, 10),
                         ST_DATASET_FROZEN);
    assert_int_equal(grant_again(&scene.kit, "f", 2, ledger_regrant), ST_OK);
    assert_int_equal(kit_reserve(&scene.kit, "f", 90, 23.85, 10), ST_OK);
    scene_remove(&scene);
}

/* A dataset with a freeze, whose epoch is closed and sealed. */
static void a_freeze_is_known_of_an_account_that_was_sealed(void **state)
{
    (void)state;
    struct scene scene = scene_spent();
    assert_int_equal(freeze(&scene.kit, "d"), ST_OK);
    assert_int_equal(in_memory(&scene), 1);
    assert_int_equal(kit_reserve(&scene.kit, "d", 90, 200, 1), ST_DATASET_FROZEN);
    assert_int_equal(grant_again(&scene.kit, "d", 2, ledger_regrant), ST_OK);
    do_seal(&scene);
    struct ledger *whole = read_whole(&scene);
    const struct dataset_id d = kit_dataset("d");
    expect_same_account(scene.kit.ledger, whole, &d);
    ledger_close(whole);
    assert_int_equal(kit_reserve(&scene.kit, "d", 90, 200, 1), ST_OK);
    scene_remove(&scene);
}

/* --- the inspector of loaded accounts --- */

struct shown {
    unsigned count;
    char refused[4];
};

static enum status show(void *context, const struct dataset_id *dataset,
                        const struct grant *first, bool used, struct error *error)
{
    struct shown *shown = context;
    shown->count++;
    assert_true(first->epsilon == 2 && used == (strcmp(dataset->text, "f") != 0));
    return strcmp(dataset->text, shown->refused) == 0
               ? error_set(error, ST_CORRUPT, "refused")
               : ST_OK;
}

static void an_account_that_the_inspector_refuses_is_not_taken(void **state)
{
    (void)state;
    struct scene scene = scene_spent();
    struct shown shown = {.refused = "f"};
    const struct ledger_inspector inspector = {show, &shown};
    ledger_set_inspector(scene.kit.ledger, &inspector);
    kit_balance(&scene.kit, "d");
    kit_balance(&scene.kit, "d");
    assert_int_equal(shown.count, 1);
    assert_int_equal(kit_reserve(&scene.kit, "f", 90, 23.85, 10), ST_CORRUPT);
    assert_int_equal(in_memory(&scene), 1);
    assert_true(store_poisoned(scene.kit.store));
    scene_remove(&scene);
}

/* --- seals that bind all sums together --- */

/* Rewrites the store's SEAL and sums in the form before sums had places. */
static void make_older_form(const char *path)
{
    sqlite3 *db;
    uint8_t digest[SHA256_SIZE] = {0};
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)NULL);
    sqlite3_stmt *rows = prepare(db, "SELECT dataset,body,(SELECT count(*) FROM"
                                     " sealed_sum) FROM sealed_sum ORDER BY dataset");
    for (uint64_t place = 0; sqlite3_step(rows) == SQLITE_ROW; place++) {
        uint64_t count = (uint64_t)sqlite3_column_int64(rows, 2);
        size_t size = (size_t)sqlite3_column_bytes(rows, 1) - 8 -
                      SHA256_SIZE * seal_path_length(place, count);
        const uint8_t *body = sqlite3_column_blob(rows, 1);
        const char *name = (const char *)sqlite3_column_text(rows, 0);
        sealed_sum_digest(digest, name, body, size);
        sqlite3_stmt *change =
            prepare(db, "UPDATE sealed_sum SET body=? WHERE dataset=?");
        sqlite3_bind_blob(change, 1, body, (int)size, SQLITE_TRANSIENT);
        sqlite3_bind_text(change, 2, name, -1, SQLITE_TRANSIENT);
        run_bound(change);
        sqlite3_finalize(change);
    }
    sqlite3_finalize(rows);
    sqlite3_stmt *seal = prepare(
        db,
        "SELECT seq,epoch,replace(meta,',\"accounts\":3',''),actor,time_ms,prev FROM"
        " ledger WHERE kind='SEAL'");
    assert_int_equal(sqlite3_step(seal), SQLITE_ROW);
    struct ledger_row row = {.seq = (uint64_t)sqlite3_column_int64(seal, 0),
                             .dataset = "",
                             .epoch = (uint64_t)sqlite3_column_int64(seal, 1),
                             .job = "",
                             .kind = "SEAL",
                             .curve = digest,
                             .curve_size = sizeof digest,
                             .meta = (const char *)sqlite3_column_text(seal, 2),
                             .actor = (const char *)sqlite3_column_text(seal, 3),
                             .time_ms = sqlite3_column_int64(seal, 4)};
    memcpy(row.prev, sqlite3_column_blob(seal, 5), SHA256_SIZE);
    entry_hash(row.hash, &row);
    sqlite3_stmt *change =
        prepare(db, "UPDATE ledger SET meta=?,curve=?,hash=? WHERE kind='SEAL'");
    sqlite3_bind_text(change, 1, row.meta, -1, SQLITE_TRANSIENT);
    sqlite3_bind_blob(change, 2, digest, sizeof digest, SQLITE_TRANSIENT);
    sqlite3_bind_blob(change, 3, row.hash, sizeof row.hash, SQLITE_TRANSIENT);
    sqlite3_finalize(seal);
    run_bound(change);
    sqlite3_finalize(change);
    sqlite3_close(db);
}

static void expect_altered_sum_is_found(struct scene *scene)
{
    struct place place = place_make();
    struct store *store;
    struct ledger *ledger;
    kit_close(&scene->kit);
    place_copy(scene->place.path, place.path);
    run_on(place.path,
           "UPDATE sealed_sum SET body=CAST(substr(body,1,40)||zeroblob(400)||"
           "substr(body,441) AS BLOB) WHERE dataset='d'");
    assert_int_equal(store_open(&store, place.path, NULL), ST_OK);
    assert_int_equal(ledger_open(&ledger, store, NULL), ST_CORRUPT);
    store_close(store);
    place_remove(&place);
    scene->kit = kit_open(scene->place.path);
}

static void a_seal_that_binds_all_sums_together_is_read_whole(void **state)
{
    (void)state;
    struct scene scene = scene_spent();
    struct balance before = kit_balance(&scene.kit, "d");
    kit_close(&scene.kit);
    make_older_form(scene.place.path);
    scene.kit = kit_open(scene.place.path);
    assert_int_equal(in_memory(&scene), 3);
    struct balance after = kit_balance(&scene.kit, "d");
    assert_same_balance(&before, &after);
    expect_verified(&scene);
    expect_altered_sum_is_found(&scene);
    /* The next seal binds each sum by itself, and earlier sums are still readable. */
    assert_int_equal(kit_grant(&scene.kit, "g", 2, 1e-5, 0), ST_OK);
    do_seal(&scene);
    assert_int_equal(in_memory(&scene), 0);
    after = kit_balance(&scene.kit, "d");
    assert_same_balance(&before, &after);
    expect_verified(&scene);
    scene_remove(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            behind_a_seal_a_start_loads_the_accounts_that_are_open_and_no_others),
        cmocka_unit_test(
            whoever_leaves_accounts_in_the_store_decides_as_who_has_them_all),
        cmocka_unit_test(
            nothing_is_granted_or_admitted_because_an_account_was_not_loaded),
        cmocka_unit_test(whoever_asks_for_an_altered_account_gets_nothing),
        cmocka_unit_test(a_budget_that_nobody_granted_is_not_taken_from_the_rows),
        cmocka_unit_test(an_account_is_loaded_beside_a_transaction_that_is_open),
        cmocka_unit_test(a_glance_leaves_an_account_in_the_store),
        cmocka_unit_test(whoever_asks_the_store_for_an_account_keeps_nobody_waiting),
        cmocka_unit_test(what_came_while_the_store_was_asked_is_kept),
        cmocka_unit_test(threads_that_ask_at_once_find_one_account),
        cmocka_unit_test(a_store_older_than_its_head_freezes_what_is_not_in_memory_too),
        cmocka_unit_test(a_freeze_is_known_of_an_account_that_was_sealed),
        cmocka_unit_test(an_account_that_the_inspector_refuses_is_not_taken),
        cmocka_unit_test(a_seal_that_binds_all_sums_together_is_read_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
