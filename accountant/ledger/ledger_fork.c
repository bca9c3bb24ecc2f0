#include "accountant/ledger/ledger_fork.h"

#include <math.h>
#include <string.h>

#include "accountant/ledger/timeline.h"
#include "accountant/mechanisms/round_up.h"
#include "base/check.h"
#include "base/clock.h"

/* --- comparing the store with the file --- */

struct search {
    const struct chain_links *links;
    uint64_t shared;
};

static bool find_shared(void *context, const struct ledger_row *row)
{
    struct search *search = context;
    struct ledger_entry_name entry = {.seq = row->seq};
    memcpy(entry.hash, row->hash, SHA256_SIZE);
    if (chain_links_have(search->links, &entry))
        search->shared = row->seq;
    return search->shared == 0;
}

/* Returns the first entry after shared that links have, or else the last one. */
static struct ledger_entry_name first_behind(const struct head_kept *kept,
                                             uint64_t shared)
{
    const struct chain_links *links = &kept->links;
    for (size_t i = 0; i < links->count && shared > 0; i++)
        if (links->items[i].entry.seq == shared + 1)
            return links->items[i].entry;
    return kept->head.entry;
}

enum status ledger_fork_find(struct ledger_fork *fork, const struct ledger *ledger,
                             struct store_tx *tx, const struct head_kept *kept,
                             bool has_entry, struct error *error)
{
    const struct ledger_entry_name *last = &ledger->now.entry;
    struct search search = {.links = &kept->links};
    const struct ledger_range range = {.before = kept->head.entry.seq + 1,
                                       .newest_first = true};
    enum status status = ST_OK;
    bool is_cut = has_entry ? last->seq == kept->head.entry.seq
                            : chain_links_have(&kept->links, last);
    if (is_cut || has_entry)
        search.shared = is_cut ? last->seq : kept->head.entry.seq;
    else if (kept->links.count > 0)
        status = ledger_rows_walk(tx, &range, find_shared, &search, error);
    fork->history = is_cut ? HISTORY_CUT : HISTORY_OTHER;
    fork->shared = search.shared;
    fork->name = first_behind(kept, search.shared);
    return status;
}

/* --- the loss of another timeline --- */

struct leaving { /* of an epoch by a timeline */
    const struct balances *balances;
    uint64_t shared;
    uint64_t epoch;                /* the newest granted up to shared; 0: none */
    double later[LEDGER_WEIGHTED]; /* COMMITs of it after shared */
    bool misread;                  /* one of them has no curve */
};

/* Returns the epoch of that number: one that is closed, or the one in force. */
static struct epoch epoch_of(const struct balances *balances, uint64_t number)
{
    const struct epoch *closed =
        epochs_find(&balances->parts[PART_TRAIN].closed, number);
    return closed != NULL ? *closed : balances_epoch(balances, PART_TRAIN);
}

static bool has_epoch(const struct balances *balances, uint64_t number)
{
    return number == balances->epoch ||
           epochs_find(&balances->parts[PART_TRAIN].closed, number) != NULL;
}

static bool take_grant(void *context, const struct ledger_row *row)
{
    struct leaving *leaving = context;
    if (strcmp(row->kind, "GRANT") == 0 && has_epoch(leaving->balances, row->epoch))
        leaving->epoch = row->epoch;
    return true;
}

static bool take_commit(void *context, const struct ledger_row *row)
{
    struct leaving *leaving = context;
    struct curve charge;
    if (strcmp(row->kind, "COMMIT") != 0 || row->epoch != leaving->epoch)
        return true;
    struct epoch epoch = epoch_of(leaving->balances, leaving->epoch);
    bool good = entry_charge_decode(&charge, row->curve, row->curve_size);
    for (size_t i = 0; i < LEDGER_WEIGHTED && good; i++)
        leaving->later[i] =
            round_up_add(leaving->later[i], charge.at[epoch.filter.weighted[i]]);
    leaving->misread = leaving->misread || !good;
    return good;
}

/* most = B - S at the epoch's weighted orders. S is all that is committed less what
 * came later: sums of multiples of 2^-40 are exact, so the subtraction loses
 * nothing. */
static void most_left(double most[LEDGER_WEIGHTED], const struct leaving *leaving,
                      bool knows_spent)
{
    struct epoch epoch = epoch_of(leaving->balances, leaving->epoch);
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++) {
        double spent = epoch.committed.at[epoch.filter.weighted[i]] - leaving->later[i];
        double left = epoch.filter.capacity[i];
        if (knows_spent && spent > 0) /* false if NaN */
            left -= spent;
        most[i] = fmax(0, left);
    }
}

static enum status find_leaving(struct leaving *leaving, const struct ledger *ledger,
                                struct store_tx *tx, const char *dataset,
                                bool *knows_spent, struct error *error)
{
    const struct ledger_range before = {.dataset = dataset,
                                        .before = leaving->shared + 1},
                              behind = {.dataset = dataset, .after = leaving->shared};
    enum status status = ledger_rows_walk(tx, &before, take_grant, leaving, error);
    *knows_spent = leaving->epoch != 0 && leaving->balances->part_count == 1 &&
                   leaving->shared >= ledger->state.seal.entry.seq;
    if (status == ST_OK && *knows_spent)
        status = ledger_rows_walk(tx, &behind, take_commit, leaving, error);
    *knows_spent = *knows_spent && !leaving->misread;
    return status;
}

/* --- rows --- */

static enum status insert(struct ledger *ledger, struct store_tx *tx,
                          struct account *account, const struct timeline_row *named,
                          const double most[LEDGER_WEIGHTED], struct error *error)
{
    uint8_t bytes[ENTRY_CURVE_SIZE];
    struct timeline timeline = {.epoch = named->epoch, .seen = named->seen};
    const struct balances *now = ledger_state_view(account);
    struct epoch epoch = epoch_of(now, named->epoch);
    struct timeline_row row = *named;
    timeline_most_encode(bytes, &epoch, most);
    row.dataset = account->dataset.text;
    row.most = bytes;
    row.most_size = sizeof bytes;
    row.time_ms = clock_wall_ms();
    enum status status = timeline_row_insert(tx, &row, error);
    if (status != ST_OK)
        return status;
    memcpy(timeline.name, row.hash, SHA256_SIZE);
    memcpy(timeline.most, most, sizeof timeline.most);
    ledger_change_join(ledger, tx);
    struct balances *next = ledger_state_change(&ledger->state, account);
    for (unsigned p = 0; p < next->part_count; p++)
        epochs_add_timeline(&next->parts[p].closed, &timeline);
    return ST_OK;
}

/* --- noting timelines --- */

/* Notes the timeline in every epoch of the account, because it is unknown which one it
 * left. */
static enum status note_everywhere(struct ledger *ledger, struct store_tx *tx,
                                   struct account *account, struct timeline_row *row,
                                   struct error *error)
{
    struct leaving leaving = {.balances = account->now};
    const struct epochs *closed = &account->now->parts[PART_TRAIN].closed;
    enum status status = ST_OK;
    for (size_t e = 0; e <= closed->count && status == ST_OK; e++) {
        double most[LEDGER_WEIGHTED];
        leaving.epoch = row->epoch =
            e < closed->count ? closed->items[e].number : account->now->epoch;
        most_left(most, &leaving, false);
        status = insert(ledger, tx, account, row, most, error);
    }
    return status;
}

static enum status note(struct ledger *ledger, struct store_tx *tx,
                        struct account *account, const struct head_timeline *timeline,
                        struct error *error)
{
    double most[LEDGER_WEIGHTED];
    bool knows_spent = false;
    const struct epochs *closed = &account->now->parts[PART_TRAIN].closed;
    struct leaving leaving = {.balances = account->now, .shared = timeline->shared};
    struct timeline_row row = {
        .seq = timeline->name.seq, .shared = timeline->shared, .seen = timeline->seen};
    memcpy(row.hash, timeline->name.hash, SHA256_SIZE);
    if (timeline->shared == 0)
        return note_everywhere(ledger, tx, account, &row, error);
    enum status status =
        find_leaving(&leaving, ledger, tx, account->dataset.text, &knows_spent, error);
    if (status != ST_OK)
        return status;
    if (leaving.epoch == 0) /* it was granted in each of the two */
        leaving.epoch =
            closed->count > 0 ? closed->items[0].number : account->now->epoch;
    row.epoch = leaving.epoch;
    most_left(most, &leaving, knows_spent);
    return insert(ledger, tx, account, &row, most, error);
}

enum status ledger_fork_note(struct ledger *ledger, struct store_tx *tx,
                             const struct head_timeline *timeline, struct error *error)
{
    enum status status = ST_OK;
    for (size_t i = 0; status == ST_OK && i < ledger->state.accounts.count; i++)
        status = note(ledger, tx, ledger->state.accounts.items[i], timeline, error);
    return status;
}

bool ledger_fork_known(const struct ledger *ledger,
                       const struct ledger_entry_name *name)
{
    for (size_t i = 0; i < ledger->state.accounts.count; i++) {
        const struct account *account = ledger->state.accounts.items[i];
        const struct epochs *closed =
            &ledger_state_view(account)->parts[PART_TRAIN].closed;
        for (size_t t = 0; t < closed->timeline_count; t++)
            if (memcmp(closed->timelines[t].name, name->hash, SHA256_SIZE) == 0)
                return true;
    }
    return false;
}

/* sum = the charges of the authorised steps of the account's open reservations, over
 * all parts: a step that reads two is charged to each. */
static enum status authorised_charges(double sum[LEDGER_WEIGHTED],
                                      const struct balances *now, struct error *error)
{
    for (size_t i = 0; i < now->open_count; i++) {
        const struct reservation *open = now->open[i];
        struct curve charge;
        if (open->now.authorised == 0)
            continue;
        enum status status =
            filter_charge(&charge, &open->held->mechanism, open->now.authorised, error);
        if (status != ST_OK)
            return status;
        for (size_t a = 0; a < LEDGER_WEIGHTED; a++)
            sum[a] = round_up_add(sum[a], charge.at[now->filter.weighted[a]]);
    }
    return ST_OK;
}

enum status ledger_fork_note_cut(struct ledger *ledger, struct store_tx *tx,
                                 const struct head_timeline *end, struct error *error)
{
    enum status status = ST_OK;
    for (size_t i = 0; status == ST_OK && i < ledger->state.accounts.count; i++) {
        struct account *account = ledger->state.accounts.items[i];
        struct timeline_row row = {
            .epoch = account->now->epoch, .seq = end->name.seq, .shared = end->shared};
        double sum[LEDGER_WEIGHTED] = {0};
        if (account->now->frozen)
            continue;
        memcpy(row.hash, end->name.hash, SHA256_SIZE);
        status = authorised_charges(sum, account->now, error);
        if (status == ST_OK)
            status = insert(ledger, tx, account, &row, sum, error);
    }
    return status;
}
