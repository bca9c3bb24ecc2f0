#include "store/tables.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>
#include <sqlite3.h>

enum {
    APPLICATION_ID = 0x6570736c, /* "epsl" */
    STATEMENT_SIZE = 128,
    PATH_SIZE = 4096 + 32,
};

/* Invariants that SQL itself keeps: entries and marks are append-only, seq is dense, prev
 * is the head's hash, a mark only grows. They hold against this program's own errors; a
 * person who has the file is held by the exported head. recursive_triggers must be on:
 * without it INSERT OR REPLACE deletes past the triggers. */
static const char step_1[] =
    "CREATE TABLE dataset("
    "  id TEXT PRIMARY KEY, version INTEGER NOT NULL, state TEXT NOT NULL,"
    "  spec TEXT NOT NULL, detail TEXT NOT NULL,"
    "  sha256 BLOB CHECK(length(sha256)=32), create_ms INTEGER NOT NULL) STRICT;"
    "CREATE TRIGGER dataset_keep BEFORE DELETE ON dataset"
    "  BEGIN SELECT RAISE(ABORT,'a name is never free again'); END;"
    "CREATE TABLE job("
    "  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, version INTEGER NOT NULL,"
    "  state TEXT NOT NULL, attempt INTEGER NOT NULL, spec TEXT NOT NULL,"
    "  detail TEXT NOT NULL, create_ms INTEGER NOT NULL, update_ms INTEGER NOT NULL)"
    "  STRICT;"
    "CREATE TABLE model("
    "  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
    "  job TEXT NOT NULL UNIQUE REFERENCES job(id),"
    "  sha256 BLOB NOT NULL CHECK(length(sha256)=32), size INTEGER NOT NULL,"
    "  card TEXT NOT NULL, create_ms INTEGER NOT NULL) STRICT;"
    "CREATE TABLE replay("
    "  route TEXT NOT NULL, key TEXT NOT NULL,"
    "  fingerprint BLOB NOT NULL CHECK(length(fingerprint)=32), location TEXT NOT NULL,"
    "  body TEXT NOT NULL, time_ms INTEGER NOT NULL, PRIMARY KEY(route,key)) STRICT;"
    "CREATE TABLE ledger("
    "  seq INTEGER PRIMARY KEY CHECK(seq>0),"
    "  dataset TEXT NOT NULL REFERENCES dataset(id),"
    "  epoch INTEGER NOT NULL CHECK(epoch>0), job TEXT NOT NULL,"
    "  kind TEXT NOT NULL CHECK(kind IN('GRANT','RESERVE','COMMIT')),"
    "  curve BLOB NOT NULL CHECK(length(curve)>0 AND length(curve)%8=0),"
    "  released BLOB CHECK(length(released)=length(curve)), meta TEXT NOT NULL,"
    "  actor TEXT NOT NULL, time_ms INTEGER NOT NULL,"
    "  prev BLOB NOT NULL CHECK(length(prev)=32),"
    "  hash BLOB NOT NULL UNIQUE CHECK(length(hash)=32),"
    "  CHECK((kind='COMMIT')=(released IS NOT NULL)),"
    "  CHECK((kind='GRANT')=(job='')),"
    "  UNIQUE(dataset,epoch,job,kind)) STRICT;"
    "CREATE TRIGGER ledger_no_update BEFORE UPDATE ON ledger"
    "  BEGIN SELECT RAISE(ABORT,'append-only'); END;"
    "CREATE TRIGGER ledger_no_delete BEFORE DELETE ON ledger"
    "  BEGIN SELECT RAISE(ABORT,'append-only'); END;"
    "CREATE TRIGGER ledger_dense BEFORE INSERT ON ledger"
    "  WHEN NEW.seq<>(SELECT coalesce(max(seq),0)+1 FROM ledger)"
    "  OR NEW.prev<>coalesce((SELECT hash FROM ledger ORDER BY seq DESC LIMIT 1),"
    "                        zeroblob(32))"
    "  BEGIN SELECT RAISE(ABORT,'does not continue the chain'); END;"
    "CREATE TABLE mark("
    "  job TEXT PRIMARY KEY, authorised INTEGER NOT NULL CHECK(authorised>0)) STRICT;"
    "CREATE TRIGGER mark_grows BEFORE UPDATE ON mark"
    "  WHEN NEW.authorised<=OLD.authorised OR NEW.job<>OLD.job"
    "  BEGIN SELECT RAISE(ABORT,'must grow'); END;"
    "CREATE TRIGGER mark_keep BEFORE DELETE ON mark"
    "  BEGIN SELECT RAISE(ABORT,'append-only'); END;"
    "CREATE TABLE freeze("
    "  dataset TEXT NOT NULL REFERENCES dataset(id), epoch INTEGER NOT NULL,"
    "  seq INTEGER NOT NULL, hash BLOB NOT NULL CHECK(length(hash)=32),"
    "  time_ms INTEGER NOT NULL, PRIMARY KEY(dataset,epoch)) STRICT;"
    "CREATE TRIGGER freeze_no_update BEFORE UPDATE ON freeze"
    "  BEGIN SELECT RAISE(ABORT,'append-only'); END;"
    "CREATE TRIGGER freeze_no_delete BEFORE DELETE ON freeze"
    "  BEGIN SELECT RAISE(ABORT,'append-only'); END;";

static const char *const steps[] = {step_1};

const struct tables *tables_current(void)
{
    static const struct tables current = {steps, sizeof steps / sizeof *steps};
    return &current;
}

static int number_of(struct sqlite3 *db, const char *sql, int *number)
{
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    if (rc == SQLITE_OK && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
        *number = sqlite3_column_int(statement, 0);
        rc = SQLITE_OK;
    }
    sqlite3_finalize(statement);
    return rc;
}

enum status tables_found(int *found, struct sqlite3 *db, const struct tables *schema,
                         struct error *error)
{
    int application = 0, version = 0, tables = 0;
    int rc = number_of(db, "PRAGMA application_id", &application);
    if (rc == SQLITE_OK)
        rc = number_of(db, "PRAGMA user_version", &version);
    if (rc == SQLITE_OK)
        rc = number_of(db, "SELECT count(*) FROM sqlite_schema", &tables);
    if (rc == SQLITE_NOTADB || rc == SQLITE_CORRUPT)
        return error_set(error, ST_CORRUPT, "database: %s", sqlite3_errmsg(db));
    if (rc != SQLITE_OK)
        return error_set(error, ST_IO, "database: %s", sqlite3_errmsg(db));
    bool empty = application == 0 && version == 0 && tables == 0;
    if (!empty && (application != APPLICATION_ID || version < 1))
        return error_set(error, ST_CORRUPT, "not a database of epsilond");
    if (version > schema->count)
        return error_set(error, ST_INVALID,
                         "the database has schema %d, this program knows up to %d",
                         version, schema->count);
    *found = version;
    return ST_OK;
}

/* A statement's failure: damage, or the system's. */
static enum status failed(struct sqlite3 *db, struct error *error)
{
    int code = sqlite3_errcode(db);
    bool damaged =
        code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_ERROR;
    return error_set(error, damaged ? ST_CORRUPT : ST_IO, "database: %s",
                     sqlite3_errmsg(db));
}

/* Whether db has the object that made stands on. */
static enum status find_object(struct sqlite3 *db, sqlite3_stmt *made,
                               struct error *error)
{
    sqlite3_stmt *statement = NULL;
    const char *name = (const char *)sqlite3_column_text(made, 1);
    int rc = sqlite3_prepare_v2(db,
                                "SELECT 1 FROM sqlite_schema WHERE type=?1 AND name=?2"
                                " AND tbl_name=?3 AND sql IS ?4",
                                -1, &statement, NULL);
    for (int i = 0; rc == SQLITE_OK && i < 4; i++)
        rc = sqlite3_bind_value(statement, i + 1, sqlite3_column_value(made, i));
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    enum status status = ST_OK;
    if (rc == SQLITE_DONE)
        status = error_set(error, ST_CORRUPT,
                           "database: %s is not as this program made it", name);
    else if (rc != SQLITE_ROW)
        status = failed(db, error);
    sqlite3_finalize(statement);
    return status;
}

static enum status check_objects(struct sqlite3 *db, struct sqlite3 *made,
                                 struct error *error)
{
    sqlite3_stmt *objects = NULL;
    enum status status = ST_OK;
    int rc = sqlite3_prepare_v2(
        made, "SELECT type,name,tbl_name,sql FROM sqlite_schema", -1, &objects, NULL);
    while (rc == SQLITE_OK && status == ST_OK &&
           (rc = sqlite3_step(objects)) == SQLITE_ROW) {
        status = find_object(db, objects, error);
        rc = SQLITE_OK;
    }
    sqlite3_finalize(objects);
    if (status == ST_OK && rc != SQLITE_DONE)
        return error_set(error, ST_IO, "no memory to compare the tables");
    return status;
}

/* What the tables declare of rows that are in no chain. */
static const struct constraint {
    const char *table, *id, *holds;
} constraints[] = {
    {"dataset", "id", "length(sha256)=32"},      {"model", "id", "length(sha256)=32"},
    {"replay", "key", "length(fingerprint)=32"}, {"mark", "job", "authorised>0"},
    {"freeze", "dataset", "length(hash)=32"},
};

static enum status check_rows(struct sqlite3 *db, const struct constraint *constraint,
                              struct error *error)
{
    char sql[STATEMENT_SIZE];
    sqlite3_stmt *statement = NULL;
    enum status status = ST_OK;
    snprintf(sql, sizeof sql, "SELECT %s FROM %s WHERE NOT(%s) LIMIT 1", constraint->id,
             constraint->table, constraint->holds);
    int rc = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW)
        status = error_set(error, ST_CORRUPT, "table %s, row %.64s: %s does not hold",
                           constraint->table,
                           (const char *)sqlite3_column_text(statement, 0),
                           constraint->holds);
    else if (rc != SQLITE_DONE)
        status = failed(db, error);
    sqlite3_finalize(statement);
    return status;
}

enum status tables_check(struct sqlite3 *db, int found, const struct tables *schema,
                         struct error *error)
{
    sqlite3 *made = NULL;
    int rc = sqlite3_open(":memory:", &made);
    for (int i = 0; rc == SQLITE_OK && i < found; i++)
        rc = sqlite3_exec(made, schema->steps[i], NULL, NULL, NULL);
    enum status status = rc == SQLITE_OK
                             ? check_objects(db, made, error)
                             : error_set(error, ST_IO, "no memory to make the tables");
    sqlite3_close(made);
    for (size_t i = 0;
         status == ST_OK && found > 0 && i < sizeof constraints / sizeof *constraints;
         i++)
        status = check_rows(db, &constraints[i], error);
    return status;
}

static enum status sync_file(const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return ST_IO;
    int failed = fsync(file);
    close(file);
    return failed == 0 ? ST_OK : ST_IO;
}

/* A half-written copy of an earlier attempt is in the way of VACUUM INTO,
 * hence unlink. */
static enum status keep_copy(struct sqlite3 *db, const char *path, int found,
                             struct error *error)
{
    char copy[PATH_SIZE];
    snprintf(copy, sizeof copy, "%s.step%d", path, found);
    unlink(copy);
    char *sql = sqlite3_mprintf("VACUUM INTO %Q", copy);
    int rc = sql != NULL ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    if (rc != SQLITE_OK || sync_file(copy) != ST_OK)
        return error_set(error, ST_IO, "cannot copy the database to %s", copy);
    return ST_OK;
}

static int take_steps(struct sqlite3 *db, int found, const struct tables *schema)
{
    char header[STATEMENT_SIZE];
    int rc = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    for (int i = found; rc == SQLITE_OK && i < schema->count; i++)
        rc = sqlite3_exec(db, schema->steps[i], NULL, NULL, NULL);
    snprintf(header, sizeof header, "PRAGMA application_id=%d;PRAGMA user_version=%d",
             APPLICATION_ID, schema->count);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db, header, NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    return rc;
}

enum status tables_forward(struct sqlite3 *db, const char *path, int found,
                           const struct tables *schema, struct error *error)
{
    if (found == schema->count)
        return ST_OK;
    if (found > 0) {
        enum status status = keep_copy(db, path, found, error);
        if (status != ST_OK)
            return status;
    }
    if (take_steps(db, found, schema) != SQLITE_OK) {
        error_set(error, ST_IO, "schema %d: %s", schema->count, sqlite3_errmsg(db));
        sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
        return ST_IO;
    }
    return ST_OK;
}
