#include "store/sqlite/page_check.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "store/sql/statement.h"
#include "store/sqlite/sqlite.h"

struct page_check {
    char *path;
    enum status status;
    struct error error;
    bool beside;
    pthread_t thread;
};

enum status page_check_run(struct database *database, struct error *error)
{
    struct statement statement;
    statement_open(&statement, database, "PRAGMA integrity_check(1)");
    bool answered = statement_next(&statement);
    bool whole = answered && strcmp(statement_text(&statement, 0), "ok") == 0;
    if (answered && !whole)
        error_set(error, ST_CORRUPT, "database: %s", statement_text(&statement, 0));
    enum status status = statement_end(&statement, error);
    return status == ST_OK && !whole ? ST_CORRUPT : status;
}

static void *run(void *context)
{
    struct page_check *check = context;
    struct database *database = NULL;
    check->status = sqlite_open_read(&database, check->path, &check->error);
    if (check->status == ST_OK)
        check->status = page_check_run(database, &check->error);
    database_close(database, false);
    return NULL;
}

struct page_check *page_check_create(const char *path)
{
    struct page_check *check = calloc(1, sizeof *check);
    CHECK(check != NULL);
    check->path = strdup(path);
    CHECK(check->path != NULL);
    check->beside = pthread_create(&check->thread, NULL, run, check) == 0;
    if (!check->beside)
        run(check);
    return check;
}

enum status page_check_end(struct page_check *check, struct error *error)
{
    if (check == NULL)
        return ST_OK;
    if (check->beside)
        pthread_join(check->thread, NULL);
    enum status status = check->status;
    if (status != ST_OK)
        error_set(error, status, "%s", check->error.text);
    free(check->path);
    free(check);
    return status;
}
