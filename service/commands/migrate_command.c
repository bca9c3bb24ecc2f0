#include "service/commands/migrate_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <sys/stat.h>

#include "base/check.h"
#include "service/commands/store_migration.h"
#include "service/config/config.h"

const char migrate_usage[] =
    "usage: epsilond migrate --from DIR --to URL [--head-file PATH]\n"
    "       epsilond migrate --from URL --to DIR [--head-file PATH]\n";

struct direction {
    char *from, *to;
};

static bool is_url(const char *text)
{
    return strncmp(text, "postgresql://", 13) == 0 ||
           strncmp(text, "postgres://", 11) == 0;
}

/* Takes --from and --to out of the arguments, and adds --data-dir and --store in their
 * place. */
static enum status read_direction(struct direction *direction, char **words, int *count,
                                  int argc, char **argv, struct error *error)
{
    *count = 0;
    words[(*count)++] = argv[0];
    for (int i = 1; i < argc; i++) {
        char **own = strcmp(argv[i], "--from") == 0 ? &direction->from
                     : strcmp(argv[i], "--to") == 0 ? &direction->to
                                                    : NULL;
        if (own == NULL)
            words[(*count)++] = argv[i];
        else if (i + 1 < argc)
            *own = argv[++i];
    }
    if (direction->from == NULL || direction->to == NULL ||
        is_url(direction->from) == is_url(direction->to))
        return error_set(error, ST_INVALID,
                         "--from and --to name a data directory and a server, "
                         "postgresql://...");
    static char data_dir[] = "--data-dir", store[] = "--store";
    words[(*count)++] = data_dir;
    words[(*count)++] = is_url(direction->from) ? direction->to : direction->from;
    words[(*count)++] = store;
    words[(*count)++] = is_url(direction->from) ? direction->from : direction->to;
    return ST_OK;
}

/* Sets from and to to the same configuration, except for the database's place. */
static enum status read_arguments(struct config *from, struct config *to, int argc,
                                  char **argv, struct error *error)
{
    struct direction direction = {0};
    enum config_outcome outcome = CONFIG_RUN;
    int count;
    char **words = calloc((size_t)argc + 4, sizeof *words);
    CHECK(words != NULL);
    enum status status = read_direction(&direction, words, &count, argc, argv, error);
    if (status == ST_OK)
        status = config_read(from, &outcome, count, words, error);
    free(words);
    if (status == ST_OK && outcome != CONFIG_RUN)
        status = error_set(error, ST_INVALID, "says what it takes here");
    if (status != ST_OK)
        return status;
    *to = *from;
    (is_url(direction.from) ? to : from)->store[0] = '\0';
    return ST_OK;
}

static int exit_code(enum status status)
{
    if (status == ST_CORRUPT)
        return EX_DATAERR;
    return status == ST_INVALID ? EX_CONFIG : EX_TEMPFAIL;
}

int migrate_command(int argc, char **argv)
{
    struct config from, to;
    struct store_migration migration;
    struct error error = {0};
    char place[MIGRATION_PLACE_SIZE], hash[SHA256_HEX_SIZE];
    if (read_arguments(&from, &to, argc, argv, &error) != ST_OK) {
        fprintf(stderr, "epsilond migrate: %s\n%s", error.text, migrate_usage);
        return EX_USAGE;
    }
    umask(S_IRWXG | S_IRWXO);
    enum status status = store_migration_run(&migration, &from, &to, &error);
    if (status != ST_OK) {
        fprintf(stderr, "epsilond migrate: %s\n", error.text);
        return exit_code(status);
    }
    store_migration_place(place, &to);
    sha256_render(hash, migration.head.hash);
    printf(
        "epsilond migrate: ok, %llu rows of %zu tables, head %llu %s; the database is "
        "in %s now\n",
        (unsigned long long)migration.copy.rows, migration.copy.tables,
        (unsigned long long)migration.head.seq, hash, place);
    return EX_OK;
}
