#include "service/commands/seal_command.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <sys/stat.h>

#include "accountant/ledger/ledger_freeze.h"
#include "accountant/ledger/ledger_seal.h"
#include "service/config/config.h"
#include "service/config/store_config.h"
#include "store/blobs/blob.h"

const char seal_usage[] = "usage: epsilond seal --data-dir DIR [--store URL] "
                          "[--head-file PATH] --archive FOLDER\n";

/* Checks that the folder is outside the data directory, so that it is not copied or
 * cleaned up together with it. */
static enum status check_folder(const struct config *config, const char *folder,
                                struct error *error)
{
    char archive[PATH_MAX], data[PATH_MAX];
    struct stat found;
    if (stat(folder, &found) != 0)
        return error_set(error, ST_INVALID, "--archive %s: %s", folder,
                         strerror(errno));
    if (!S_ISDIR(found.st_mode))
        return error_set(error, ST_INVALID, "--archive %s: is no folder", folder);
    if (realpath(folder, archive) == NULL || realpath(config->data_dir, data) == NULL)
        return error_set(error, ST_INVALID, "--archive %s: %s", folder,
                         strerror(errno));
    size_t length = strlen(data);
    if (strncmp(archive, data, length) != 0 ||
        (archive[length] != '/' && archive[length] != '\0'))
        return ST_OK;
    return error_set(
        error, ST_INVALID,
        "--archive %s: is in the data directory; archives belong elsewhere", folder);
}

/* Opens the ledger as a start does, and seals nothing if a start would freeze
 * datasets. */
static enum status seal_store(struct seal *done, bool *any, const struct config *config,
                              const char *folder, struct store *store,
                              struct error *error)
{
    struct ledger *ledger = NULL;
    bool frozen = false;
    enum status status = ledger_open(&ledger, store, error);
    if (status == ST_OK && config->head_file[0] != '\0')
        status = ledger_head_file(ledger, config->head_file, &frozen, error);
    if (status == ST_OK && frozen)
        status = error_set(error, ST_CORRUPT,
                           "the database is older than the head on record: its private "
                           "datasets are frozen now, and nothing is sealed");
    if (status == ST_OK)
        status = ledger_seal(ledger, folder, done, any, error);
    if (status == ST_OK && store_poisoned(store))
        status = error_set(error, ST_IO, "sealed, but the head file was not written");
    ledger_close(ledger);
    return status;
}

enum status seal_directory(struct seal *done, bool *any, const struct config *config,
                           const char *folder, struct error *error)
{
    struct blobs *blobs = NULL;
    struct store *store = NULL;
    *any = false;
    enum status status = check_folder(config, folder, error);
    if (status == ST_OK)
        status = blobs_open(&blobs, config->data_dir, error);
    if (status == ST_OK)
        status = store_config_open(&store, config, blobs, error);
    if (status == ST_OK)
        status = seal_store(done, any, config, folder, store, error);
    store_close(store);
    blobs_close(blobs);
    return status;
}

/* Takes --archive out of the arguments; the rest belongs to the configuration. */
static enum status read_arguments(struct config *config, const char **folder, int argc,
                                  char **argv, struct error *error)
{
    enum config_outcome outcome = CONFIG_RUN;
    int kept = 1;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--archive") == 0 && i + 1 < argc)
            *folder = argv[++i];
        else
            argv[kept++] = argv[i];
    }
    argv[kept] = NULL;
    enum status status = config_read(config, &outcome, kept, argv, error);
    if (status == ST_OK && (outcome != CONFIG_RUN || *folder == NULL))
        status = error_set(error, ST_INVALID, "--archive names the folder of archives");
    return status;
}

static int exit_code(enum status status)
{
    if (status == ST_ALREADY_EXISTS)
        return EX_USAGE;
    if (status == ST_CORRUPT)
        return EX_DATAERR;
    return status == ST_INVALID ? EX_CONFIG : EX_TEMPFAIL;
}

int seal_command(int argc, char **argv)
{
    struct config config;
    struct seal seal;
    struct error error = {0};
    const char *folder = NULL;
    char path[ARCHIVE_PATH_SIZE], hash[SHA256_HEX_SIZE];
    bool any = false;
    if (read_arguments(&config, &folder, argc, argv, &error) != ST_OK) {
        fprintf(stderr, "epsilond seal: %s\n%s", error.text, seal_usage);
        return EX_USAGE;
    }
    umask(S_IRWXG | S_IRWXO);
    enum status status = seal_directory(&seal, &any, &config, folder, &error);
    if (status != ST_OK) {
        fprintf(stderr, "epsilond seal: %s\n", error.text);
        return exit_code(status);
    }
    if (!any) {
        printf("epsilond seal: ok, there is nothing to seal behind entry %llu\n",
               (unsigned long long)seal.entry.seq);
        return EX_OK;
    }
    archive_path(path, &(struct archive_part){folder, seal.first, seal.last});
    sha256_render(hash, seal.entry.hash);
    printf("epsilond seal: ok, entries %llu to %llu are in %s, head %llu %s\n",
           (unsigned long long)seal.first, (unsigned long long)seal.last, path,
           (unsigned long long)seal.entry.seq, hash);
    return EX_OK;
}
