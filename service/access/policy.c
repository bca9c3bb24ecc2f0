#include "service/access/policy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/pricing/run_filter.h"
#include "api/requests/key_policy.h"
#include "base/check.h"
#include "service/access/policy_share.h"
#include "service/identity/access_keys.h"
#include "service/jobs/charges.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/jobs.h"
#include "service/jobs/statistics_runs.h"
#include "service/process/daemon_state.h"

struct asking { /* what is checked against the policy */
    struct daemon_state *context;
    const struct principal *principal;
    const struct policy_asked *asked;
    struct key_policy policy;
    const struct policy_asked *others; /* (other_count) requested together with it */
    size_t other_count;
};

/* The noise multiplier of the least noisy step of all runs. If the noise depends on
 * what was released, steps may have less noise than their run's multiplier. */
static double least_noise(const struct mechanism *m)
{
    double share = run_filter_guards(m) ? m->filter.noise_share : 1;
    double least = HUGE_VAL;
    for (size_t i = 0; i < m->run_count; i++)
        least = fmin(least, m->runs[i].noise_multiplier);
    return share * least;
}

static bool allows_algorithm(const struct key_policy *policy,
                             const struct algorithm *algorithm)
{
    bool found = policy->algorithm_count == 0;
    for (size_t i = 0; i < policy->algorithm_count; i++)
        found = found || policy->algorithms[i] == algorithm;
    return found;
}

/* Returns whether the principal that asks is that owner in that project. */
static bool is_of(const struct asking *asking, const char *owner, const char *project)
{
    return policy_share_is_own(asking->principal, owner, project);
}

struct own_surveys { /* of the principal, that have not ended */
    const struct asking *asking;
    size_t count;
};

static void count_survey(void *context, const struct statistics_run *survey)
{
    struct own_surveys *own = context;
    own->count += is_of(own->asking, survey->owner, survey->project);
}

/* Counts the jobs, surveys and charges of the owner in the project that have not
 * ended. */
static size_t count_open(const struct asking *asking)
{
    size_t count;
    struct own_surveys own = {.asking = asking, .count = asking->other_count};
    struct job **jobs = jobs_active(asking->context->jobs, &count);
    for (size_t i = 0; i < count; i++)
        own.count += is_of(asking, job_owner(jobs[i]), job_project(jobs[i]));
    free(jobs);
    statistics_runs_look(asking->context->statistics_runs, count_survey, &own);
    struct charge **charges = charges_list_open(asking->context->charges, NULL, &count);
    for (size_t i = 0; i < count; i++)
        own.count += is_of(asking, charge_owner(charges[i])->name,
                           charge_owner(charges[i])->project);
    free(charges);
    return own.count;
}

/* --- the limits, in turn --- */

static const char measurement_pointer[] = "/evaluation/epsilon";
static const char purchase_pointer[] = "/standardise";

/* The limit applies to everything that the job is granted. Training and a measurement
 * read different records, so no person's loss is their sum, but the person who set the
 * limit was promised no more than that for both together. The breach names the member
 * that raises the sum over the limit. */
static bool exceeds_epsilon(const struct asking *asking, struct policy_breach *breach)
{
    const struct policy_asked *asked = asking->asked;
    double limit = asking->policy.max_epsilon_per_job;
    double measured = asked->measurement != NULL ? asked->measurement_epsilon : 0;
    double bought = asked->purchase != NULL ? asked->purchase_epsilon : 0;
    if (limit == 0 || asked->epsilon + bought + measured <= limit)
        return false;
    const char *pointer = asked->pointer;
    if (asked->epsilon <= limit)
        pointer =
            asked->epsilon + bought <= limit ? measurement_pointer : purchase_pointer;
    *breach = (struct policy_breach){"max_epsilon_per_job", limit, pointer};
    return true;
}

/* The same for noise: the one of the two with less noise decides. */
static bool lacks_noise(const struct asking *asking, struct policy_breach *breach)
{
    const struct policy_asked *asked = asking->asked;
    double limit = asking->policy.min_noise_multiplier;
    double trained = least_noise(asked->mechanism);
    double measured =
        asked->measurement != NULL ? least_noise(asked->measurement) : HUGE_VAL;
    double bought = asked->purchase != NULL ? least_noise(asked->purchase) : HUGE_VAL;
    if (fmin(fmin(trained, measured), bought) >= limit)
        return false;
    const char *pointer = asked->pointer;
    if (fmin(measured, bought) < trained)
        pointer = measured < bought ? measurement_pointer : purchase_pointer;
    *breach = (struct policy_breach){"min_noise_multiplier", limit, pointer};
    return true;
}

static enum status check_share(const struct asking *asking, bool *within,
                               struct error *error)
{
    const struct policy_share share = {.context = asking->context,
                                       .principal = asking->principal,
                                       .asked = asking->asked,
                                       .others = asking->others,
                                       .other_count = asking->other_count,
                                       .most = asking->policy.max_share,
                                       .days = asking->policy.share_days};
    return policy_share_check(&share, within, error);
}

static enum status find(const struct asking *asking, struct policy_breach *breach,
                        struct error *error)
{
    const struct key_policy *policy = &asking->policy;
    const struct policy_asked *asked = asking->asked;
    bool within = true;
    enum status status = ST_OK;
    if (!allows_algorithm(policy, asked->algorithm))
        *breach = (struct policy_breach){
            "algorithms", NAN, asked->algorithm != NULL ? "/algorithm/name" : ""};
    else if (asked->purchase != NULL && policy->algorithm_count > 0)
        *breach = (struct policy_breach){"algorithms", NAN, purchase_pointer};
    else if (policy->max_open_jobs > 0 && count_open(asking) >= policy->max_open_jobs)
        *breach =
            (struct policy_breach){"max_open_jobs", (double)policy->max_open_jobs, ""};
    if (breach->member != NULL || !asked->is_private ||
        exceeds_epsilon(asking, breach) || lacks_noise(asking, breach))
        return ST_OK;
    if (policy->max_share > 0)
        status = check_share(asking, &within, error);
    if (status == ST_OK && !within)
        *breach =
            (struct policy_breach){"max_share", policy->max_share, asked->pointer};
    return status;
}

static enum status find_for_key(struct asking *asking, struct policy_breach *breach,
                                struct error *error)
{
    struct access_key key;
    *breach = (struct policy_breach){.pointer = ""};
    if (asking->principal->key[0] == '\0')
        return ST_OK;
    CHECK(access_keys_find(asking->context->keys, asking->principal->key, &key));
    asking->policy = key.policy;
    return find(asking, breach, error);
}

bool policy_limits(struct daemon_state *context, const struct principal *principal)
{
    struct access_key key;
    if (principal->key[0] == '\0')
        return false;
    CHECK(access_keys_find(context->keys, principal->key, &key));
    return key_policy_limits(&key.policy);
}

/* Shares and numbers of jobs only grow, so checking the last one checks all. */
enum status policy_find_breach(struct daemon_state *context,
                               const struct policy_inquiry *inquiry,
                               struct policy_breach *breach, struct error *error)
{
    struct asking asking = {.context = context,
                            .principal = inquiry->principal,
                            .asked = &inquiry->asked[inquiry->count - 1],
                            .others = inquiry->asked,
                            .other_count = inquiry->count - 1};
    return find_for_key(&asking, breach, error);
}

enum status policy_check(struct daemon_state *context,
                         const struct principal *principal,
                         const struct policy_asked *asked, struct error *error)
{
    return policy_check_all(context, principal, asked, 1, error);
}

enum status policy_check_all(struct daemon_state *context,
                             const struct principal *principal,
                             const struct policy_asked *asked, size_t count,
                             struct error *error)
{
    struct policy_breach breach;
    const struct policy_inquiry inquiry = {principal, asked, count};
    enum status status = policy_find_breach(context, &inquiry, &breach, error);
    if (status != ST_OK || breach.member == NULL)
        return status;
    if (isnan(breach.limit))
        return error_set_at(error, ST_POLICY_VIOLATION, breach.pointer,
                            "this key's policy, %s, does not allow it", breach.member);
    return error_set_at(error, ST_POLICY_VIOLATION, breach.pointer,
                        "this key's policy, %s, is %.15g", breach.member, breach.limit);
}
