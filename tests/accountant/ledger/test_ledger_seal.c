/* Goal: a seal changes no balance, nothing that is open and nothing that may be done
 * next; what it leaves and what it archives are both checked; and a head noted earlier
 * is not reported as lost. Method: twins that live the same life, of which one is
 * sealed again and again; rows and archives that are altered; an archive part of 1e5
 * entries. */
#include "accountant/ledger/ledger_seal.h"

#include <errno.h>
#include <sqlite3.h>
#include <sys/syscall.h>
#include <time.h>

#include "tests/expect.h"
#include "accountant/ledger/head_file.h"
#include "accountant/ledger/ledger_freeze.h"
#include "accountant/ledger/sealed_sum.h"
#include "accountant/audit/verify.h"
#include "tests/accountant/ledger_fixture.h"
#include "tests/store/place_fixture.h"

/* Traces fsync of a file, fsync of a folder and rename, in their order, and may fail
 * one of them. SQLite calls fdatasync, which does nothing here. */
static char trace[8]; /* f, d, r */
static size_t fails;  /* the call that fails, from 1; 0: none */

static bool note(char call)
{
    size_t length = strlen(trace);
    if (length + 1 < sizeof trace)
        trace[length] = call;
    errno = EIO;
    return length + 1 != fails;
}

int fsync(int file)
{
    struct stat found;
    assert_int_equal(fstat(file, &found), 0);
    return note(S_ISDIR(found.st_mode) ? 'd' : 'f') ? 0 : -1;
}

int fdatasync(int file)
{
    (void)file;
    return 0;
}

int rename(const char *from, const char *to)
{
    return note('r') ? (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to) : -1;
}

static void trace_start(size_t failing)
{
    memset(trace, 0, sizeof trace);
    fails = failing;
}

struct scene {
    struct place place, archive;
    struct kit kit;
};

static struct scene scene_make(void)
{
    struct scene scene = {.place = place_make(), .archive = place_make()};
    scene.kit = kit_open(scene.place.path);
    return scene;
}

static void scene_remove(struct scene *scene)
{
    kit_close(&scene->kit);
    place_remove(&scene->place);
    place_remove(&scene->archive);
}

static enum status try_seal(struct scene *scene, struct seal *seal, struct error *error)
{
    bool any = false;
    enum status status =
        ledger_seal(scene->kit.ledger, scene->archive.folder, seal, &any, error);
    assert_true(any || status != ST_OK);
    return status;
}

static struct seal do_seal(struct scene *scene)
{
    struct seal seal;
    struct error error = {0};
    if (try_seal(scene, &seal, &error) != ST_OK)
        fail_msg("%s", error.text);
    kit_reopen_ledger(&scene->kit);
    return seal;
}

static enum status verify(struct scene *scene, const char *folder,
                          struct verify_report *report, struct error *error)
{
    struct store_tx *tx;
    assert_int_equal(store_begin(scene->kit.store, STORE_READ, &tx, NULL), ST_OK);
    enum status status = verify_archived(tx, folder, report, NULL, error);
    store_rollback(tx);
    return status;
}

static void expect_verified(struct scene *scene)
{
    struct verify_report report = {0};
    struct error error = {0};
    if (verify(scene, NULL, &report, &error) != ST_OK ||
        verify(scene, scene->archive.folder, &report, &error) != ST_OK)
        fail_msg("%s", error.text);
}

/* --- the same life, sealed and not --- */

static void grant_divided(struct kit *kit, const char *name)
{
    struct store_tx *tx = kit_begin(kit);
    struct dataset_id id = kit_dataset(name);
    const struct grant grant = {RELATION_ZERO_OUT,   4, 1e-5, 0, {0.1, 3},
                                PRIVACY_UNIT_RECORD, 0};
    enum status status = kit_dataset_row(tx, name);
    if (status == ST_OK)
        status = ledger_grant(
            kit->ledger, tx,
            &(struct ledger_promise){&id, &grant, &principal_local, NULL}, NULL);
    assert_int_equal(kit_end(tx, status), ST_OK);
}

/* Simulates a restored backup, as far as the ledger can see, and the owner's next
 * epoch. */
static void regrant(struct kit *kit, const char *name)
{
    struct store_tx *tx = kit_begin(kit);
    struct dataset_id id = kit_dataset(name);
    const struct grant grant = {RELATION_ZERO_OUT,   3, 1e-5, 0, {0, 0},
                                PRIVACY_UNIT_RECORD, 0};
    const struct freeze_row row = {.dataset = name, .epoch = 1, .seq = 1};
    assert_int_equal(kit_end(tx, freeze_row_insert(tx, &row, NULL)), ST_OK);
    kit_reopen_ledger(kit);
    tx = kit_begin(kit);
    assert_int_equal(
        kit_end(tx, ledger_regrant(
                        kit->ledger, tx,
                        &(struct ledger_promise){&id, &grant, &principal_local, NULL},
                        NULL)),
        ST_OK);
}

static void grant_anew(struct kit *kit, const char *name)
{
    struct store_tx *tx = kit_begin(kit);
    struct dataset_id id = kit_dataset(name);
    const struct grant grant = {RELATION_ZERO_OUT,   5, 1e-6, 0, {0, 0},
                                PRIVACY_UNIT_RECORD, 0};
    assert_int_equal(
        kit_end(tx, ledger_grant_anew(
                        kit->ledger, tx,
                        &(struct ledger_promise){&id, &grant, &principal_local, NULL},
                        NULL)),
        ST_OK);
}

static enum status reserve_parts(struct kit *kit, const char *name, unsigned job,
                                 enum parts parts, const char *engine)
{
    struct store_tx *tx = kit_begin(kit);
    struct dataset_id dataset = kit_dataset(name);
    struct job_id id = kit_job(job);
    struct mechanism m = kit_gaussian(47.1, 10);
    if (engine != NULL)
        snprintf(id.text, sizeof id.text, "chg_%026u", job);
    struct ledger_claim claim = {&dataset, &id, &m, &principal_local, parts, engine};
    struct ledger_entry_name entry;
    enum status status =
        kit_end(tx, ledger_reserve(kit->ledger, tx, &claim, &entry, NULL));
    mechanism_fini(&m);
    return status;
}

enum { CHAPTERS = 5 };

/* Does what happens between two seals. */
static void live(struct kit *kit, unsigned chapter)
{
    switch (chapter) {
    case 0:
        assert_int_equal(kit_grant(kit, "a", 4, 1e-5, 0), ST_OK);
        assert_int_equal(kit_grant(kit, "b", 4, 1e-5, 0), ST_OK);
        grant_divided(kit, "c");
        assert_int_equal(kit_reserve(kit, "a", 1, 23.85, 10), ST_OK);
        assert_int_equal(kit_reserve(kit, "a", 2, 23.85, 10), ST_OK);
        assert_int_equal(reserve_parts(kit, "c", 3, PARTS_HOLDOUT, NULL), ST_OK);
        assert_int_equal(reserve_parts(kit, "c", 4, PARTS_BOTH, NULL), ST_OK);
        assert_int_equal(kit_authorise(kit, 1, 4), ST_OK);
        assert_int_equal(kit_authorise(kit, 2, 3), ST_OK);
        assert_int_equal(kit_authorise(kit, 3, 10), ST_OK);
        assert_int_equal(kit_settle(kit, 2), ST_OK);
        assert_int_equal(kit_settle(kit, 3), ST_OK);
        break;
    case 1: /* settles what was open, opens more, and replaces a grant */
        assert_int_equal(kit_authorise(kit, 1, 9), ST_OK);
        assert_int_equal(kit_settle(kit, 1), ST_OK);
        assert_int_equal(kit_reserve(kit, "a", 5, 47.1, 7), ST_OK);
        grant_anew(kit, "b");
        break;
    case 2: /* a new epoch */
        assert_int_equal(kit_settle(kit, 5), ST_OK);
        regrant(kit, "a");
        assert_int_equal(kit_reserve(kit, "a", 6, 47.1, 7), ST_OK);
        assert_int_equal(kit_authorise(kit, 6, 7), ST_OK);
        assert_int_equal(kit_settle(kit, 6), ST_OK);
        break;
    case 3:
        assert_int_equal(reserve_parts(kit, "b", 7, PARTS_UNNAMED, "Opacus"), ST_OK);
        break;
    default:
        assert_int_equal(kit_authorise(kit, 4, 2), ST_OK);
        assert_int_equal(kit_settle(kit, 4), ST_OK);
        assert_int_equal(kit_reserve(kit, "a", 8, 47.1, 7), ST_OK);
        break;
    }
}

static void expect_same_part(struct kit *one, struct kit *other,
                             const struct ledger_part *part)
{
    struct epochs epochs[2];
    struct balance balances[2];
    assert_int_equal(
        ledger_part_read(one->ledger, part, &epochs[0], &balances[0], NULL), ST_OK);
    assert_int_equal(
        ledger_part_read(other->ledger, part, &epochs[1], &balances[1], NULL), ST_OK);
    assert_same_balance(&balances[0], &balances[1]);
    assert_int_equal(balances[0].external, balances[1].external);
    assert_int_equal(epochs[0].count, epochs[1].count);
    for (size_t e = 0; e < epochs[0].count; e++) {
        assert_memory_equal(&epochs[0].items[e].committed,
                            &epochs[1].items[e].committed, sizeof(struct curve));
        assert_int_equal(epochs[0].items[e].frozen, epochs[1].items[e].frozen);
        assert_int_equal(epochs[0].items[e].number, epochs[1].items[e].number);
    }
    for (int i = 0; i < 2; i++)
        epochs_fini(&epochs[i]);
}

static uint64_t authorised_of(struct kit *kit, const struct place *place)
{
    struct head head;
    char path[80];
    bool found = false, frozen = true;
    snprintf(path, sizeof path, "%s/head", place->folder);
    kit_reopen_ledger(kit);
    assert_int_equal(ledger_head_file(kit->ledger, path, &frozen, NULL), ST_OK);
    assert_false(frozen);
    assert_int_equal(head_file_read(path, &head, &found, NULL), ST_OK);
    assert_int_equal(unlink(path), 0);
    kit_reopen_ledger(kit);
    return head.authorised;
}

static void expect_twins(struct scene *one, struct scene *other)
{
    static const char *const names[] = {"a", "b", "c"};
    for (size_t i = 0; i < 3; i++) {
        const struct dataset_id id = kit_dataset(names[i]);
        const struct ledger_part train = {&id, PART_TRAIN},
                                 holdout = {&id, PART_HOLDOUT};
        expect_same_part(&one->kit, &other->kit, &train);
        if (i == 2)
            expect_same_part(&one->kit, &other->kit, &holdout);
        assert_int_equal(ledger_touched(one->kit.ledger, &id),
                         ledger_touched(other->kit.ledger, &id));
        assert_int_equal(ledger_unused(one->kit.ledger, &id, NULL),
                         ledger_unused(other->kit.ledger, &id, NULL));
    }
    const struct entry_tally tallies[] = {ledger_tally(one->kit.ledger),
                                          ledger_tally(other->kit.ledger)};
    assert_memory_equal(&tallies[0], &tallies[1], sizeof tallies[0]);
    assert_int_equal(authorised_of(&one->kit, &one->place),
                     authorised_of(&other->kit, &other->place));
}

static void what_is_sealed_again_and_again_lives_as_its_twin(void **state)
{
    (void)state;
    for (unsigned which = 1; which < 1U << CHAPTERS; which += 2) {
        struct scene sealed = scene_make(), plain = scene_make();
        for (unsigned chapter = 0; chapter < CHAPTERS; chapter++) {
            live(&sealed.kit, chapter);
            live(&plain.kit, chapter);
            if (which >> chapter & 1)
                do_seal(&sealed);
            kit_reopen_ledger(&plain.kit);
            expect_twins(&sealed, &plain);
            const struct job_id open = kit_job(4);
            if (chapter < 4)
                assert_int_equal(ledger_authorised(sealed.kit.ledger, &open),
                                 ledger_authorised(plain.kit.ledger, &open));
        }
        expect_verified(&sealed);
        scene_remove(&sealed);
        scene_remove(&plain);
    }
}

static int64_t ask(struct scene *scene, const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_open(scene->place.path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t answer = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return answer;
}

static void what_is_settled_goes_and_what_is_open_stays(void **state)
{
    (void)state;
    struct scene scene = scene_make();
    bool any = true;
    live(&scene.kit, 0);
    struct seal seal = do_seal(&scene), again;
    assert_true(seal.first == 1 && seal.last == 9 && seal.entry.seq == 10);
    assert_int_equal(ask(&scene, "SELECT count(*) FROM ledger WHERE kind='GRANT'"), 3);
    assert_int_equal(ask(&scene, "SELECT count(*) FROM ledger WHERE kind='RESERVE'"),
                     2);
    assert_int_equal(ask(&scene, "SELECT count(*) FROM ledger"), 6);
    assert_int_equal(ask(&scene, "SELECT count(*) FROM mark"), 1);
    assert_int_equal(ask(&scene, "SELECT count(*) FROM sealed_sum"), 3);
    assert_int_equal(
        ledger_seal(scene.kit.ledger, scene.archive.folder, &again, &any, NULL), ST_OK);
    assert_false(any);
    assert_int_equal(again.entry.seq, 10);
    scene_remove(&scene);
}

/* --- altered rows --- */

static void run(struct scene *scene, const char *sql)
{
    sqlite3 *db;
    char *said = NULL;
    kit_close(&scene->kit);
    assert_int_equal(sqlite3_open(scene->place.path, &db), SQLITE_OK);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)NULL);
    if (sqlite3_exec(db, sql, NULL, NULL, &said) != SQLITE_OK)
        fail_msg("%s: %s", sql, said);
    sqlite3_close(db);
    assert_int_equal(store_open(&scene->kit.store, scene->place.path, NULL), ST_OK);
}

/* Returns whether a start finds the change, or else a read of the account that it
 * concerns. */
static bool is_found(struct scene *scene)
{
    static const char *const names[] = {"a", "b", "c"};
    enum status status = ledger_open(&scene->kit.ledger, scene->kit.store, NULL);
    for (size_t i = 0; status == ST_OK && i < 3; i++) {
        struct balance balance;
        const struct dataset_id id = kit_dataset(names[i]);
        status = ledger_balance(scene->kit.ledger, &id, &balance, NULL);
    }
    return status == ST_CORRUPT;
}

static void a_start_or_who_asks_and_an_auditor_find_what_was_altered(void **state)
{
    (void)state;
    static const char *const all[] = {
        "DELETE FROM sealed_sum WHERE dataset='a'",
        "DELETE FROM sealed_sum",
        "UPDATE sealed_sum SET body=zeroblob(length(body)) WHERE dataset='a'",
        "UPDATE sealed_sum SET body=(SELECT body FROM sealed_sum WHERE dataset='b') "
        "WHERE dataset='a'",
        "UPDATE sealed_sum SET body=CAST(body||X'00' AS BLOB) WHERE dataset='b'",
        /* No commit at all, or none by any principal in the period. */
        "UPDATE sealed_sum SET "
        "body=CAST(substr(body,1,40)||zeroblob(400)||substr(body,441)"
        " AS BLOB) WHERE dataset='a'",
        "UPDATE sealed_sum SET body=CAST(substr(body,1,length(body)-88)||zeroblob(16)||"
        "substr(body,length(body)-71) AS BLOB) WHERE dataset='a'",
        /* The place, and the proof of the place. */
        "UPDATE sealed_sum SET body=CAST(substr(body,1,length(body)-8)||zeroblob(8) AS "
        "BLOB) WHERE dataset='b'",
        "UPDATE sealed_sum SET body=CAST(substr(body,1,length(body)-72)||zeroblob(32)||"
        "substr(body,length(body)-39) AS BLOB) WHERE dataset='b'",
        "UPDATE sealed_sum SET dataset='d' WHERE dataset='c'",
        "DELETE FROM ledger WHERE seq=1",
        "DELETE FROM ledger WHERE job LIKE '%1'",
        "UPDATE ledger SET actor='me' WHERE seq=1",
        "UPDATE ledger SET actor='me' WHERE job LIKE '%1'",
        "DELETE FROM ledger WHERE kind='SEAL'",
        "UPDATE ledger SET meta=replace(meta,'\"authorised\":13','\"authorised\":3')",
        "UPDATE ledger SET curve=zeroblob(32) WHERE kind='SEAL'",
        "UPDATE ledger SET epoch=2 WHERE kind='SEAL'",
        "INSERT INTO mark VALUES('job_00000000000000000000000002',3)",
        "INSERT INTO ledger SELECT 5,dataset,epoch,'x',kind,curve,released,meta,actor,"
        "time_ms,prev,randomblob(32) FROM ledger WHERE job LIKE '%1'",
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct scene scene = scene_make();
        struct verify_report report = {0};
        live(&scene.kit, 0);
        do_seal(&scene);
        assert_int_equal(kit_reserve(&scene.kit, "a", 9, 47.1, 7), ST_OK);
        run(&scene, all[i]);
        if (verify(&scene, NULL, &report, NULL) != ST_CORRUPT ||
            verify(&scene, scene.archive.folder, &report, NULL) != ST_CORRUPT ||
            !is_found(&scene))
            fail_msg("not found: %s", all[i]);
        scene_remove(&scene);
    }
}

/* Changes one byte of a file. */
static void flip(const char *path, long at)
{
    FILE *file = fopen(path, "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, at, at < 0 ? SEEK_END : SEEK_SET), 0);
    int byte = fgetc(file);
    assert_int_equal(fseek(file, at, at < 0 ? SEEK_END : SEEK_SET), 0);
    fputc(byte ^ 1, file);
    assert_int_equal(fclose(file), 0);
}

static void an_auditor_reads_every_archive(void **state)
{
    (void)state;
    static const long places[] = {0, 18, 40, 100, 2000, -1, -500};
    struct scene scene = scene_make();
    struct verify_report report = {0};
    char path[ARCHIVE_PATH_SIZE];
    live(&scene.kit, 0);
    struct seal first = do_seal(&scene);
    live(&scene.kit, 1);
    do_seal(&scene);
    assert_int_equal(verify(&scene, scene.archive.folder, &report, NULL), ST_OK);
    assert_int_equal(report.archives, 2);
    assert_int_equal(report.entries, report.head.seq);
    assert_int_equal(verify(&scene, NULL, &report, NULL), ST_OK);
    assert_int_equal(report.sealed, report.head.seq);
    archive_path(path,
                 &(struct archive_part){scene.archive.folder, first.first, first.last});
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        flip(path, places[i]);
        if (verify(&scene, scene.archive.folder, &report, NULL) != ST_CORRUPT)
            fail_msg("byte %ld", places[i]);
        flip(path, places[i]);
    }
    assert_int_equal(verify(&scene, scene.archive.folder, &report, NULL), ST_OK);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(verify(&scene, scene.archive.folder, &report, NULL), ST_NOT_FOUND);
    assert_int_equal(verify(&scene, NULL, &report, NULL), ST_OK);
    scene_remove(&scene);
}

/* --- heads that were noted --- */

static enum status use_head(struct scene *scene, const struct head *head, bool *frozen,
                            struct error *error)
{
    char path[80];
    snprintf(path, sizeof path, "%s/head", scene->place.folder);
    assert_int_equal(head_file_write(path, head, NULL), ST_OK);
    kit_reopen_ledger(&scene->kit);
    return ledger_head_file(scene->kit.ledger, path, frozen, error);
}

static void a_head_from_before_the_seal_freezes_nothing(void **state)
{
    (void)state;
    struct scene scene = scene_make();
    struct head before = {0}, older = {0}, grant = {0}, other;
    struct error error = {0};
    bool frozen = true;
    assert_int_equal(kit_grant(&scene.kit, "a", 4, 1e-5, 0), ST_OK);
    ledger_head(scene.kit.ledger, &grant.entry);
    assert_int_equal(kit_reserve(&scene.kit, "a", 1, 23.85, 10), ST_OK);
    ledger_head(scene.kit.ledger, &older.entry);
    assert_int_equal(kit_settle(&scene.kit, 1), ST_OK);
    ledger_head(scene.kit.ledger, &before.entry);
    struct seal seal = do_seal(&scene);
    assert_int_equal(use_head(&scene, &before, &frozen, NULL), ST_OK);
    assert_false(frozen);
    assert_int_equal(use_head(&scene, &grant, &frozen, NULL), ST_OK);
    assert_false(frozen);
    assert_int_equal(
        use_head(&scene, &(struct head){.entry = seal.entry}, &frozen, NULL), ST_OK);
    assert_false(frozen);
    assert_int_equal(use_head(&scene, &older, &frozen, &error), ST_INVALID);
    assert_non_null(strstr(error.text, "--from-genesis"));
    /* The archive has that entry. */
    struct verify_report report = {.wanted = older.entry};
    assert_int_equal(verify(&scene, scene.archive.folder, &report, NULL), ST_OK);
    assert_true(report.found && report.same);
    report.wanted.hash[0] ^= 1;
    assert_int_equal(verify(&scene, scene.archive.folder, &report, NULL), ST_OK);
    assert_true(report.found && !report.same);
    /* A head of another history counts as lost. */
    other = before;
    other.entry.hash[0] ^= 1;
    assert_int_equal(use_head(&scene, &other, &frozen, NULL), ST_OK);
    assert_true(frozen);
    scene_remove(&scene);
}

/* --- the archive --- */

static void a_part_has_its_name_once_it_is_durable(void **state)
{
    (void)state;
    struct scene scene = scene_make();
    struct seal seal;
    live(&scene.kit, 0);
    trace_start(0);
    assert_int_equal(try_seal(&scene, &seal, NULL), ST_OK);
    assert_string_equal(trace, "frd"); /* the file, its name, the folder */
    scene_remove(&scene);
    for (size_t failing = 1; failing <= 3; failing++) {
        scene = scene_make();
        live(&scene.kit, 0);
        trace_start(failing);
        assert_int_equal(try_seal(&scene, &seal, NULL), ST_IO);
        assert_int_equal(strlen(trace), failing);
        trace_start(0);
        kit_reopen_ledger(&scene.kit);
        assert_int_equal(ask(&scene, "SELECT count(*) FROM ledger"), 9);
        do_seal(&scene);
        expect_verified(&scene);
        scene_remove(&scene);
    }
}

static void a_folder_that_will_not_do_is_refused(void **state)
{
    (void)state;
    struct scene scene = scene_make();
    struct seal seal;
    bool any;
    char path[ARCHIVE_PATH_SIZE];
    live(&scene.kit, 0);
    assert_int_equal(ledger_seal(scene.kit.ledger, "/nowhere", &seal, &any, NULL),
                     ST_INVALID);
    assert_int_equal(ledger_seal(scene.kit.ledger, scene.place.path, &seal, &any, NULL),
                     ST_INVALID);
    archive_path(path, &(struct archive_part){scene.archive.folder, 1, 9});
    FILE *file = fopen(path, "w");
    fputs("something else", file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(try_seal(&scene, &seal, NULL), ST_ALREADY_EXISTS);
    assert_int_equal(ask(&scene, "SELECT count(*) FROM ledger"), 9);
    assert_int_equal(unlink(path), 0);
    do_seal(&scene);
    expect_verified(&scene);
    scene_remove(&scene);
}

/* A seal did not complete, and more entries followed. */
static void a_part_that_was_not_sealed_is_in_nobodys_way(void **state)
{
    (void)state;
    struct scene scene = scene_make();
    struct place copy = place_make();
    live(&scene.kit, 0);
    kit_close(&scene.kit);
    place_copy(scene.place.path, copy.path);
    scene.kit = kit_open(scene.place.path);
    do_seal(&scene);
    kit_close(&scene.kit);
    place_copy(copy.path, scene.place.path);
    scene.kit = kit_open(scene.place.path);
    live(&scene.kit, 1);
    do_seal(&scene); /* entries 1 to more than 9: next to the other file */
    expect_verified(&scene);
    scene_remove(&scene);
    place_remove(&copy);
}

/* --- many --- */

/* Measures only this process's time, because others use the machine too. */
static double ms_since(const struct timespec *then)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)(now.tv_sec - then->tv_sec) * 1e3 +
           (double)(now.tv_nsec - then->tv_nsec) / 1e6;
}

struct filling { /* by statements that are prepared once */
    sqlite3 *db;
    sqlite3_stmt *entry, *mark;
    struct ledger_entry_name head;
    uint8_t held[ENTRY_CURVE_SIZE], none[ENTRY_CURVE_SIZE];
};

/* Appends the entry after the last one. */
static void put(struct filling *filling, struct ledger_row *row)
{
    row->seq = filling->head.seq + 1;
    row->dataset = "a";
    row->epoch = 1;
    row->curve = filling->held;
    row->curve_size = ENTRY_CURVE_SIZE;
    row->actor = "local";
    memcpy(row->prev, filling->head.hash, SHA256_SIZE);
    entry_hash(row->hash, row);
    sqlite3_stmt *to = filling->entry;
    sqlite3_bind_int64(to, 1, (sqlite3_int64)row->seq);
    sqlite3_bind_text(to, 2, row->job, -1, SQLITE_STATIC);
    sqlite3_bind_text(to, 3, row->kind, -1, SQLITE_STATIC);
    sqlite3_bind_blob(to, 4, row->curve, ENTRY_CURVE_SIZE, SQLITE_STATIC);
    sqlite3_bind_blob(to, 5, row->released,
                      row->released != NULL ? ENTRY_CURVE_SIZE : 0, SQLITE_STATIC);
    sqlite3_bind_text(to, 6, row->meta, -1, SQLITE_STATIC);
    sqlite3_bind_blob(to, 7, row->prev, SHA256_SIZE, SQLITE_STATIC);
    sqlite3_bind_blob(to, 8, row->hash, SHA256_SIZE, SQLITE_STATIC);
    assert_int_equal(sqlite3_step(to), SQLITE_DONE);
    sqlite3_reset(to);
    filling->head.seq = row->seq;
    memcpy(filling->head.hash, row->hash, SHA256_SIZE);
}

static struct filling begin_filling(struct scene *scene)
{
    struct filling filling = {0};
    struct curve charge;
    struct mechanism m = kit_gaussian(1e4, 1);
    ledger_head(scene->kit.ledger, &filling.head);
    assert_int_equal(filter_charge(&charge, &m, 1, NULL), ST_OK);
    entry_curve_encode(filling.held, &charge);
    mechanism_fini(&m);
    kit_close(&scene->kit);
    assert_int_equal(sqlite3_open(scene->place.path, &filling.db), SQLITE_OK);
    sqlite3_db_config(filling.db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)NULL);
    assert_int_equal(
        sqlite3_exec(filling.db, "PRAGMA cache_size=-300000;BEGIN", NULL, NULL, NULL),
        SQLITE_OK);
    assert_int_equal(
        sqlite3_prepare_v2(filling.db,
                           "INSERT INTO ledger VALUES(?,'a',1,?,?,?,?,?,'local',0,?,?)",
                           -1, &filling.entry, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(filling.db, "INSERT INTO mark VALUES(?,1)", -1,
                                        &filling.mark, NULL),
                     SQLITE_OK);
    return filling;
}

static void end_filling(struct filling *filling, struct scene *scene)
{
    sqlite3_finalize(filling->entry);
    sqlite3_finalize(filling->mark);
    assert_int_equal(sqlite3_exec(filling->db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(filling->db);
    scene->kit = kit_open(scene->place.path);
}

/* Writes this many jobs of one step on dataset a as the ledger would. All of them
 * except the last were authorised and settled. */
static void fill(struct scene *scene, unsigned jobs)
{
    struct mechanism m = kit_gaussian(1e4, 1);
    char *reserve = entry_reserve_render(&m, PARTS_UNNAMED, NULL);
    struct filling filling = begin_filling(scene);
    for (unsigned i = 1; i <= jobs; i++) {
        const struct job_id id = kit_job(i);
        struct ledger_row row = {.job = id.text, .kind = "RESERVE", .meta = reserve};
        put(&filling, &row);
        if (i == jobs)
            break;
        const struct entry_commit commit = {.reserve_seq = row.seq, .steps = 1};
        char *meta = entry_commit_render(&commit);
        sqlite3_bind_text(filling.mark, 1, id.text, -1, SQLITE_STATIC);
        assert_int_equal(sqlite3_step(filling.mark), SQLITE_DONE);
        sqlite3_reset(filling.mark);
        row = (struct ledger_row){
            .job = id.text, .kind = "COMMIT", .meta = meta, .released = filling.none};
        put(&filling, &row);
        free(meta);
    }
    end_filling(&filling, scene);
    free(reserve);
    mechanism_fini(&m);
}

static void a_start_behind_a_hundred_thousand_entries_reads_the_sums(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__
    enum { JOBS = 5000 };
#else
    enum { JOBS = 50000 };
#endif
    struct scene scene = scene_make();
    struct timespec then;
    assert_int_equal(kit_grant(&scene.kit, "a", 8, 1e-5, 0), ST_OK);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &then);
    fill(&scene, JOBS);
    print_message("%d entries written in %.0f ms\n", 2 * JOBS, ms_since(&then));
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &then);
    kit_reopen_ledger(&scene.kit);
    double plain = ms_since(&then);
    struct balance before = kit_balance(&scene.kit, "a");
    struct seal seal;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &then);
    assert_int_equal(try_seal(&scene, &seal, NULL), ST_OK);
    print_message("sealed in %.0f ms\n", ms_since(&then));
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &then);
    kit_reopen_ledger(&scene.kit);
    double sealed = ms_since(&then);
    print_message("a start: %.1f ms, and %.1f ms behind the seal\n", plain, sealed);
    struct balance after = kit_balance(&scene.kit, "a");
    assert_same_balance(&before, &after);
    assert_int_equal(ask(&scene, "SELECT count(*) FROM ledger"), 3);
    char path[ARCHIVE_PATH_SIZE];
    struct stat found;
    archive_path(path,
                 &(struct archive_part){scene.archive.folder, seal.first, seal.last});
    assert_int_equal(stat(path, &found), 0);
    print_message("the archive has %lld bytes\n", (long long)found.st_size);
    assert_true(sealed < plain / 2);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &then);
    expect_verified(&scene);
    print_message("verified from the first entry in %.0f ms\n", ms_since(&then));
    scene_remove(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_sealed_again_and_again_lives_as_its_twin),
        cmocka_unit_test(what_is_settled_goes_and_what_is_open_stays),
        cmocka_unit_test(a_start_or_who_asks_and_an_auditor_find_what_was_altered),
        cmocka_unit_test(an_auditor_reads_every_archive),
        cmocka_unit_test(a_head_from_before_the_seal_freezes_nothing),
        cmocka_unit_test(a_part_has_its_name_once_it_is_durable),
        cmocka_unit_test(a_folder_that_will_not_do_is_refused),
        cmocka_unit_test(a_part_that_was_not_sealed_is_in_nobodys_way),
        cmocka_unit_test(a_start_behind_a_hundred_thousand_entries_reads_the_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
