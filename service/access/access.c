#include "service/access/access.h"

#include "api/http/roles.h"
#include "base/status.h"
#include "service/datasets/dataset_info.h"
#include "service/datasets/datasets.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/jobs.h"
#include "service/models/models.h"
#include "service/models/weight_files.h"
#include "service/process/daemon_state.h"
#include "service/webhooks/webhooks.h"
#include "store/rows/model_rows.h"
#include "store/rows/weights_rows.h"

static struct access_object of_dataset(const struct dataset *dataset)
{
    if (dataset == NULL)
        return (struct access_object){0};
    const struct principal *owner = dataset_owner(dataset);
    return (struct access_object){owner->project, owner->name};
}

static struct access_object of_job(const struct job *job)
{
    if (job == NULL)
        return (struct access_object){0};
    return (struct access_object){job_project(job), job_owner(job)};
}

/* A model belongs to its job. If there is no such model, some existing job is looked up
 * all the same, so that both cases take equally long. */
static struct access_object of_model(struct daemon_state *context,
                                     const struct model_row *row)
{
    size_t count = jobs_count(context->jobs);
    const struct job *any = count > 0 ? jobs_at(context->jobs, count - 1) : NULL;
    const char *id = row != NULL ? row->job.text : any != NULL ? job_id(any)->text : "";
    const struct access_object object = of_job(jobs_find(context->jobs, id));
    return row != NULL ? object : (struct access_object){0};
}

static enum status forbid(enum scope scope, struct error *error)
{
    return error_set(error, ST_FORBIDDEN, "this takes the scope %s", scope_name(scope));
}

enum status access_check_scope(const struct access_question *question,
                               struct error *error)
{
    if (principal_reach(question->principal, question->scope) == REACH_NONE)
        return forbid(question->scope, error);
    return ST_OK;
}

enum status access_check_thing(const struct access_question *question, const char *kind,
                               const char *id, const struct access_object *object,
                               struct error *error)
{
    switch (access_decide(question->principal, question->scope, object)) {
    case ACCESS_ALLOWED: return ST_OK;
    case ACCESS_NOT_FOUND:
        return error_set_at(error, ST_NOT_FOUND, question->pointer, "no %s \"%s\"",
                            kind, id);
    case ACCESS_FORBIDDEN: break;
    }
    if (principal_reach(question->principal, question->scope) == REACH_OWN)
        return error_set_at(error, ST_FORBIDDEN, question->pointer,
                            "with %s this key reaches only what its owner made",
                            scope_name(question->scope));
    return forbid(question->scope, error);
}

enum status access_find_dataset(struct daemon_state *context,
                                const struct access_question *question, const char *id,
                                struct dataset **out, struct error *error)
{
    *out = datasets_find(context->datasets, id);
    const struct access_object object = of_dataset(*out);
    return access_check_thing(question, "dataset", id, &object, error);
}

enum status access_find_own_dataset(struct daemon_state *context,
                                    const struct access_question *question,
                                    const char *id, struct dataset **out,
                                    struct error *error)
{
    enum status status = access_find_dataset(context, question, id, out, error);
    if (status != ST_OK || principal_equal(dataset_owner(*out), question->principal))
        return status;
    return error_set_at(
        error, ST_FORBIDDEN, question->pointer,
        "only the owner of dataset \"%s\" declares it again, brings its "
        "files or imports them: declare the records under another id",
        id);
}

bool access_owns_dataset(const struct principal *principal,
                         const struct dataset *dataset)
{
    return principal_equal(dataset_owner(dataset), principal);
}

enum status access_find_job(struct daemon_state *context,
                            const struct access_question *question, const char *id,
                            struct job **out, struct error *error)
{
    *out = jobs_find(context->jobs, id);
    const struct access_object object = of_job(*out);
    enum status status = access_check_thing(question, "job", id, &object, error);
    return status == ST_OK ? job_check(*out, error) : status;
}

enum status access_find_model(struct daemon_state *context,
                              const struct access_question *question, const char *id,
                              const struct model_row **out, struct error *error)
{
    *out = models_find(context->models, id);
    const struct access_object object = of_model(context, *out);
    return access_check_thing(question, "model", id, &object, error);
}

static struct access_object of_file(const struct weights_row *row)
{
    if (row == NULL)
        return (struct access_object){0};
    return (struct access_object){row->project, row->created_by};
}

enum status access_find_file(struct daemon_state *context,
                             const struct access_question *question, const char *id,
                             const struct weights_row **out, struct error *error)
{
    *out = weight_files_find(context->weight_files, id);
    const struct access_object object = of_file(*out);
    return access_check_thing(question, "file", id, &object, error);
}

static struct access_object of_webhook(const struct webhook *webhook)
{
    return (struct access_object){webhook->owner.project, webhook->owner.name};
}

enum status access_find_webhook(struct daemon_state *context,
                                const struct access_question *question, const char *id,
                                struct webhook *out, struct error *error)
{
    struct principal owner;
    bool found = webhooks_find_owner(context->webhooks, id, &owner);
    const struct access_object object = {found ? owner.project : NULL, owner.name};
    enum status status = access_check_thing(question, "webhook", id, &object, error);
    if (status == ST_OK && !webhooks_find(context->webhooks, id, out))
        return error_set(error, ST_NOT_FOUND, "no webhook \"%s\"", id);
    return status;
}

bool access_sees(const struct access_question *question,
                 const struct access_object *object)
{
    return access_decide(question->principal, question->scope, object) ==
           ACCESS_ALLOWED;
}

bool access_sees_dataset(const struct access_question *question,
                         const struct dataset *dataset)
{
    const struct access_object object = of_dataset(dataset);
    return access_sees(question, &object);
}

bool access_sees_job(const struct access_question *question, const struct job *job)
{
    const struct access_object object = of_job(job);
    return access_sees(question, &object);
}

bool access_sees_model(struct daemon_state *context,
                       const struct access_question *question,
                       const struct model_row *row)
{
    const struct access_object object = of_model(context, row);
    return access_sees(question, &object);
}

bool access_sees_file(const struct access_question *question,
                      const struct weights_row *row)
{
    const struct access_object object = of_file(row);
    return access_sees(question, &object);
}

bool access_sees_webhook(const struct access_question *question,
                         const struct webhook *webhook)
{
    const struct access_object object = of_webhook(webhook);
    return access_sees(question, &object);
}

bool access_is_everywhere(const struct access_question *question)
{
    return principal_reach(question->principal, question->scope) == REACH_EVERYWHERE;
}

enum status access_check_everywhere(const struct access_question *question,
                                    struct error *error)
{
    if (access_is_everywhere(question))
        return ST_OK;
    return error_set(error, ST_FORBIDDEN,
                     "it is of all projects, and this key reaches its own");
}
