/* Goal: a directory is sealed as a whole or not at all, and never while a daemon has it
 * open; afterwards it keeps working: with more seals, on a server and back in its file.
 * Method: a service's own directory, a real server, and a child process that is killed
 * before and after every durable write. */
#include "service/commands/seal_command.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "accountant/ledger/archive.h"
#include "accountant/ledger/ledger_freeze.h"
#include "accountant/audit/verify.h"
#include "service/commands/store_migration.h"
#include "service/config/store_config.h"
#include "service/commands/verify_command.h"
#include "store/blobs/blob.h"
#include "tests/expect.h"
#include "tests/kill_fixture.h"
#include "tests/accountant/ledger_fixture.h"
#include "tests/service/service_fixture.h"
#include "tests/store/postgres_store_fixture.h"

static struct postgres_server server;
static struct place origin;  /* a directory after a service has closed it */
static struct balance spent; /* of its dataset */

struct home { /* a directory, and where its entries are archived */
    struct place place, archive;
    struct config config;
};

static void read_config(struct home *home, const char *url)
{
    enum config_outcome outcome;
    char head[64];
    snprintf(head, sizeof head, "%s/head", home->archive.folder);
    const char *const argv[] = {
        "epsilond",        "--data-dir", home->place.folder, "--head-file", head,
        "--single-server", "on",         "--store",          url,           NULL};
    assert_int_equal(config_read(&home->config, &outcome, url != NULL ? 9 : 5,
                                 (char **)(uintptr_t)argv, NULL),
                     ST_OK);
}

static struct home begin(void)
{
    struct home home = {.place = place_make(), .archive = place_make()};
    char command[160];
    snprintf(command, sizeof command, "cp -a %s/. %s", origin.folder,
             home.place.folder);
    assert_int_equal(system(command), 0);
    read_config(&home, NULL);
    return home;
}

static void end(struct home *home)
{
    place_remove(&home->place);
    place_remove(&home->archive);
}

/* Opens the ledger as a start does; visit may do something with it. */
static void with_ledger(struct home *home, void (*visit)(struct kit *kit))
{
    struct blobs *blobs = NULL;
    struct kit kit;
    struct error error = {0};
    bool frozen = true;
    if (blobs_open(&blobs, home->config.data_dir, &error) != ST_OK ||
        store_config_open(&kit.store, &home->config, blobs, &error) != ST_OK ||
        ledger_open(&kit.ledger, kit.store, &error) != ST_OK ||
        ledger_head_file(kit.ledger, home->config.head_file, &frozen, &error) != ST_OK)
        fail_msg("%s", error.text);
    assert_false(frozen);
    visit(&kit);
    kit_close(&kit);
    blobs_close(blobs);
}

static void expect_spent(struct kit *kit)
{
    struct balance balance = kit_balance(kit, "points");
    assert_same_balance(&balance, &spent);
}

static void spend_more(struct kit *kit)
{
    static unsigned job = 1000;
    job++;
    assert_int_equal(kit_reserve(kit, "points", job, 2000, 5), ST_OK);
    assert_int_equal(kit_authorise(kit, job, 3), ST_OK);
    assert_int_equal(kit_settle(kit, job), ST_OK);
}

static enum status try_seal(struct home *home, const char *folder, struct error *error)
{
    struct seal seal;
    bool any;
    return seal_directory(&seal, &any, &home->config, folder, error);
}

static void do_seal(struct home *home)
{
    struct error error = {0};
    if (try_seal(home, home->archive.folder, &error) != ST_OK)
        fail_msg("%s", error.text);
}

/* Runs `epsilond verify`, from the newest seal on or from the first entry. */
static void expect_verified(struct home *home, bool from_genesis)
{
    const char *words[12] = {"verify", "--data-dir", home->config.data_dir,
                             "--head-file", home->config.head_file};
    int count = 5, code;
    if (home->config.store[0] != '\0') {
        words[count++] = "--single-server";
        words[count++] = "on";
        words[count++] = "--store";
        words[count++] = home->config.store;
    }
    if (from_genesis) {
        words[count++] = "--from-genesis";
        words[count++] = "--archive";
        words[count++] = home->archive.folder;
    }
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        kill_silence();
        _exit(verify_command(count, (char **)(uintptr_t)words));
    }
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_true(WIFEXITED(code) && WEXITSTATUS(code) == 0);
}

static void migrate(struct home *home, const char *url)
{
    struct store_migration migration;
    struct error error = {0};
    const struct config from = home->config;
    int out = dup(STDOUT_FILENO);
    read_config(home, url);
    fflush(stdout);
    kill_silence();
    if (store_migration_run(&migration, &from, &home->config, &error) != ST_OK)
        fail_msg("%s", error.text);
    fflush(stdout);
    dup2(out, STDOUT_FILENO);
    close(out);
}

static void what_is_sealed_moves_to_a_server_and_back(void **state)
{
    (void)state;
    struct home home = begin();
    struct postgres_database database = postgres_schema(&server);
    do_seal(&home);
    with_ledger(&home, expect_spent);
    migrate(&home, database.url);
    with_ledger(&home, expect_spent);
    with_ledger(&home, spend_more);
    expect_verified(&home, true);
    do_seal(&home);
    with_ledger(&home, spend_more);
    expect_verified(&home, false);
    expect_verified(&home, true);
    migrate(&home, NULL);
    with_ledger(&home, spend_more);
    do_seal(&home);
    do_seal(&home); /* no entry follows the seal */
    expect_verified(&home, false);
    expect_verified(&home, true);
    end(&home);
}

static void a_directory_in_use_and_a_folder_that_will_not_do_are_refused(void **state)
{
    (void)state;
    struct home home = begin();
    struct postgres_database database = postgres_schema(&server);
    struct blobs *blobs = NULL;
    char inside[64];
    assert_int_equal(blobs_open(&blobs, home.place.folder, NULL), ST_OK);
    assert_int_equal(try_seal(&home, home.archive.folder, NULL), ST_IO);
    blobs_close(blobs);
    snprintf(inside, sizeof inside, "%s/models", home.place.folder);
    const char *const folders[] = {"/nowhere", home.place.path, home.place.folder,
                                   inside};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(try_seal(&home, folders[i], NULL), ST_INVALID);
    migrate(&home, database.url);
    struct store *store = postgres_store(&database);
    assert_int_equal(try_seal(&home, home.archive.folder, NULL), ST_IO);
    store_close(store);
    /* Nor while daemons share the store, even if this one is configured to share it
     * too. */
    home.config.role = DAEMON_BOTH;
    store = postgres_shared_store(&database);
    assert_int_equal(try_seal(&home, home.archive.folder, NULL), ST_IO);
    store_close(store);
    with_ledger(&home, expect_spent);
    do_seal(&home);
    end(&home);
}

/* Writes into a full folder. A device of 1 page would need too many privileges here, so
 * the size of files is limited instead. */
static void a_full_disk_leaves_everything_as_it_was(void **state)
{
    (void)state;
    struct home home = begin();
    char path[ARCHIVE_PATH_SIZE];
    int code;
    with_ledger(&home, expect_spent);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        const struct rlimit bound = {3000, 3000};
        struct error error = {0};
        signal(SIGXFSZ, SIG_IGN);
        struct archive_writer *writer = NULL;
        const struct archive_part part = {home.archive.folder, 1, 1};
        const uint8_t curve[ENTRY_CURVE_SIZE] = {0};
        struct ledger_row row = {.seq = 1,
                                 .dataset = "a",
                                 .job = "",
                                 .kind = "GRANT",
                                 .meta = "",
                                 .actor = "",
                                 .curve = curve,
                                 .curve_size = sizeof curve};
        uint8_t digest[SHA256_SIZE];
        setrlimit(RLIMIT_FSIZE, &bound);
        if (archive_create(&writer, &part, NULL) != ST_OK)
            _exit(2);
        enum status status = ST_OK;
        for (int i = 0; status == ST_OK && i < 9; i++)
            status = archive_put(writer, &row, NULL);
        if (status == ST_OK)
            status = archive_publish(writer, digest, &error);
        else
            archive_discard(writer);
        _exit(status == ST_IO ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_true(WIFEXITED(code) && WEXITSTATUS(code) == 0);
    archive_path(path, &(struct archive_part){home.archive.folder, 1, 1});
    assert_int_equal(access(path, F_OK), -1);
    end(&home);
}

/* --- killed --- */

static bool seal_once(void *context)
{
    struct home *home = context;
    return try_seal(home, home->archive.folder, NULL) == ST_OK;
}

static bool was_sealed;

/* Whole: the sums and the head are those of the SEAL. Not at all: every entry is
 * there. */
static void expect_whole(struct kit *kit)
{
    struct ledger_entry_name head;
    const struct seal seal = ledger_sealed(kit->ledger);
    struct store_tx *tx;
    uint64_t entries = 0;
    const struct dataset_id id = kit_dataset("points");
    expect_spent(kit);
    ledger_head(kit->ledger, &head);
    was_sealed = seal.entry.seq > 0;
    assert_int_equal(store_begin(kit->store, STORE_READ, &tx, NULL), ST_OK);
    assert_int_equal(ledger_rows_count(tx, id.text, 0, &entries, NULL), ST_OK);
    store_rollback(tx);
    if (was_sealed)
        assert_int_equal(head.seq, seal.entry.seq);
    assert_int_equal(entries, was_sealed ? 2 : head.seq);
}

static bool one_killed(bool on_server, unsigned at)
{
    struct home home = begin();
    if (on_server) {
        struct postgres_database database = postgres_schema(&server);
        migrate(&home, database.url);
    }
    with_ledger(&home, expect_spent); /* writes the head's file */
    kill_child(at, seal_once, &home);
    with_ledger(&home, expect_whole);
    bool sealed = was_sealed;
    if (at % 3 == 0)
        with_ledger(&home, spend_more);
    do_seal(&home);
    expect_verified(&home, true);
    end(&home);
    return sealed;
}

/* Returns the step between the moments that are tried: 1, which tries all, if KILLS is
 * set. */
static unsigned stride(void)
{
    return getenv("KILLS") != NULL ? 1 : SANITIZED ? 5 : 2;
}

static void killed_at_any_moment_a_file_is_sealed_whole_or_not_at_all(void **state)
{
    (void)state;
    kill_everywhere(one_killed, false, stride());
}

static void killed_at_any_moment_a_server_is_sealed_whole_or_not_at_all(void **state)
{
    (void)state;
    kill_everywhere(one_killed, true, stride());
}

static void live(struct kit *kit)
{
    for (unsigned job = 1; job <= 5; job++) {
        assert_int_equal(kit_reserve(kit, "points", job, 2000, 5), ST_OK);
        assert_int_equal(kit_authorise(kit, job, 1 + job % 4), ST_OK);
        assert_int_equal(kit_settle(kit, job), ST_OK);
    }
    spent = kit_balance(kit, "points");
}

/* One job waits and holds its reservation; others have ended and left nothing. */
static void make_origin(void)
{
    struct scene scene = {0};
    struct home home = {.archive = place_make()};
    scene_open_with_job(&scene);
    origin = scene.place;
    daemon_lifecycle_close(&scene.context);
    home.place = origin;
    read_config(&home, NULL);
    with_ledger(&home, live);
    place_remove(&home.archive);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_sealed_moves_to_a_server_and_back),
        cmocka_unit_test(a_directory_in_use_and_a_folder_that_will_not_do_are_refused),
        cmocka_unit_test(a_full_disk_leaves_everything_as_it_was),
        cmocka_unit_test(killed_at_any_moment_a_file_is_sealed_whole_or_not_at_all),
        cmocka_unit_test(killed_at_any_moment_a_server_is_sealed_whole_or_not_at_all),
    };
    if (!postgres_make_for_stores(&server, true))
        return 0;
    make_origin();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    place_remove(&origin);
    postgres_remove(&server);
    return failed;
}
