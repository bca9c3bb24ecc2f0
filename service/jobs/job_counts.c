#include "service/jobs/job_counts.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

struct project_jobs {
    const char *project;
    size_t by_state[JOB_STATE_COUNT];
};

void job_counts_fini(struct job_counts *counts)
{
    free(counts->projects);
    *counts = (struct job_counts){0};
}

static struct project_jobs *find(const struct job_counts *counts, const char *project)
{
    for (size_t i = 0; i < counts->project_count; i++)
        if (strcmp(counts->projects[i].project, project) == 0)
            return &counts->projects[i];
    return NULL;
}

/* Returns the counts of the project, and creates them if there are none. */
static struct project_jobs *have(struct job_counts *counts, const char *project)
{
    struct project_jobs *found = find(counts, project);
    if (found != NULL)
        return found;
    counts->projects = reallocarray(counts->projects, counts->project_count + 1,
                                    sizeof *counts->projects);
    CHECK(counts->projects != NULL);
    found = &counts->projects[counts->project_count++];
    *found = (struct project_jobs){.project = project};
    return found;
}

/* Adds or takes one, in the project's counts and in the total. */
static void change(struct job_counts *counts, const char *project, enum job_state state,
                   bool more)
{
    size_t by = more ? 1 : (size_t)-1;
    counts->by_state[state] += by;
    have(counts, project)->by_state[state] += by;
}

void job_counts_add(struct job_counts *counts, const char *project,
                    enum job_state state)
{
    change(counts, project, state, true);
    counts->states_version++;
}

void job_counts_remove(struct job_counts *counts, const char *project,
                       enum job_state state)
{
    change(counts, project, state, false);
    counts->states_version++;
}

void job_counts_move(struct job_counts *counts, const char *project,
                     enum job_state from, enum job_state to)
{
    change(counts, project, from, false);
    change(counts, project, to, true);
    counts->states_version++;
}

void job_counts_of(const struct job_counts *counts, const char *project,
                   size_t by_state[JOB_STATE_COUNT])
{
    const struct project_jobs *found = find(counts, project);
    for (size_t i = 0; i < JOB_STATE_COUNT; i++)
        by_state[i] = found != NULL ? found->by_state[i] : 0;
}
