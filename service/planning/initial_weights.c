#include "service/planning/initial_weights.h"

#include <stdio.h>

#include "engine/model_file/model_file.h"
#include "engine/train_spec.h"
#include "service/access/access.h"
#include "service/http/blob_prefetch.h"
#include "service/models/model_parts.h"
#include "service/models/models.h"
#include "service/models/weight_files.h"
#include "service/process/daemon_state.h"
#include "store/rows/model_rows.h"
#include "store/rows/weights_rows.h"

static const char pointer[] = "/model/weights";

/* A file of weights is not part of the ledger: a failure to fetch it must not look like
 * a corrupt ledger. */
static enum status borrow(struct initial_weights *weights,
                          const struct daemon_state *context, struct blob_loan *loan,
                          const struct blob_name *name, struct error *error)
{
    struct error local = {0};
    enum status status = weights->prefetch != NULL
                             ? blob_prefetch_borrow(weights->prefetch, context->blobs,
                                                    loan, name, &local)
                             : blob_fetch(context->blobs, loan, name, &local);
    if (status == ST_OK)
        return ST_OK;
    if (status == ST_DISK_FULL || status == ST_QUEUE_FULL || status == ST_DRAINING ||
        status == ST_CANCELLED)
        return error_set(error, status, "%s: %s", name->id, local.text);
    return error_set_at(error, status == ST_IO ? ST_INTERNAL : ST_MODEL_CORRUPT,
                        pointer, "%s: %s", name->id, local.text);
}

/* Borrows the file of the model's body, if its own file was written without it. */
static enum status find_body(struct initial_weights *weights,
                             struct daemon_state *context, const struct model_row *row,
                             struct error *error)
{
    struct blob_name name;
    struct error local = {0};
    enum status status =
        model_parts_find_body(&name, &weights->body_seal, context, row, &local);
    if (status == ST_NOT_FOUND)
        return ST_OK;
    if (status != ST_OK)
        return error_set_at(error, ST_MODEL_CORRUPT, pointer, "%s: %s", row->id.text,
                            local.text);
    weights->has_body = true;
    weights->body_loan.cancel = weights->loan.cancel;
    return borrow(weights, context, &weights->body_loan, &name, error);
}

static enum status find_model(struct initial_weights *weights,
                              struct daemon_state *context, const char *id,
                              struct error *error)
{
    const struct model_row *row = models_find(context->models, id);
    struct ancestor parent = {0};
    if (row == NULL)
        return error_set_at(error, ST_MODEL_CORRUPT, pointer, "%s was deleted", id);
    const struct blob_name name = blob_of_model(&row->id);
    weights->seal = model_row_seal(row);
    snprintf(parent.id, sizeof parent.id, "%s", row->id.text);
    sha256_render(parent.sha256, row->sha256);
    enum status status = ancestry_of(&weights->ancestry, row->card, &parent, error);
    if (status == ST_OK)
        status = borrow(weights, context, &weights->loan, &name, error);
    return status == ST_OK ? find_body(weights, context, row, error) : status;
}

static enum status find_file(struct initial_weights *weights,
                             struct daemon_state *context, const char *id,
                             struct error *error)
{
    const struct weights_row *row = weight_files_find(context->weight_files, id);
    struct ancestor parent = {0};
    if (row == NULL)
        return error_set_at(error, ST_MODEL_CORRUPT, pointer, "%s was deleted", id);
    const struct blob_name name = blob_of_weights(&row->id);
    weights->seal = weights_row_seal(row);
    snprintf(parent.id, sizeof parent.id, "%s", row->id.text);
    snprintf(parent.note, sizeof parent.note, "%s", row->note);
    sha256_render(parent.sha256, row->sha256);
    enum status status = ancestry_of(&weights->ancestry, NULL, &parent, error);
    return status == ST_OK ? borrow(weights, context, &weights->loan, &name, error)
                           : status;
}

static bool is_file(const char *id)
{
    struct file_id file;
    return file_id_parse(&file, id);
}

enum status initial_weights_find(struct initial_weights *weights,
                                 struct daemon_state *context, const char *id,
                                 struct error *error)
{
    return is_file(id) ? find_file(weights, context, id, error)
                       : find_model(weights, context, id, error);
}

const struct weights_source *
initial_weights_source(const struct initial_weights *weights,
                       struct weights_source *own, struct weights_source *body)
{
    *body = (struct weights_source){.path = weights->body_loan.path,
                                    .seal = weights->body_seal};
    *own = (struct weights_source){.path = weights->loan.path,
                                   .seal = weights->seal,
                                   .body = weights->has_body ? body : NULL};
    return own;
}

enum status initial_weights_sha256(struct daemon_state *context, const char *id,
                                   char text[SHA256_HEX_SIZE], struct error *error)
{
    text[0] = '\0';
    if (id[0] == '\0')
        return ST_OK;
    const struct weights_row *file =
        is_file(id) ? weight_files_find(context->weight_files, id) : NULL;
    const struct model_row *model =
        is_file(id) ? NULL : models_find(context->models, id);
    if (file == NULL && model == NULL)
        return error_set_at(error, ST_MODEL_CORRUPT, pointer, "%s was deleted", id);
    sha256_render(text, file != NULL ? file->sha256 : model->sha256);
    return ST_OK;
}

void initial_weights_release(struct initial_weights *weights,
                             const struct daemon_state *context)
{
    blob_give_back(context->blobs, &weights->loan);
    blob_give_back(context->blobs, &weights->body_loan);
}

/* Checks whether the principal may begin with the weights. */
static enum status check_access(struct daemon_state *context,
                                const struct principal *principal, const char *id,
                                struct error *error)
{
    const struct access_question of_model = {principal, SCOPE_MODELS_READ, pointer};
    const struct access_question of_file = {principal, SCOPE_CERTIFICATES_READ,
                                            pointer};
    const struct model_row *model;
    const struct weights_row *file;
    return is_file(id) ? access_find_file(context, &of_file, id, &file, error)
                       : access_find_model(context, &of_model, id, &model, error);
}

static enum status check_fit(const struct initial_weights *weights, const char *id,
                             const struct train_spec *train, struct error *error)
{
    struct weights_source own, body;
    struct error local = {0};
    enum status status = model_file_check_start(
        initial_weights_source(weights, &own, &body), train->network, &local);
    if (status == ST_OK)
        return ST_OK;
    return error_set_at(error, status == ST_INVALID ? ST_INVALID : ST_MODEL_CORRUPT,
                        pointer, "%s: %s", id, local.text);
}

enum status initial_weights_check(struct daemon_state *context,
                                  const struct principal *principal,
                                  const struct train_spec *train,
                                  struct blob_prefetch *prefetch, struct error *error)
{
    const char *id = train->model.start.weights;
    struct initial_weights weights = {.prefetch = prefetch};
    if (id[0] == '\0')
        return ST_OK;
    enum status status = check_access(context, principal, id, error);
    if (status == ST_OK)
        status = initial_weights_find(&weights, context, id, error);
    if (status == ST_OK)
        status = check_fit(&weights, id, train, error);
    initial_weights_release(&weights, context);
    return status;
}
