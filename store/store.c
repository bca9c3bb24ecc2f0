/*
 * Transactions, one at a time. The lock is taken by store_begin and given back by the
 * end of the transaction, so whoever holds a struct store_tx is alone with the
 * connection. An end does three things in this order: it makes the rows durable or
 * takes them back; it tells the hooks, with the lock still held, so that memory follows
 * the disk before anybody else can look; and it lets the driver tidy up.
 */
#include "store/store.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/check.h"
#include "store/database.h"
#include "store/postgres.h"
#include "store/sqlite_file.h"

enum { HOOKS_AT_FIRST = 8 };

struct hook {
    void (*done)(void *);
    void (*undone)(void *);
    void *context;
};

struct store_tx {
    struct store *store;
    size_t hook_count, hook_capacity;
    struct hook *hooks; /* (hook_capacity) */
};

struct store {
    pthread_mutex_t lock; /* held by the open transaction; guards the rest */
    struct database *database;
    bool tx_open;
    struct store_tx tx;
};

/* --- opening --- */

static enum status take_database(struct store **out, struct database *database_take)
{
    struct store *store = calloc(1, sizeof *store);
    CHECK(store != NULL);
    CHECK(pthread_mutex_init(&store->lock, NULL) == 0);
    store->database = database_take;
    *out = store;
    return ST_OK;
}

enum status store_open(struct store **out, const char *path, struct error *error)
{
    struct database *database = NULL;
    enum status status = sqlite_file_open(&database, path, error);
    return status == ST_OK ? take_database(out, database) : status;
}

enum status store_open_read(struct store **out, const char *path, struct error *error)
{
    struct database *database = NULL;
    enum status status = sqlite_file_open_read(&database, path, error);
    return status == ST_OK ? take_database(out, database) : status;
}

enum status store_open_server(struct store **out, const struct store_server *server,
                              struct error *error)
{
    struct database *database = NULL;
    enum status status = postgres_open(&database, server, error);
    return status == ST_OK ? take_database(out, database) : status;
}

enum status store_open_server_read(struct store **out,
                                   const struct store_server *server,
                                   struct error *error)
{
    struct database *database = NULL;
    enum status status = postgres_open_read(&database, server, error);
    return status == ST_OK ? take_database(out, database) : status;
}

const char *store_identity(const struct store *store)
{
    return store->database->identity;
}

enum status store_copy(const char *from, const char *to, struct error *error)
{
    return sqlite_file_copy(from, to, error);
}

void store_close(struct store *store)
{
    if (store == NULL)
        return;
    CHECK(!store->tx_open);
    database_close(store->database, !store_poisoned(store));
    pthread_mutex_destroy(&store->lock);
    free(store);
}

/* --- transactions --- */

static const char *message(const struct store *store)
{
    return store->database->driver->message(store->database);
}

enum status store_begin(struct store *store, enum store_scope scope,
                        struct store_tx **tx, struct error *error)
{
    struct database *database = store->database;
    pthread_mutex_lock(&store->lock);
    if (store_poisoned(store)) {
        pthread_mutex_unlock(&store->lock);
        return error_set(error, ST_IO, "the database failed earlier");
    }
    if (database->driver->begin(database, scope) != DB_OK) {
        error_set(error, ST_IO, "database: %s", message(store));
        store_poison(store);
        pthread_mutex_unlock(&store->lock);
        return ST_IO;
    }
    database->refused = DB_OK;
    store->tx_open = true;
    store->tx = (struct store_tx){.store = store};
    *tx = &store->tx;
    return ST_OK;
}

static void finish(struct store_tx *tx, bool durable)
{
    struct store *store = tx->store;
    for (size_t i = 0; i < tx->hook_count; i++) {
        void (*call)(void *) = durable ? tx->hooks[i].done : tx->hooks[i].undone;
        if (call != NULL)
            call(tx->hooks[i].context);
    }
    free(tx->hooks);
    if (durable && store->database->driver->tidy(store->database) != DB_OK)
        store_poison(store);
    store->tx_open = false;
    pthread_mutex_unlock(&store->lock);
}

/* After a failure the database may or may not hold the transaction; a restart decides. */
enum status store_commit(struct store_tx *tx, struct error *error)
{
    struct store *store = tx->store;
    struct database *database = store->database;
    bool durable = false;
    CHECK(database->refused == DB_OK || store_poisoned(store));
    if (store_poisoned(store)) {
        error_set(error, ST_IO, "the database failed earlier");
    } else if (database->driver->commit(database) == DB_OK) {
        durable = true;
    } else {
        error_set(error, ST_IO, "database: %s", message(store));
        store_poison(store);
    }
    if (!durable)
        database->driver->rollback(database);
    finish(tx, durable);
    return durable ? ST_OK : ST_IO;
}

void store_rollback(struct store_tx *tx)
{
    struct store *store = tx->store;
    if (store->database->driver->rollback(store->database) != DB_OK)
        store_poison(store);
    finish(tx, false);
}

enum status store_end(struct store_tx *tx, enum status status, struct error *error)
{
    if (status == ST_OK)
        return store_commit(tx, error);
    store_rollback(tx);
    return status;
}

void store_tx_on_end(struct store_tx *tx, void (*done)(void *), void (*undone)(void *),
                     void *context)
{
    if (tx->hook_count == tx->hook_capacity) {
        tx->hook_capacity =
            tx->hook_capacity == 0 ? HOOKS_AT_FIRST : 2 * tx->hook_capacity;
        tx->hooks = reallocarray(tx->hooks, tx->hook_capacity, sizeof *tx->hooks);
        CHECK(tx->hooks != NULL);
    }
    tx->hooks[tx->hook_count++] = (struct hook){done, undone, context};
}

bool store_poisoned(const struct store *store)
{
    return database_poisoned(store->database);
}

void store_poison(struct store *store)
{
    database_poison(store->database);
}

struct database *store_tx_database(struct store_tx *tx)
{
    return tx->store->database;
}
