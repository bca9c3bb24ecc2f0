#include "service/datasets/dataset_record.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "service/datasets/captions.h"
#include "store/rows/dataset_rows.h"

static enum status read_owner(struct principal *owner, const struct dataset_row *row,
                              struct error *error)
{
    if (!principal_parse(owner, row->created_by) || !project_name_is_good(row->project))
        return error_set(error, ST_CORRUPT, "its owner or project is no name");
    strcpy(owner->project, row->project); /* a good name fits */
    return ST_OK;
}

/* Reads the members of a row that have a format of their own. */
static enum status read_members(struct dataset *dataset, const struct dataset_row *row,
                                struct error *error)
{
    enum status status = dataset_spec_restore(&dataset->spec, row->spec, error);
    if (status == ST_OK)
        status = dataset_detail_parse(&dataset->info.detail, row->detail, error);
    if (status == ST_OK && !dataset_state_parse(&dataset->info.state, row->state))
        status =
            error_set(error, ST_CORRUPT, "state \"%.32s\" is no state", row->state);
    if (status == ST_OK && strcmp(dataset->spec.id.text, row->id.text) != 0)
        status = error_set(error, ST_CORRUPT, "its spec is of \"%s\"",
                           dataset->spec.id.text);
    return status == ST_OK ? read_owner(&dataset->owner, row, error) : status;
}

enum status dataset_record_read(struct dataset **out, const struct dataset_row *row,
                                struct error *error)
{
    struct dataset *dataset = calloc(1, sizeof *dataset);
    CHECK(dataset != NULL);
    enum status status = read_members(dataset, row, error);
    if (status != ST_OK) {
        error_within(error, status, "table dataset, row %s", row->id.text);
        dataset_record_destroy(dataset);
        return status;
    }
    dataset->info.version = row->version;
    dataset->info.create_ms = row->create_ms;
    dataset->info.is_fetched = row->fetched;
    dataset->info.has_sha256 = row->sha256 != NULL;
    if (row->sha256 != NULL)
        memcpy(dataset->info.sha256, row->sha256, SHA256_SIZE);
    *out = dataset;
    return ST_OK;
}

void dataset_record_destroy(struct dataset *dataset)
{
    dataset_spec_fini(&dataset->spec);
    caption_fini(&dataset->caption);
    free(dataset);
}

enum status dataset_record_write(struct store_tx *tx, const struct dataset *dataset,
                                 const struct dataset_info *info, enum writing writing,
                                 struct error *error)
{
    enum status status = ST_OK;
    char *spec = dataset_spec_render(&dataset->spec);
    char *detail = dataset_detail_render(&info->detail);
    struct dataset_row row = {
        .id = dataset->spec.id,
        .version = info->version,
        .replaces = info->version - 1,
        .state = dataset_state_names[info->state],
        .spec = spec,
        .detail = detail,
        .sha256 = info->has_sha256 ? info->sha256 : NULL,
        .create_ms = info->create_ms,
        .project = dataset->owner.project,
        .created_by = dataset->owner.name,
        .fetched = info->is_fetched,
    };
    switch (writing) {
    case ROW_INSERT: status = dataset_row_insert(tx, &row, error); break;
    case ROW_DECLARE: status = dataset_row_declare(tx, &row, error); break;
    case ROW_UPDATE: status = dataset_row_update(tx, &row, error); break;
    }
    if (status == ST_OK && writing != ROW_UPDATE)
        status = caption_write_row(tx, CAPTIONED_DATASET, row.id.text,
                                   &dataset->caption, error);
    free(detail);
    free(spec);
    return status;
}
