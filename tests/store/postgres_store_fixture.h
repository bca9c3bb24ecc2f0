/* postgres_store_fixture.h - stores on a real PostgreSQL server. Include after
 * expect.h. */
#ifndef TESTS_STORE_POSTGRES_STORE_FIXTURE_H
#define TESTS_STORE_POSTGRES_STORE_FIXTURE_H

#include "store/store.h"
#include "store/rows/dataset_rows.h"
#include "tests/store/postgres_fixture.h"

/* Creates the server. Prints a message and returns false if PostgreSQL is not installed
 * or this program was built without libpq. */
static inline bool postgres_make_for_stores(struct postgres_server *server,
                                            bool in_memory)
{
    struct store *store = NULL;
    struct error error = {0};
    *server = (struct postgres_server){0};
    store_open_server_read(&store, &(struct store_server){.url = "none"}, &error);
    if (strstr(error.text, "without PostgreSQL") == NULL)
        return postgres_make(server, in_memory);
    skip_part("%s", error.text);
    return false;
}

static inline struct store_server
postgres_place(const struct postgres_database *database)
{
    return (struct store_server){.url = database->url, .single_server = true};
}

static inline struct store *postgres_store_at(const struct store_server *place)
{
    struct store *store = NULL;
    struct error error = {0};
    if (store_open_server(&store, place, &error) != ST_OK)
        fail_msg("%s", error.text);
    return store;
}

static inline struct store *postgres_store(const struct postgres_database *database)
{
    const struct store_server place = postgres_place(database);
    return postgres_store_at(&place);
}

/* Opens a store in shared mode, so that other daemons may open it too. */
static inline struct store *
postgres_shared_store(const struct postgres_database *database)
{
    struct store_server place = postgres_place(database);
    place.shared = true;
    return postgres_store_at(&place);
}

/* Commits a row of a dataset. */
static inline enum status postgres_put(struct store *store, unsigned number)
{
    struct store_tx *tx;
    struct dataset_row row = {.version = 1,
                              .state = "s",
                              .spec = "{}",
                              .detail = "{}",
                              .project = "p",
                              .created_by = "o"};
    snprintf(row.id.text, sizeof row.id.text, "d%05u", number);
    enum status status = store_begin(store, STORE_ROW, &tx, NULL);
    if (status != ST_OK)
        return status;
    return store_end(tx, dataset_row_insert(tx, &row, NULL), NULL);
}

/* Returns the number of datasets, counted by a separate psql. */
static inline int postgres_count(const struct postgres_server *server,
                                 const struct postgres_database *database)
{
    char answer[64];
    postgres_ask(server, database, "SELECT count(*) FROM dataset", answer,
                 sizeof answer);
    return atoi(answer);
}

#endif
