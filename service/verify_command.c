#include "service/verify_command.h"

#include <stdio.h>
#include <sysexits.h>
#include <unistd.h>

#include "accountant/verify.h"
#include "service/config.h"

static int report_failure(enum status status, const struct verify_report *report,
                          const struct error *error)
{
    if (report->seq > 0)
        printf("epsilond verify: entry %llu is wrong: %s\n",
               (unsigned long long)report->seq, error->text);
    else
        printf("epsilond verify: %s\n", error->text);
    if (status == ST_INVALID) /* a newer schema than this program's */
        return EX_CONFIG;
    return status == ST_IO ? EX_TEMPFAIL : EX_DATAERR;
}

/* Of a budget that a restored backup has touched; of others the grant is all. */
static void print_epochs(void *context, const char *dataset,
                         const struct epochs *epochs)
{
    struct guarantee guarantee = odometer_guarantee(epochs);
    (void)context;
    if (epochs->count == 1 && !epochs->items[0].frozen)
        return;
    printf("epsilond verify: dataset %s: epsilon %.15g at delta %.15g over %zu epoch%s",
           dataset, guarantee.epsilon, guarantee.delta, epochs->count,
           epochs->count == 1 ? "" : "s");
    for (size_t e = 0; e < epochs->count; e++)
        printf("%s %zu: %.15g at %.15g%s", e == 0 ? ":" : ";", e + 1,
               epochs->items[e].grant.epsilon, epochs->items[e].grant.delta,
               epochs->items[e].frozen ? " (frozen, counts whole)" : "");
    printf("\n");
}

static int verify_path(const char *path)
{
    static const struct verify_visitor visitor = {.budget = print_epochs};
    struct store *store = NULL;
    struct verify_report report = {0};
    struct error error = {0};
    char hash[SHA256_HEX_SIZE];
    enum status status = store_open_read(&store, path, &error);
    if (status == ST_OK)
        status = verify_budgets(store, &report, &visitor, &error);
    store_close(store);
    if (status != ST_OK)
        return report_failure(status, &report, &error);
    sha256_render(hash, report.head.hash);
    printf("epsilond verify: ok, %llu entries, %llu datasets, head %llu %s\n",
           (unsigned long long)report.entries, (unsigned long long)report.datasets,
           (unsigned long long)report.head.seq, hash);
    return EX_OK;
}

int verify_command(int argc, char **argv)
{
    struct config config;
    enum config_outcome outcome;
    struct error error = {0};
    char path[CONFIG_PATH_SIZE + 16];
    enum status status = config_read(&config, &outcome, argc, argv, &error);
    if (status != ST_OK) {
        fprintf(stderr, "epsilond verify: %s\n", error.text);
        return status == ST_IO ? EX_CONFIG : EX_USAGE;
    }
    if (outcome != CONFIG_RUN) {
        fputs(config_help(), stdout);
        return EX_OK;
    }
    snprintf(path, sizeof path, "%s/epsilond.db", config.data_dir);
    if (access(path, R_OK) != 0) {
        printf("epsilond verify: %s cannot be read\n", path);
        return EX_TEMPFAIL;
    }
    return verify_path(path);
}
