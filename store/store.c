/*
 * Transactions. Each takes a connection and gives it back at its end, so the thread
 * that holds a struct store_tx is the only one that uses the connection. Most take the
 * first connection, under its lock; those of marks take one of the further connections,
 * if the database has them, and those of sealed entries have a connection for
 * themselves. The end of a transaction does three things in this order: it makes the
 * rows durable or undoes them; it calls the hooks, with the connection still taken, so
 * that memory follows the disk before another thread can read either; and it lets the
 * driver tidy up.
 */
#include "store/store.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/check.h"
#include "store/change_feed.h"
#include "store/postgres/postgres.h"
#include "store/sql/database.h"
#include "store/sqlite/page_check.h"
#include "store/sqlite/sqlite_file.h"

enum { HOOKS_AT_FIRST = 8 };

struct hook {
    void (*done)(void *);
    void (*undone)(void *);
    void *context;
};

struct store_tx {
    struct store *store;
    struct database *database; /* the connection that it is open on */
    size_t hook_count, hook_capacity;
    struct hook *hooks; /* (hook_capacity) */
};

struct store {
    pthread_mutex_t lock;           /* held by what is open on the first connection */
    struct database *database;      /* the first connection */
    struct store_tx tx;             /* its transaction */
    bool tx_open;                   /* guarded by lock */
    struct change_feed_hook follow; /* what renews memory; guarded by lock */
    struct page_check *check;       /* of the file's pages, not yet awaited; or NULL */
    struct {                        /* the connections in addition to the first */
        pthread_mutex_t lock;       /* guards the rest */
        pthread_cond_t freed;       /* a connection was given back */
        unsigned made;              /* number of connections */
        size_t free_count;          /* how many of them are free: */
        struct store_tx *free[DATABASE_BESIDE_MAX];
        struct store_tx all[DATABASE_BESIDE_MAX]; /* in the order of making */
    } beside;
    struct {                  /* the connection for sealed entries */
        pthread_mutex_t lock; /* held by what is open on it; guards the rest */
        bool asked;           /* whether the driver was asked for it */
        struct store_tx tx;   /* its database is NULL if there is none */
    } reader;
};

/* --- opening --- */

static enum status take_database(struct store **out, struct database *database_take)
{
    struct store *store = calloc(1, sizeof *store);
    CHECK(store != NULL);
    CHECK(pthread_mutex_init(&store->lock, NULL) == 0);
    CHECK(pthread_mutex_init(&store->beside.lock, NULL) == 0);
    CHECK(pthread_cond_init(&store->beside.freed, NULL) == 0);
    CHECK(pthread_mutex_init(&store->reader.lock, NULL) == 0);
    store->database = database_take;
    *out = store;
    return ST_OK;
}

enum status store_open(struct store **out, const char *path, struct error *error)
{
    struct database *database = NULL;
    enum status status = sqlite_file_open(&database, NULL, path, error);
    return status == ST_OK ? take_database(out, database) : status;
}

enum status store_open_beside(struct store **out, const char *path, struct error *error)
{
    struct database *database = NULL;
    struct page_check *check = NULL;
    enum status status = sqlite_file_open(&database, &check, path, error);
    if (status != ST_OK) {
        page_check_end(check, NULL);
        return status;
    }
    take_database(out, database);
    (*out)->check = check;
    return ST_OK;
}

enum status store_await_check(struct store *store, struct error *error)
{
    struct page_check *check = store->check;
    if (check == NULL)
        return ST_OK;
    store->check = NULL;
    enum status status = page_check_end(check, error);
    if (status != ST_OK)
        store_poison(store);
    return status;
}

enum status store_open_again(struct store **out, const struct store *store,
                             struct error *error)
{
    const struct database *first = store->database;
    struct database *database = NULL;
    enum status status = ST_OK;
    *out = NULL;
    if (first->driver->again != NULL)
        status = first->driver->again(&database, first, error);
    return status == ST_OK && database != NULL ? take_database(out, database) : status;
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

bool store_shared(const struct store *store)
{
    return store->database->shared;
}

uint64_t store_daemon(const struct store *store)
{
    return store->database->daemon;
}

uint64_t store_acknowledged(const struct store *store)
{
    const struct database *database = store->database;
    return database->driver->acknowledged != NULL
               ? database->driver->acknowledged(database)
               : 0;
}

enum status store_copy(const char *from, const char *to, struct error *error)
{
    return sqlite_file_copy(from, to, error);
}

void store_close(struct store *store)
{
    if (store == NULL)
        return;
    bool clean = !store_poisoned(store);
    page_check_end(store->check, NULL);
    CHECK(!store->tx_open && store->beside.free_count == store->beside.made);
    for (unsigned i = 0; i < store->beside.made; i++)
        database_close(store->beside.all[i].database, clean);
    database_close(store->reader.tx.database, clean);
    database_close(store->database, clean);
    pthread_mutex_destroy(&store->reader.lock);
    pthread_cond_destroy(&store->beside.freed);
    pthread_mutex_destroy(&store->beside.lock);
    pthread_mutex_destroy(&store->lock);
    free(store);
}

/* --- connections --- */

static struct store_tx *take_first(struct store *store)
{
    pthread_mutex_lock(&store->lock);
    store->tx_open = true;
    store->tx.database = store->database;
    return &store->tx;
}

/* Returns a connection that is free, or a new one while there may be more, or else
 * waits for the next one to be free. */
static struct store_tx *take_beside(struct store *store)
{
    struct store_tx *tx;
    pthread_mutex_lock(&store->beside.lock);
    while (store->beside.free_count == 0 && store->beside.made == DATABASE_BESIDE_MAX)
        pthread_cond_wait(&store->beside.freed, &store->beside.lock);
    if (store->beside.free_count > 0) {
        tx = store->beside.free[--store->beside.free_count];
    } else {
        tx = &store->beside.all[store->beside.made++];
        tx->database =
            store->database->driver->beside(store->database, store->beside.made);
    }
    pthread_mutex_unlock(&store->beside.lock);
    return tx;
}

/* Returns the connection for sealed entries; waits until it is free. */
static struct store_tx *take_reader(struct store *store)
{
    struct store_tx *tx = &store->reader.tx;
    pthread_mutex_lock(&store->reader.lock);
    if (!store->reader.asked)
        tx->database = store->database->driver->reader(store->database);
    store->reader.asked = true;
    return tx;
}

bool store_reads_sealed(struct store *store)
{
    bool any = take_reader(store)->database != NULL;
    pthread_mutex_unlock(&store->reader.lock);
    return any;
}

static void give_back(struct store_tx *tx)
{
    struct store *store = tx->store;
    if (tx == &store->reader.tx) {
        pthread_mutex_unlock(&store->reader.lock);
        return;
    }
    if (tx == &store->tx) {
        store->tx_open = false;
        pthread_mutex_unlock(&store->lock);
        return;
    }
    pthread_mutex_lock(&store->beside.lock);
    store->beside.free[store->beside.free_count++] = tx;
    pthread_cond_signal(&store->beside.freed);
    pthread_mutex_unlock(&store->beside.lock);
}

/* Returns the connection for a transaction of that scope. */
static struct store_tx *take_connection(struct store *store, enum store_scope scope)
{
    if (scope == STORE_SEALED)
        return take_reader(store);
    return scope == STORE_MARK && store->database->driver->beside != NULL
               ? take_beside(store)
               : take_first(store);
}

/* --- transactions --- */

static enum status failed(const struct database *database, struct error *error)
{
    return error_set(error, ST_IO, "database: %s", database->driver->message(database));
}

static void forget_error(struct error *error)
{
    if (error != NULL)
        *error = (struct error){.faults = error->faults};
}

/* Returns whether the transaction that ends on the database was lost and may be
 * repeated. Poisons if transactions were lost too often. */
static bool may_repeat(struct database *database)
{
    if (database->refused != DB_LOST) {
        database->losses = 0;
        return false;
    }
    if (++database->losses <= STORE_LOSSES_MAX)
        return true;
    database_fail(database);
    return false;
}

/* Begins on the connection, and renews memory if it is the first. */
static enum status begin_on(struct store_tx *tx, enum store_scope scope,
                            struct error *error)
{
    struct store *store = tx->store;
    struct database *database = tx->database;
    database->refused = DB_OK;
    if (store_poisoned(store))
        return error_set(error, ST_IO, "the database failed earlier");
    if (database->driver->begin(database, scope) != DB_OK) {
        database_fail(database);
        return failed(database, error);
    }
    if (tx != &store->tx ||
        change_feed_renew(database, tx, &store->follow, error) == ST_OK)
        return ST_OK;
    if (database->refused != DB_LOST)
        store_poison(store);
    database->driver->rollback(database);
    return ST_IO;
}

enum status store_begin(struct store *store, enum store_scope scope,
                        struct store_tx **tx, struct error *error)
{
    bool reads = scope == STORE_READ || scope == STORE_SEALED;
    if (!reads && store->check != NULL && store_await_check(store, error) != ST_OK)
        return ST_CORRUPT;
    struct store_tx *taken = take_connection(store, scope);
    CHECK(taken->database != NULL);
    *taken = (struct store_tx){.store = store, .database = taken->database};
    enum status status = begin_on(taken, reads ? STORE_READ : scope, error);
    while (status != ST_OK && may_repeat(taken->database)) {
        forget_error(error);
        status = begin_on(taken, reads ? STORE_READ : scope, error);
    }
    if (status == ST_OK)
        *tx = taken;
    else
        give_back(taken);
    return status;
}

static void finish(struct store_tx *tx, bool durable)
{
    struct database *database = tx->database;
    for (size_t i = 0; i < tx->hook_count; i++) {
        void (*call)(void *) = durable ? tx->hooks[i].done : tx->hooks[i].undone;
        if (call != NULL)
            call(tx->hooks[i].context);
    }
    free(tx->hooks);
    if (durable && database->driver->tidy(database) != DB_OK)
        database_poison(database);
    give_back(tx);
}

/* After a failure the database may or may not hold the transaction; the next start
 * finds out. */
enum status store_commit(struct store_tx *tx, struct error *error)
{
    struct store *store = tx->store;
    struct database *database = tx->database;
    bool durable = false;
    CHECK(database->refused == DB_OK || store_poisoned(store));
    if (store_poisoned(store)) {
        error_set(error, ST_IO, "the database failed earlier");
    } else if (database->driver->commit(database) == DB_OK) {
        durable = true;
    } else {
        failed(database, error);
        database_fail(database);
    }
    if (!durable)
        database->driver->rollback(database);
    finish(tx, durable);
    return durable ? ST_OK : ST_IO;
}

static void undo(struct store_tx *tx)
{
    if (tx->database->driver->rollback(tx->database) != DB_OK)
        database_fail(tx->database);
    finish(tx, false);
}

void store_rollback(struct store_tx *tx)
{
    if (tx->database->refused == DB_LOST)
        database_fail(tx->database);
    undo(tx);
}

bool store_again(struct store_tx *tx, enum status *status, struct error *error)
{
    bool lost = tx->database->refused == DB_LOST, again = may_repeat(tx->database);
    undo(tx);
    if (again) {
        forget_error(error);
        *status = ST_OK;
    } else if (lost) {
        *status =
            error_set(error, ST_IO, "database: the connection breaks again and again");
    }
    return again;
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

/* --- renewing memory --- */

void store_follow(struct store *store, const struct change_feed_hook *hook)
{
    pthread_mutex_lock(&store->lock);
    store->follow = *hook;
    pthread_mutex_unlock(&store->lock);
}

enum status store_look(struct store *store, struct error *error)
{
    struct store_tx *tx = NULL;
    if (!store_shared(store))
        return ST_OK;
    enum status status = store_begin(store, STORE_READ, &tx, error);
    if (status == ST_OK)
        store_rollback(tx); /* store_begin has renewed memory */
    return status;
}

/* --- poison --- */

bool store_poisoned(const struct store *store)
{
    return database_poisoned(store->database);
}

const char *store_why(const struct store *store)
{
    return atomic_load(&store->database->explained)
               ? store->database->why
               : "a file that is part of its promise could not be written";
}

void store_poison(struct store *store)
{
    database_poison(store->database);
}

struct database *store_tx_database(struct store_tx *tx)
{
    return tx->database;
}
