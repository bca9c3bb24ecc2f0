#include "service/store_choice.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { IDENTITY_SIZE = 64, PATH_SIZE = CONFIG_PATH_SIZE + 16 };

static void path_of(char path[PATH_SIZE], const struct config *config)
{
    snprintf(path, PATH_SIZE, "%s/store", config->data_dir);
}

static struct store_server server_of(const struct config *config)
{
    return (struct store_server){.url = config->store,
                                 .single_server = config->single_server,
                                 .migrate = config->migrate};
}

/* *identity = what the file says; "" where there is none. */
static enum status read_identity(char identity[IDENTITY_SIZE], const char *path,
                                 struct error *error)
{
    identity[0] = '\0';
    FILE *file = fopen(path, "re");
    if (file == NULL && errno == ENOENT)
        return ST_OK;
    if (file == NULL)
        return error_set(error, ST_IO, "%s: %s", path, strerror(errno));
    bool read = fgets(identity, IDENTITY_SIZE, file) != NULL;
    fclose(file);
    identity[strcspn(identity, "\n")] = '\0';
    return read && identity[0] != '\0'
               ? ST_OK
               : error_set(error, ST_CORRUPT, "%s: names no database", path);
}

/* Writes the file durably; a half-written one is of another name. */
static enum status write_identity(const char *identity, const char *path,
                                  const struct config *config, struct error *error)
{
    char draft[PATH_SIZE + 4];
    snprintf(draft, sizeof draft, "%s.new", path);
    int file = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int folder = open(config->data_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = file >= 0 && folder >= 0 && dprintf(file, "%s\n", identity) > 0 &&
                fsync(file) == 0 && rename(draft, path) == 0 && fsync(folder) == 0;
    if (!good)
        error_set(error, ST_IO, "%s: %s", path, strerror(errno));
    if (file >= 0)
        close(file);
    if (folder >= 0)
        close(folder);
    return good ? ST_OK : ST_IO;
}

/* The directory is this database's, or is made so. */
static enum status claim(const struct store *store, const struct config *config,
                         const struct blobs *blobs, struct error *error)
{
    char found[IDENTITY_SIZE], path[PATH_SIZE], file[BLOB_PATH_SIZE];
    path_of(path, config);
    blobs_database_path(blobs, file);
    enum status status = read_identity(found, path, error);
    if (status != ST_OK)
        return status;
    if (access(file, F_OK) == 0)
        return error_set(error, ST_INVALID,
                         "%.160s holds a database of its own: give no --store, or "
                         "another --data-dir",
                         config->data_dir);
    if (found[0] == '\0')
        return write_identity(store_identity(store), path, config, error);
    if (strcmp(found, store_identity(store)) == 0)
        return ST_OK;
    return error_set(error, ST_INVALID,
                     "%.160s belongs to another database than --store names",
                     config->data_dir);
}

/* The directory's database is the file in it. */
static enum status check_own(const struct config *config, struct error *error)
{
    char found[IDENTITY_SIZE], path[PATH_SIZE];
    path_of(path, config);
    enum status status = read_identity(found, path, error);
    if (status != ST_OK || found[0] == '\0')
        return status;
    return error_set(error, ST_INVALID,
                     "the database of %.160s is on a server: give --store",
                     config->data_dir);
}

enum status store_choice_open(struct store **out, const struct config *config,
                              const struct blobs *blobs, struct error *error)
{
    char path[BLOB_PATH_SIZE];
    struct store *store = NULL;
    const struct store_server server = server_of(config);
    if (config->store[0] == '\0') {
        blobs_database_path(blobs, path);
        enum status own = check_own(config, error);
        return own == ST_OK ? store_open(out, path, error) : own;
    }
    enum status status = store_open_server(&store, &server, error);
    if (status == ST_OK)
        status = claim(store, config, blobs, error);
    if (status == ST_OK)
        *out = store;
    else
        store_close(store);
    return status;
}

enum status store_choice_open_read(struct store **out, const struct config *config,
                                   const struct blobs *blobs, struct error *error)
{
    char path[BLOB_PATH_SIZE];
    const struct store_server server = server_of(config);
    if (config->store[0] != '\0')
        return store_open_server_read(out, &server, error);
    blobs_database_path(blobs, path);
    enum status status = check_own(config, error);
    if (status == ST_OK && access(path, R_OK) != 0)
        status = error_set(error, ST_IO, "%s cannot be read", path);
    return status == ST_OK ? store_open_read(out, path, error) : status;
}

enum status store_choice_check_copy(const struct config *config, struct error *error)
{
    char found[IDENTITY_SIZE], path[PATH_SIZE];
    path_of(path, config);
    enum status status = read_identity(found, path, error);
    if (status != ST_OK || (found[0] == '\0' && config->store[0] == '\0'))
        return status;
    return error_set(error, ST_INVALID,
                     "the database is on a server: its own tools back it up, and copy "
                     "the data directory after them");
}
