/*
 * SQLite's connection. A database is opened without being read; database_set_up then
 * makes its settings and reads each one back, because a pragma that SQLite does not
 * know or does not accept is answered with silence. The log's length is counted by a
 * hook that SQLite calls at each commit, since the checkpoint is ours to run (invariant
 * 2 of the header).
 */
#include "store/database.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sqlite3.h>

#include "base/check.h"

enum {
    /* A reader waits at most this long for another that recovers the log. */
    READ_WAIT_MS = 5000,
    URI_SIZE = 3 * 4096,
};

struct database {
    sqlite3 *handle;
    atomic_bool poisoned;
    bool read_only;
    bool in_memory;
    int log_pages;
};

/* --- answers --- */

enum database_class database_class_of(int code)
{
    switch (code) {
    case SQLITE_OK: return DB_OK;
    case SQLITE_CONSTRAINT_UNIQUE:
    case SQLITE_CONSTRAINT_PRIMARYKEY: return DB_KEY_USED;
    case SQLITE_CONSTRAINT_FOREIGNKEY: return DB_NO_PARENT;
    case SQLITE_CONSTRAINT_TRIGGER:
    case SQLITE_CONSTRAINT_CHECK:
    case SQLITE_CONSTRAINT_NOTNULL: return DB_REFUSED;
    }
    switch (code & 0xff) { /* the primary code */
    case SQLITE_ERROR: return DB_MISFIT;
    case SQLITE_BUSY: return DB_BUSY;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return DB_DAMAGED;
    }
    return DB_FAILED;
}

const char *database_message(const struct database *database)
{
    return sqlite3_errmsg(database->handle);
}

struct sqlite3 *database_handle(const struct database *database)
{
    return database->handle;
}

bool database_poisoned(const struct database *database)
{
    return atomic_load(&database->poisoned);
}

void database_poison(struct database *database)
{
    atomic_store(&database->poisoned, true);
}

/* --- opening --- */

static struct database *database_create(bool read_only, const char *path)
{
    struct database *database = calloc(1, sizeof *database);
    CHECK(database != NULL);
    database->read_only = read_only;
    database->in_memory = strcmp(path, ":memory:") == 0;
    return database;
}

/* Connects to file, a path or a URI; a failure speaks of path. */
static enum status connect_to(struct database *database, const char *file, int flags,
                              const char *path, struct error *error)
{
    if (sqlite3_open_v2(file, &database->handle, flags | SQLITE_OPEN_NOMUTEX, NULL) ==
        SQLITE_OK)
        return ST_OK;
    return error_set(error, ST_IO, "%s: %s", path, database_message(database));
}

/* Makes the file, where there is none, before SQLite would: its files are readable by
 * whomever the process's mask lets in. The log takes its mode from the file. */
static enum status create_file(const char *path, struct error *error)
{
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0 && errno == EEXIST)
        return ST_OK;
    if (file < 0)
        return error_set(error, ST_IO, "%s: %s", path, strerror(errno));
    close(file);
    return ST_OK;
}

enum status database_open(struct database **out, const char *path, struct error *error)
{
    struct database *database = database_create(false, path);
    enum status status = database->in_memory ? ST_OK : create_file(path, error);
    if (status == ST_OK)
        status = connect_to(database, path, SQLITE_OPEN_READWRITE, path, error);
    if (status != ST_OK) {
        database_close(database, true);
        return status;
    }
    sqlite3_extended_result_codes(database->handle, 0);
    *out = database;
    return ST_OK;
}

/* uri = path as a URI of the scheme file, in which ? # and % are special, and the
 * query. False if it is too long. */
static bool uri_of(char uri[URI_SIZE], const char *path, const char *query)
{
    size_t size = 0;
    char encoded[4];
    size += (size_t)snprintf(uri, URI_SIZE, "file:");
    for (; *path != '\0'; path++) {
        bool special = strchr("?#%", *path) != NULL;
        snprintf(encoded, sizeof encoded, special ? "%%%02X" : "%c", *path);
        if (size + strlen(encoded) + strlen(query) >= URI_SIZE)
            return false;
        size += (size_t)snprintf(uri + size, URI_SIZE - size, "%s", encoded);
    }
    snprintf(uri + size, URI_SIZE - size, "%s", query);
    return true;
}

/* A running daemon keeps a -wal file beside the database. Where there is none nobody
 * writes, and `immutable` keeps SQLite from making one. */
enum status database_open_read(struct database **out, const char *path,
                               struct error *error)
{
    char uri[URI_SIZE], wal[URI_SIZE];
    int length = snprintf(wal, sizeof wal, "%s-wal", path);
    bool live = length > 0 && length < URI_SIZE && access(wal, F_OK) == 0;
    if (!uri_of(uri, path, live ? "?mode=ro" : "?mode=ro&immutable=1"))
        return error_set(error, ST_IO, "path too long");
    struct database *database = database_create(true, path);
    enum status status =
        connect_to(database, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, path, error);
    if (status != ST_OK) {
        database_close(database, false);
        return status;
    }
    sqlite3_busy_timeout(database->handle, READ_WAIT_MS);
    *out = database;
    return ST_OK;
}

void database_close(struct database *database, bool checkpoint)
{
    if (database == NULL)
        return;
    if (database->handle != NULL && (database->read_only || !checkpoint))
        sqlite3_db_config(database->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    CHECK(sqlite3_close(database->handle) == SQLITE_OK);
    free(database);
}

/* --- settings --- */

static int on_commit(void *context, sqlite3 *handle, const char *schema, int pages)
{
    struct database *database = context;
    (void)handle;
    (void)schema;
    database->log_pages = pages;
    return SQLITE_OK;
}

/* Runs a pragma and compares what it then answers. */
static bool pragma(sqlite3 *handle, const char *set, const char *get,
                   const char *expected)
{
    sqlite3_stmt *asked = NULL;
    if (sqlite3_exec(handle, set, NULL, NULL, NULL) != SQLITE_OK)
        return false;
    bool same = sqlite3_prepare_v2(handle, get, -1, &asked, NULL) == SQLITE_OK &&
                sqlite3_step(asked) == SQLITE_ROW &&
                sqlite3_column_text(asked, 0) != NULL &&
                strcmp((const char *)sqlite3_column_text(asked, 0), expected) == 0;
    sqlite3_finalize(asked);
    return same;
}

/* A database in memory has no log, so its journal mode is "memory". The hook comes
 * last: wal_autocheckpoint puts its own in its place. */
enum status database_set_up(struct database *database, struct error *error)
{
    static const struct {
        const char *set, *get, *expected;
        bool writing;
    } all[] = {
        {"PRAGMA trusted_schema=OFF", "PRAGMA trusted_schema", "0", false},
        {"PRAGMA foreign_keys=ON", "PRAGMA foreign_keys", "1", true},
        {"PRAGMA recursive_triggers=ON", "PRAGMA recursive_triggers", "1", true},
        {"PRAGMA journal_mode=WAL", "PRAGMA journal_mode", "wal", true},
        {"PRAGMA synchronous=FULL", "PRAGMA synchronous", "2", true},
        {"PRAGMA wal_autocheckpoint=0", "PRAGMA wal_autocheckpoint", "0", true},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i].writing && database->read_only)
            continue;
        const char *expected = all[i].expected;
        if (database->in_memory && strcmp(expected, "wal") == 0)
            expected = "memory";
        if (!pragma(database->handle, all[i].set, all[i].get, expected))
            return error_set(error, ST_IO, "database: %s not accepted: %s", all[i].set,
                             database_message(database));
    }
    sqlite3_wal_hook(database->handle, on_commit, database);
    return ST_OK;
}

/* --- transactions --- */

enum database_class database_run(struct database *database, const char *sql)
{
    return database_class_of(sqlite3_exec(database->handle, sql, NULL, NULL, NULL));
}

enum database_class database_begin(struct database *database)
{
    return database_run(database, database->read_only ? "BEGIN" : "BEGIN IMMEDIATE");
}

bool database_in_transaction(const struct database *database)
{
    return !sqlite3_get_autocommit(database->handle);
}

enum database_class database_checkpoint(struct database *database)
{
    return database_class_of(sqlite3_wal_checkpoint_v2(
        database->handle, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL));
}

int database_log_pages(const struct database *database)
{
    return database->log_pages;
}
