#include "service/commands/regrant_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "accountant/ledger/ledger.h"
#include "accountant/ledger/ledger_view.h"
#include "api/requests/acknowledgement.h"
#include "api/views/audit_view.h"
#include "base/clock.h"
#include "engine/data/encode.h"
#include "service/audit/audit_trail.h"
#include "service/config/config.h"
#include "service/ingest/regrant.h"
#include "service/process/daemon_state.h"
#include "service/server/daemon_lifecycle.h"

const char regrant_usage[] =
    "usage: epsilond regrant ID --epsilon E --delta D [--order A]\n"
    "                        [--discovery-delta D] [--acknowledge NAME]...\n"
    "                        --data-dir DIR\n";

struct regrant {
    struct dataset_id dataset;
    struct grant grant;
    enum acknowledged acknowledged;
    struct config config;
    struct guarantee guarantee; /* after the regrant, over all epochs */
};

/* Takes the option at argv[*i] if it is one of this command's, and moves *i to its
 * value. Otherwise taken is false: it belongs to the configuration. */
static enum status take_option(struct regrant *regrant, int argc, char **argv, int *i,
                               bool *taken, struct error *error)
{
    const struct {
        const char *name;
        double *value;
    } numbers[] = {{"--epsilon", &regrant->grant.epsilon},
                   {"--delta", &regrant->grant.delta},
                   {"--order", &regrant->grant.order},
                   {"--discovery-delta", &regrant->grant.discovery_delta}};
    const char *option = argv[*i], *text = *i + 1 < argc ? argv[*i + 1] : "";
    bool acknowledges = strcmp(option, "--acknowledge") == 0;
    size_t at = 0, count = sizeof numbers / sizeof *numbers;
    while (at < count && strcmp(option, numbers[at].name) != 0)
        at++;
    *taken = acknowledges || at < count;
    if (!*taken)
        return ST_OK;
    *i += *i + 1 < argc;
    if (acknowledges && !acknowledgement_add(&regrant->acknowledged, text))
        return error_set(error, ST_INVALID,
                         "--acknowledge needs %s or %s, each at most once",
                         acknowledged_names[0], acknowledged_names[1]);
    if (!acknowledges && encode_number(numbers[at].value, text, strlen(text)) != ST_OK)
        return error_set(error, ST_INVALID, "%s needs a number", option);
    return ST_OK;
}

/* Takes the options of this command out of the arguments, and reads the rest as the
 * configuration. */
static enum status read_arguments(struct regrant *regrant, int argc, char **argv,
                                  struct error *error)
{
    enum config_outcome outcome;
    enum status status = ST_OK;
    int kept = 1;
    if (argc < 2 || !dataset_id_parse(&regrant->dataset, argv[1]))
        return error_set(error, ST_INVALID,
                         "the first argument must be a dataset's id");
    for (int i = 2; i < argc && status == ST_OK; i++) {
        bool taken;
        char *option = argv[i];
        status = take_option(regrant, argc, argv, &i, &taken, error);
        if (!taken)
            argv[kept++] = option;
    }
    return status == ST_OK ? config_read(&regrant->config, &outcome, kept, argv, error)
                           : status;
}

static enum status tell_regrant(struct store_tx *tx, const struct regrant *regrant,
                                struct error *error)
{
    char *detail = regrant_act_render(&regrant->grant, regrant->acknowledged);
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
    enum status status = audit_trail_append(tx, &act, error);
    free(detail);
    return status;
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
    status = regrant_make(context, tx, &promise, regrant->acknowledged, error);
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
        bool asks = strcmp(error.pointer, "/acknowledge") == 0;
        fprintf(stderr, "epsilond regrant: %s%s\n", error.text,
                asks ? " (here: --acknowledge NAME, once for each name)" : "");
        return exit_code(status);
    }
    printf(
        "epsilond regrant: %s has a new epoch, epsilon %.15g at delta %.15g; over all "
        "its epochs epsilon %.15g at delta %.15g\n",
        regrant.dataset.text, regrant.grant.epsilon, regrant.grant.delta,
        regrant.guarantee.epsilon, regrant.guarantee.delta);
    return EX_OK;
}
