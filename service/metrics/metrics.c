#include "service/metrics/metrics.h"

#include <stddef.h>
#include <stdio.h>
#include <microhttpd.h>

#include "accountant/ledger/ledger_view.h"
#include "api/http/exposition.h"
#include "api/http/routes.h"
#include "base/clock.h"
#include "service/config/config.h"
#include "service/config/daemon_role.h"
#include "service/jobs/charges.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/jobs.h"
#include "service/metrics/budget_gauges.h"
#include "service/metrics/step_counters.h"
#include "service/peers/lease_monitor.h"
#include "service/peers/run_claims.h"
#include "service/process/blas_kernel.h"
#include "service/process/counters.h"
#include "service/process/daemon_state.h"
#include "service/process/delivery_retry.h"
#include "service/process/disk_room.h"
#include "service/process/durations.h"
#include "service/process/held_figure.h"
#include "service/process/job_state.h"
#include "service/process/process_stats.h"
#include "service/threads/long_polls.h"
#include "service/threads/pool.h"

enum { MS_PER_S = 1000, NS_PER_S = 1000000000 };

struct scrape { /* values that several families use, read once per scrape */
    struct daemon_state *context;
    struct jobs_tally jobs;
    struct ledger_entry_name head;
    struct entry_tally entries;
    struct budget_lines budgets;
};

typedef void write_function(struct exposition *out, const struct scrape *scrape);

static double value_of(const atomic_uint_fast64_t *counter)
{
    return (double)atomic_load_explicit(counter, memory_order_relaxed);
}

static void write_one(struct exposition *out, double value)
{
    exposition_sample(out, value, (char *)NULL);
}

/* --- the service --- */

static void write_build(struct exposition *out, const struct scrape *scrape)
{
    (void)scrape;
    exposition_sample(out, 1, "version", EPSILOND_VERSION, "libmicrohttpd",
                      MHD_get_version(), "grid", "g1", "kernel", blas_kernel_name(),
                      (char *)NULL);
}

static void write_ready(struct exposition *out, const struct scrape *scrape)
{
    write_one(out, !atomic_load(&scrape->context->draining) &&
                       !store_poisoned(scrape->context->store));
}

/* --- jobs --- */

static void write_jobs(struct exposition *out, const struct scrape *scrape)
{
    for (unsigned i = 0; i < JOB_STATE_COUNT; i++)
        exposition_sample(out, (double)scrape->jobs.by_state[i], "state",
                          job_state_names[i], (char *)NULL);
}

static void write_ended(struct exposition *out, const struct scrape *scrape)
{
    for (unsigned state = 0; state < JOB_STATE_COUNT; state++)
        for (unsigned reason = 0; reason < JOB_REASON_COUNT; reason++) {
            double ended = value_of(&scrape->context->counters->ended[state][reason]);
            bool is_plain = reason == REASON_NONE && state == JOB_SUCCEEDED;
            if (ended > 0 || is_plain)
                exposition_sample(out, ended, "state", job_state_names[state], "reason",
                                  job_reason_name(reason), (char *)NULL);
        }
}

/* Writes the counters that are above 0; there is one counter for each status. */
static void write_codes(struct exposition *out, const char *label,
                        const atomic_uint_fast64_t counters[STATUS_COUNT])
{
    for (unsigned i = 0; i < STATUS_COUNT; i++)
        if (value_of(&counters[i]) > 0)
            exposition_sample(out, value_of(&counters[i]), label, status_wire(i),
                              (char *)NULL);
}

static void write_refused(struct exposition *out, const struct scrape *scrape)
{
    write_codes(out, "code", scrape->context->counters->jobs_refused);
}

static void write_queue_limit(struct exposition *out, const struct scrape *scrape)
{
    write_one(out, (double)scrape->context->config->queue_length_max);
}

/* In whole seconds: a fraction would reveal how long the store was busy for a run. */
static void write_oldest_write(struct exposition *out, const struct scrape *scrape)
{
    write_one(out, (double)(pool_oldest_ns(scrape->context->write_queue) / NS_PER_S));
}

static void write_queue_oldest(struct exposition *out, const struct scrape *scrape)
{
    const struct job *oldest = scrape->jobs.next;
    int64_t since_s =
        oldest != NULL ? clock_wall_s() - job_create_ms(oldest) / MS_PER_S : 0;
    write_one(out, since_s > 0 ? (double)since_s : 0);
}

static void write_workers(struct exposition *out, const struct scrape *scrape)
{
    struct daemon_state *context = scrape->context;
    size_t busy = run_claims_running(context);
    size_t workers =
        daemon_role_works(context->config->role) ? context->config->workers : 0;
    exposition_sample(out, (double)busy, "state", "busy", (char *)NULL);
    exposition_sample(out, (double)(workers > busy ? workers - busy : 0), "state",
                      "idle", (char *)NULL);
}

static void write_daemons(struct exposition *out, const struct scrape *scrape)
{
    for (int role = DAEMON_API; role < DAEMON_ROLES; role++)
        exposition_sample(out,
                          (double)lease_monitor_daemons(scrape->context->lease_monitor,
                                                        (enum daemon_role)role),
                          "role", daemon_role_name((enum daemon_role)role),
                          (char *)NULL);
}

static void write_steps(struct exposition *out, const struct scrape *scrape)
{
    for (size_t i = 0; i < STEP_COUNTERS_ALGORITHMS; i++)
        exposition_sample(
            out, (double)step_counters_read(scrape->context->step_counters, i).steps,
            "algorithm", algorithms[i]->name, (char *)NULL);
}

static void write_examples(struct exposition *out, const struct scrape *scrape)
{
    for (size_t i = 0; i < STEP_COUNTERS_ALGORITHMS; i++)
        exposition_sample(
            out, (double)step_counters_read(scrape->context->step_counters, i).examples,
            "algorithm", algorithms[i]->name, (char *)NULL);
}

static void write_charges(struct exposition *out, const struct scrape *scrape)
{
    const struct charges_tally tally = charges_tally(scrape->context->charges);
    for (unsigned i = 0; i < CHARGE_STATE_COUNT; i++)
        exposition_sample(out, (double)tally.by_state[i], "state",
                          charge_state_names[i], (char *)NULL);
}

/* --- budgets and the ledger --- */

/* In a divided dataset the label "part" names the part. */
static void write_budget(struct exposition *out, const struct budget_line *line,
                         double value)
{
    exposition_sample(out, value, "dataset", line->dataset.text,
                      line->is_divided ? "part" : (char *)NULL, part_name(line->part),
                      (char *)NULL);
}

#define WRITE_BUDGET(function, member)                                                 \
    static void function(struct exposition *out, const struct scrape *scrape)          \
    {                                                                                  \
        for (size_t i = 0; i < scrape->budgets.count; i++)                             \
            write_budget(out, &scrape->budgets.lines[i],                               \
                         scrape->budgets.lines[i].member);                             \
    }
WRITE_BUDGET(write_epsilon, epsilon)
WRITE_BUDGET(write_spent, spent)
WRITE_BUDGET(write_remaining, remaining)
WRITE_BUDGET(write_left, left)
WRITE_BUDGET(write_held, held)
#undef WRITE_BUDGET

static void write_left_out(struct exposition *out, const struct scrape *scrape)
{
    write_one(out, (double)scrape->budgets.left_out);
}

static void write_seq(struct exposition *out, const struct scrape *scrape)
{
    write_one(out, (double)scrape->head.seq);
}

static void write_entries(struct exposition *out, const struct scrape *scrape)
{
    const struct entry_tally *entries = &scrape->entries;
    exposition_sample(out, (double)entries->grants, "kind", "GRANT", (char *)NULL);
    exposition_sample(out, (double)entries->reserves, "kind", "RESERVE", (char *)NULL);
    exposition_sample(out, (double)entries->commits, "kind", "COMMIT", (char *)NULL);
}

static void write_commit_time(struct exposition *out, const struct scrape *scrape)
{
    durations_write(&scrape->context->counters->commit_time, out);
}

/* --- HTTP --- */

static void write_answers(struct exposition *out, const struct scrape *scrape)
{
    for (size_t place = 0; place <= ROUTE_COUNT; place++) {
        const struct route *route = place < ROUTE_COUNT ? route_at(place) : NULL;
        for (unsigned at = 0; at < COUNTED_STATUSES; at++) {
            char status[16];
            double answers = value_of(&scrape->context->counters->answers[place][at]);
            if (answers == 0)
                continue;
            snprintf(status, sizeof status, "%u", at + COUNTED_STATUS_MIN);
            exposition_sample(out, answers, "route", route != NULL ? route->path : "",
                              "method", route != NULL ? route->method : "", "status",
                              status, (char *)NULL);
        }
    }
}

static void write_answer_time(struct exposition *out, const struct scrape *scrape)
{
    durations_write(&scrape->context->counters->answer_time, out);
}

static void write_waiting(struct exposition *out, const struct scrape *scrape)
{
    write_one(out, (double)long_polls_count(scrape->context->long_polls));
}

static void write_connections(struct exposition *out, const struct scrape *scrape)
{
    write_one(out, value_of(&scrape->context->counters->connections));
}

static void write_not_let_in(struct exposition *out, const struct scrape *scrape)
{
    write_codes(out, "reason", scrape->context->counters->not_let_in);
}

static void write_attempts(struct exposition *out, const struct scrape *scrape)
{
    static const char *const outcomes[] = {[DELIVERY_RETRY_DELIVERED] = "delivered",
                                           [DELIVERY_RETRY_WAITS] = "waits",
                                           [DELIVERY_RETRY_FAILED] = "failed"};
    for (size_t i = 0; i < DELIVERY_RETRY_STATE_COUNT; i++)
        exposition_sample(out, value_of(&scrape->context->counters->attempts[i]),
                          "outcome", outcomes[i], (char *)NULL);
}

/* --- the machine --- */

static void write_free(struct exposition *out, const struct scrape *scrape)
{
    write_one(out, (double)disk_room_shown(scrape->context->disk_room));
}

static void write_features(struct exposition *out, const struct scrape *scrape)
{
    write_one(out, value_of(&scrape->context->process_stats->features));
}

static void write_processor(struct exposition *out, const struct scrape *scrape)
{
    write_one(out, value_of(&scrape->context->process_stats->processor_s));
}

static void write_resident(struct exposition *out, const struct scrape *scrape)
{
    write_one(out,
              (double)held_figure_shown(&scrape->context->process_stats->resident));
}

static void write_start(struct exposition *out, const struct scrape *scrape)
{
    write_one(out, (double)(scrape->context->start_ms / MS_PER_S));
}

/* --- the table --- */

static const struct family {
    const char *name;
    enum exposition_kind kind;
    const char *help;
    write_function *write;
} families[] = {
    {"epsilond_build_info", EXPOSE_GAUGE, "1; what is running stands in the labels.",
     write_build},
    {"epsilond_ready", EXPOSE_GAUGE, "Whether it takes work, as /readyz says.",
     write_ready},
    {"epsilond_jobs", EXPOSE_GAUGE, "Jobs in each state.", write_jobs},
    {"epsilond_jobs_ended_total", EXPOSE_COUNTER, "Jobs that ended.", write_ended},
    {"epsilond_jobs_refused_total", EXPOSE_COUNTER,
     "Submissions that were refused, by the code of the problem.", write_refused},
    {"epsilond_queue_limit", EXPOSE_GAUGE, "How many jobs may wait.",
     write_queue_limit},
    {"epsilond_queue_oldest_seconds", EXPOSE_GAUGE,
     "How long the job that is next has waited; 0 where none waits.",
     write_queue_oldest},
    {"epsilond_write_oldest_seconds", EXPOSE_GAUGE,
     "How long the oldest request that writes has waited for its turn, in whole "
     "seconds.",
     write_oldest_write},
    {"epsilond_workers", EXPOSE_GAUGE, "Room for running jobs.", write_workers},
    {"epsilond_train_steps_total", EXPOSE_COUNTER,
     "Steps that running and ended jobs show, in quarters of a private job.",
     write_steps},
    {"epsilond_train_examples_expected_total", EXPOSE_COUNTER,
     "What those steps draw in expectation.", write_examples},
    {"epsilond_charges", EXPOSE_GAUGE,
     "Charges for work that runs elsewhere, in each state.", write_charges},
    {"epsilond_budget_epsilon", EXPOSE_GAUGE, "The epsilon promised to a dataset.",
     write_epsilon},
    {"epsilond_budget_spent_epsilon", EXPOSE_GAUGE,
     "The guarantee of everything released so far, as an epsilon.", write_spent},
    {"epsilond_budget_remaining_epsilon", EXPOSE_GAUGE,
     "The largest job that still fits, as an epsilon.", write_remaining},
    {"epsilond_budget_remaining_ratio", EXPOSE_GAUGE,
     "The share of the budget that is left.", write_left},
    {"epsilond_budget_held_ratio", EXPOSE_GAUGE,
     "The share of the budget that open jobs hold.", write_held},
    {"epsilond_budget_datasets_left_out", EXPOSE_GAUGE,
     "Datasets with more left, of which no budget is shown (--metrics-datasets-max).",
     write_left_out},
    {"epsilond_ledger_seq", EXPOSE_GAUGE,
     "The number of the newest entry; it never falls unless an old copy was restored.",
     write_seq},
    {"epsilond_ledger_entries_total", EXPOSE_COUNTER, "Entries of the ledger.",
     write_entries},
    {"epsilond_ledger_commit_seconds", EXPOSE_HISTOGRAM,
     "How long registrations and submissions took to be on disk.", write_commit_time},
    {"epsilond_ledger_verify_timestamp_seconds", EXPOSE_GAUGE,
     "When the chain was last verified by this process: at its start.", write_start},
    {"epsilond_http_requests_total", EXPOSE_COUNTER, "Answers.", write_answers},
    {"epsilond_http_request_seconds", EXPOSE_HISTOGRAM,
     "How long answers from memory took that waited for nothing.", write_answer_time},
    {"epsilond_http_waiting", EXPOSE_GAUGE, "Requests that wait for a change.",
     write_waiting},
    {"epsilond_http_connections", EXPOSE_GAUGE, "Open connections.", write_connections},
    {"epsilond_auth_failures_total", EXPOSE_COUNTER,
     "Requests that were not let in, by the code of the problem.", write_not_let_in},
    {"epsilond_webhook_deliveries_total", EXPOSE_COUNTER,
     "Attempts to deliver to webhooks, by what became of the delivery.",
     write_attempts},
    {"epsilond_storage_free_bytes", EXPOSE_GAUGE,
     "Free on the disk of the data directory, in steps of 1 GiB, to 2.5 GiB.",
     write_free},
    {"epsilond_daemons", EXPOSE_GAUGE,
     "Daemons that share the database and are alive, by their role.", write_daemons},
    {"epsilond_features_bytes", EXPOSE_GAUGE,
     "Files of features that are kept for later jobs, as of the last tick; stands "
     "still during private work.",
     write_features},
    {"process_cpu_seconds_total", EXPOSE_COUNTER,
     "Processor time, in whole seconds as of the last tick. It stands still during "
     "private work, which it leaves out.",
     write_processor},
    {"process_resident_memory_bytes", EXPOSE_GAUGE,
     "Resident memory but that of files, in steps of 16 MiB as of the last tick; "
     "stands still during private work.",
     write_resident},
    {"process_start_time_seconds", EXPOSE_GAUGE, "When the process began.",
     write_start},
};

char *metrics_render(struct daemon_state *context, bool waits)
{
    struct exposition out;
    struct scrape scrape = {.context = context, .jobs = jobs_tally(context->jobs)};
    ledger_head(context->ledger, &scrape.head);
    scrape.entries = ledger_tally(context->ledger);
    const struct budget_sources sources = {context->datasets, context->ledger, waits};
    if (!budget_gauges_hold(context->budget_gauges, &sources, &scrape.budgets))
        return NULL;
    exposition_open(&out);
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        exposition_family(&out, families[i].name, families[i].kind, families[i].help);
        families[i].write(&out, &scrape);
    }
    budget_gauges_release(context->budget_gauges);
    return exposition_close(&out);
}
