#include "service/commands/backup_command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/status.h"
#include "service/commands/backup_copy.h"
#include "service/commands/verify_command.h"
#include "service/config/config.h"
#include "service/config/store_config.h"
#include "service/identity/access_keys.h"
#include "service/identity/key_admin.h"
#include "store/blobs/blob.h"
#include "store/blobs/blob_name.h"

struct access_keys;

enum { PATH_SIZE = CONFIG_PATH_SIZE, ATTEMPTS = 5, HASH_DIGITS = 12 };

const char backup_usage[] = "usage: epsilond backup FOLDER --data-dir DIR\n";
const char restore_usage[] =
    "usage: epsilond restore BACKUP --data-dir DIR [--head-file PATH]\n";

static int exit_code(enum status status)
{
    if (status == ST_CORRUPT)
        return EX_DATAERR;
    if (status == ST_INVALID)
        return EX_CONFIG;
    return status == ST_ALREADY_EXISTS ? EX_USAGE : EX_TEMPFAIL;
}

/* Reads the folder, which is the first argument, and the configuration after it. */
static bool read_arguments(struct config *config, char folder[PATH_SIZE], int argc,
                           char **argv, const char *usage)
{
    enum config_outcome outcome;
    struct error error = {0};
    if (argc < 2 || argv[1][0] == '-' || strlen(argv[1]) >= PATH_SIZE - 128) {
        fputs(usage, stderr);
        return false;
    }
    snprintf(folder, PATH_SIZE, "%s", argv[1]);
    argv[1] = argv[0];
    if (config_read(config, &outcome, argc - 1, argv + 1, &error) == ST_OK)
        return true;
    fprintf(stderr, "epsilond %s: %s\n%s", argv[0], error.text, usage);
    return false;
}

static enum status sync_folder(const char *path, struct error *error)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool synced = folder >= 0 && fsync(folder) == 0;
    if (!synced)
        error_set(error, ST_IO, "%s: %s", path, strerror(errno));
    if (folder >= 0)
        close(folder);
    return synced ? ST_OK : ST_IO;
}

static void tell_elsewhere(const char *command, const struct backup_copy *copy)
{
    if (copy->elsewhere)
        printf(
            "epsilond %s: the files are in a bucket and stay there: keep it, and the "
            "key that they are encrypted with\n",
            command);
}

/* --- backup --- */

/* Renames a complete copy to its final name. */
static enum status name_backup(char named[PATH_SIZE], const char *folder,
                               const char *unnamed, const struct backup_copy *copy,
                               struct error *error)
{
    char hash[SHA256_HEX_SIZE], when[32];
    struct tm parts;
    time_t now = (time_t)clock_wall_s();
    gmtime_r(&now, &parts);
    strftime(when, sizeof when, "%Y%m%dT%H%M%SZ", &parts);
    sha256_render(hash, copy->head.hash);
    int length = snprintf(named, PATH_SIZE, "%s/epsilond-%s-%llu-%.*s", folder, when,
                          (unsigned long long)copy->head.seq, HASH_DIGITS, hash);
    if (length < 0 || length >= PATH_SIZE || rename(unnamed, named) != 0)
        return error_set(error, ST_IO, "%s: %s", named, strerror(errno));
    return sync_folder(folder, error);
}

int backup_command(int argc, char **argv)
{
    struct config config;
    struct backup_copy copy;
    char folder[PATH_SIZE], unnamed[PATH_SIZE + 64], named[PATH_SIZE];
    struct error error = {0};
    if (!read_arguments(&config, folder, argc, argv, backup_usage))
        return EX_USAGE;
    umask(S_IRWXG | S_IRWXO);
    snprintf(unnamed, sizeof unnamed, "%s/.epsilond-unfinished-%ld", folder,
             (long)getpid());
    enum status status = store_config_check_copy(&config, &error);
    if (status == ST_OK)
        status = ST_NOT_FOUND;
    for (int i = 0; i < ATTEMPTS && status == ST_NOT_FOUND; i++) {
        error = (struct error){0};
        status = backup_copy_make(&copy, config.data_dir, unnamed, false, &error);
    }
    if (status == ST_OK)
        status = name_backup(named, folder, unnamed, &copy, &error);
    if (status != ST_OK) {
        fprintf(stderr, "epsilond backup: %s\n", error.text);
        return exit_code(status);
    }
    printf("epsilond backup: ok, %s, head %llu, %zu datasets, %zu models\n", named,
           (unsigned long long)copy.head.seq, copy.datasets, copy.models);
    tell_elsewhere("backup", &copy);
    return EX_OK;
}

/* --- restore --- */

/* Renames the copy to the data directory, which must not exist or be an empty
 * folder. */
static enum status put_in_place(const char *copied, const char *data_dir,
                                struct error *error)
{
    char folder[PATH_SIZE];
    const char *slash = strrchr(data_dir, '/');
    if (rename(copied, data_dir) != 0)
        return error_set(error, ST_IO, "%s: %s", data_dir, strerror(errno));
    snprintf(folder, sizeof folder, "%.*s", slash != NULL ? (int)(slash - data_dir) : 1,
             slash != NULL ? data_dir : ".");
    return sync_folder(folder[0] != '\0' ? folder : "/", error);
}

/* Checks that nothing is at path, or only an empty folder, which is removed. */
static enum status check_free(const char *path, struct error *error)
{
    if (rmdir(path) == 0 || errno == ENOENT)
        return ST_OK;
    return error_set(error, ST_ALREADY_EXISTS,
                     "%s: %s; restore writes into a new directory alone", path,
                     strerror(errno));
}

/* Verifies a copy, with the head from the configuration. Removes a copy that fails. */
static int verify_copy(const struct config *config, const char *copied)
{
    struct config of_copy = *config;
    snprintf(of_copy.data_dir, sizeof of_copy.data_dir, "%s", copied);
    int code = verify_directory(&of_copy);
    if (code != EX_OK) {
        backup_copy_remove(copied);
        fprintf(stderr, "epsilond restore: nothing is restored\n");
    }
    return code;
}

static enum status open_keys(struct access_keys **keys, const char *data_dir,
                             struct error *error)
{
    char path[BLOB_PATH_SIZE];
    struct blobs *blobs = NULL;
    struct store *store = NULL;
    struct store_tx *tx = NULL;
    enum status status = blobs_open_read(&blobs, data_dir, error);
    if (status == ST_OK) {
        blobs_database_path(blobs, path);
        status = store_open_read(&store, path, error);
    }
    if (status == ST_OK)
        status = store_begin(store, STORE_READ, &tx, error);
    if (status == ST_OK) {
        status = access_keys_open(keys, tx, error);
        store_rollback(tx);
    }
    store_close(store);
    blobs_close(blobs);
    return status;
}

/* Prints which keys of the restored data are valid. A key that was revoked after the
 * backup is not revoked in it, and the backup cannot show that. */
static enum status tell_keys(const char *data_dir, struct error *error)
{
    size_t good = 0;
    int64_t now_ms = clock_wall_ms();
    struct access_keys *keys = NULL;
    enum status status = open_keys(&keys, data_dir, error);
    if (status != ST_OK)
        return status;
    for (size_t i = 0; i < access_keys_count(keys); i++) {
        struct access_key key;
        access_keys_at(keys, i, &key);
        if (!access_key_is_good(&key, now_ms))
            continue;
        if (good++ == 0)
            fprintf(stderr, "epsilond restore: WARNING: KEYS THAT WERE REVOKED AFTER "
                            "THIS BACKUP ARE GOOD AGAIN. These let somebody in:\n");
        key_admin_print(stderr, &key, now_ms);
    }
    access_keys_close(keys);
    if (good > 0)
        fprintf(stderr,
                "epsilond restore: revoke those that must not, before the daemon "
                "starts: epsilond key revoke ID --data-dir %s\n",
                data_dir);
    return ST_OK;
}

int restore_command(int argc, char **argv)
{
    struct config config;
    struct backup_copy copy;
    char backup[PATH_SIZE], copied[PATH_SIZE];
    struct error error = {0};
    if (!read_arguments(&config, backup, argc, argv, restore_usage))
        return EX_USAGE;
    size_t length = strlen(config.data_dir);
    while (length > 1 && config.data_dir[length - 1] == '/')
        config.data_dir[--length] = '\0';
    umask(S_IRWXG | S_IRWXO);
    /* The configuration limits data_dir so that a suffix fits. */
    CHECK(snprintf(copied, sizeof copied, "%s.restoring", config.data_dir) < PATH_SIZE);
    enum status status = store_config_check_copy(&config, &error);
    if (status == ST_OK)
        status = check_free(config.data_dir, &error);
    if (status == ST_OK)
        status = backup_copy_make(&copy, backup, copied, true, &error);
    int code = status == ST_OK ? verify_copy(&config, copied) : EX_OK;
    if (code != EX_OK)
        return code;
    if (status == ST_OK)
        status = put_in_place(copied, config.data_dir, &error);
    if (status == ST_OK)
        status = tell_keys(config.data_dir, &error);
    if (status != ST_OK) {
        fprintf(stderr, "epsilond restore: %s\n", error.text);
        return exit_code(status);
    }
    printf("epsilond restore: ok, %s, head %llu, %zu datasets, %zu models\n",
           config.data_dir, (unsigned long long)copy.head.seq, copy.datasets,
           copy.models);
    tell_elsewhere("restore", &copy);
    return EX_OK;
}
