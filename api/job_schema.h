/*
 * job_schema.h - what a job on one dataset may be, as JSON Schema (2020-12): which
 * algorithms apply, which presets and losses fit, how much epsilon is left; and what the
 * job would be where it says nothing, as "default" of each member.
 *
 * A body of the members that have a default, with these, is a job. What differs from one
 * algorithm to the next stands in "allOf": if the algorithm has that name, then these are
 * the defaults, and "privacy" is required or forbidden.
 *
 * Nothing is said twice: every range and default is asked of what requests are read by
 * (api/job_request.h), filled in by (api/job_defaults.h) and looked up in (the tables of
 * algorithms and layers). What members come to together, such as the steps of epochs and batch
 * size, memory, and layers that fit each other, no schema says; :estimate does.
 *
 * Pure.
 */
#ifndef API_JOB_SCHEMA_H
#define API_JOB_SCHEMA_H

#include "api/job_defaults.h"
#include "base/id.h"

struct job_schema_view {
    const struct dataset_id *dataset;
    struct job_dataset facts;
    double epsilon_max; /* of a private dataset: spending_ceiling at its delta */
    unsigned ranks_max; /* that a job may have here; 0 is 1 */
};

/* To be freed. */
char *job_schema_render(const struct job_schema_view *view);

#endif
