#include "api/views/budget_view.h"

#include <math.h>
#include <string.h>

#include "accountant/ledger/entry.h"
#include "api/json/json_writer.h"
#include "api/requests/job_request.h"
#include "api/views/job_warnings.h"
#include "api/views/epochs_view.h"

#define ELSEWHERE                                                                      \
    "part of this budget was charged for work that runs elsewhere: the guarantee "     \
    "holds "                                                                           \
    "if that work was what its owner declared"
#define FORKED                                                                         \
    "the ledger was forked: the guarantee covers the timelines that are known, and "   \
    "there may be others"

const char budget_condition[] = ELSEWHERE;

/* Returns the condition that the guarantee depends on. NULL: none. */
static const char *condition_of(const struct balance *balance)
{
    if (balance->timelines > 1)
        return balance->external ? ELSEWHERE "; " FORKED : FORKED;
    return balance->external ? ELSEWHERE : NULL;
}

/* Writes values at the weighted orders, and other everywhere else. */
static void write_weighted(struct json_writer *writer, const char *name,
                           const struct balance *balance, const double *values,
                           double other)
{
    double at[CURVE_ORDERS];
    for (size_t i = 0; i < CURVE_ORDERS; i++)
        at[i] = other;
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++)
        at[balance->weighted[i]] = values[i];
    json_write_reals(writer, name, at, CURVE_ORDERS);
}

static void write_parts(struct json_writer *writer, const struct budget_share *share)
{
    json_write_real(writer, "order", share->order);
    json_write_real(writer, "spent", share->spent);
    json_write_real(writer, "held", share->held);
    json_write_real(writer, "left", share->left);
}

void share_write(struct json_writer *writer, const char *name,
                 const struct budget_share *share)
{
    json_write_object(writer, name);
    write_parts(writer, share);
    json_write_object_end(writer);
}

/* Writes what is left of the delta that the grant sets aside for discoveries. */
static void write_discovery(struct json_writer *writer, const struct balance *balance)
{
    double spent = balance->committed.delta, held = balance->held.delta;
    if (balance->delta_capacity == 0)
        return;
    json_write_object(writer, "discoveries");
    json_write_real(writer, "delta", balance->delta_capacity);
    json_write_real(writer, "spent", spent);
    json_write_real(writer, "held", held);
    json_write_real(writer, "left", fmax(0, balance->delta_capacity - spent - held));
    json_write_object_end(writer);
}

static void write_spending(struct json_writer *writer, const struct balance *balance)
{
    struct budget_share share = budget_share_of(balance);
    json_write_flag(writer, "frozen", balance->frozen);
    json_write_flag(writer, "conditional", condition_of(balance) != NULL);
    json_write_real(writer, "epsilon_spent", balance->epsilon_spent);
    json_write_real(writer, "epsilon_held", balance->epsilon_held);
    json_write_real(writer, "epsilon_remaining", balance->epsilon_remaining);
    json_write_real(writer, "fraction_remaining", balance->fraction_remaining);
    share_write(writer, "share", &share);
    write_discovery(writer, balance);
}

void budget_figures_write(struct json_writer *writer, const char *name,
                          const struct balance *balance)
{
    json_write_object(writer, name);
    json_write_real(writer, "epsilon", balance->epsilon);
    json_write_real(writer, "delta", balance->delta);
    write_spending(writer, balance);
    json_write_object_end(writer);
}

/* Writes the rooms. If charge is not NULL, also writes what it asks of each order. */
static void write_rooms(struct json_writer *writer, const struct balance *balance,
                        const struct curve *charge)
{
    json_write_array(writer, "rooms");
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++) {
        struct budget_share room = budget_share_at(balance, i);
        json_write_object(writer, NULL);
        json_write_real(writer, "order", room.order);
        json_write_real(writer, "weight", room.weight);
        json_write_real(writer, "spent", room.spent);
        json_write_real(writer, "held", room.held);
        if (charge != NULL)
            json_write_real(writer, "asked",
                            budget_share_asked(balance, i, charge).share);
        json_write_object_end(writer);
    }
    json_write_array_end(writer);
}

static void write_sums(struct json_writer *writer, const struct balance *balance)
{
    json_write_reals(writer, "committed", balance->committed.at, CURVE_ORDERS);
    json_write_reals(writer, "held", balance->held.at, CURVE_ORDERS);
}

/* Writes the parts. Grant, relation, epochs, orders and capacities are the same for the
 * whole dataset. */
static void write_budget_parts(struct json_writer *writer,
                               const struct budget_part *parts, size_t count)
{
    json_write_array(writer, "parts");
    for (size_t p = 0; p < count; p++) {
        json_write_object(writer, NULL);
        json_write_text(writer, "part", part_name(parts[p].part));
        exposure_write(writer, &parts[p].epochs, &parts[p].balance);
        write_spending(writer, &parts[p].balance);
        write_rooms(writer, &parts[p].balance, NULL);
        write_sums(writer, &parts[p].balance);
        json_write_object_end(writer);
    }
    json_write_array_end(writer);
}

char *budget_render(const struct dataset_id *dataset, const struct budget_part *parts,
                    size_t count)
{
    const struct balance *balance = &parts[0].balance;
    const struct epochs *epochs = &parts[0].epochs;
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "dataset", dataset->text);
    json_write_real(&writer, "epsilon", balance->epsilon);
    json_write_real(&writer, "delta", balance->delta);
    epochs_write(&writer, epochs, true);
    exposure_write(&writer, epochs, balance);
    json_write_text(&writer, "condition", condition_of(balance));
    json_write_text(&writer, "relation", relation_name(balance->relation));
    json_write_text(&writer, "unit", privacy_unit_name(balance->unit));
    json_write_count(&writer, "epoch", balance->epoch);
    write_spending(&writer, balance);
    write_rooms(&writer, balance, NULL);
    json_write_reals(&writer, "orders", curve_orders, CURVE_ORDERS);
    write_weighted(&writer, "weights", balance, balance->weights, 0);
    write_weighted(&writer, "capacity", balance, balance->capacity, INFINITY);
    write_sums(&writer, balance);
    if (count > 1)
        write_budget_parts(&writer, parts, count);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

/* Stored doubles are little-endian, and so is every machine that Debian 12 builds
 * this for. */
static void write_stored(struct json_writer *writer, const char *name,
                         const uint8_t *bytes, size_t size)
{
    double value;
    if (bytes == NULL) {
        json_write_null(writer, name);
        return;
    }
    json_write_array(writer, name);
    for (size_t i = 0; i + sizeof value <= size; i += sizeof value) {
        memcpy(&value, bytes + i, sizeof value);
        json_write_real(writer, NULL, value);
    }
    json_write_array_end(writer);
}

static void write_engine(struct json_writer *writer, const struct ledger_row *row)
{
    char engine[ENTRY_ENGINE_SIZE];
    entry_engine(engine, row);
    json_write_text(writer, "external", engine[0] != '\0' ? engine : NULL);
}

char *ledger_entry_render(const struct ledger_row *row)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    json_write_count(&writer, "seq", row->seq);
    json_write_text(&writer, "kind", row->kind);
    json_write_text(&writer, "dataset", row->dataset);
    json_write_count(&writer, "epoch", row->epoch);
    json_write_text(&writer, "job", row->job[0] != '\0' ? row->job : NULL);
    write_engine(&writer, row);
    json_write_text(&writer, "grid", "g1");
    write_stored(&writer, "curve", row->curve, row->curve_size);
    write_stored(&writer, "released", row->released, row->curve_size);
    json_write_raw(&writer, "meta", row->meta);
    json_write_text(&writer, "actor", row->actor);
    json_write_time(&writer, "time", row->time_ms);
    json_write_digest(&writer, "prev", row->prev);
    json_write_digest(&writer, "hash", row->hash);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

/* Returns the epsilon of an entry, or NaN, which is shown as null, if the entry is
 * malformed. A grant may have been replaced, so the epsilon of a GRANT is read from the
 * entry itself; no charge was made under a replaced grant. */
static double entry_epsilon(const struct ledger_row *row, const struct epochs *epochs)
{
    struct grant grant;
    struct filter unused;
    struct curve charge;
    bool grants = strcmp(row->kind, "GRANT") == 0;
    if (grants && entry_grant_parse(&grant, &unused, NULL, row))
        return grant.epsilon;
    const struct epoch *epoch = epochs_find(epochs, row->epoch);
    if (grants || epoch == NULL ||
        !entry_charge_decode(&charge, row->curve, row->curve_size))
        return NAN;
    return budget_spent_epsilon(&charge, grant_curve_delta(&epoch->grant));
}

/* Writes the job, and a flag if the entry is for its evaluation on a holdout. */
static void write_charged(struct json_writer *writer, const char *job)
{
    struct job_id id, plain = {0}, evaluation = {0};
    if (charged_id_parse(&id, job)) {
        plain = charged_job(&id);
        evaluation = job_evaluation_id(&plain);
    }
    bool is_evaluation = job[0] != '\0' && strcmp(evaluation.text, job) == 0;
    const char *shown = is_evaluation ? plain.text : job;
    json_write_text(writer, "job", shown[0] != '\0' ? shown : NULL);
    if (is_evaluation)
        json_write_flag(writer, "evaluation", true);
}

static void write_parts_named(struct json_writer *writer, const struct ledger_row *row)
{
    enum parts parts = entry_parts(row);
    if (parts == PARTS_UNNAMED)
        return;
    json_write_array(writer, "parts");
    for (unsigned p = 0; p < PARTS_MAX; p++)
        if (((unsigned)parts >> p & 1) != 0)
            json_write_text(writer, NULL, part_name((enum part)p));
    json_write_array_end(writer);
}

char *ledger_summary_render(const struct ledger_row *row, const struct epochs *epochs)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    json_write_count(&writer, "seq", row->seq);
    json_write_text(&writer, "kind", row->kind);
    json_write_text(&writer, "dataset", row->dataset);
    json_write_count(&writer, "epoch", row->epoch);
    write_charged(&writer, row->job);
    write_parts_named(&writer, row);
    write_engine(&writer, row);
    json_write_real(&writer, "epsilon", entry_epsilon(row, epochs));
    if (entry_replaces(row) != 0)
        json_write_count(&writer, "replaces", entry_replaces(row));
    json_write_text(&writer, "actor", row->actor);
    json_write_time(&writer, "time", row->time_ms);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

static void write_point(struct json_writer *writer, const struct budget_point *point)
{
    json_write_object(writer, NULL);
    json_write_count(writer, "seq", point->seq);
    json_write_time(writer, "time", point->time_ms);
    json_write_text(writer, "kind", point->kind);
    write_charged(writer, point->job.text);
    json_write_count(writer, "epoch", point->epoch);
    json_write_real(writer, "epsilon_spent", point->epsilon_spent);
    if (point->epochs > 1) {
        json_write_object(writer, "exposure");
        json_write_real(writer, "epsilon_spent", point->exposure.epsilon);
        json_write_real(writer, "delta", point->exposure.delta);
        json_write_object_end(writer);
    } else {
        json_write_null(writer, "exposure");
    }
    share_write(writer, "share", &point->share);
    json_write_object_end(writer);
}

char *budget_history_render(const struct dataset_id *dataset,
                            const struct budget_history *history)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "dataset", dataset->text);
    json_write_count(&writer, "entries", history->entries);
    json_write_array(&writer, "points");
    for (size_t i = 0; i < history->count; i++)
        write_point(&writer, &history->points[i]);
    json_write_array_end(&writer);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

char *ledger_head_render(const struct ledger_entry_name *head)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    json_write_count(&writer, "seq", head->seq);
    json_write_digest(&writer, "hash", head->hash);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

const char *ledger_fits_name(enum ledger_fits fits)
{
    switch (fits) {
    case FITS_YES: return "yes";
    case FITS_HELD: return "held";
    case FITS_NO: return "no";
    }
    return "no";
}

static void write_figures(struct json_writer *writer, const struct estimate_view *view)
{
    bool shown = view->is_private;
    json_write_real_if(writer, shown, "epsilon_planned", view->epsilon_planned);
    json_write_real_if(writer, shown, "delta", view->delta);
    json_write_real_if(writer, shown && view->order > 0, "order", view->order);
    json_write_real_if(writer, shown, "noise_multiplier", view->noise_multiplier);
    json_write_real_if(writer, shown && view->paper_claim > 0, "paper_claim",
                       view->paper_claim);
    json_write_real_if(writer, shown, "largest_epsilon", view->largest_epsilon);
    json_write_count_if(writer, shown && view->has_most_steps, "most_steps",
                        view->most_steps);
}

static void write_share_asked(struct json_writer *writer, const struct outlook *outlook)
{
    const struct balance *balance = &outlook->balance;
    struct budget_share share = budget_share_of(balance);
    struct budget_share_asked asked =
        budget_share_asked(balance, budget_share_place(balance), &outlook->charge);
    json_write_object(writer, "share");
    write_parts(writer, &share);
    json_write_real(writer, "asked", asked.share);
    json_write_flag(writer, "fits", asked.fits);
    json_write_object_end(writer);
}

static void write_exposure(struct json_writer *writer, const struct guarantee *exposure)
{
    json_write_object(writer, "exposure_after");
    json_write_real(writer, "epsilon", exposure->epsilon);
    json_write_real(writer, "delta", exposure->delta);
    json_write_object_end(writer);
}

void outlook_write(struct json_writer *writer, const struct outlook *outlook)
{
    static const char *const names[] = {"share", "rooms", "epsilon_after",
                                        "exposure_after", "jobs_like_this"};
    for (size_t i = 0; outlook == NULL && i < sizeof names / sizeof *names; i++)
        json_write_null(writer, names[i]);
    if (outlook == NULL)
        return;
    write_share_asked(writer, outlook);
    write_rooms(writer, &outlook->balance, &outlook->charge);
    json_write_real(writer, "epsilon_after", outlook->epsilon_after);
    if (outlook->balance.closed > 0 && outlook->fits == FITS_YES)
        write_exposure(writer, &outlook->exposure_after);
    else
        json_write_null(writer, "exposure_after");
    json_write_count(writer, "jobs_like_this", outlook->times);
}

static void write_tuning(struct json_writer *writer, const struct estimate_view *view)
{
    if (view->runs == 0) {
        json_write_null(writer, "tuning");
        return;
    }
    json_write_object(writer, "tuning");
    json_write_count(writer, "runs", view->runs);
    json_write_real(writer, "epsilon_composed", view->tuning.composed);
    json_write_real(writer, "epsilon_random_stopping", view->tuning.random_stopping);
    json_write_object_end(writer);
}

static void write_ranks(struct json_writer *writer, const struct ranks_view *ranks)
{
    if (ranks->count <= 1) {
        json_write_null(writer, "ranks");
        return;
    }
    json_write_object(writer, "ranks");
    json_write_count(writer, "count", ranks->count);
    json_write_real(writer, "efficiency", ranks->efficiency);
    json_write_flag(writer, "pays", ranks->efficiency >= RANKS_EFFICIENCY_MIN);
    json_write_object_end(writer);
}

void measurement_estimate_write(struct json_writer *writer,
                                const struct quality_plan *quality, double epsilon,
                                const struct outlook *outlook)
{
    json_write_object(writer, "measurement");
    json_write_text(writer, "fits", ledger_fits_name(outlook->fits));
    json_write_count(writer, "records", quality->records);
    json_write_real(writer, "epsilon", epsilon);
    json_write_real(writer, "noise_multiplier", quality->noise_multiplier);
    json_write_real(writer, "deviation", quality_deviation(quality));
    write_share_asked(writer, outlook);
    json_write_real(writer, "epsilon_after", outlook->epsilon_after);
    json_write_count(writer, "jobs_like_this", outlook->times);
    json_write_object_end(writer);
}

/* Writes the moments that the job uses: whose they are, or what they cost. */
static void write_standardise(struct json_writer *writer,
                              const struct standardise_request *standardise)
{
    const char *id = standardise->statistics.text;
    json_write_object(writer, "standardise");
    json_write_text(writer, "statistics", id[0] != '\0' ? id : NULL);
    json_write_real(writer, "epsilon", standardise->epsilon);
    json_write_object_end(writer);
}

char *estimate_render(const struct estimate_view *view)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "fits", ledger_fits_name(view->fits));
    json_write_count(&writer, "steps", view->steps);
    json_write_count(&writer, "batch_size", view->batch_size);
    json_write_real(&writer, "sampling_rate", view->sampling_rate);
    json_write_count(&writer, "parameters", view->parameters);
    json_write_count(&writer, "memory", view->memory);
    json_write_count_if(&writer, view->seconds > 0, "seconds", view->seconds);
    write_figures(&writer, view);
    outlook_write(&writer, view->outlook);
    write_tuning(&writer, view);
    write_ranks(&writer, &view->ranks);
    if (view->measurement != NULL)
        measurement_estimate_write(&writer, view->quality, view->measurement_epsilon,
                                   view->measurement);
    if (view->request != NULL && view->request->standardise.is_asked)
        write_standardise(&writer, &view->request->standardise);
    if (view->request != NULL)
        job_warnings_write(&writer, view->request, view->is_private);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}
