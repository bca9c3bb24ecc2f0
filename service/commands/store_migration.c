#include "service/commands/store_migration.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "accountant/ledger/ledger.h"
#include "accountant/ledger/ledger_freeze.h"
#include "service/commands/verify_command.h"
#include "service/config/config.h"
#include "service/config/store_config.h"
#include "store/blobs/blob.h"
#include "store/blobs/blob_name.h"

enum { DRAFT_SIZE = BLOB_PATH_SIZE + 16 };

struct moving {
    const struct config *from, *to;
    struct blobs *blobs;
    struct store *source, *target;
    struct migration_row of_source, of_target;
    struct ledger_entry_name head; /* the source's, as verified */
    char file[BLOB_PATH_SIZE];     /* the directory's database file: source or target */
    char draft[DRAFT_SIZE];        /* that file until it is complete */
};

static bool is_file(const struct config *config)
{
    return config->store[0] == '\0';
}

void store_migration_place(char place[MIGRATION_PLACE_SIZE],
                           const struct config *config)
{
    const char *url = config->store;
    if (is_file(config)) {
        snprintf(place, MIGRATION_PLACE_SIZE, "%.*s", MIGRATION_PLACE_SIZE - 1,
                 config->data_dir);
        return;
    }
    const char *host = strstr(url, "://");
    host = host != NULL ? host + 3 : url;
    size_t size = strcspn(host, "?");
    for (size_t i = size; i > 0; i--)
        if (host[i - 1] == '@') {
            host += i;
            size -= i;
            break;
        }
    snprintf(place, MIGRATION_PLACE_SIZE, "postgresql://%.*s",
             (int)(size < MIGRATION_PLACE_SIZE ? size : MIGRATION_PLACE_SIZE), host);
}

static enum status sync_directory(const struct config *config, struct error *error)
{
    int folder = open(config->data_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool synced = folder >= 0 && fsync(folder) == 0;
    if (!synced)
        error_set(error, ST_IO, "%s: %s", config->data_dir, strerror(errno));
    if (folder >= 0)
        close(folder);
    return synced ? ST_OK : ST_IO;
}

/* --- 1: both are opened and locked --- */

/* The directory must already be the source's, and not become so by this start. */
static enum status open_source(struct moving *moving, struct error *error)
{
    const struct config *from = moving->from;
    if (is_file(from) && access(moving->file, F_OK) != 0)
        return error_set(error, ST_INVALID, "%.160s holds no database", from->data_dir);
    if (!is_file(from) && !store_config_is_named(from))
        return error_set(error, ST_INVALID,
                         "%.160s is not the data directory of that database",
                         from->data_dir);
    enum status status = blobs_open(&moving->blobs, from->data_dir, error);
    if (status == ST_OK)
        status = store_config_open(&moving->source, from, moving->blobs, error);
    if (status == ST_OK)
        status = store_config_read(moving->source, &moving->of_source, error);
    return status;
}

/* A file from an earlier migration, or an incomplete one, may be in the way. */
static enum status check_file(struct moving *moving, struct error *error)
{
    char log[BLOB_PATH_SIZE + 8];
    struct store *store = NULL;
    struct migration_row row;
    if (access(moving->file, F_OK) != 0)
        return ST_OK;
    enum status status = store_open(&store, moving->file, error);
    if (status == ST_OK)
        status = store_config_read(store, &row, error);
    store_close(store);
    if (status == ST_OK && row.state == MIGRATION_HERE)
        status = error_set(error, ST_INVALID, "%.160s holds a database of its own",
                           moving->to->data_dir);
    /* A log belongs to its file; SQLite would apply its contents to another one. */
    snprintf(log, sizeof log, "%s-wal", moving->file);
    if (status == ST_OK && access(log, F_OK) == 0)
        status = error_set(error, ST_IO, "%s: is in the way", log);
    return status;
}

static void remove_draft(const struct moving *moving)
{
    static const char *const ends[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char path[DRAFT_SIZE + 8];
        snprintf(path, sizeof path, "%s%s", moving->draft, ends[i]);
        unlink(path);
    }
}

static enum status open_target(struct moving *moving, struct error *error)
{
    const struct store_server server = store_config_server(moving->to);
    enum status status = is_file(moving->to) ? check_file(moving, error) : ST_OK;
    if (status != ST_OK)
        return status;
    if (is_file(moving->to)) {
        remove_draft(moving);
        status = store_open(&moving->target, moving->draft, error);
    } else {
        status = store_open_server(&moving->target, &server, error);
    }
    if (status == ST_OK)
        status = store_config_read(moving->target, &moving->of_target, error);
    if (status == ST_OK)
        status = store_config_check(&moving->of_target, error);
    return status;
}

static enum status check_empty(struct moving *moving, struct error *error)
{
    struct store_tx *tx = NULL;
    bool empty = false;
    char place[MIGRATION_PLACE_SIZE];
    enum status status = store_begin(moving->target, STORE_READ, &tx, error);
    if (status != ST_OK)
        return status;
    status = table_copy_is_empty(tx, &empty, error);
    store_rollback(tx);
    if (status != ST_OK || empty)
        return status;
    store_migration_place(place, moving->to);
    return error_set(error, ST_INVALID,
                     "%s holds a database already: a migration goes into an empty one",
                     place);
}

/* Verifies a database that is opened for reading, and closes store_take. */
static enum status verify(const struct moving *moving, const struct config *config,
                          struct store *store_take, struct ledger_entry_name *head,
                          struct error *error)
{
    char place[MIGRATION_PLACE_SIZE];
    int code = verify_opened(head, config, moving->blobs, store_take);
    store_close(store_take);
    if (code == EX_OK)
        return ST_OK;
    store_migration_place(place, config);
    return error_set(error,
                     code == EX_TEMPFAIL ? ST_IO
                     : code == EX_CONFIG ? ST_INVALID
                                         : ST_CORRUPT,
                     "%s does not verify", place);
}

static enum status verify_source(struct moving *moving, struct error *error)
{
    struct store *store = NULL;
    enum status status =
        store_config_open_read(&store, moving->from, moving->blobs, error);
    return status == ST_OK ? verify(moving, moving->from, store, &moving->head, error)
                           : status;
}

/* --- 2: the rows are copied --- */

static enum status copy_in(struct moving *moving, struct store_tx *from,
                           struct store_migration *migration, struct error *error)
{
    struct store_tx *tx = NULL;
    struct migration_row row = {.state = MIGRATION_ARRIVING};
    memcpy(row.other, moving->of_source.identity, sizeof row.other);
    store_migration_place(row.place, moving->from);
    enum status status = store_begin(moving->target, STORE_LEDGER, &tx, error);
    if (status != ST_OK)
        return status;
    status = migration_row_update(tx, &row, error); /* so that the ledger may have
                                                       gaps */
    if (status == ST_OK)
        status = table_copy_run(&migration->copy, tx, from, error);
    if (status == ST_OK)
        status = migration_row_update(tx, &row, error); /* updates a server's head */
    return store_end(tx, status, error);
}

static enum status copy_rows(struct moving *moving, struct store_migration *migration,
                             struct error *error)
{
    struct store *reader = NULL;
    struct store_tx *tx = NULL;
    enum status status =
        store_config_open_read(&reader, moving->from, moving->blobs, error);
    if (status == ST_OK)
        status = store_begin(reader, STORE_READ, &tx, error);
    if (status == ST_OK) {
        status = copy_in(moving, tx, migration, error);
        store_rollback(tx);
    }
    store_close(reader);
    return status;
}

/* --- 3: the copy is compared and verified --- */

static enum status open_copy(struct moving *moving, struct store **store,
                             struct error *error)
{
    const struct store_server server = store_config_server(moving->to);
    if (!is_file(moving->to))
        return store_open_server_read(store, &server, error);
    store_close(moving->target); /* so that the file is complete */
    moving->target = NULL;
    return store_open_read(store, moving->draft, error);
}

static enum status compare(struct moving *moving, struct store *copied,
                           struct store_migration *migration, struct error *error)
{
    struct table_copy compared;
    struct store *reader = NULL;
    struct store_tx *here = NULL, *there = NULL;
    enum status status =
        store_config_open_read(&reader, moving->from, moving->blobs, error);
    if (status == ST_OK)
        status = store_begin(reader, STORE_READ, &here, error);
    if (status == ST_OK)
        status = store_begin(copied, STORE_READ, &there, error);
    if (status == ST_OK)
        status = table_copy_compare(&compared, there, here, error);
    if (there != NULL)
        store_rollback(there);
    if (here != NULL)
        store_rollback(here);
    store_close(reader);
    if (status == ST_OK && (compared.rows != migration->copy.rows ||
                            compared.tables != migration->copy.tables))
        status = error_set(error, ST_CORRUPT, "not every row was copied");
    return status;
}

static enum status check_copy(struct moving *moving, struct store_migration *migration,
                              struct error *error)
{
    struct store *copied = NULL;
    enum status status = open_copy(moving, &copied, error);
    if (status == ST_OK)
        status = compare(moving, copied, migration, error);
    if (status != ST_OK) {
        store_close(copied);
        return status;
    }
    status = verify(moving, moving->to, copied, &migration->head, error);
    if (status == ST_OK &&
        (migration->head.seq != moving->head.seq ||
         memcmp(migration->head.hash, moving->head.hash, SHA256_SIZE) != 0))
        status = error_set(error, ST_CORRUPT, "the copy has another head");
    return status;
}

/* Gives a target that is a file its name, in place of an old file that was left. */
static enum status name_file(struct moving *moving, struct error *error)
{
    if (!is_file(moving->to))
        return ST_OK;
    if (rename(moving->draft, moving->file) != 0)
        return error_set(error, ST_IO, "%s: %s", moving->file, strerror(errno));
    return sync_directory(moving->to, error);
}

/* --- 4, 5, 6: the target becomes the current database --- */

static enum status leave(struct moving *moving, struct error *error)
{
    struct migration_row row = {.state = MIGRATION_LEFT};
    memcpy(row.other, moving->of_target.identity, sizeof row.other);
    store_migration_place(row.place, moving->to);
    const char *source = moving->of_source.identity, *target = row.other;
    enum status status = store_config_name(moving->from, source, target, error);
    if (status == ST_OK)
        status = store_config_write(moving->source, &row, error);
    if (status == ST_OK)
        status = store_config_name(moving->to, target, source, error);
    return status;
}

/* Opens or claims the target as a start would, and writes the head file from then
 * on. */
static enum status settle(struct moving *moving, struct error *error)
{
    struct ledger *ledger = NULL;
    bool frozen = false;
    enum status status;
    if (moving->target == NULL)
        status = store_config_open(&moving->target, moving->to, moving->blobs, error);
    else
        status = store_config_claim(moving->target, moving->to, moving->blobs, error);
    if (status != ST_OK || moving->to->head_file[0] == '\0')
        return status;
    status = ledger_open(&ledger, moving->target, error);
    if (status == ST_OK)
        status = ledger_head_file(ledger, moving->to->head_file, &frozen, error);
    ledger_close(ledger);
    return status;
}

enum status store_migration_run(struct store_migration *migration,
                                const struct config *from, const struct config *to,
                                struct error *error)
{
    struct moving moving = {.from = from, .to = to};
    *migration = (struct store_migration){0};
    snprintf(moving.file, sizeof moving.file, "%.*s/epsilond.db", BLOB_PATH_SIZE - 16,
             from->data_dir);
    snprintf(moving.draft, sizeof moving.draft, "%s.arriving", moving.file);
    enum status status = open_source(&moving, error);
    if (status == ST_OK)
        status = open_target(&moving, error);
    if (status == ST_OK)
        status = check_empty(&moving, error);
    if (status == ST_OK)
        status = verify_source(&moving, error);
    if (status == ST_OK)
        status = copy_rows(&moving, migration, error);
    if (status == ST_OK)
        status = check_copy(&moving, migration, error);
    if (status == ST_OK)
        status = name_file(&moving, error);
    if (status == ST_OK)
        status = leave(&moving, error);
    if (status == ST_OK)
        status = settle(&moving, error);
    store_close(moving.target);
    store_close(moving.source);
    blobs_close(moving.blobs);
    return status;
}
