#include "store/database.h"

void database_close(struct database *database, bool clean)
{
    if (database != NULL)
        database->driver->close(database, clean);
}

bool database_poisoned(const struct database *database)
{
    return atomic_load(&database->poisoned);
}

void database_poison(struct database *database)
{
    atomic_store(&database->poisoned, true);
}
