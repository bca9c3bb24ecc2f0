#include "service/planning/evaluation_plan.h"

#include "api/requests/job_defaults.h"
#include "base/check.h"
#include "engine/evaluated_model.h"
#include "service/access/access.h"
#include "service/config/config.h"
#include "service/datasets/datasets.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/jobs.h"
#include "service/models/models.h"
#include "service/planning/usable_dataset.h"
#include "service/process/daemon_state.h"
#include "store/rows/model_rows.h"

struct planning {
    struct daemon_state *context;
    const struct principal *principal;
    struct evaluation_plan *plan;
};

/* An evaluation shows what the model predicts, so the model must be one that the
 * principal may read. */
enum status evaluation_plan_begin(struct daemon_state *context,
                                  const struct principal *principal, const char *id,
                                  struct evaluation_plan *plan, struct error *error)
{
    const struct access_question question = {principal, SCOPE_MODELS_READ, ""};
    const struct model_row *row = NULL;
    enum status status = access_find_model(context, &question, id, &row, error);
    if (status != ST_OK)
        return status;
    const struct job *job = jobs_find_ever(context->jobs, row->job.text);
    CHECK(job != NULL);
    status = job_check(job, error);
    if (status != ST_OK)
        return status;
    plan->kept.model = row->id;
    plan->evaluation.model = row->id;
    plan->trained = &job_plan(job)->request;
    plan->trained_on =
        dataset_spec(datasets_find(context->datasets, job_dataset(job)->text));
    return ST_OK;
}

/* Finds the dataset that is read; pointer names it in the request. */
static enum status find_dataset(const struct planning *planning, const char *pointer,
                                struct error *error)
{
    struct evaluation_plan *plan = planning->plan;
    const struct access_question question = {planning->principal, SCOPE_JOBS_SUBMIT,
                                             pointer};
    enum status status = usable_dataset_find(planning->context, &question, &plan->id,
                                             &plan->dataset, error);
    if (status != ST_OK)
        return status;
    const struct dataset_spec *spec = dataset_spec(plan->dataset);
    if (schema_agrees(&spec->schema, &plan->trained_on->schema))
        return ST_OK;
    return error_set_at(error, ST_INVALID, pointer,
                        "task, classes or features of \"%s\" differ from \"%s\", on "
                        "which the model was trained",
                        spec->id.text, plan->trained_on->id.text);
}

static enum status plan_public(const struct planning *planning, struct error *error)
{
    struct evaluation_plan *plan = planning->plan;
    plan->id = plan->kept.evaluation.public;
    enum status status = find_dataset(planning, "/evaluation", error);
    if (status != ST_OK || dataset_spec(plan->dataset)->is_public)
        return status;
    return error_set_at(error, ST_DATASET_PRIVATE, "/evaluation",
                        "\"%s\" is private: name a dataset declared public, or pay for "
                        "a look at a holdout",
                        plan->id.text);
}

static enum status price(const struct planning *planning, struct error *error)
{
    struct evaluation_plan *plan = planning->plan;
    const struct dataset_spec *spec = dataset_spec(plan->dataset);
    const struct job_dataset facts =
        dataset_facts(planning->context->datasets, plan->dataset);
    struct job_measurement *measurement = &plan->kept.evaluation.measurement;
    enum status status =
        job_measurement_resolve(measurement, facts.schema, &facts.division, error);
    if (status != ST_OK)
        return status;
    const struct holdout_terms terms = {.schema = facts.schema,
                                        .relation = facts.relation,
                                        .unit = spec->grant.unit,
                                        .records = facts.held_out,
                                        .error_clip = measurement->error_clip,
                                        .epsilon = measurement->epsilon,
                                        .delta = facts.delta};
    status = holdout_plan_price(&plan->holdout, &terms, error);
    plan->evaluation.division = facts.division;
    plan->evaluation.quality = plan->holdout.quality;
    plan->evaluation.epsilon = terms.epsilon;
    plan->evaluation.delta = terms.delta;
    return status;
}

static enum status plan_holdout(const struct planning *planning, const char *pointer,
                                struct error *error)
{
    struct evaluation_plan *plan = planning->plan;
    enum status status = find_dataset(planning, pointer, error);
    if (status != ST_OK)
        return status;
    if (dataset_spec(plan->dataset)->is_public)
        return error_set_at(error, ST_DATASET_PUBLIC, pointer,
                            "\"%s\" is public and has no holdout: name it as the "
                            "evaluation, which is free",
                            plan->id.text);
    status = usable_dataset_check_order(planning->context->datasets, plan->dataset,
                                        pointer, error);
    return status == ST_OK ? price(planning, error) : status;
}

struct policy_asked evaluation_plan_asked(const struct evaluation_plan *plan)
{
    return (struct policy_asked){
        .dataset = plan->dataset != NULL ? &plan->id : NULL,
        .mechanism = &plan->holdout.mechanism,
        .parts = PARTS_HOLDOUT,
        .is_private = plan->kept.evaluation.measurement.is_asked,
        .epsilon = plan->evaluation.epsilon,
        .delta = plan->evaluation.delta,
        .pointer = "/evaluation/epsilon",
    };
}

/* An evaluation takes its memory outside of the workers' share, and the limit of a job
 * may have been lowered since the model was trained. */
static enum status check_memory(const struct daemon_state *context,
                                const struct evaluation_plan *plan, struct error *error)
{
    uint64_t memory = 0, most = context->config->job_memory_max;
    const struct evaluated_model_setup setup = {
        .source = {.model = &plan->trained->train.model,
                   .data = schema_shape(&plan->trained_on->schema)},
        .unit_rows = train_spec_unit_rows(&plan->trained->train),
        .threads = context->config->threads};
    bool is_measured = plan->kept.evaluation.measurement.is_asked;
    enum status status = evaluated_model_memory(
        &memory, &setup, is_measured ? &plan->evaluation.quality : NULL, error);
    if (status != ST_OK || memory <= most)
        return status;
    return error_set(error, ST_JOB_TOO_LARGE,
                     "the evaluation would take %llu bytes of memory, %llu are allowed "
                     "(--job-memory-max)",
                     (unsigned long long)memory, (unsigned long long)most);
}

enum status evaluation_plan_make(struct daemon_state *context,
                                 const struct principal *principal,
                                 const struct model_evaluation_request *asked,
                                 struct evaluation_plan *plan, struct error *error)
{
    const struct planning planning = {context, principal, plan};
    plan->kept.evaluation = asked->evaluation;
    plan->id = asked->has_dataset ? asked->dataset : plan->trained_on->id;
    enum status status =
        asked->evaluation.on_public
            ? plan_public(&planning, error)
            : plan_holdout(&planning,
                           asked->has_dataset ? "/dataset" : "/evaluation/holdout",
                           error);
    const struct policy_asked policy = evaluation_plan_asked(plan);
    if (status == ST_OK)
        status = check_memory(context, plan, error);
    if (status == ST_OK)
        status = policy_check(context, principal, &policy, error);
    return status;
}

void evaluation_plan_fini(struct evaluation_plan *plan)
{
    holdout_plan_fini(&plan->holdout);
    *plan = (struct evaluation_plan){0};
}
