#include "service/handlers/file_users.h"

#include <string.h>

#include "engine/data/text_column.h"
#include "service/access/access.h"
#include "service/datasets/datasets.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/jobs.h"
#include "service/models/model_parts.h"
#include "service/models/models.h"
#include "service/process/daemon_state.h"
#include "store/rows/model_rows.h"

/* Returns whether the dataset's texts were made ids by a tokenizer with the file. */
static bool dataset_names(const struct dataset *dataset, const struct file_id *file)
{
    const struct column *column = schema_text(&dataset_spec(dataset)->schema);
    for (size_t i = 0; column != NULL && i < text_column_files(column->text); i++)
        if (strcmp(column->text->files[i].text, file->text) == 0)
            return true;
    return false;
}

static enum status check_datasets(struct daemon_state *context,
                                  const struct access_question *question,
                                  const struct file_id *file, struct error *error)
{
    const size_t count = datasets_count(context->datasets);
    for (size_t i = 0; i < count; i++) {
        const struct dataset *dataset = datasets_at(context->datasets, i);
        struct dataset_info info;
        dataset_read(context->datasets, dataset, &info);
        if (info.state == DATASET_DELETED || !dataset_names(dataset, file))
            continue;
        return access_sees_dataset(question, dataset)
                   ? error_set(error, ST_FILE_IN_USE,
                               "dataset \"%s\" has a tokenizer with this file",
                               dataset_spec(dataset)->id.text)
                   : error_set(error, ST_FILE_IN_USE,
                               "a dataset of someone else has a tokenizer with this "
                               "file");
    }
    return ST_OK;
}

/* Returns whether the model reads texts of a dataset that names the file. The dataset may
 * be deleted. */
static bool model_needs(struct daemon_state *context, const struct model_row *row,
                        const struct file_id *file)
{
    const struct job *job = jobs_find_ever(context->jobs, row->job.text);
    if (job == NULL || job_check(job, NULL) != ST_OK)
        return false;
    const struct dataset *dataset =
        datasets_find(context->datasets, job_plan(job)->request.dataset.text);
    return dataset != NULL && dataset_names(dataset, file);
}

static enum status check_models(struct daemon_state *context,
                                const struct access_question *question,
                                const struct file_id *file, struct error *error)
{
    const size_t count = models_count(context->models);
    for (size_t i = 0; i < count; i++) {
        const struct model_row *row = models_at(context->models, i);
        if (model_is_removed(context->models, row) || !model_needs(context, row, file))
            continue;
        const char *seen = access_sees_model(context, question, row)
                               ? row->id.text
                               : "of someone else";
        return error_set(error, ST_FILE_IN_USE,
                         "a model, %s, predicts from texts with a tokenizer of this "
                         "file",
                         seen);
    }
    return ST_OK;
}

/* Checks whether weights may go. A job that has not ended may come to need them, and
 * what checks and submits is one thread. */
static enum status check_weights(struct daemon_state *context,
                                 const struct file_id *file, struct error *error)
{
    if (model_parts_need(context, file->text))
        return error_set(
            error, ST_FILE_IN_USE,
            "a model has its frozen layers in this file: delete the models "
            "whose certificate names it as base");
    if (jobs_start_from(context->jobs, file->text) > 0)
        return error_set(error, ST_FILE_IN_USE,
                         "a job that starts from it is queued or running: cancel the "
                         "job, or wait until it has ended");
    return ST_OK;
}

enum status file_users_check_none(struct daemon_state *context,
                                  const struct access_question *question,
                                  const struct file_id *file, struct error *error)
{
    enum status status = check_weights(context, file, error);
    if (status == ST_OK)
        status = check_datasets(context, question, file, error);
    return status == ST_OK ? check_models(context, question, file, error) : status;
}
