#include "store/sql/database.h"

#include <stdio.h>

void database_close(struct database *database, bool clean)
{
    if (database != NULL)
        database->driver->close(database, clean);
}

bool database_poisoned(const struct database *database)
{
    const struct database *first = database->first != NULL ? database->first : database;
    return atomic_load(&first->poisoned);
}

void database_fail(struct database *database)
{
    struct database *first = database->first != NULL ? database->first : database;
    if (!atomic_flag_test_and_set(&first->explaining)) {
        snprintf(first->why, sizeof first->why, "%s",
                 database->driver->message(database));
        atomic_store(&first->explained, true);
    }
    database_poison(database);
}

void database_poison(struct database *database)
{
    struct database *first = database->first != NULL ? database->first : database;
    atomic_store(&first->poisoned, true);
}
