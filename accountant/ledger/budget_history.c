#include "accountant/ledger/budget_history.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/ledger/entry.h"
#include "accountant/ledger/sealed_sum.h"
#include "base/check.h"
#include "store/rows/ledger_rows.h"

enum { ROWS_AT_ONCE = 1000 };

struct open_charge { /* the charge held for one job, at the weighted orders */
    struct job_id job;
    bool counts; /* it is charged to the part */
    double at[LEDGER_WEIGHTED];
};

struct noted { /* a timeline, and what it may have spent at every order */
    struct timeline timeline;
    struct curve most;
};

struct telling {
    struct budget_history *history;
    enum part part;
    struct division division;
    size_t wanted;          /* points */
    uint64_t read, last;    /* entries so far, and the seq of the last */
    size_t rows;            /* of this transaction */
    struct balance balance; /* of the epoch so far; held is added up only at points */
    struct epochs epochs;
    const char *dataset;
    struct noted *noted; /* timelines of the dataset */
    size_t noted_count;
    struct open_charge *open; /* in the order of seq */
    size_t open_count, open_room;
    bool sound;
};

static bool take_timeline(void *context, const struct timeline_row *row)
{
    struct telling *telling = context;
    struct noted noted = {.timeline = {.epoch = row->epoch, .seen = row->seen}};
    if (strcmp(row->dataset, telling->dataset) != 0)
        return true;
    memcpy(noted.timeline.name, row->hash, SHA256_SIZE);
    telling->sound = entry_charge_decode(&noted.most, row->most, row->most_size);
    telling->noted =
        reallocarray(telling->noted, telling->noted_count + 1, sizeof noted);
    CHECK(telling->noted != NULL);
    telling->noted[telling->noted_count++] = noted;
    return telling->sound;
}

/* A timeline was noticed before the epoch that it left was closed. */
static void add_timelines(struct telling *telling)
{
    for (size_t i = 0; i < telling->noted_count; i++) {
        struct noted *noted = &telling->noted[i];
        const struct epoch *left = epochs_find(&telling->epochs, noted->timeline.epoch);
        for (size_t a = 0; a < LEDGER_WEIGHTED && left != NULL; a++)
            noted->timeline.most[a] = noted->most.at[left->filter.weighted[a]];
        if (left != NULL)
            epochs_add_timeline(&telling->epochs, &noted->timeline);
    }
}

static void grant(struct telling *telling, const struct ledger_row *row)
{
    struct epoch epoch = {.number = row->epoch};
    struct balance *balance = &telling->balance;
    telling->sound = entry_grant_parse(&epoch.grant, &epoch.filter, NULL, row);
    *balance = (struct balance){.epoch = row->epoch,
                                .delta = epoch.grant.delta,
                                .curve_delta = grant_curve_delta(&epoch.grant),
                                .delta_capacity = epoch.filter.delta_capacity};
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++) {
        balance->weighted[i] = epoch.filter.weighted[i];
        balance->weights[i] = epoch.filter.weights[i];
        balance->capacity[i] = epoch.filter.capacity[i];
    }
    telling->division = epoch.grant.division;
    if (entry_replaces(row) != 0)
        epochs_fini(&telling->epochs);
    add_timelines(telling);
    epochs_append(&telling->epochs, &epoch);
    telling->open_count = 0;
}

/* Returns whether the entry, a RESERVE, is charged to the part. */
static bool is_charged(struct telling *telling, const struct ledger_row *row)
{
    enum parts parts = PARTS_UNNAMED;
    telling->sound = division_resolve(&telling->division, entry_parts(row), &parts);
    return ((unsigned)parts >> telling->part & 1) != 0;
}

static void reserve(struct telling *telling, const struct ledger_row *row,
                    const struct job_id *job, const struct curve *charge)
{
    if (telling->open_count == telling->open_room) {
        telling->open_room = telling->open_room == 0 ? 16 : 2 * telling->open_room;
        telling->open =
            reallocarray(telling->open, telling->open_room, sizeof *telling->open);
        CHECK(telling->open != NULL);
    }
    struct open_charge *open = &telling->open[telling->open_count++];
    open->job = *job;
    open->counts = is_charged(telling, row);
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++)
        open->at[i] = charge->at[telling->balance.weighted[i]];
}

static void commit(struct telling *telling, const struct job_id *job,
                   const struct curve *charge)
{
    size_t place = 0;
    while (place < telling->open_count &&
           strcmp(telling->open[place].job.text, job->text) != 0)
        place++;
    telling->sound = place < telling->open_count;
    if (!telling->sound)
        return;
    if (telling->open[place].counts)
        curve_add(&telling->balance.committed, charge);
    memmove(&telling->open[place], &telling->open[place + 1],
            (--telling->open_count - place) * sizeof *telling->open);
}

static void add_point(struct telling *telling, const struct ledger_row *row,
                      const struct job_id *job)
{
    struct balance *balance = &telling->balance;
    balance->held = (struct curve){0};
    for (size_t k = 0; k < telling->open_count; k++) {
        struct curve charge = {0};
        for (size_t i = 0; i < LEDGER_WEIGHTED && telling->open[k].counts; i++)
            charge.at[balance->weighted[i]] = telling->open[k].at[i];
        curve_add(&balance->held, &charge);
    }
    struct budget_point *point = &telling->history->points[telling->history->count++];
    *point = (struct budget_point){
        .seq = row->seq,
        .epoch = row->epoch,
        .time_ms = row->time_ms,
        .job = *job,
        .epsilon_spent =
            budget_spent_epsilon(&balance->committed, balance->curve_delta),
        .epochs = telling->epochs.count,
        .exposure = odometer_reading(&telling->epochs, &balance->committed),
        .share = budget_share_of(balance)};
    snprintf(point->kind, sizeof point->kind, "%s", row->kind);
}

/* Returns the index of the entry whose point is next. */
static uint64_t next_wanted(const struct telling *telling)
{
    uint64_t last = telling->history->entries - 1;
    return telling->wanted == 1
               ? last
               : telling->history->count * last / (telling->wanted - 1);
}

static bool take_entry(void *context, const struct ledger_row *row)
{
    struct telling *telling = context;
    struct job_id job = {0};
    struct curve charge;
    if (strcmp(row->kind, "GRANT") == 0)
        grant(telling, row);
    else if (telling->epochs.count == 0 || !charged_id_parse(&job, row->job) ||
             !entry_charge_decode(&charge, row->curve, row->curve_size))
        telling->sound = false;
    else if (strcmp(row->kind, "RESERVE") == 0)
        reserve(telling, row, &job, &charge);
    else
        commit(telling, &job, &charge);
    telling->last = row->seq;
    if (!telling->sound)
        return false;
    if (telling->read++ == next_wanted(telling))
        add_point(telling, row, &job);
    return ++telling->rows < ROWS_AT_ONCE && telling->read < telling->history->entries;
}

/* Makes room for the points once their number is known. */
static void begin(struct telling *telling, uint64_t entries)
{
    telling->history->entries = entries;
    if (telling->wanted > entries)
        telling->wanted = (size_t)entries;
    telling->history->points =
        calloc(telling->wanted + 1, sizeof *telling->history->points);
    CHECK(telling->history->points != NULL);
}

/* --- archived entries --- */

struct sealed_past {
    struct telling *telling;
    struct seal seal;
    struct sealed sealed; /* the sum of the dataset, if it has one */
    const char *dataset;
};

/* Reads an entry that stays: a GRANT, or a RESERVE that was open when it was sealed. */
static bool take_kept(void *context, const struct ledger_row *row)
{
    struct telling *telling = context;
    struct job_id job = {0};
    struct curve charge;
    if (strcmp(row->kind, "GRANT") == 0)
        grant(telling, row);
    else if (telling->epochs.count > 0 && charged_id_parse(&job, row->job) &&
             entry_charge_decode(&charge, row->curve, row->curve_size))
        reserve(telling, row, &job, &charge);
    else
        telling->sound = false;
    return telling->sound;
}

/* Begins with the sum, if the dataset has one; *any = whether it has. */
static enum status take_past(struct sealed_past *past, struct store_tx *tx, bool *any,
                             struct error *error)
{
    struct telling *telling = past->telling;
    enum status status = sealed_read_seal(&past->seal, tx, error);
    if (status == ST_OK && past->seal.entry.seq > 0)
        status = sealed_read_one(&past->sealed, &past->seal, past->dataset, tx, error);
    *any = status == ST_OK && past->sealed.count > 0;
    if (!*any)
        return status;
    const struct sealed_sum *sum = &past->sealed.sums[0];
    status = ledger_rows_walk(tx,
                              &(struct ledger_range){.dataset = past->dataset,
                                                     .before = past->seal.entry.seq},
                              take_kept, telling, error);
    size_t last = (sum->epoch_count - 1) * sum->part_count;
    telling->balance.committed = sum->committed[last + telling->part];
    telling->last = past->seal.entry.seq;
    return status;
}

/* Adds the first of the points that may be wanted, in the place of all that is
 * archived. */
static void add_seal(struct telling *telling, const struct seal *seal)
{
    const struct ledger_row row = {.seq = seal->entry.seq,
                                   .epoch = telling->balance.epoch,
                                   .kind = "SEAL",
                                   .time_ms = seal->time_ms};
    const struct job_id none = {0};
    if (telling->read++ == next_wanted(telling))
        add_point(telling, &row, &none);
}

static enum status read_past(struct telling *telling, struct store_tx *tx,
                             const char *dataset, struct error *error)
{
    struct sealed_past past = {.telling = telling, .dataset = dataset};
    uint64_t entries = 0;
    bool any = false;
    telling->dataset = dataset;
    enum status status = timeline_rows_walk(tx, take_timeline, telling, error);
    if (status == ST_OK)
        status = take_past(&past, tx, &any, error);
    if (status == ST_OK)
        status = ledger_rows_count(tx, dataset, telling->last, &entries, error);
    if (status == ST_OK)
        begin(telling, entries + any);
    if (status == ST_OK && any && telling->sound)
        add_seal(telling, &past.seal);
    sealed_fini(&past.sealed);
    return status;
}

/* Reads the next entries in a transaction of their own. *again: its connection was
 * lost, and what was read is of no use. */
static enum status read_some(struct telling *telling, struct store *store,
                             const char *dataset, bool *again, struct error *error)
{
    struct store_tx *tx;
    enum status status = store_begin(store, STORE_READ, &tx, error);
    if (status != ST_OK)
        return status;
    if (telling->history->points == NULL)
        status = read_past(telling, tx, dataset, error);
    telling->rows = 0;
    if (status == ST_OK && telling->sound && telling->read < telling->history->entries)
        status = ledger_rows_walk(
            tx, &(struct ledger_range){.dataset = dataset, .after = telling->last},
            take_entry, telling, error);
    *again = store_again(tx, &status, error);
    if (!*again && status == ST_OK && !telling->sound)
        return error_set(error, ST_CORRUPT,
                         "ledger entry %" PRIu64 ": is not of its form", telling->last);
    return status;
}

enum status budget_history_read(struct budget_history *history, struct store *store,
                                const struct ledger_part *part, size_t points,
                                struct error *error)
{
    struct budget_history told = {0};
    enum status status = ST_OK;
    bool again;
    do {
        struct telling telling = {
            .history = &told, .part = part->part, .wanted = points, .sound = true};
        again = false;
        budget_history_fini(&told);
        do
            status = read_some(&telling, store, part->dataset->text, &again, error);
        while (status == ST_OK && !again && telling.read < told.entries &&
               telling.rows > 0);
        epochs_fini(&telling.epochs);
        free(telling.open);
        free(telling.noted);
    } while (again);
    if (status == ST_OK)
        *history = told;
    else
        budget_history_fini(&told);
    return status;
}

void budget_history_fini(struct budget_history *history)
{
    free(history->points);
    *history = (struct budget_history){0};
}
