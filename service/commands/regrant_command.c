#include "service/commands/regrant_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "accountant/ledger/ledger.h"
#include "accountant/ledger/ledger_view.h"
#include "base/clock.h"
#include "engine/data/encode.h"
#include "service/audit/audit_trail.h"
#include "service/config/config.h"
#include "service/ingest/regrant.h"
#include "service/process/daemon_state.h"
#include "service/server/daemon_lifecycle.h"

const char regrant_usage[] =
    "usage: epsilond regrant ID --epsilon E --delta D [--order A] --data-dir DIR\n";

struct regrant {
    struct dataset_id dataset;
    struct grant grant;
    struct config config;
    struct guarantee guarantee; /* after the regrant, over all epochs */
};

/* Takes --epsilon, --delta and --order out of the arguments; the rest belongs to the
 * configuration. */
static enum status read_arguments(struct regrant *regrant, int argc, char **argv,
                                  struct error *error)
{
    const struct {
        const char *name;
        double *value;
    } own[] = {{"--epsilon", &regrant->grant.epsilon},
               {"--delta", &regrant->grant.delta},
               {"--order", &regrant->grant.order}};
    enum config_outcome outcome;
    int kept = 1;
    if (argc < 2 || !dataset_id_parse(&regrant->dataset, argv[1]))
        return error_set(error, ST_INVALID,
                         "the first argument must be a dataset's id");
    for (int i = 2; i < argc; i++) {
        size_t at = 0, count = sizeof own / sizeof *own;
        while (at < count && strcmp(argv[i], own[at].name) != 0)
            at++;
        if (at == count) {
            argv[kept++] = argv[i];
            continue;
        }
        const char *text = i + 1 < argc ? argv[++i] : "";
        if (encode_number(own[at].value, text, strlen(text)) != ST_OK)
            return error_set(error, ST_INVALID, "%s needs a number", own[at].name);
    }
    return config_read(&regrant->config, &outcome, kept, argv, error);
}

static enum status tell_regrant(struct store_tx *tx, const struct regrant *regrant,
                                struct error *error)
{
    char detail[96];
    snprintf(detail, sizeof detail, "{\"epsilon\":%.17g,\"delta\":%.17g}",
             regrant->grant.epsilon, regrant->grant.delta);
    const struct audit_row act = {
        .second = clock_wall_s(),
        .actor = principal_local.name,
        .key = "",
        .project = principal_local.project,
        .via = via_name(VIA_CLI),
        .address = "",
        .action = "dataset.regrant",
        .object = regrant->dataset.text,
        .result = "ok",
        .code = "",
        .request = "",
        .detail = detail,
    };
    return audit_trail_append(tx, &act, error);
}

static enum status grant_in(struct daemon_state *context, struct regrant *regrant,
                            struct error *error)
{
    struct store_tx *tx = NULL;
    struct balance balance;
    const struct ledger_promise promise = {&regrant->dataset, &regrant->grant,
                                           &principal_local, NULL};
    enum status status = store_begin(context->store, STORE_LEDGER, &tx, error);
    if (status != ST_OK)
        return status;
    status = regrant_make(context, tx, &promise, error);
    if (status == ST_OK)
        status = tell_regrant(tx, regrant, error);
    status = store_end(tx, status, error);
    struct epochs epochs;
    if (status == ST_OK)
        status =
            ledger_epochs(context->ledger, &regrant->dataset, &epochs, &balance, error);
    if (status != ST_OK)
        return status;
    regrant->guarantee = odometer_guarantee(&epochs);
    epochs_fini(&epochs);
    return ST_OK;
}

static int exit_code(enum status status)
{
    if (status == ST_CORRUPT)
        return EX_DATAERR;
    return status == ST_IO ? EX_TEMPFAIL : EX_USAGE;
}

int regrant_command(int argc, char **argv)
{
    struct regrant regrant = {0};
    struct daemon_state context = {0};
    const struct daemon_lifecycle_hooks none = {0};
    struct error error = {0};
    enum status status = read_arguments(&regrant, argc, argv, &error);
    if (status != ST_OK) {
        fprintf(stderr, "epsilond regrant: %s\n%s", error.text, regrant_usage);
        return EX_USAGE;
    }
    regrant.config.role = DAEMON_ALONE; /* ignores the configured role */
    status = daemon_lifecycle_open(&context, &regrant.config, &none, &error);
    if (status == ST_OK)
        status = grant_in(&context, &regrant, &error);
    daemon_lifecycle_close(&context);
    if (status != ST_OK) {
        fprintf(stderr, "epsilond regrant: %s\n", error.text);
        return exit_code(status);
    }
    printf(
        "epsilond regrant: %s has a new epoch, epsilon %.15g at delta %.15g; over all "
        "its epochs epsilon %.15g at delta %.15g\n",
        regrant.dataset.text, regrant.grant.epsilon, regrant.grant.delta,
        regrant.guarantee.epsilon, regrant.guarantee.delta);
    return EX_OK;
}
