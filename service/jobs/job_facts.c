#include "service/jobs/job_facts.h"

#include "service/jobs/job.h"

const struct job_id *job_id(const struct job *job)
{
    return &job->id;
}

uint64_t job_number(const struct job *job)
{
    return job->number;
}

const struct job_plan *job_plan(const struct job *job)
{
    return &job_body(job)->plan;
}

enum status job_check(const struct job *job, struct error *error)
{
    if (job_text_check(job->kept))
        return ST_OK;
    return error_set(error, ST_INTERNAL,
                     "what the database has of %s does not read back; the log says how",
                     job->id.text);
}

const struct dataset_id *job_dataset(const struct job *job)
{
    return &job->dataset;
}

const struct algorithm *job_algorithm(const struct job *job)
{
    return job->algorithm;
}

const struct sweep_id *job_sweep(const struct job *job)
{
    return job->sweep.text[0] != '\0' ? &job->sweep : NULL;
}

bool job_is_private(const struct job *job)
{
    return job->is_private;
}

bool job_is_measured(const struct job *job)
{
    return job->is_measured;
}

double job_epsilon_planned(const struct job *job)
{
    return job->epsilon_planned;
}

const char *job_owner(const struct job *job)
{
    return job->owner;
}

const char *job_project(const struct job *job)
{
    return job->project;
}

uint64_t job_ledger_seq(const struct job *job)
{
    return job->ledger_seq;
}

uint64_t job_measurement_seq(const struct job *job)
{
    return job->measurement_seq;
}

const struct trace_context *job_trace(const struct job *job)
{
    return &job_body(job)->trace;
}

const struct model_id *job_model_id(const struct job *job)
{
    return &job->drawn;
}

atomic_bool *job_stop_flag(struct job *job)
{
    return &job->stop;
}

struct job_told *job_told(struct job *job)
{
    return &job->told;
}

atomic_bool *job_here_flag(struct job *job)
{
    return &job->here;
}

bool job_is_regression(const struct job *job)
{
    return job->regression;
}

int64_t job_create_ms(const struct job *job)
{
    return job->create_ms;
}
