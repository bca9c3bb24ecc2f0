/* The replacement in a program that was built without libpq: every call reports
 * that. */
#include "store/postgres/postgres.h"

static enum status absent(struct error *error)
{
    return error_set(error, ST_INVALID,
                     "this program was built without PostgreSQL: install libpq-dev and "
                     "build it again, or give no --store");
}

enum status postgres_open(struct database **out, const struct store_server *server,
                          struct error *error)
{
    (void)out;
    (void)server;
    return absent(error);
}

enum status postgres_open_read(struct database **out, const struct store_server *server,
                               struct error *error)
{
    (void)out;
    (void)server;
    return absent(error);
}
