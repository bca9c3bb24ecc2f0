#include "store/sqlite/sqlite_file.h"

#include "store/sqlite/page_check.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/sqlite_tables.h"

/* found = the steps that the database has taken. It is recognised as ours before the
 * settings are made, because one of them, the journal's mode, is written into the
 * file. */
static enum status inspect(struct database *database, int *found, struct error *error)
{
    const struct sqlite_tables *tables = sqlite_steps_current();
    enum status status = sqlite_tables_found(found, database, tables, error);
    if (status == ST_OK)
        status = sqlite_set_up(database, error);
    if (status == ST_OK)
        status = sqlite_tables_check(database, *found, tables, error);
    return status;
}

enum status sqlite_file_open(struct database **out, struct page_check **beside,
                             const char *path, struct error *error)
{
    int found = 0, known = sqlite_tables_known(sqlite_steps_current());
    struct database *database = NULL;
    enum status status = sqlite_open(&database, path, error);
    if (status == ST_OK)
        status = inspect(database, &found, error);
    /* A step forward writes, so the pages are checked before it. */
    bool may_wait = beside != NULL && found == known;
    if (status == ST_OK && may_wait)
        *beside = page_check_create(path);
    else if (status == ST_OK)
        status = page_check_run(database, error);
    if (status == ST_OK)
        status =
            sqlite_tables_forward(database, path, found, sqlite_steps_current(), error);
    if (status == ST_OK)
        *out = database;
    else
        database_close(database, true);
    return status;
}

enum status sqlite_file_open_read(struct database **out, const char *path,
                                  struct error *error)
{
    int found = 0, known = sqlite_tables_known(sqlite_steps_current());
    struct database *database = NULL;
    enum status status = sqlite_open_read(&database, path, error);
    if (status == ST_OK)
        status = inspect(database, &found, error);
    if (status == ST_OK)
        status = page_check_run(database, error);
    if (status == ST_OK && found != known)
        status = error_set(error, ST_INVALID, "the database has schema %d, not %d",
                           found, known);
    if (status == ST_OK)
        *out = database;
    else
        database_close(database, false);
    return status;
}

enum status sqlite_file_copy(const char *from, const char *to, struct error *error)
{
    struct database *database = NULL;
    enum status status = sqlite_open_read(&database, from, error);
    if (status == ST_OK)
        status = sqlite_tables_copy(database, to, error);
    database_close(database, false);
    return status;
}
