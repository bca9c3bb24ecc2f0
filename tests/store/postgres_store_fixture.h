/* postgres_store_fixture.h - stores on a real server of PostgreSQL. After expect.h. */
#ifndef TESTS_STORE_POSTGRES_STORE_FIXTURE_H
#define TESTS_STORE_POSTGRES_STORE_FIXTURE_H

#include "store/store.h"
#include "tests/store/postgres_fixture.h"

/* Makes the server. False, aloud, where this machine has none or this program was built
 * without libpq. */
static inline bool postgres_make_for_stores(struct postgres_server *server,
                                            bool in_memory)
{
    struct store *store = NULL;
    struct error error = {0};
    *server = (struct postgres_server){0};
    store_open_server_read(&store, &(struct store_server){.url = "none"}, &error);
    if (strstr(error.text, "without PostgreSQL") == NULL)
        return postgres_make(server, in_memory);
    printf("SKIPPED: %s\n", error.text);
    return false;
}

static inline struct store_server
postgres_place(const struct postgres_database *database)
{
    return (struct store_server){.url = database->url, .single_server = true};
}

static inline struct store *postgres_store(const struct postgres_database *database)
{
    struct store *store = NULL;
    struct error error = {0};
    const struct store_server place = postgres_place(database);
    if (store_open_server(&store, &place, &error) != ST_OK)
        fail_msg("%s", error.text);
    return store;
}

#endif
