/* Goal: a directory's database moves to a server and back; at every moment exactly one
 * of the two can be served; and nothing moves that does not verify, or into a target
 * that is not empty. Method: a service's own directory, a real server, and a child
 * process that is killed before and after every durable write. */
#include "accountant/ledger/ledger.h"
#include "accountant/ledger/ledger_view.h"
#include "service/commands/store_migration.h"

#include "service/commands/backup_copy.h"
#include "service/config/store_config.h"
#include "store/blobs/blob.h"
#include "store/blobs/blob_name.h"
#include "tests/expect.h"
#include "tests/kill_fixture.h"
#include "tests/service/service_fixture.h"
#include "tests/store/postgres_store_fixture.h"

static struct postgres_server server;
static struct place origin; /* a directory after a service has closed it */
static struct ledger_entry_name head;

struct move { /* between a directory and a server */
    struct place place;
    struct postgres_database database;
    struct config file, server;
    char identity[64]; /* of the server's database, once it was in use */
};

static void read_config(struct config *config, const struct move *move)
{
    enum config_outcome outcome;
    const char *const argv[] = {"epsilond",         "--data-dir", move->place.folder,
                                "--single-server",  "on",         "--store",
                                move->database.url, NULL};
    assert_int_equal(config_read(config, &outcome, 7, (char **)(uintptr_t)argv, NULL),
                     ST_OK);
}

static void begin(struct move *move)
{
    *move = (struct move){.place = place_make()};
    char command[160];
    snprintf(command, sizeof command, "cp -a %s/. %s", origin.folder,
             move->place.folder);
    assert_int_equal(system(command), 0);
    move->database = postgres_schema(&server);
    read_config(&move->server, move);
    move->file = move->server;
    move->file.store[0] = '\0';
}

static void end(struct move *move)
{
    place_remove(&move->place);
}

/* Opens the database of a configuration as a start does. */
static enum status start(const struct config *config, struct error *error)
{
    struct blobs *blobs = NULL;
    struct store *store = NULL;
    struct ledger *ledger = NULL;
    struct ledger_entry_name found;
    if (blobs_open(&blobs, config->data_dir, error) != ST_OK)
        return ST_IO;
    enum status status = store_config_open(&store, config, blobs, error);
    if (status == ST_OK)
        status = ledger_open(&ledger, store, error);
    if (status == ST_OK) {
        ledger_head(ledger, &found);
        assert_int_equal(found.seq, head.seq);
        assert_memory_equal(found.hash, head.hash, SHA256_SIZE);
    }
    ledger_close(ledger);
    store_close(store);
    blobs_close(blobs);
    return status;
}

static enum status migrate(const struct config *from, const struct config *to,
                           struct error *error)
{
    struct store_migration migration;
    int out = dup(STDOUT_FILENO);
    fflush(stdout);
    kill_silence();
    enum status status = store_migration_run(&migration, from, to, error);
    fflush(stdout);
    dup2(out, STDOUT_FILENO);
    close(out);
    if (status == ST_OK) {
        assert_int_equal(migration.head.seq, head.seq);
        assert_memory_equal(migration.head.hash, head.hash, SHA256_SIZE);
    }
    return status;
}

static void expect_migrated(const struct config *from, const struct config *to)
{
    struct error error = {0};
    if (migrate(from, to, &error) != ST_OK)
        fail_msg("%s", error.text);
}

static void expect_refused(enum status found, const struct error *error,
                           const char *said)
{
    assert_int_equal(found, ST_INVALID);
    if (strstr(error->text, said) == NULL)
        fail_msg("%s", error->text);
}

/* A copy of only the directory's file, elsewhere, as an operator may make by hand. */
static void expect_file_is_over(const struct move *move)
{
    struct place other = place_make();
    struct config config = move->file;
    struct error error = {0};
    struct backup_copy copy;
    char backup[64];
    place_copy(move->place.path, other.path);
    snprintf(config.data_dir, sizeof config.data_dir, "%s", other.folder);
    expect_refused(start(&config, &error), &error, "was migrated to postgresql:///");
    error = (struct error){0};
    snprintf(backup, sizeof backup, "%s/backup", other.folder);
    expect_refused(backup_copy_make(&copy, other.folder, backup, true, &error), &error,
                   "was migrated to");
    error = (struct error){0};
    expect_refused(migrate(&config, &move->server, &error), &error, "was migrated to");
    place_remove(&other);
}

static void note_identity(struct move *move)
{
    char path[64];
    snprintf(path, sizeof path, "%s/store", move->place.folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%63s", move->identity), 1);
    assert_int_equal(fgetc(file), '\n');
    assert_int_equal(fgetc(file), EOF);
    fclose(file);
}

/* From a new directory, and from one copied while the server was in use. */
static void expect_server_is_over(const struct move *move)
{
    for (int copied = 0; copied < 2; copied++) {
        struct place other = place_make();
        struct config config = move->server;
        struct error error = {0};
        snprintf(config.data_dir, sizeof config.data_dir, "%s", other.folder);
        if (copied)
            assert_int_equal(store_config_name(&config, move->identity, "", NULL),
                             ST_OK);
        expect_refused(start(&config, &error), &error, "was migrated to /tmp/");
        place_remove(&other);
    }
}

static void a_directory_moves_to_a_server_and_back(void **state)
{
    (void)state;
    struct move move;
    struct error error = {0};
    begin(&move);
    struct postgres_database first = move.database;
    expect_migrated(&move.file, &move.server);
    expect_refused(start(&move.file, &error), &error, "give --store");
    expect_file_is_over(&move);
    assert_int_equal(start(&move.server, NULL), ST_OK);
    note_identity(&move);
    /* The way back, and then to another server. */
    expect_migrated(&move.server, &move.file);
    expect_server_is_over(&move);
    assert_int_equal(start(&move.file, NULL), ST_OK);
    error = (struct error){0};
    expect_refused(migrate(&move.file, &move.server, &error), &error, "was migrated");
    move.database = postgres_schema(&server);
    read_config(&move.server, &move);
    expect_migrated(&move.file, &move.server);
    assert_int_equal(start(&move.server, NULL), ST_OK);
    move.database = first;
    read_config(&move.server, &move);
    assert_int_equal(start(&move.server, NULL), ST_INVALID);
    end(&move);
}

static void what_holds_something_is_no_target(void **state)
{
    (void)state;
    struct move one, other;
    struct error error = {0};
    begin(&one);
    begin(&other);
    expect_migrated(&one.file, &one.server);
    other.server = one.server;
    snprintf(other.server.data_dir, sizeof other.server.data_dir, "%s",
             other.place.folder);
    expect_refused(migrate(&other.file, &other.server, &error), &error,
                   "holds a database already");
    assert_int_equal(start(&other.file, NULL), ST_OK);
    /* The directory must not have a database of its own, and must be the server's. */
    error = (struct error){0};
    expect_refused(migrate(&other.server, &other.file, &error), &error,
                   "is not the data directory of that database");
    place_remove(&other.place);
    other.place = place_make();
    error = (struct error){0};
    snprintf(other.file.data_dir, sizeof other.file.data_dir, "%s", other.place.folder);
    expect_refused(migrate(&other.file, &other.server, &error), &error,
                   "holds no database");
    assert_int_equal(start(&one.server, NULL), ST_OK);
    end(&one);
    end(&other);
}

static void what_does_not_verify_does_not_move(void **state)
{
    (void)state;
    struct move move;
    struct error error = {0};
    char path[BLOB_PATH_SIZE];
    begin(&move);
    snprintf(path, sizeof path, "%s/datasets/points.matrix", move.place.folder);
    assert_int_equal(truncate(path, 100), 0);
    assert_int_equal(migrate(&move.file, &move.server, &error), ST_CORRUPT);
    if (strstr(error.text, "does not verify") == NULL)
        fail_msg("%s", error.text);
    assert_int_equal(start(&move.file, NULL), ST_OK);
    end(&move);
}

static void what_is_in_use_does_not_move(void **state)
{
    (void)state;
    struct move move;
    struct blobs *blobs = NULL;
    struct error error = {0};
    begin(&move);
    assert_int_equal(blobs_open(&blobs, move.place.folder, NULL), ST_OK);
    assert_int_equal(migrate(&move.file, &move.server, &error), ST_IO);
    blobs_close(blobs);
    struct store *store = postgres_store(&move.database);
    error = (struct error){0};
    assert_int_equal(migrate(&move.file, &move.server, &error), ST_IO);
    if (strstr(error.text, "another daemon") == NULL)
        fail_msg("%s", error.text);
    store_close(store);
    expect_migrated(&move.file, &move.server);
    end(&move);
}

/* --- killed --- */

static bool migrate_once(void *context)
{
    const struct config *const *way = context;
    struct store_migration migration;
    return store_migration_run(&migration, way[0], way[1], NULL) == ST_OK;
}

/* Exactly one of the two can be served, whichever is tried first, and stays that
 * one. */
static bool expect_one(const struct config *from, const struct config *to,
                       bool to_first, unsigned at)
{
    bool arrived = to_first && start(to, NULL) == ST_OK;
    bool there = start(from, NULL) == ST_OK;
    arrived = arrived || start(to, NULL) == ST_OK;
    if (there == arrived)
        fail_msg("killed at %u: %s can be served", at, there ? "both" : "neither");
    assert_int_equal(start(arrived ? to : from, NULL), ST_OK);
    assert_int_not_equal(start(arrived ? from : to, NULL), ST_OK);
    return arrived;
}

/* Kills one migration at this moment; at 0: none. Returns whether the target is then
 * the one that can be served. Every fourth one that has not arrived is started again,
 * into an empty target. */
static bool one_killed(bool to_server, unsigned at)
{
    struct move move;
    begin(&move);
    if (!to_server) {
        expect_migrated(&move.file, &move.server);
        note_identity(&move);
    }
    const struct config *from = to_server ? &move.file : &move.server,
                        *to = to_server ? &move.server : &move.file;
    kill_child(at, migrate_once, (const struct config *[]){from, to});
    bool arrived = expect_one(from, to, at % 2 == 0, at);
    if (arrived && to_server)
        expect_file_is_over(&move);
    if (arrived && !to_server)
        expect_server_is_over(&move);
    if (!arrived && at % 4 == 0) {
        struct config again = *to;
        struct move fresh = {.place = move.place, .database = postgres_schema(&server)};
        if (to_server)
            read_config(&again, &fresh);
        expect_migrated(from, &again);
    }
    end(&move);
    return arrived;
}

/* Returns the step between the moments that are tried: 1, which tries all, if KILLS is
 * set, as `make faults` does with KILLS=all. */
static unsigned stride(void)
{
    return getenv("KILLS") != NULL ? 1 : SANITIZED ? 7 : 3;
}

static void killed_at_any_moment_to_a_server_one_of_the_two_is_left(void **state)
{
    (void)state;
    kill_everywhere(one_killed, true, stride());
}

static void killed_at_any_moment_to_a_file_one_of_the_two_is_left(void **state)
{
    (void)state;
    kill_everywhere(one_killed, false, stride());
}

static void make_origin(void)
{
    struct scene scene = {0};
    scene_open_with_job(&scene);
    ledger_head(scene.context.ledger, &head);
    origin = scene.place;
    daemon_lifecycle_close(&scene.context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_directory_moves_to_a_server_and_back),
        cmocka_unit_test(what_holds_something_is_no_target),
        cmocka_unit_test(what_does_not_verify_does_not_move),
        cmocka_unit_test(what_is_in_use_does_not_move),
        cmocka_unit_test(killed_at_any_moment_to_a_server_one_of_the_two_is_left),
        cmocka_unit_test(killed_at_any_moment_to_a_file_one_of_the_two_is_left),
    };
    if (!postgres_make_for_stores(&server, true))
        return 0;
    make_origin();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    place_remove(&origin);
    postgres_remove(&server);
    return failed;
}
