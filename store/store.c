#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sqlite3.h>

#include "base/check.h"
#include "store/statement.h"
#include "store/tables.h"

enum {
    HOOKS_MAX = 8,
    /* 4 MiB of pages of 4,096 bytes: keeps the recovery after a crash and the file short. */
    WAL_PAGES_MAX = 1024,
    /* A reader waits at most this long for another that recovers the WAL. */
    READ_WAIT_MS = 5000,
    URI_SIZE = 3 * 4096,
};

struct hook {
    void (*done)(void *);
    void (*undone)(void *);
    void *context;
};

struct store_tx {
    struct store *store;
    size_t hook_count;
    struct hook hooks[HOOKS_MAX];
};

struct store {
    pthread_mutex_t lock; /* held by the open transaction; guards all but poisoned */
    sqlite3 *db;
    atomic_bool poisoned;
    bool read_only;
    bool in_memory;
    int wal_pages;     /* in the WAL after the last commit */
    int checkpoint_at; /* pages at which to try next */
    bool tx_open;
    struct store_tx tx;
};

static int on_wal(void *context, sqlite3 *db, const char *schema, int pages)
{
    struct store *store = context;
    (void)db;
    (void)schema;
    store->wal_pages = pages;
    return SQLITE_OK;
}

/* Runs a pragma and compares what it then answers. */
static bool pragma(sqlite3 *db, const char *set, const char *get, const char *expected)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_exec(db, set, NULL, NULL, NULL) != SQLITE_OK)
        return false;
    bool same = sqlite3_prepare_v2(db, get, -1, &statement, NULL) == SQLITE_OK &&
                sqlite3_step(statement) == SQLITE_ROW &&
                sqlite3_column_text(statement, 0) != NULL &&
                strcmp((const char *)sqlite3_column_text(statement, 0), expected) == 0;
    sqlite3_finalize(statement);
    return same;
}

/* In an in-memory database there is no log to choose. */
static enum status set_pragmas(struct store *store, struct error *error)
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
        if (all[i].writing && store->read_only)
            continue;
        const char *expected = all[i].expected;
        if (store->in_memory && strcmp(expected, "wal") == 0)
            expected = "memory";
        if (!pragma(store->db, all[i].set, all[i].get, expected))
            return error_set(error, ST_IO, "database: %s not accepted: %s", all[i].set,
                             sqlite3_errmsg(store->db));
    }
    sqlite3_wal_hook(store->db, on_wal, store);
    return ST_OK;
}

static enum status check_integrity(struct store *store, struct error *error)
{
    sqlite3_stmt *statement = NULL;
    enum status status = ST_OK;
    int rc = sqlite3_prepare_v2(store->db, "PRAGMA integrity_check(1)", -1, &statement,
                                NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    const char *text =
        rc == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    if (rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB)
        status =
            error_set(error, ST_CORRUPT, "database: %s", sqlite3_errmsg(store->db));
    else if (text == NULL)
        status = error_set(error, ST_IO, "database: %s", sqlite3_errmsg(store->db));
    else if (strcmp(text, "ok") != 0)
        status = error_set(error, ST_CORRUPT, "database: %s", text);
    sqlite3_finalize(statement);
    return status;
}

static struct store *store_create(void)
{
    struct store *store = calloc(1, sizeof *store);
    CHECK(store != NULL);
    CHECK(pthread_mutex_init(&store->lock, NULL) == 0);
    store->checkpoint_at = WAL_PAGES_MAX;
    return store;
}

/* SQLite makes files readable by all that the mask lets through: ours come first. */
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

static enum status open_writing(struct store *store, const char *path,
                                struct error *error)
{
    int found = 0;
    enum status status = store->in_memory ? ST_OK : create_file(path, error);
    if (status != ST_OK)
        return status;
    if (sqlite3_open_v2(path, &store->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK)
        return error_set(error, ST_IO, "%s: %s", path, sqlite3_errmsg(store->db));
    sqlite3_extended_result_codes(store->db, 0);
    if ((status = tables_found(&found, store->db, tables_current(), error)) != ST_OK ||
        (status = set_pragmas(store, error)) != ST_OK ||
        (status = tables_check(store->db, found, tables_current(), error)) != ST_OK ||
        (status = check_integrity(store, error)) != ST_OK)
        return status;
    return tables_forward(store->db, path, found, tables_current(), error);
}

enum status store_open(struct store **out, const char *path, struct error *error)
{
    struct store *store = store_create();
    store->in_memory = strcmp(path, ":memory:") == 0;
    enum status status = open_writing(store, path, error);
    if (status != ST_OK) {
        store_close(store);
        return status;
    }
    *out = store;
    return ST_OK;
}

/* file: URI of path, in which ? # and % are special. */
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
static enum status open_reading(struct store *store, const char *path,
                                struct error *error)
{
    char uri[URI_SIZE], wal[URI_SIZE];
    int found;
    enum status status;
    int length = snprintf(wal, sizeof wal, "%s-wal", path);
    bool live = length > 0 && length < URI_SIZE && access(wal, F_OK) == 0;
    if (!uri_of(uri, path, live ? "?mode=ro" : "?mode=ro&immutable=1"))
        return error_set(error, ST_IO, "path too long");
    if (sqlite3_open_v2(uri, &store->db,
                        SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK)
        return error_set(error, ST_IO, "%s: %s", path, sqlite3_errmsg(store->db));
    sqlite3_busy_timeout(store->db, READ_WAIT_MS);
    if ((status = tables_found(&found, store->db, tables_current(), error)) != ST_OK ||
        (status = set_pragmas(store, error)) != ST_OK ||
        (status = tables_check(store->db, found, tables_current(), error)) != ST_OK ||
        (status = check_integrity(store, error)) != ST_OK)
        return status;
    if (found != tables_current()->count)
        return error_set(error, ST_INVALID, "the database has schema %d, not %d", found,
                         tables_current()->count);
    return ST_OK;
}

enum status store_open_read(struct store **out, const char *path, struct error *error)
{
    struct store *store = store_create();
    store->read_only = true;
    enum status status = open_reading(store, path, error);
    if (status != ST_OK) {
        store_close(store);
        return status;
    }
    *out = store;
    return ST_OK;
}

void store_close(struct store *store)
{
    if (store == NULL)
        return;
    CHECK(!store->tx_open);
    if (store->db != NULL && (store->read_only || store_poisoned(store)))
        sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    CHECK(sqlite3_close(store->db) == SQLITE_OK);
    pthread_mutex_destroy(&store->lock);
    free(store);
}

enum status store_begin(struct store *store, struct store_tx **tx, struct error *error)
{
    pthread_mutex_lock(&store->lock);
    const char *sql = store->read_only ? "BEGIN" : "BEGIN IMMEDIATE";
    if (store_poisoned(store)) {
        pthread_mutex_unlock(&store->lock);
        return error_set(error, ST_IO, "the database failed earlier");
    }
    if (sqlite3_exec(store->db, sql, NULL, NULL, NULL) != SQLITE_OK) {
        error_set(error, ST_IO, "database: %s", sqlite3_errmsg(store->db));
        store_poison(store);
        pthread_mutex_unlock(&store->lock);
        return ST_IO;
    }
    store->tx_open = true;
    store->tx = (struct store_tx){.store = store};
    *tx = &store->tx;
    return ST_OK;
}

/* A reader in the way only postpones it. */
static void checkpoint(struct store *store)
{
    int rc = sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_TRUNCATE,
                                       NULL, NULL);
    if (rc == SQLITE_OK)
        store->checkpoint_at = WAL_PAGES_MAX;
    else if (rc == SQLITE_BUSY)
        store->checkpoint_at = store->wal_pages + WAL_PAGES_MAX;
    else
        store_poison(store);
}

static void finish(struct store_tx *tx, bool durable)
{
    struct store *store = tx->store;
    for (size_t i = 0; i < tx->hook_count; i++) {
        void (*call)(void *) = durable ? tx->hooks[i].done : tx->hooks[i].undone;
        if (call != NULL)
            call(tx->hooks[i].context);
    }
    if (durable && store->wal_pages >= store->checkpoint_at)
        checkpoint(store);
    store->tx_open = false;
    pthread_mutex_unlock(&store->lock);
}

/* After a failure the log may or may not hold the transaction: a restart decides. */
enum status store_commit(struct store_tx *tx, struct error *error)
{
    struct store *store = tx->store;
    bool durable = false;
    if (store_poisoned(store)) {
        error_set(error, ST_IO, "the database failed earlier");
    } else if (sqlite3_exec(store->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK) {
        durable = true;
    } else {
        error_set(error, ST_IO, "database: %s", sqlite3_errmsg(store->db));
        store_poison(store);
    }
    if (!durable)
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    finish(tx, durable);
    return durable ? ST_OK : ST_IO;
}

void store_rollback(struct store_tx *tx)
{
    struct store *store = tx->store;
    if (sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL) != SQLITE_OK &&
        !sqlite3_get_autocommit(store->db))
        store_poison(store);
    finish(tx, false);
}

enum status store_end(struct store_tx *tx, enum status status, struct error *error)
{
    if (status == ST_OK)
        return store_commit(tx, error);
    store_rollback(tx);
    return status;
}

void store_tx_on_end(struct store_tx *tx, void (*done)(void *), void (*undone)(void *),
                     void *context)
{
    CHECK(tx->hook_count < HOOKS_MAX);
    tx->hooks[tx->hook_count++] = (struct hook){done, undone, context};
}

bool store_poisoned(const struct store *store)
{
    return atomic_load(&store->poisoned);
}

void store_poison(struct store *store)
{
    atomic_store(&store->poisoned, true);
}

int store_schema_version(void)
{
    return tables_current()->count;
}

struct sqlite3 *store_tx_db(struct store_tx *tx)
{
    return tx->store->db;
}

bool store_tx_usable(const struct store_tx *tx)
{
    return !store_poisoned(tx->store);
}

void store_tx_poison(struct store_tx *tx)
{
    store_poison(tx->store);
}
