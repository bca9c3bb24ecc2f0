/*
 * Transactions, one at a time. The lock is taken by store_begin and given back by the
 * end of the transaction, so whoever holds a struct store_tx is alone with the
 * connection. An end does three things in this order: it makes the rows durable or
 * takes them back; it tells the hooks, with the lock still held, so that memory follows
 * the disk before anybody else can look; and it puts the log into the file where that
 * has grown long.
 */
#include "store/store.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "store/database.h"
#include "store/statement.h"
#include "store/tables.h"

enum {
    HOOKS_AT_FIRST = 8,
    /* 4 MiB in pages of 4,096 bytes, which keeps log and recovery short. */
    LOG_PAGES_MAX = 1024,
};

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
    int checkpoint_at; /* pages of the log at which to try next */
    bool tx_open;
    struct store_tx tx;
};

/* --- opening --- */

static enum status check_integrity(struct database *database, struct error *error)
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

/* found = the steps that the database has taken. It is found to be ours before the
 * settings are made, for one of them, the journal's mode, is written into the file. */
static enum status inspect(struct database *database, int *found, struct error *error)
{
    enum status status = tables_found(found, database, tables_current(), error);
    if (status == ST_OK)
        status = database_set_up(database, error);
    if (status == ST_OK)
        status = tables_check(database, *found, tables_current(), error);
    if (status == ST_OK)
        status = check_integrity(database, error);
    return status;
}

static struct store *store_create(struct database *database_take)
{
    struct store *store = calloc(1, sizeof *store);
    CHECK(store != NULL);
    CHECK(pthread_mutex_init(&store->lock, NULL) == 0);
    store->database = database_take;
    store->checkpoint_at = LOG_PAGES_MAX;
    return store;
}

enum status store_open(struct store **out, const char *path, struct error *error)
{
    int found = 0;
    struct database *database = NULL;
    enum status status = database_open(&database, path, error);
    if (status == ST_OK)
        status = inspect(database, &found, error);
    if (status == ST_OK)
        status = tables_forward(database, path, found, tables_current(), error);
    if (status != ST_OK) {
        database_close(database, true);
        return status;
    }
    *out = store_create(database);
    return ST_OK;
}

enum status store_open_read(struct store **out, const char *path, struct error *error)
{
    int found = 0;
    struct database *database = NULL;
    enum status status = database_open_read(&database, path, error);
    if (status == ST_OK)
        status = inspect(database, &found, error);
    if (status == ST_OK && found != tables_current()->count)
        status = error_set(error, ST_INVALID, "the database has schema %d, not %d",
                           found, tables_current()->count);
    if (status != ST_OK) {
        database_close(database, false);
        return status;
    }
    *out = store_create(database);
    return ST_OK;
}

enum status store_copy(const char *from, const char *to, struct error *error)
{
    struct database *database = NULL;
    enum status status = database_open_read(&database, from, error);
    if (status == ST_OK)
        status = tables_copy(database, to, error);
    database_close(database, false);
    return status;
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

enum status store_begin(struct store *store, struct store_tx **tx, struct error *error)
{
    pthread_mutex_lock(&store->lock);
    if (store_poisoned(store)) {
        pthread_mutex_unlock(&store->lock);
        return error_set(error, ST_IO, "the database failed earlier");
    }
    if (database_begin(store->database) != DB_OK) {
        error_set(error, ST_IO, "database: %s", database_message(store->database));
        store_poison(store);
        pthread_mutex_unlock(&store->lock);
        return ST_IO;
    }
    store->tx_open = true;
    store->tx = (struct store_tx){.store = store};
    *tx = &store->tx;
    return ST_OK;
}

/* Puts the log into the file. A reader in the way only postpones it. */
static void checkpoint(struct store *store)
{
    enum database_class answer = database_checkpoint(store->database);
    if (answer == DB_OK)
        store->checkpoint_at = LOG_PAGES_MAX;
    else if (answer == DB_BUSY)
        store->checkpoint_at = database_log_pages(store->database) + LOG_PAGES_MAX;
    else
        store_poison(store);
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
    if (durable && database_log_pages(store->database) >= store->checkpoint_at)
        checkpoint(store);
    store->tx_open = false;
    pthread_mutex_unlock(&store->lock);
}

/* After a failure the log may or may not hold the transaction; a restart decides. */
enum status store_commit(struct store_tx *tx, struct error *error)
{
    struct store *store = tx->store;
    bool durable = false;
    if (store_poisoned(store)) {
        error_set(error, ST_IO, "the database failed earlier");
    } else if (database_run(store->database, "COMMIT") == DB_OK) {
        durable = true;
    } else {
        error_set(error, ST_IO, "database: %s", database_message(store->database));
        store_poison(store);
    }
    if (!durable)
        database_run(store->database, "ROLLBACK");
    finish(tx, durable);
    return durable ? ST_OK : ST_IO;
}

void store_rollback(struct store_tx *tx)
{
    struct store *store = tx->store;
    if (database_run(store->database, "ROLLBACK") != DB_OK &&
        database_in_transaction(store->database))
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
