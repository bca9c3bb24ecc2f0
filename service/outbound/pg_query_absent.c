/* The replacement in a program that was built without libpq. Callers ask
 * pg_query_is_built first. */
#include "base/check.h"
#include "service/outbound/pg_query.h"

bool pg_query_is_built(void)
{
    return false;
}

enum pg_end pg_query_run(const struct pg_query *query)
{
    (void)query;
    CHECK(pg_query_is_built());
    return PG_UNREACHABLE;
}
