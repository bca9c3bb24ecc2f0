#include "service/datasets/dataset_json.h"

#include "accountant/ledger/ledger_view.h"
#include "accountant/pricing/odometer.h"
#include "api/limits.h"
#include "api/requests/dataset_request.h"
#include "api/views/dataset_view.h"
#include "base/check.h"
#include "base/clock.h"
#include "service/datasets/dataset_info.h"
#include "service/datasets/datasets.h"
#include "service/datasets/list_cache.h"
#include "service/process/daemon_state.h"

/* Returns a view that borrows from dataset, info and caption. */
static struct dataset_view view_of(const struct dataset *dataset,
                                   const struct dataset_info *info,
                                   const struct caption *caption)
{
    return (struct dataset_view){
        .spec = dataset_spec(dataset),
        .caption = caption,
        .state = dataset_state_names[info->state],
        .records = info->detail.records,
        .size = info->detail.size,
        .sha256 = info->has_sha256 ? info->sha256 : NULL,
        .failure = info->detail.failure,
        .create_ms = info->create_ms,
        .project = dataset_owner(dataset)->project,
        .created_by = dataset_owner(dataset)->name,
        .import_ms = info->detail.import_ms,
        .proposal = &info->detail.proposal,
        .now_ms = clock_wall_ms(),
    };
}

/* Returns the epochs of the dataset's budget: those of the ledger, or the declared
 * grant if its entry is in a transaction that is still open. Returns none if the
 * account cannot be read: this process is about to end. */
static struct epochs epochs_of(const struct dataset_spec *spec, struct ledger *ledger)
{
    struct epochs epochs = {0};
    struct balance balance = {.epoch = 0};
    struct epoch declared = {.grant = spec->grant};
    if (spec->is_public)
        return epochs;
    enum status status = ledger_epochs(ledger, &spec->id, &epochs, &balance, NULL);
    bool is_known = status == ST_OK || status == ST_NOT_FOUND;
    if (!is_known ||
        (status == ST_OK && grant_same(&epochs.items[0].grant, &spec->grant)))
        return epochs;
    epochs_fini(&epochs);
    declared.number = balance.epoch + 1;
    CHECK(filter_of(&declared.filter, &declared.grant, NULL) == ST_OK);
    epochs_append(&epochs, &declared);
    return epochs;
}

static char *compose_line(struct datasets *datasets, const struct dataset *dataset,
                          struct ledger *ledger)
{
    struct dataset_info info;
    struct balance balance;
    struct caption caption = dataset_caption(datasets, dataset);
    dataset_read_as(datasets, dataset, NULL, &info);
    struct dataset_view view = view_of(dataset, &info, &caption);
    if (!dataset_spec(dataset)->is_public && !proposal_bars(&info.detail.proposal) &&
        ledger_balance(ledger, &dataset_spec(dataset)->id, &balance, NULL) == ST_OK)
        view.balance = &balance;
    char *text = dataset_summary_render(&view);
    caption_fini(&caption);
    return text;
}

char *dataset_summary_text(struct daemon_state *context, const struct dataset *dataset)
{
    const struct dataset_id *id = &dataset_spec(dataset)->id;
    const struct line_key key = {
        dataset,
        {datasets_version(context->datasets), ledger_version(context->ledger, id)}};
    char *text = list_cache_find(context->dataset_lines, &key);
    if (text == NULL) {
        text = compose_line(context->datasets, dataset, context->ledger);
        list_cache_put(context->dataset_lines, &key, text);
    }
    return text;
}

char *dataset_json(struct datasets *datasets, const struct dataset *dataset,
                   struct ledger *ledger, const struct principal *reader)
{
    struct dataset_info info;
    struct epochs epochs = {0};
    struct caption caption = dataset_caption(datasets, dataset);
    dataset_read_as(datasets, dataset, reader, &info);
    if (!proposal_bars(&info.detail.proposal))
        epochs = epochs_of(dataset_spec(dataset), ledger);
    struct dataset_view view = view_of(dataset, &info, &caption);
    struct dataset_id evaluations[LIMIT_EVALUATIONS];
    view.epochs = epochs.count > 0 ? &epochs : NULL;
    view.evaluations = evaluations;
    view.evaluation_count = datasets_evaluations(datasets, dataset, evaluations);
    char *text = dataset_render(&view);
    caption_fini(&caption);
    epochs_fini(&epochs);
    return text;
}

char *dataset_import_text(const struct dataset *dataset,
                          const struct dataset_info *info,
                          const struct import_failure *told,
                          const struct import_report *report)
{
    struct dataset_view view = view_of(dataset, info, NULL);
    view.failure = *told;
    view.report = report;
    return import_render(&view);
}
