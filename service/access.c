#include "service/access.h"

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

/* A model is its job's. Where there is no such model a job is looked up all the same. */
static struct access_object of_model(struct context *context,
                                     const struct model_row *row, const char *id)
{
    const struct job *job = jobs_find(context->jobs, row != NULL ? row->job.text : id);
    return of_job(row != NULL ? job : NULL);
}

struct access_question access_question_of(const struct request *request)
{
    return (struct access_question){&request->principal, request->match.route->scope,
                                    ""};
}

static enum status forbid(enum scope scope, struct error *error)
{
    return error_set(error, ST_FORBIDDEN, "this takes the scope %s", scope_name(scope));
}

enum status access_check_scope(const struct request *request, struct error *error)
{
    enum scope scope = request->match.route->scope;
    if (principal_reach(&request->principal, scope) == REACH_NONE)
        return forbid(scope, error);
    return ST_OK;
}

struct thing { /* that was asked for by its id, and was found or not */
    const char *kind, *id;
    struct access_object object;
};

static enum status decide(const struct access_question *question,
                          const struct thing *thing, struct error *error)
{
    switch (access_decide(question->principal, question->scope, &thing->object)) {
    case ACCESS_ALLOWED: return ST_OK;
    case ACCESS_NOT_FOUND:
        return error_set_at(error, ST_NOT_FOUND, question->pointer, "no %s \"%s\"",
                            thing->kind, thing->id);
    case ACCESS_FORBIDDEN: break;
    }
    if (principal_reach(question->principal, question->scope) == REACH_OWN)
        return error_set_at(error, ST_FORBIDDEN, question->pointer,
                            "with %s this key reaches only what its owner made",
                            scope_name(question->scope));
    return forbid(question->scope, error);
}

enum status access_find_dataset(struct context *context,
                                const struct access_question *question, const char *id,
                                struct dataset **out, struct error *error)
{
    *out = datasets_find(context->datasets, id);
    return decide(question, &(struct thing){"dataset", id, of_dataset(*out)}, error);
}

enum status access_find_job(struct context *context,
                            const struct access_question *question, const char *id,
                            struct job **out, struct error *error)
{
    *out = jobs_find(context->jobs, id);
    return decide(question, &(struct thing){"job", id, of_job(*out)}, error);
}

enum status access_find_model(struct context *context,
                              const struct access_question *question, const char *id,
                              const struct model_row **out, struct error *error)
{
    *out = models_find(context->models, id);
    return decide(question, &(struct thing){"model", id, of_model(context, *out, id)},
                  error);
}

static struct access_object of_webhook(const struct webhook *webhook)
{
    return (struct access_object){webhook->owner.project, webhook->owner.name};
}

enum status access_find_webhook(struct context *context,
                                const struct access_question *question, const char *id,
                                struct webhook *out, struct error *error)
{
    struct thing thing = {"webhook", id, {0}};
    if (webhooks_find(context->webhooks, id, out))
        thing.object = of_webhook(out);
    return decide(question, &thing, error);
}

static bool sees(const struct request *request, struct access_object object)
{
    return access_decide(&request->principal, request->match.route->scope, &object) ==
           ACCESS_ALLOWED;
}

bool access_sees_dataset(const struct request *request, const struct dataset *dataset)
{
    return sees(request, of_dataset(dataset));
}

bool access_sees_job(const struct request *request, const struct job *job)
{
    return sees(request, of_job(job));
}

bool access_sees_model(struct context *context, const struct request *request,
                       const struct model_row *row)
{
    return sees(request, of_model(context, row, row->id.text));
}

bool access_sees_webhook(const struct request *request, const struct webhook *webhook)
{
    return sees(request, of_webhook(webhook));
}

bool access_is_everywhere(const struct request *request)
{
    return principal_reach(&request->principal, request->match.route->scope) ==
           REACH_EVERYWHERE;
}
