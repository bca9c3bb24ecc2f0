#include "service/config/store_config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "service/config/config.h"
#include "service/config/daemon_role.h"
#include "store/blobs/blob.h"
#include "store/blobs/blob_name.h"

enum { IDENTITY_SIZE = 64, PATH_SIZE = CONFIG_PATH_SIZE + 16 };

static void path_of(char path[PATH_SIZE], const struct config *config)
{
    snprintf(path, PATH_SIZE, "%s/store", config->data_dir);
}

struct store_server store_config_server(const struct config *config)
{
    return (struct store_server){.url = config->store,
                                 .single_server = config->single_server,
                                 .migrate = config->migrate};
}

struct name { /* contents of the file; both "" if there is none */
    char identity[IDENTITY_SIZE];
    char other[IDENTITY_SIZE]; /* of a database that was left or arrives; mostly "" */
};

static bool read_line(FILE *file, char line[IDENTITY_SIZE])
{
    bool read = fgets(line, IDENTITY_SIZE, file) != NULL;
    if (!read)
        line[0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    return read && line[0] != '\0';
}

static enum status read_name(struct name *name, const char *path, struct error *error)
{
    *name = (struct name){0};
    FILE *file = fopen(path, "re");
    if (file == NULL && errno == ENOENT)
        return ST_OK;
    if (file == NULL)
        return error_set(error, ST_IO, "%s: %s", path, strerror(errno));
    bool read = read_line(file, name->identity);
    read_line(file, name->other);
    fclose(file);
    return read ? ST_OK : error_set(error, ST_CORRUPT, "%s: names no database", path);
}

/* Writes the file durably; an incomplete one has another name. */
static enum status write_name(const char *identity, const char *other, const char *path,
                              const struct config *config, struct error *error)
{
    char draft[PATH_SIZE + 4];
    snprintf(draft, sizeof draft, "%s.new", path);
    int file = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int folder = open(config->data_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good =
        file >= 0 && folder >= 0 &&
        dprintf(file, "%s\n%s%s", identity, other, other[0] != '\0' ? "\n" : "") > 0 &&
        fsync(file) == 0 && rename(draft, path) == 0 && fsync(folder) == 0;
    if (!good)
        error_set(error, ST_IO, "%s: %s", path, strerror(errno));
    if (file >= 0)
        close(file);
    if (folder >= 0)
        close(folder);
    return good ? ST_OK : ST_IO;
}

/* Removes the file durably. */
static enum status remove_name(const char *path, const struct config *config,
                               struct error *error)
{
    int folder = open(config->data_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good =
        folder >= 0 && (unlink(path) == 0 || errno == ENOENT) && fsync(folder) == 0;
    if (!good)
        error_set(error, ST_IO, "%s: %s", path, strerror(errno));
    if (folder >= 0)
        close(folder);
    return good ? ST_OK : ST_IO;
}

bool store_config_is_named(const struct config *config)
{
    char path[PATH_SIZE];
    path_of(path, config);
    return access(path, F_OK) == 0;
}

enum status store_config_name(const struct config *config, const char *identity,
                              const char *other, struct error *error)
{
    char path[PATH_SIZE];
    path_of(path, config);
    return write_name(identity, other, path, config, error);
}

enum status store_config_check(const struct migration_row *row, struct error *error)
{
    switch (row->state) {
    case MIGRATION_HERE: return ST_OK;
    case MIGRATION_ARRIVING:
        return error_set(error, ST_INVALID,
                         "this database is a migration from %s that did not end: empty "
                         "it, and run epsilond migrate again",
                         row->place);
    case MIGRATION_LEFT: break;
    }
    return error_set(error, ST_INVALID,
                     "this database was migrated to %s, and nothing may use it any "
                     "more",
                     row->place);
}

enum status store_config_read(struct store *store, struct migration_row *row,
                              struct error *error)
{
    struct store_tx *tx = NULL;
    enum status status;
    do {
        status = store_begin(store, STORE_READ, &tx, error);
        if (status != ST_OK)
            return status;
        status = migration_row_read(tx, row, error);
    } while (store_again(tx, &status, error));
    return status;
}

enum status store_config_write(struct store *store, const struct migration_row *row,
                               struct error *error)
{
    struct store_tx *tx = NULL;
    enum status status = store_begin(store, STORE_ROW, &tx, error);
    if (status != ST_OK)
        return status;
    return store_end(tx, migration_row_update(tx, row, error), error);
}

static bool has_file(const struct blobs *blobs)
{
    char file[BLOB_PATH_SIZE];
    blobs_database_path(blobs, file);
    return access(file, F_OK) == 0;
}

static enum status refuse_other(const struct config *config, struct error *error)
{
    if (config->store[0] == '\0')
        return error_set(error, ST_INVALID,
                         "the database of %.160s is on a server: give --store",
                         config->data_dir);
    return error_set(error, ST_INVALID,
                     "%.160s belongs to another database than --store names",
                     config->data_dir);
}

/* Makes the row say that the database is the current one (HERE), and then the directory
 * name only this database. */
static enum status settle(struct store *store, const struct config *config,
                          const struct migration_row *row, const struct name *name,
                          struct error *error)
{
    char path[PATH_SIZE];
    const struct migration_row here = {.state = MIGRATION_HERE};
    bool is_file = config->store[0] == '\0';
    enum status status = ST_OK;
    path_of(path, config);
    if (row->state != MIGRATION_HERE)
        status = store_config_write(store, &here, error);
    if (status == ST_OK && is_file && name->identity[0] != '\0')
        status = remove_name(path, config, error);
    if (status == ST_OK && !is_file &&
        (name->identity[0] == '\0' || name->other[0] != '\0'))
        status = write_name(row->identity, "", path, config, error);
    return status;
}

enum status store_config_claim(struct store *store, const struct config *config,
                               const struct blobs *blobs, struct error *error)
{
    char path[PATH_SIZE];
    struct name name;
    struct migration_row row;
    path_of(path, config);
    enum status status = read_name(&name, path, error);
    if (status == ST_OK)
        status = store_config_read(store, &row, error);
    if (status != ST_OK)
        return status;
    bool is_named = strcmp(name.identity, row.identity) == 0;
    if (name.identity[0] != '\0' && !is_named)
        return refuse_other(config, error);
    if (!is_named || name.other[0] == '\0' || strcmp(name.other, row.other) != 0)
        status = store_config_check(&row, error);
    if (status == ST_OK && !is_named && config->store[0] != '\0' && has_file(blobs))
        status = error_set(error, ST_INVALID,
                           "%.160s holds a database of its own: give no --store, or "
                           "another --data-dir",
                           config->data_dir);
    return status == ST_OK ? settle(store, config, &row, &name, error) : status;
}

/* Checks that the directory's database is the file in it, as far as this is possible
 * without opening it. */
static enum status check_own(const struct config *config, const struct blobs *blobs,
                             struct error *error)
{
    char path[PATH_SIZE];
    struct name name;
    path_of(path, config);
    enum status status = read_name(&name, path, error);
    if (status != ST_OK || name.identity[0] == '\0' || has_file(blobs))
        return status;
    return refuse_other(config, error);
}

static enum status open_chosen(struct store **out, const struct config *config,
                               const struct blobs *blobs, bool beside,
                               struct error *error)
{
    char path[BLOB_PATH_SIZE];
    struct store *store = NULL;
    struct store_server server = store_config_server(config);
    enum status status;
    server.shared = beside && daemon_role_shares(config->role);
    if (config->store[0] == '\0') {
        blobs_database_path(blobs, path);
        status = check_own(config, blobs, error);
        if (status == ST_OK)
            status = beside ? store_open_beside(&store, path, error)
                            : store_open(&store, path, error);
    } else {
        status = store_open_server(&store, &server, error);
    }
    if (status == ST_OK)
        status = store_config_claim(store, config, blobs, error);
    if (status == ST_OK)
        *out = store;
    else
        store_close(store);
    return status;
}

enum status store_config_open(struct store **out, const struct config *config,
                              const struct blobs *blobs, struct error *error)
{
    return open_chosen(out, config, blobs, false, error);
}

enum status store_config_open_beside(struct store **out, const struct config *config,
                                     const struct blobs *blobs, struct error *error)
{
    return open_chosen(out, config, blobs, true, error);
}

/* Checks that the file opened for reading is the database that the directory names. */
static enum status check_named(struct store *store, const struct config *config,
                               struct error *error)
{
    char path[PATH_SIZE];
    struct name name;
    struct migration_row row;
    path_of(path, config);
    enum status status = read_name(&name, path, error);
    if (status != ST_OK || name.identity[0] == '\0')
        return status;
    status = store_config_read(store, &row, error);
    if (status == ST_OK && strcmp(name.identity, row.identity) != 0)
        status = refuse_other(config, error);
    return status;
}

enum status store_config_open_read(struct store **out, const struct config *config,
                                   const struct blobs *blobs, struct error *error)
{
    char path[BLOB_PATH_SIZE];
    struct store *store = NULL;
    const struct store_server server = store_config_server(config);
    if (config->store[0] != '\0')
        return store_open_server_read(out, &server, error);
    blobs_database_path(blobs, path);
    enum status status = check_own(config, blobs, error);
    if (status == ST_OK && access(path, R_OK) != 0)
        status = error_set(error, ST_IO, "%s cannot be read", path);
    if (status == ST_OK)
        status = store_open_read(&store, path, error);
    if (status == ST_OK)
        status = check_named(store, config, error);
    if (status == ST_OK)
        *out = store;
    else
        store_close(store);
    return status;
}

enum status store_config_check_copy(const struct config *config, struct error *error)
{
    char path[PATH_SIZE];
    struct name name;
    path_of(path, config);
    enum status status = read_name(&name, path, error);
    if (status != ST_OK || (name.identity[0] == '\0' && config->store[0] == '\0'))
        return status;
    return error_set(error, ST_INVALID,
                     "the database is on a server: its own tools back it up, and copy "
                     "the data directory after them");
}
