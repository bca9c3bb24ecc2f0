#include "service/commands/verify_command.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "accountant/audit/verify.h"
#include "accountant/ledger/ledger_freeze.h"
#include "service/audit/audit_trail.h"
#include "service/config/blob_config.h"
#include "service/config/config.h"
#include "service/config/store_config.h"
#include "service/jobs/jobs_base.h"
#include "service/recovery/charge_check.h"
#include "service/recovery/consistency_check.h"
#include "service/recovery/file_check.h"
#include "service/runs/rank_memory.h"
#include "store/blobs/blob_objects.h"

static int report_failure(enum status status, const struct verify_report *report,
                          const struct error *error)
{
    if (report->seq > 0)
        printf("epsilond verify: entry %llu is wrong: %s\n",
               (unsigned long long)report->seq, error->text);
    else
        printf("epsilond verify: %s\n", error->text);
    if (status == ST_INVALID) /* a schema newer than this program's */
        return EX_CONFIG;
    return status == ST_IO ? EX_TEMPFAIL : EX_DATAERR;
}

/* Prints the epochs of a budget that a restored backup has changed; for any other
 * budget the grant says everything. */
static void print_epochs(void *context, const struct verified_budget *budget)
{
    const struct epochs *epochs = budget->epochs;
    struct guarantee guarantee = odometer_guarantee(epochs);
    (void)context;
    if (epochs->count == 1 && !epochs->items[0].frozen)
        return;
    const size_t timelines = epochs_timelines(epochs);
    printf("epsilond verify: dataset %s%s%s: epsilon %.15g at delta %.15g over %zu "
           "epoch%s",
           budget->dataset, budget->is_divided ? ", " : "",
           budget->is_divided ? part_name(budget->part) : "", guarantee.epsilon,
           guarantee.delta, epochs->count, epochs->count == 1 ? "" : "s");
    if (timelines > 1)
        printf(" and at least %zu timelines, those that are known", timelines);
    for (size_t e = 0; e < epochs->count; e++)
        printf("%s %" PRIu64 ": %.15g at %.15g%s", e == 0 ? ":" : ";",
               epochs->items[e].number, epochs->items[e].grant.epsilon,
               epochs->items[e].grant.delta,
               epochs->items[e].frozen ? " (frozen, counts whole)" : "");
    printf("\n");
}

struct inspection { /* one moment of the store, and the files that its rows name */
    const struct config *config;
    const char *archive; /* the folder of archives; NULL: from the newest SEAL */
    struct blobs *blobs;
    bool elsewhere;        /* the files are in a bucket */
    struct head_kept kept; /* the head kept elsewhere, read before that moment */
    struct store *store;
    struct verify_report report;
    struct audit_head audit; /* the newest row of the audit trail */
    struct consistency_check inventory;
};

static enum status check_head(const struct inspection *inspection,
                              struct ledger *ledger, struct store_tx *tx,
                              struct error *error)
{
    enum ledger_history history = HISTORY_SAME;
    enum status status = ST_OK;
    const struct verify_report *report = &inspection->report;
    const struct head_kept *kept = &inspection->kept;
    if (kept->found && report->found)
        history = report->same ? HISTORY_SAME : HISTORY_OTHER;
    else if (kept->found)
        status = ledger_kept_compare(ledger, tx, kept, &history, error);
    if (status != ST_OK || history == HISTORY_SAME)
        return status;
    return error_set(
        error, ST_CORRUPT,
        history == HISTORY_CUT
            ? "the database is older than the head on record, entry %llu: a start "
              "freezes its private datasets"
            : "the database is another timeline than the head on record, entry %llu, "
              "or "
              "nothing shows that it is the same: a start freezes its private datasets "
              "and counts one timeline more",
        (unsigned long long)kept->head.entry.seq);
}

/* Checks everything that a start checks, the price of every charge, what is shown of
 * ended jobs, and the audit trail. */
static enum status check_rows(struct inspection *inspection, struct store_tx *tx,
                              struct error *error)
{
    static const struct verify_visitor visitor = {.budget = print_epochs};
    const struct jobs_base base = {.reads_all = true};
    struct ledger *ledger = NULL;
    inspection->report.wanted = inspection->kept.head.entry;
    enum status status =
        verify_archived(tx, inspection->archive, &inspection->report, &visitor, error);
    if (status == ST_OK)
        status = ledger_open_whole(&ledger, inspection->store, tx, error);
    if (status == ST_OK)
        status = check_head(inspection, ledger, tx, error);
    if (status == ST_OK)
        status = consistency_check_open(&inspection->inventory, tx, &base, error);
    if (status == ST_OK)
        status = consistency_check_run(&inspection->inventory, ledger, error);
    if (status == ST_OK)
        status = charge_check_run(inspection->inventory.jobs, ledger, tx, error);
    if (status == ST_OK)
        status = audit_trail_verify(tx, &inspection->audit, error);
    ledger_close(ledger);
    return status;
}

static enum status inspect(struct inspection *inspection, struct error *error)
{
    struct store_tx *tx;
    const struct config *config = inspection->config;
    enum status status = ST_OK;
    if (config->head_file[0] != '\0')
        status = head_file_read_kept(&inspection->kept, config->head_file, error);
    if (status == ST_OK)
        status = blob_config_open_read(inspection->blobs, inspection->store, config,
                                       &inspection->elsewhere, error);
    if (status == ST_OK)
        status = store_begin(inspection->store, STORE_READ, &tx, error);
    if (status != ST_OK)
        return status;
    status = check_rows(inspection, tx, error);
    store_rollback(tx);
    if (status != ST_OK)
        return status;
    return file_check_run(&inspection->inventory, inspection->store, inspection->blobs,
                          error);
}

/* Prints where the ledger was read from, if not from its first entry in the store. */
static void print_sealed(const struct verify_report *report)
{
    if (report->sealed > 0)
        printf(
            "epsilond verify: ok, read from the seal at entry %llu; entries before it "
            "are archived: --from-genesis --archive FOLDER reads them\n",
            (unsigned long long)report->sealed);
    if (report->archives > 0)
        printf("epsilond verify: ok, read from the first entry, through %llu archives, "
               "and their sums are what was sealed\n",
               (unsigned long long)report->archives);
}

static int verify_whole(struct ledger_entry_name *head, const struct config *config,
                        const char *archive, struct blobs *blobs, struct store *store)
{
    struct inspection inspection = {
        .config = config, .archive = archive, .blobs = blobs, .store = store};
    struct error error = {0};
    char hash[SHA256_HEX_SIZE];
    enum status status = inspect(&inspection, &error);
    const struct verify_report *report = &inspection.report;
    consistency_check_close(&inspection.inventory);
    head_kept_fini(&inspection.kept);
    blob_objects_leave(blobs);
    if (status != ST_OK)
        return report_failure(status, report, &error);
    *head = report->head;
    sha256_render(hash, report->head.hash);
    printf("epsilond verify: ok, %llu entries, %llu datasets, head %llu %s\n",
           (unsigned long long)report->entries, (unsigned long long)report->datasets,
           (unsigned long long)report->head.seq, hash);
    print_sealed(report);
    sha256_render(hash, inspection.audit.hash);
    printf("epsilond verify: ok, audit trail of %llu acts, head %s\n",
           (unsigned long long)inspection.audit.seq, hash);
    if (inspection.elsewhere)
        printf("epsilond verify: ok, files are in a bucket: %s\n",
               config->check_objects
                   ? "each was read"
                   : "their rows agree; --check-objects on reads them");
    return EX_OK;
}

int verify_opened(struct ledger_entry_name *head, const struct config *config,
                  struct blobs *blobs, struct store *store)
{
    return verify_whole(head, config, NULL, blobs, store);
}

static int verify_blobs(const struct config *config, const char *archive,
                        struct blobs *blobs)
{
    struct store *store = NULL;
    struct ledger_entry_name head;
    struct error error = {0};
    enum status status = store_config_open_read(&store, config, blobs, &error);
    if (status != ST_OK)
        return report_failure(status, &(struct verify_report){0}, &error);
    int code = verify_whole(&head, config, archive, blobs, store);
    store_close(store);
    return code;
}

static int verify_with(const struct config *config, const char *archive)
{
    struct error error = {0};
    struct blobs *blobs = NULL;
    if (blobs_open_read(&blobs, config->data_dir, &error) != ST_OK) {
        printf("epsilond verify: %s\n", error.text);
        return EX_TEMPFAIL;
    }
    int code = verify_blobs(config, archive, blobs);
    blobs_close(blobs);
    return code;
}

int verify_directory(const struct config *config)
{
    return verify_with(config, NULL);
}

/* Takes --from-genesis and --archive, which go together, out of the arguments. */
static enum status read_own(const char **archive, int *argc, char **argv,
                            struct error *error)
{
    int kept = 1;
    bool genesis = false;
    *archive = NULL;
    for (int i = 1; i < *argc; i++) {
        if (strcmp(argv[i], "--from-genesis") == 0)
            genesis = true;
        else if (strcmp(argv[i], "--archive") == 0 && i + 1 < *argc)
            *archive = argv[++i];
        else
            argv[kept++] = argv[i];
    }
    argv[kept] = NULL;
    *argc = kept;
    if (genesis == (*archive != NULL))
        return ST_OK;
    return error_set(error, ST_INVALID,
                     "--from-genesis and --archive FOLDER go together");
}

int verify_command(int argc, char **argv)
{
    struct config config;
    enum config_outcome outcome = CONFIG_RUN;
    const char *archive = NULL;
    struct error error = {0};
    enum status status = read_own(&archive, &argc, argv, &error);
    if (status == ST_OK)
        status = config_read(&config, &outcome, argc, argv, &error);
    if (status != ST_OK) {
        fprintf(stderr, "epsilond verify: %s\n", error.text);
        return status == ST_IO ? EX_CONFIG : EX_USAGE;
    }
    if (outcome != CONFIG_RUN) {
        fputs(config_help(), stdout);
        return EX_OK;
    }
    rank_memory_sweep();
    return verify_with(&config, archive);
}
