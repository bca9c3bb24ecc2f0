/*
 * job_schema.h - the JSON Schema (2020-12) of a job on one dataset: which algorithms
 * apply, which presets and losses fit, how much epsilon is left; and the value of each
 * member that a job leaves out, as "default" of the member.
 *
 * A body that consists of the members with a default, at their defaults, is a valid
 * job. Rules that depend on the algorithm are in "allOf": if the algorithm has that
 * name, then these are the defaults, and "privacy" is required or forbidden.
 *
 * No range and no default is defined here a second time: they are taken from the code
 * that parses requests (api/requests/job_request.h), that fills them in
 * (api/requests/job_defaults.h) and from the tables of algorithms and layers. A schema
 * cannot express what depends on several members together, such as the steps that
 * follow from epochs and batch size, memory, and whether layers fit each other.
 * :estimate reports those.
 *
 * Pure.
 */
#ifndef API_REQUESTS_JOB_SCHEMA_H
#define API_REQUESTS_JOB_SCHEMA_H

#include "api/requests/job_defaults.h"
#include "base/id.h"

struct job_schema_view {
    const struct dataset_id *dataset;
    struct job_dataset facts;
    double epsilon_max; /* for a private dataset: budget_spent_ceiling at its delta */
    unsigned ranks_max; /* most ranks of a job here; 0 means 1 */
};

/* Renders the schema, to be freed. */
char *job_schema_render(const struct job_schema_view *view);

#endif
