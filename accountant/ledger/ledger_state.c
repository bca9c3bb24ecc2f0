/* Accounts and reservations are kept sorted by name, and found by bisection from the
 * greatest names down: names of jobs grow with time, and the newest are wanted most.
 * The first change of an account inside a transaction copies its balances into next,
 * and later ones change the copy; both lists of changes determine what to keep or to
 * drop at the end. So there is no undo code: dropping destroys the copy. */
#include "accountant/ledger/ledger_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

static void append(struct pointers *list, void *item)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? 16 : 2 * list->capacity;
        list->items = reallocarray(list->items, list->capacity, sizeof *list->items);
        CHECK(list->items != NULL);
    }
    list->items[list->count++] = item;
}

/* Returns the index where the item called name is, or would be. */
static size_t place(const struct pointers *sorted, const char *name)
{
    size_t high = sorted->count, step = 1;
    for (; step <= high && strcmp(sorted->items[high - step], name) >= 0; step *= 2)
        high -= step;
    size_t low = step <= high ? high - step + 1 : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(sorted->items[middle], name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void *find(const struct pointers *sorted, const char *name)
{
    size_t at = place(sorted, name);
    if (at == sorted->count || strcmp(sorted->items[at], name) != 0)
        return NULL;
    return sorted->items[at];
}

static void insert(struct pointers *sorted, void *item)
{
    size_t at = place(sorted, item);
    append(sorted, item);
    memmove(sorted->items + at + 1, sorted->items + at,
            (sorted->count - 1 - at) * sizeof *sorted->items);
    sorted->items[at] = item;
}

static void take_out(struct pointers *sorted, const char *name)
{
    size_t at = place(sorted, name);
    sorted->count--;
    memmove(sorted->items + at, sorted->items + at + 1,
            (sorted->count - at) * sizeof *sorted->items);
}

static void account_destroy(struct account *account)
{
    balances_destroy(account->now);
    balances_destroy(account->next);
    free(account);
}

/* Frees what is kept of an open reservation. */
static void forget_held(struct reservation *reservation)
{
    if (reservation->held != NULL)
        mechanism_fini(&reservation->held->mechanism);
    free(reservation->held);
    reservation->held = NULL;
}

static void reservation_destroy(struct reservation *reservation)
{
    forget_held(reservation);
    free(reservation);
}

void ledger_state_init(struct ledger_state *state)
{
    *state = (struct ledger_state){0};
}

void ledger_state_fini(struct ledger_state *state)
{
    for (size_t i = 0; i < state->accounts.count; i++)
        account_destroy(state->accounts.items[i]);
    for (size_t i = 0; i < state->reservations.count; i++)
        reservation_destroy(state->reservations.items[i]);
    free(state->accounts.items);
    free(state->reservations.items);
    free(state->changed_accounts.items);
    free(state->changed_reservations.items);
    *state = (struct ledger_state){0};
}

struct account *ledger_state_account(const struct ledger_state *state,
                                     const struct dataset_id *dataset)
{
    return find(&state->accounts, dataset->text);
}

struct reservation *ledger_state_reservation(const struct ledger_state *state,
                                             const struct job_id *job)
{
    return find(&state->reservations, job->text);
}

/* --- accounts from elsewhere --- */

/* Merges the sorted items of more into those of list, from their ends: if few are added
 * to many, only items after the first of them are moved. */
static void merge(struct pointers *list, const struct pointers *more)
{
    size_t from = list->count, left = more->count;
    for (size_t i = 0; i < more->count; i++)
        append(list, more->items[i]);
    for (size_t at = list->count; left > 0; at--) {
        const char *newest = more->items[left - 1];
        bool moves = from > 0 && strcmp(list->items[from - 1], newest) > 0;
        list->items[at - 1] = moves ? list->items[--from] : more->items[--left];
    }
}

/* Keeps in list what is not owned by an account that state has already. */
static void leave_known(struct pointers *list, const struct ledger_state *state,
                        const struct account *(*owner)(void *item),
                        void (*destroy)(void *item))
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (ledger_state_account(state, &owner(list->items[i])->dataset) == NULL)
            list->items[kept++] = list->items[i];
        else
            destroy(list->items[i]);
    }
    list->count = kept;
}

static const struct account *owner_of_itself(void *item)
{
    return item;
}

static const struct account *owner_of_reservation(void *item)
{
    return ((const struct reservation *)item)->account;
}

static void destroy_account(void *item)
{
    account_destroy(item);
}

static void destroy_reservation(void *item)
{
    reservation_destroy(item);
}

void ledger_state_adopt(struct ledger_state *state, struct ledger_state *loaded)
{
    CHECK(loaded->changed_accounts.count == 0 &&
          loaded->changed_reservations.count == 0);
    leave_known(&loaded->reservations, state, owner_of_reservation,
                destroy_reservation);
    leave_known(&loaded->accounts, state, owner_of_itself, destroy_account);
    for (size_t i = 0; i < loaded->accounts.count; i++)
        ((struct account *)loaded->accounts.items[i])->version = 0;
    merge(&state->reservations, &loaded->reservations);
    merge(&state->accounts, &loaded->accounts);
    loaded->reservations.count = loaded->accounts.count = 0;
}

const struct balances *ledger_state_view(const struct account *account)
{
    return account->next != NULL ? account->next : account->now;
}

struct balances *ledger_state_change(struct ledger_state *state,
                                     struct account *account)
{
    static const struct balances nothing = {0};
    if (account->next == NULL) {
        account->next = balances_copy(account->now != NULL ? account->now : &nothing);
        append(&state->changed_accounts, account);
    }
    return account->next;
}

struct reservation_state *
ledger_state_change_reservation(struct ledger_state *state,
                                struct reservation *reservation)
{
    if (!reservation->changed) {
        reservation->next = reservation->now;
        reservation->changed = true;
        append(&state->changed_reservations, reservation);
    }
    return &reservation->next;
}

void ledger_state_grant(struct ledger_state *state, const struct granting *granting)
{
    struct account *account = granting->account;
    if (account == NULL) {
        CHECK(ledger_state_account(state, granting->dataset) == NULL);
        account = calloc(1, sizeof *account);
        CHECK(account != NULL);
        account->dataset = *granting->dataset;
        insert(&state->accounts, account);
    }
    struct balances *balances = ledger_state_change(state, account);
    CHECK(balances->open_count == 0);
    if (granting->replaces)
        CHECK(balances_unused(balances, NULL) == ST_OK);
    else
        balances_close_epoch(balances);
    balances->epoch++;
    balances->frozen = false;
    balances->grant = *granting->grant;
    balances->grant_seq = granting->seq;
    balances->filter = *granting->filter;
    balances->part_count = division_parts(&granting->grant->division);
    for (size_t p = 0; p < PARTS_MAX; p++)
        balances->parts[p].committed = balances->parts[p].held = (struct curve){0};
    state->next_tally.grants++;
}

struct reservation *ledger_state_reserve_take(struct ledger_state *state,
                                              struct account *account,
                                              const struct holding *holding)
{
    struct reservation *reservation = calloc(1, sizeof *reservation);
    struct held *held = malloc(sizeof *held);
    CHECK(reservation != NULL && held != NULL && holding->parts != PARTS_UNNAMED);
    held->mechanism = *holding->mechanism_take;
    *holding->mechanism_take = (struct mechanism){0};
    held->charge = *holding->charge;
    snprintf(held->actor, sizeof held->actor, "%s", holding->actor);
    reservation->held = held;
    reservation->job = *holding->job;
    reservation->account = account;
    reservation->parts = holding->parts;
    reservation->steps = mechanism_steps(&held->mechanism);
    insert(&state->reservations, reservation);
    ledger_state_change_reservation(state, reservation)->open = true;

    balances_open(ledger_state_change(state, account), reservation);
    state->next_tally.reserves++;
    return reservation;
}

void ledger_state_settle(struct ledger_state *state, struct reservation *reservation,
                         const struct curve *charge)
{
    balances_settle(ledger_state_change(state, reservation->account), reservation,
                    charge, state->replaying);
    ledger_state_change_reservation(state, reservation)->open = false;
    state->next_tally.commits++;
}

bool ledger_state_sealed(struct ledger_state *state, const struct sealed_sum *sum)
{
    struct dataset_id dataset;
    struct account *account = dataset_id_parse(&dataset, sum->dataset)
                                  ? ledger_state_account(state, &dataset)
                                  : NULL;
    if (account == NULL)
        return false;
    struct balances *balances = ledger_state_change(state, account);
    size_t closed = balances->parts[PART_TRAIN].closed.count, at = 0;
    if (sum->epoch != balances->epoch || sum->part_count != balances->part_count ||
        sum->epoch_count != closed + 1 || sum->open.count != balances->open_count)
        return false;
    for (size_t e = 0; e <= closed; e++)
        for (unsigned p = 0; p < sum->part_count; p++) {
            struct part_balance *part = &balances->parts[p];
            *(e < closed ? &part->closed.items[e].committed : &part->committed) =
                sum->committed[at++];
        }
    balances->reserved = sum->reserved;
    balances->external = sum->external;
    bool sound = balances_sound(balances);
    if (sound)
        ledger_state_keep(state);
    return sound;
}

void ledger_state_replayed(struct ledger_state *state)
{
    for (size_t i = 0; i < state->accounts.count; i++) {
        struct account *account = state->accounts.items[i];
        if (account->now != NULL)
            balances_hold(account->now);
    }
    state->replaying = false;
}

void ledger_state_keep(struct ledger_state *state)
{
    for (size_t i = 0; i < state->changed_accounts.count; i++) {
        struct account *account = state->changed_accounts.items[i];
        balances_destroy(account->now);
        account->now = account->next;
        account->next = NULL;
        account->version++;
        CHECK(balances_sound(account->now));
    }
    for (size_t i = 0; i < state->changed_reservations.count; i++) {
        struct reservation *reservation = state->changed_reservations.items[i];
        reservation->now = reservation->next;
        reservation->changed = false;
        reservation->durable = true;
        if (!reservation->now.open)
            forget_held(reservation);
    }
    state->changed_accounts.count = state->changed_reservations.count = 0;
    state->tally = state->next_tally;
}

void ledger_state_drop(struct ledger_state *state)
{
    for (size_t i = 0; i < state->changed_accounts.count; i++) {
        struct account *account = state->changed_accounts.items[i];
        balances_destroy(account->next);
        account->next = NULL;
        if (account->now == NULL) {
            take_out(&state->accounts, account->dataset.text);
            account_destroy(account);
        }
    }
    for (size_t i = 0; i < state->changed_reservations.count; i++) {
        struct reservation *reservation = state->changed_reservations.items[i];
        reservation->changed = false;
        if (!reservation->durable) {
            take_out(&state->reservations, reservation->job.text);
            reservation_destroy(reservation);
        }
    }
    state->changed_accounts.count = state->changed_reservations.count = 0;
    state->next_tally = state->tally;
}
