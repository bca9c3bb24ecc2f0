/*
 * SQLite's connection and its statements. A database is opened without being read;
 * sqlite_set_up then makes its settings and reads each one back, because SQLite
 * silently ignores a pragma that it does not know or does not accept. A hook that
 * SQLite calls at each commit counts the pages of the log, since we run the checkpoint
 * ourselves (invariant 2 of the header).
 *
 * To prepare a statement costs as much as to run it, and more if it fires triggers, so
 * statements that change or select rows are kept and reused for the same text. One that
 * has ended holds no row, no lock and nothing that was bound.
 */
#include "store/sqlite/sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sqlite3.h>

#include "base/check.h"

enum {
    /* A reader waits at most this long for another process that recovers the log. */
    READ_WAIT_MS = 5000,
    URI_SIZE = 3 * 4096,
    /* 4 MiB in pages of 4,096 bytes, which keeps log and recovery short. */
    LOG_PAGES_MAX = 1024,
    /* More than a daemon's common requests use. */
    KEPT_MAX = 64,
};

struct prepared {
    sqlite3_stmt *statement; /* NULL: this place keeps none */
    bool kept;               /* in a place of the connection */
    bool open;               /* not ended */
    bool failed;             /* must not be used again */
    uint64_t turn;           /* its number among those opened */
};

struct sqlite {
    struct database base;
    sqlite3 *handle;
    enum store_scope scope; /* of the open transaction */
    bool read_only;
    bool in_memory;
    int log_pages;     /* after the last commit */
    int checkpoint_at; /* length of the log for the next try */
    struct prepared places[KEPT_MAX];
    uint64_t turn; /* counts the statements that were opened */
};

static struct sqlite *own(const struct database *database)
{
    return (struct sqlite *)(uintptr_t)database;
}

/* --- answers --- */

static enum database_class class_of(int code)
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

static const char *message(const struct database *database)
{
    return sqlite3_errmsg(own(database)->handle);
}

struct sqlite3 *sqlite_handle(const struct database *database)
{
    return own(database)->handle;
}

/* --- opening --- */

static const struct driver driver;

static struct sqlite *sqlite_create(bool read_only, const char *path)
{
    struct sqlite *sqlite = calloc(1, sizeof *sqlite);
    CHECK(sqlite != NULL);
    sqlite->base.driver = &driver;
    sqlite->read_only = read_only;
    sqlite->in_memory = strcmp(path, ":memory:") == 0;
    sqlite->checkpoint_at = LOG_PAGES_MAX;
    return sqlite;
}

/* Connects to file, a path or a URI; error texts name path. */
static enum status connect_to(struct sqlite *sqlite, const char *file, int flags,
                              const char *path, struct error *error)
{
    if (sqlite3_open_v2(file, &sqlite->handle, flags | SQLITE_OPEN_NOMUTEX, NULL) ==
        SQLITE_OK)
        return ST_OK;
    return error_set(error, ST_IO, "%s: %s", path, sqlite3_errmsg(sqlite->handle));
}

/* Makes the file, if it does not exist, before SQLite would: SQLite's own mode depends
 * on the umask of the process, which may let others read the file. The log takes its
 * mode from the file. */
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

enum status sqlite_open(struct database **out, const char *path, struct error *error)
{
    struct sqlite *sqlite = sqlite_create(false, path);
    enum status status = sqlite->in_memory ? ST_OK : create_file(path, error);
    if (status == ST_OK)
        status = connect_to(sqlite, path, SQLITE_OPEN_READWRITE, path, error);
    if (status != ST_OK) {
        database_close(&sqlite->base, true);
        return status;
    }
    sqlite3_extended_result_codes(sqlite->handle, 0);
    *out = &sqlite->base;
    return ST_OK;
}

/* uri = path as a URI of the scheme file, with its ? # and % escaped, and the query.
 * Returns false if it is too long. */
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

/* A running daemon keeps a -wal file in the same folder. If there is none, no process
 * writes, and `immutable` keeps SQLite from making one. */
enum status sqlite_open_read(struct database **out, const char *path,
                             struct error *error)
{
    char uri[URI_SIZE], wal[URI_SIZE];
    int length = snprintf(wal, sizeof wal, "%s-wal", path);
    bool live = length > 0 && length < URI_SIZE && access(wal, F_OK) == 0;
    if (!uri_of(uri, path, live ? "?mode=ro" : "?mode=ro&immutable=1"))
        return error_set(error, ST_IO, "path too long");
    struct sqlite *sqlite = sqlite_create(true, path);
    enum status status =
        connect_to(sqlite, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, path, error);
    if (status != ST_OK) {
        database_close(&sqlite->base, false);
        return status;
    }
    sqlite3_busy_timeout(sqlite->handle, READ_WAIT_MS);
    *out = &sqlite->base;
    return ST_OK;
}

static enum status open_again(struct database **out, const struct database *first,
                              struct error *error)
{
    struct database *database = NULL;
    *out = NULL;
    if (own(first)->in_memory)
        return ST_OK;
    const char *path = sqlite3_db_filename(own(first)->handle, "main");
    enum status status = sqlite_open_read(&database, path, error);
    if (status == ST_OK)
        status = sqlite_set_up(database, error);
    if (status == ST_OK)
        *out = database;
    else
        database_close(database, false);
    return status;
}

/* Opens a connection that only reads, while the first may write. The log exists by
 * then, for the first has read. NULL: the database is in memory, or is only read. */
static struct database *reader(struct database *first)
{
    const struct sqlite *of = own(first);
    if (of->in_memory || of->read_only)
        return NULL;
    const char *path = sqlite3_db_filename(of->handle, "main");
    struct sqlite *sqlite = sqlite_create(true, path);
    sqlite->base.first = first;
    if (connect_to(sqlite, path, SQLITE_OPEN_READONLY, path, NULL) != ST_OK) {
        database_close(&sqlite->base, false);
        return NULL;
    }
    sqlite3_busy_timeout(sqlite->handle, READ_WAIT_MS);
    return &sqlite->base;
}

/* The last connection that closes writes the log into the file. */
static void close_connection(struct database *database, bool clean)
{
    struct sqlite *sqlite = own(database);
    for (size_t i = 0; i < KEPT_MAX; i++)
        sqlite3_finalize(sqlite->places[i].statement);
    if (sqlite->handle != NULL && (sqlite->read_only || !clean))
        sqlite3_db_config(sqlite->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    CHECK(sqlite3_close(sqlite->handle) == SQLITE_OK);
    free(sqlite);
}

/* --- settings --- */

static int on_commit(void *context, sqlite3 *handle, const char *schema, int pages)
{
    struct sqlite *sqlite = context;
    (void)handle;
    (void)schema;
    sqlite->log_pages = pages;
    return SQLITE_OK;
}

/* Sets a pragma, reads it back, and compares. */
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
 * last, because wal_autocheckpoint installs a hook of its own. */
enum status sqlite_set_up(struct database *database, struct error *error)
{
    struct sqlite *sqlite = own(database);
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
        if (all[i].writing && sqlite->read_only)
            continue;
        const char *expected = all[i].expected;
        if (sqlite->in_memory && strcmp(expected, "wal") == 0)
            expected = "memory";
        if (!pragma(sqlite->handle, all[i].set, all[i].get, expected))
            return error_set(error, ST_IO, "database: %s not accepted: %s", all[i].set,
                             message(database));
    }
    sqlite3_wal_hook(sqlite->handle, on_commit, sqlite);
    return ST_OK;
}

/* --- transactions --- */

enum database_class sqlite_run(struct database *database, const char *sql)
{
    return class_of(sqlite3_exec(own(database)->handle, sql, NULL, NULL, NULL));
}

static enum database_class begin(struct database *database, enum store_scope scope)
{
    struct sqlite *sqlite = own(database);
    bool reads = sqlite->read_only || scope == STORE_READ;
    sqlite->scope = scope;
    return sqlite_run(database, reads ? "BEGIN" : "BEGIN IMMEDIATE");
}

static enum database_class commit(struct database *database)
{
    return sqlite_run(database, "COMMIT");
}

/* A failure may have ended the transaction already. */
static enum database_class rollback(struct database *database)
{
    enum database_class answer = sqlite_run(database, "ROLLBACK");
    return sqlite3_get_autocommit(own(database)->handle) ? DB_OK : answer;
}

/* Writes a log that has grown long into the file. If a reader is in the way, a later
 * call does it. */
static enum database_class tidy(struct database *database)
{
    struct sqlite *sqlite = own(database);
    if (sqlite->log_pages < sqlite->checkpoint_at)
        return DB_OK;
    enum database_class answer = class_of(sqlite3_wal_checkpoint_v2(
        sqlite->handle, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL));
    sqlite->checkpoint_at =
        answer == DB_BUSY ? sqlite->log_pages + LOG_PAGES_MAX : LOG_PAGES_MAX;
    return answer == DB_BUSY ? DB_OK : answer;
}

/* --- statements --- */

/* Statements about tables, and those that copy the file, are used once. */
static bool worth_keeping(const char *sql)
{
    static const char *const verbs[] = {"SELECT ", "INSERT ", "UPDATE ", "DELETE "};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (strncmp(sql, verbs[i], strlen(verbs[i])) == 0)
            return true;
    return false;
}

/* Returns the place that keeps the statement of this text, or else an emptied one: that
 * whose statement was opened longest ago. NULL if all are open, or if the statement
 * itself is open, because a walk over its rows uses it again. */
static struct prepared *take_place(struct sqlite *sqlite, const char *sql)
{
    struct prepared *oldest = NULL;
    for (size_t i = 0; i < KEPT_MAX; i++) {
        struct prepared *place = &sqlite->places[i];
        if (place->statement != NULL && strcmp(sqlite3_sql(place->statement), sql) == 0)
            return place->open ? NULL : place;
        if (!place->open && (oldest == NULL || place->turn < oldest->turn))
            oldest = place;
    }
    if (oldest != NULL) {
        sqlite3_finalize(oldest->statement);
        *oldest = (struct prepared){.kept = true};
    }
    return oldest;
}

static enum database_class prepare(struct database *database, struct prepared **out,
                                   const char *sql)
{
    struct sqlite *sqlite = own(database);
    struct prepared *prepared = worth_keeping(sql) ? take_place(sqlite, sql) : NULL;
    int code = SQLITE_OK;
    if (prepared == NULL)
        prepared = calloc(1, sizeof *prepared);
    CHECK(prepared != NULL);
    if (prepared->statement == NULL)
        code = sqlite3_prepare_v3(sqlite->handle, sql, -1,
                                  prepared->kept ? SQLITE_PREPARE_PERSISTENT : 0,
                                  &prepared->statement, NULL);
    prepared->open = true;
    prepared->failed = code != SQLITE_OK;
    prepared->turn = ++sqlite->turn;
    *out = prepared;
    CHECK(sqlite->scope != STORE_READ || prepared->statement == NULL ||
          sqlite3_stmt_readonly(prepared->statement) || sqlite->read_only);
    return class_of(code);
}

static enum database_class bind_text(struct prepared *prepared, int at,
                                     const char *text)
{
    return class_of(
        sqlite3_bind_text(prepared->statement, at + 1, text, -1, SQLITE_STATIC));
}

static enum database_class bind_number(struct prepared *prepared, int at,
                                       int64_t number)
{
    return class_of(sqlite3_bind_int64(prepared->statement, at + 1, number));
}

static enum database_class bind_blob(struct prepared *prepared, int at,
                                     const void *data, size_t size)
{
    return class_of(
        sqlite3_bind_blob64(prepared->statement, at + 1, data, size, SQLITE_STATIC));
}

static enum database_class next(struct prepared *prepared, bool *row)
{
    int code = sqlite3_step(prepared->statement);
    *row = code == SQLITE_ROW;
    if (*row || code == SQLITE_DONE)
        return DB_OK;
    prepared->failed = true;
    return class_of(sqlite3_extended_errcode(sqlite3_db_handle(prepared->statement)));
}

static uint64_t changed(struct prepared *prepared)
{
    return (uint64_t)sqlite3_changes(sqlite3_db_handle(prepared->statement));
}

static const char *text(struct prepared *prepared, int column)
{
    return (const char *)sqlite3_column_text(prepared->statement, column);
}

static int64_t number(struct prepared *prepared, int column)
{
    return sqlite3_column_int64(prepared->statement, column);
}

static const uint8_t *blob(struct prepared *prepared, int column)
{
    return sqlite3_column_blob(prepared->statement, column);
}

static size_t size_of(struct prepared *prepared, int column)
{
    return (size_t)sqlite3_column_bytes(prepared->statement, column);
}

static bool is_null(struct prepared *prepared, int column)
{
    return sqlite3_column_type(prepared->statement, column) == SQLITE_NULL;
}

/* Ends the statement; the bound values are borrowed until now. A statement that has
 * failed is prepared again. */
static void end(struct prepared *prepared)
{
    if (prepared == NULL)
        return;
    prepared->open = false;
    if (prepared->kept && !prepared->failed) {
        sqlite3_reset(prepared->statement);
        sqlite3_clear_bindings(prepared->statement);
        return;
    }
    sqlite3_finalize(prepared->statement);
    prepared->statement = NULL;
    if (!prepared->kept)
        free(prepared);
}

/* In a table without a number of its own the rowid is a column that its columns do not
 * name. */
#define COPIED "t.type='table' AND t.name NOT LIKE 'sqlite%' AND t.name<>'migration'"
static const char columns[] =
    "SELECT name,part,type,pk,0 FROM (SELECT t.rowid AS made,t.name,c.cid,c.name AS "
    "part,"
    "c.type,c.pk FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE " COPIED
    " UNION ALL SELECT t.rowid,t.name,-1,'rowid','INTEGER',0 FROM sqlite_schema t WHERE"
    " " COPIED " AND NOT EXISTS(SELECT 1 FROM pragma_table_info(t.name)"
    " WHERE pk=1 AND type='INTEGER')) ORDER BY made,cid";

static const char next_number[] =
    "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name=?),0)+1";

static const struct driver driver = {
    .dialect = {.columns = columns, .as_given = "", .next = next_number},
    .close = close_connection,
    .again = open_again,
    .reader = reader,
    .begin = begin,
    .commit = commit,
    .rollback = rollback,
    .tidy = tidy,
    .message = message,
    .prepare = prepare,
    .bind_text = bind_text,
    .bind_number = bind_number,
    .bind_blob = bind_blob,
    .next = next,
    .changed = changed,
    .text = text,
    .number = number,
    .blob = blob,
    .size = size_of,
    .is_null = is_null,
    .end = end,
};
