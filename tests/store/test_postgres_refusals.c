/* Goal: the store refuses, with the reason, a server that would lose acknowledged
 * commits, whose traffic could be read, or that is no primary, and tables of another
 * program or version; and preferences of a user or a URL change no setting that
 * durability depends on. Method: a real server with other settings, and SQL from
 * outside. */
#include "tests/expect.h"
#include "tests/store/postgres_store_fixture.h"

static struct postgres_server server;

static void expect_refusal(const struct store_server *place, enum status status,
                           const char *said)
{
    struct store *store = NULL;
    struct error error = {0};
    enum status found = store_open_server(&store, place, &error);
    if (found != status)
        fail_msg("%s: %s", place->url, error.text);
    if (strstr(error.text, said) == NULL)
        fail_msg("%s", error.text);
    if (strstr(error.text, "hushhush") != NULL)
        fail_msg("a password: %s", error.text);
}

static void a_url_or_a_server_that_will_not_do_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *url, *said;
    } urls[] = {
        {"mysql://u:hushhush@localhost/d", "does not begin with postgresql://"},
        {"postgresql://u:hushhush@[::1/d", "cannot be read"},
        {"postgresql://u:hushhush@/d", "names no host"},
        {"postgresql://u:hushhush@db.example.org/d", "sslmode=verify-full"},
        {"postgresql://u:hushhush@10.1.2.3/d?sslmode=require", "sslmode=verify-full"},
        {"postgresql://u:hushhush@localhost,db.example.org/d", "sslmode=verify-full"},
        {"postgresql:///d?service=other", "names a service"},
    };
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++)
        expect_refusal(&(struct store_server){.url = urls[i].url}, ST_INVALID,
                       urls[i].said);
    struct postgres_database database = postgres_schema(&server);
    struct store_server place = postgres_place(&database);
    place.single_server = false;
    expect_refusal(&place, ST_INVALID, "no synchronous standby");
    place.single_server = true;
    assert_int_equal(postgres_sql(&server, NULL,
                                  "CREATE USER strict PASSWORD 'something'; "
                                  "CREATE USER reader; ALTER USER reader SET "
                                  "default_transaction_read_only=on"),
                     0);
    postgres_lead(&database, "strict:hushhush", server.folder);
    expect_refusal(&place, ST_IO, "password authentication failed");
    postgres_lead(&database, "epsilond", "/nowhere");
    expect_refusal(&place, ST_IO, "/nowhere");
    postgres_lead(&database, "reader", server.folder);
    expect_refusal(&place, ST_IO, "needs the primary, not a replica");
}

/* Waits until the setting is active. */
static void set_server(const char *name, const char *value)
{
    char sql[96], answer[64] = "";
    snprintf(sql, sizeof sql, "ALTER SYSTEM SET %s=%s", name, value);
    assert_int_equal(postgres_sql(&server, NULL, sql), 0);
    assert_int_equal(postgres_sql(&server, NULL, "SELECT pg_reload_conf()"), 0);
    snprintf(sql, sizeof sql, "SHOW %s", name);
    while (strcmp(answer, value) != 0)
        postgres_ask(&server, NULL, sql, answer, sizeof answer);
}

static void restart_server(const char *options)
{
    assert_int_equal(postgres_shell(&server, "pg_ctl -D '%s/data' -s -w -m fast stop",
                                    server.folder),
                     0);
    FILE *file = NULL;
    char path[80];
    snprintf(path, sizeof path, "%s/data/postgresql.auto.conf", server.folder);
    assert_non_null(file = fopen(path, "w"));
    fputs(options, file);
    assert_int_equal(fclose(file), 0);
    assert_true(postgres_start(&server));
}

static void a_server_that_loses_what_it_acknowledged_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name, *safe, *unsafe;
    } settings[] = {{"fsync", "on", "off"}, {"full_page_writes", "on", "off"}};
    struct postgres_database database = postgres_schema(&server);
    struct store_server place = postgres_place(&database);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        char said[64];
        set_server(settings[i].name, settings[i].unsafe);
        snprintf(said, sizeof said, "the server has %s=%s", settings[i].name,
                 settings[i].unsafe);
        expect_refusal(&place, ST_INVALID, said);
        set_server(settings[i].name, settings[i].safe);
    }
    restart_server("data_sync_retry=on\n");
    expect_refusal(&place, ST_INVALID, "the server has data_sync_retry=on");
    /* No commit can wait for this standby. */
    restart_server("max_wal_senders=0\nwal_level=minimal\n"
                   "synchronous_standby_names='nobody'\n");
    place.single_server = false;
    expect_refusal(&place, ST_INVALID, "no synchronous standby");
    restart_server("");
    char tables[16];
    postgres_ask(&server, &database,
                 "SELECT count(*) FROM pg_tables WHERE schemaname=current_schema()",
                 tables, sizeof tables);
    assert_string_equal(tables, "0");
}

static void what_a_user_or_a_url_prefers_changes_nothing(void **state)
{
    (void)state;
    char answer[128];
    struct postgres_database database = postgres_schema(&server);
    assert_int_equal(
        postgres_sql(&server, &database,
                     "ALTER USER epsilond SET synchronous_commit=off; ALTER USER "
                     "epsilond SET idle_in_transaction_session_timeout=0"),
        0);
    char *end = database.url + strlen(database.url);
    snprintf(end, sizeof database.url - strlen(database.url), "%s",
             "%20-cstatement_timeout%3D0%20-csynchronous_commit%3Dlocal");
    struct store *store = postgres_store(&database);
    assert_int_equal(
        postgres_sql(
            &server, &database,
            "CREATE TABLE noted(settings text); CREATE FUNCTION note() RETURNS "
            "trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO noted SELECT "
            "string_agg(current_setting(name),chr(44) ORDER BY name) FROM "
            "unnest(ARRAY[''synchronous_commit'',''statement_timeout'',"
            "''lock_timeout'',''idle_in_transaction_session_timeout'']) name; "
            "RETURN NULL; END'; CREATE TRIGGER note AFTER INSERT ON dataset "
            "EXECUTE FUNCTION note()"),
        0);
    assert_int_equal(postgres_put(store, 1), ST_OK);
    store_close(store);
    postgres_ask(&server, &database, "SELECT settings FROM noted", answer,
                 sizeof answer);
    assert_string_equal(answer, "2s,5s,10s,on");
    assert_int_equal(postgres_sql(&server, NULL, "ALTER USER epsilond RESET ALL"), 0);
}

static void other_tables_and_other_schemas_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *sql;
        enum status status;
        const char *said;
    } all[] = {
        {"UPDATE schema_step SET step=1000", ST_INVALID, "this program knows up to"},
        {"UPDATE schema_step SET step=10", ST_INVALID, "the store has schema 10"},
        {"DROP TABLE schema_step", ST_CORRUPT, "not a database of epsilond"},
        {"DROP TRIGGER mark_keep ON mark", ST_CORRUPT, "1 are missing"},
        {"ALTER TABLE ledger DISABLE TRIGGER ledger_keep", ST_CORRUPT, "1 are missing"},
        {"UPDATE head SET seq=7", ST_CORRUPT, "head is not the ledger's newest"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct store *reader = NULL;
        struct postgres_database database = postgres_schema(&server);
        const struct store_server place = postgres_place(&database);
        store_close(postgres_store(&database));
        assert_int_equal(postgres_sql(&server, &database, all[i].sql), 0);
        expect_refusal(&place, all[i].status, all[i].said);
        assert_int_equal(store_open_server_read(&reader, &place, NULL), all[i].status);
    }
}

/* Rebuilds a database of the first schema of this kind. */
static void an_older_schema_moves_forward_when_it_is_told_to(void **state)
{
    (void)state;
    struct postgres_database database = postgres_schema(&server);
    struct store_server place = postgres_place(&database);
    store_close(postgres_store(&database));
    assert_int_equal(
        postgres_sql(
            &server, &database,
            "DROP TABLE migration,blob,claim,change,duty,daemon,hold,login,timeline,"
            "policy_proposal;"
            "DROP FUNCTION epsilond_tell,epsilond_tell_caption,"
            "epsilond_mark_open,epsilond_end_whole CASCADE;"
            "DROP INDEX ledger_ended; ALTER TABLE writer DROP lead,"
            "DROP alone,DROP follows; ALTER TABLE dataset DROP rowid,"
            "DROP fetched CASCADE; ALTER TABLE weights DROP kind;"
            "DROP TABLE sealed_sum; DROP FUNCTION "
            "epsilond_arrive,epsilond_sealed_entries,"
            "epsilond_sealed_marks CASCADE; DROP INDEX ledger_seal; ALTER TABLE "
            "ledger DROP CONSTRAINT ledger_kinds, DROP CONSTRAINT ledger_jobs,"
            "DROP CONSTRAINT ledger_datasets, DROP CONSTRAINT ledger_once,"
            "ADD CONSTRAINT ledger_kind_check CHECK(true),"
            "ADD CONSTRAINT ledger_check2 CHECK(true),"
            "ADD CONSTRAINT ledger_dataset_epoch_job_kind_key UNIQUE(dataset,"
            "epoch,job,kind), ALTER dataset SET NOT NULL; "
            "UPDATE schema_step SET step=11"),
        0);
    expect_refusal(&place, ST_INVALID, "start it once with --migrate on");
    struct store *store = NULL;
    assert_int_equal(store_open_server_read(&store, &place, NULL), ST_INVALID);
    place.migrate = true;
    assert_int_equal(store_open_server(&store, &place, NULL), ST_OK);
    assert_int_equal(postgres_put(store, 1), ST_OK);
    store_close(store);
    store_close(postgres_store(&database));
    char answer[64];
    postgres_ask(
        &server, &database,
        "SELECT identity=(SELECT identity::text FROM schema_step) FROM migration",
        answer, sizeof answer);
    assert_string_equal(answer, "t");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_url_or_a_server_that_will_not_do_is_refused),
        cmocka_unit_test(a_server_that_loses_what_it_acknowledged_is_refused),
        cmocka_unit_test(what_a_user_or_a_url_prefers_changes_nothing),
        cmocka_unit_test(other_tables_and_other_schemas_are_refused),
        cmocka_unit_test(an_older_schema_moves_forward_when_it_is_told_to),
    };
    if (!postgres_make_for_stores(&server, true))
        return 0;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    postgres_remove(&server);
    return failed;
}
