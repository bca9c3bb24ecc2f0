/*
 * Checks whether a file has the tables. A file records how many schema steps it has
 * taken, in PRAGMA user_version, so opening it means to take the rest. The record is
 * not trusted: the steps that the file claims are run again in memory, and the two
 * schemas are compared, object by object and text by text, which also finds a flipped
 * bit in a trigger. Then the constraints in those texts are checked on the rows,
 * because SQLite does not check CHECK constraints on a connection that only reads.
 */
#include "store/sqlite/sqlite_tables.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "store/sql/statement.h"

enum {
    APPLICATION_ID = 0x6570736c, /* "epsl" */
    STATEMENT_SIZE = 160,
    PATH_SIZE = 4096 + 32,
};

/* *number = the value that the statement returns. */
static enum status ask(struct database *database, const char *sql, int *number,
                       struct error *error)
{
    struct statement statement;
    statement_open(&statement, database, sql);
    if (statement_next(&statement))
        *number = (int)statement_time(&statement, 0);
    return statement_end(&statement, error);
}

int sqlite_tables_known(const struct sqlite_tables *tables)
{
    return tables->steps[tables->count - 1].number;
}

enum status sqlite_tables_found(int *found, struct database *database,
                                const struct sqlite_tables *tables, struct error *error)
{
    int application = 0, version = 0, objects = 0;
    enum status status = ask(database, "PRAGMA application_id", &application, error);
    if (status == ST_OK)
        status = ask(database, "PRAGMA user_version", &version, error);
    if (status == ST_OK)
        status = ask(database, "SELECT count(*) FROM sqlite_schema", &objects, error);
    if (status != ST_OK)
        return status;
    bool empty = application == 0 && version == 0 && objects == 0;
    if (!empty && (application != APPLICATION_ID || version < 1))
        return error_set(error, ST_CORRUPT, "not a database of epsilond");
    if (version > sqlite_tables_known(tables))
        return error_set(error, ST_INVALID,
                         "the database has schema %d, this program knows up to %d",
                         version, sqlite_tables_known(tables));
    *found = version;
    return ST_OK;
}

/* Takes the steps after `after`, up to `last`. */
static enum database_class take_steps(struct database *database,
                                      const struct sqlite_tables *tables, int after,
                                      int last)
{
    enum database_class answer = DB_OK;
    for (size_t i = 0; answer == DB_OK && i < tables->count; i++)
        if (tables->steps[i].number > after && tables->steps[i].number <= last)
            answer = sqlite_run(database, tables->steps[i].sql);
    return answer;
}

/* --- checks --- */

/* Ends a statement of a check. If the SQL does not fit the tables, that is damage
 * too. */
static enum status end_check(struct statement *statement, struct error *error)
{
    bool misfits = statement->class == DB_MISFIT;
    if (misfits)
        error_set(error, ST_CORRUPT, "database: %s",
                  statement->database->driver->message(statement->database));
    enum status status = statement_end(statement, error);
    return misfits ? ST_CORRUPT : status;
}

/* Checks that the database has the object that the row of made describes. */
static enum status find_object(struct database *database, struct statement *made,
                               struct error *error)
{
    struct statement statement;
    const char *name = statement_text(made, 1);
    statement_open(&statement, database,
                   "SELECT 1 FROM sqlite_schema WHERE type=? AND name=?"
                   " AND tbl_name=? AND sql IS ?");
    statement_bind_text(&statement, statement_text(made, 0));
    statement_bind_text(&statement, name);
    statement_bind_text(&statement, statement_text(made, 2));
    /* The index of a constraint has no text. */
    statement_bind_text(&statement,
                        statement_is_null(made, 3) ? NULL : statement_text(made, 3));
    bool found = statement_next(&statement);
    enum status status = end_check(&statement, error);
    if (status == ST_OK && !found)
        return error_set(error, ST_CORRUPT,
                         "database: %s is not as this program made it", name);
    return status;
}

static enum status check_objects(struct database *database, struct database *made,
                                 struct error *error)
{
    struct statement objects;
    enum status status = ST_OK;
    statement_open(&objects, made, "SELECT type,name,tbl_name,sql FROM sqlite_schema");
    while (status == ST_OK && statement_next(&objects))
        status = find_object(database, &objects, error);
    if (statement_end(&objects, NULL) != ST_OK && status == ST_OK)
        return error_set(error, ST_IO, "no memory to compare the tables");
    return status;
}

/* The first column names the row. */
static enum status check_rows(struct database *database, const char *table,
                              const char *condition, int size, struct error *error)
{
    char sql[STATEMENT_SIZE];
    struct statement statement;
    int length =
        snprintf(sql, sizeof sql, "SELECT * FROM \"%s\" WHERE NOT(%.*s) LIMIT 1", table,
                 size, condition);
    CHECK(length > 0 && (size_t)length < sizeof sql);
    statement_open(&statement, database, sql);
    bool broken = statement_next(&statement);
    if (broken)
        error_set(error, ST_CORRUPT, "table %s, row %.64s: %.*s does not hold", table,
                  statement_text(&statement, 0), size, condition);
    enum status status = end_check(&statement, error);
    return broken ? ST_CORRUPT : status;
}

/* Returns the length of the text up to the parenthesis that ends it. */
static int condition_size(const char *text)
{
    const char *at = text;
    for (unsigned depth = 1; *at != '\0'; at++) {
        depth += *at == '(';
        depth -= *at == ')';
        if (depth == 0)
            break;
    }
    return (int)(at - text);
}

/* Checks every CHECK of the tables that were made. */
static enum status check_constraints(struct database *database, struct database *made,
                                     struct error *error)
{
    static const char begin[] = "CHECK(";
    struct statement tables;
    enum status status = ST_OK;
    /* Hashes cover the rows of the other two. */
    statement_open(&tables, made,
                   "SELECT name,sql FROM sqlite_schema WHERE type='table' AND sql IS "
                   "NOT NULL AND name NOT IN('ledger','audit')");
    while (status == ST_OK && statement_next(&tables)) {
        const char *at = statement_text(&tables, 1);
        while (status == ST_OK && (at = strstr(at, begin)) != NULL) {
            at += sizeof begin - 1;
            status = check_rows(database, statement_text(&tables, 0), at,
                                condition_size(at), error);
        }
    }
    enum status read = statement_end(&tables, status == ST_OK ? error : NULL);
    return status == ST_OK ? read : status;
}

/* Makes in memory the tables that the first found steps make. */
static enum status make_tables(struct database **made, int found,
                               const struct sqlite_tables *tables, struct error *error)
{
    enum status status = sqlite_open(made, ":memory:", NULL);
    if (status == ST_OK && take_steps(*made, tables, 0, found) == DB_OK)
        return ST_OK;
    database_close(*made, true);
    *made = NULL;
    return error_set(error, ST_IO, "no memory to make the tables");
}

static enum status compare(struct database *database, struct database *made,
                           struct error *error)
{
    enum status status = check_objects(database, made, error);
    return status == ST_OK ? check_constraints(database, made, error) : status;
}

/* The tables of all of this program's steps. The first check that needs them makes
 * them, which takes several times as long as the comparison with a small file, and they
 * stay for the life of the process. The lock is held while they are read. */
static struct {
    pthread_mutex_t lock;
    struct database *made;
} current = {.lock = PTHREAD_MUTEX_INITIALIZER};

static enum status compare_with_current(struct database *database, struct error *error)
{
    const struct sqlite_tables *tables = sqlite_steps_current();
    enum status status = ST_OK;
    pthread_mutex_lock(&current.lock);
    if (current.made == NULL)
        status = make_tables(&current.made, sqlite_tables_known(tables), tables, error);
    if (status == ST_OK)
        status = compare(database, current.made, error);
    pthread_mutex_unlock(&current.lock);
    return status;
}

enum status sqlite_tables_check(struct database *database, int found,
                                const struct sqlite_tables *tables, struct error *error)
{
    struct database *made = NULL;
    if (tables == sqlite_steps_current() && found == sqlite_tables_known(tables))
        return compare_with_current(database, error);
    enum status status = make_tables(&made, found, tables, error);
    if (status == ST_OK)
        status = compare(database, made, error);
    database_close(made, true);
    return status;
}

/* --- steps forward --- */

static enum status sync_file(const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return ST_IO;
    int failed = fsync(file);
    close(file);
    return failed == 0 ? ST_OK : ST_IO;
}

enum status sqlite_tables_copy(struct database *database, const char *path,
                               struct error *error)
{
    struct statement statement;
    statement_open(&statement, database, "VACUUM INTO ?");
    statement_bind_text(&statement, path);
    if (statement_run(&statement, NULL) != ST_OK || sync_file(path) != ST_OK)
        return error_set(error, ST_IO, "cannot copy the database to %s", path);
    return ST_OK;
}

/* Deletes an incomplete copy of an earlier attempt, which would be in the way. */
static enum status keep_copy(struct database *database, const char *path, int found,
                             struct error *error)
{
    char copy[PATH_SIZE];
    snprintf(copy, sizeof copy, "%s.step%d", path, found);
    unlink(copy);
    return sqlite_tables_copy(database, copy, error);
}

static enum database_class move_forward(struct database *database, int found,
                                        const struct sqlite_tables *tables)
{
    char header[STATEMENT_SIZE];
    int known = sqlite_tables_known(tables);
    enum database_class answer = sqlite_run(database, "BEGIN IMMEDIATE");
    if (answer == DB_OK)
        answer = take_steps(database, tables, found, known);
    snprintf(header, sizeof header, "PRAGMA application_id=%d;PRAGMA user_version=%d",
             APPLICATION_ID, known);
    if (answer == DB_OK)
        answer = sqlite_run(database, header);
    if (answer == DB_OK)
        answer = sqlite_run(database, "COMMIT");
    return answer;
}

enum status sqlite_tables_forward(struct database *database, const char *path,
                                  int found, const struct sqlite_tables *tables,
                                  struct error *error)
{
    if (found == sqlite_tables_known(tables))
        return ST_OK;
    if (found > 0) {
        enum status status = keep_copy(database, path, found, error);
        if (status != ST_OK)
            return status;
    }
    if (move_forward(database, found, tables) != DB_OK) {
        error_set(error, ST_IO, "schema %d: %s", sqlite_tables_known(tables),
                  database->driver->message(database));
        sqlite_run(database, "ROLLBACK");
        return ST_IO;
    }
    return ST_OK;
}
