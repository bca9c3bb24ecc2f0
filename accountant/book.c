#include "accountant/book.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/upward.h"
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

/* Where the item called name is, or would be. */
static size_t place(const struct pointers *sorted, const char *name)
{
    size_t low = 0, high = sorted->count;
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

static void balances_destroy(struct balances *balances)
{
    if (balances != NULL) {
        epochs_fini(&balances->closed);
        free(balances->open);
    }
    free(balances);
}

static void account_destroy(struct account *account)
{
    balances_destroy(account->now);
    balances_destroy(account->next);
    free(account);
}

static void reservation_destroy(struct reservation *reservation)
{
    mechanism_fini(&reservation->mechanism);
    free(reservation);
}

void book_init(struct book *book)
{
    *book = (struct book){0};
}

void book_fini(struct book *book)
{
    for (size_t i = 0; i < book->accounts.count; i++)
        account_destroy(book->accounts.items[i]);
    for (size_t i = 0; i < book->reservations.count; i++)
        reservation_destroy(book->reservations.items[i]);
    free(book->accounts.items);
    free(book->reservations.items);
    free(book->changed_accounts.items);
    free(book->changed_reservations.items);
    *book = (struct book){0};
}

struct account *book_account(const struct book *book, const struct dataset_id *dataset)
{
    return find(&book->accounts, dataset->text);
}

struct reservation *book_reservation(const struct book *book, const struct job_id *job)
{
    return find(&book->reservations, job->text);
}

const struct balances *book_view(const struct account *account)
{
    return account->next != NULL ? account->next : account->now;
}

/* Room for the reservation that a change may add. */
static struct balances *copy_of(const struct balances *from)
{
    struct balances *copy = malloc(sizeof *copy);
    CHECK(copy != NULL);
    *copy = *from;
    copy->closed = epochs_copy(&from->closed);
    copy->open = calloc(from->open_count + 1, sizeof *copy->open);
    CHECK(copy->open != NULL);
    if (from->open_count > 0)
        memcpy(copy->open, from->open, from->open_count * sizeof *copy->open);
    return copy;
}

struct balances *book_change(struct book *book, struct account *account)
{
    static const struct balances nothing = {0};
    if (account->next == NULL) {
        account->next = copy_of(account->now != NULL ? account->now : &nothing);
        append(&book->changed_accounts, account);
    }
    return account->next;
}

struct reservation_state *book_change_reservation(struct book *book,
                                                  struct reservation *reservation)
{
    if (!reservation->changed) {
        reservation->next = reservation->now;
        reservation->changed = true;
        append(&book->changed_reservations, reservation);
    }
    return &reservation->next;
}

void book_grant(struct book *book, const struct dataset_id *dataset,
                const struct grant *grant, const struct filter *filter)
{
    struct account *account = book_account(book, dataset);
    if (account == NULL) {
        account = calloc(1, sizeof *account);
        CHECK(account != NULL);
        account->dataset = *dataset;
        insert(&book->accounts, account);
    }
    struct balances *balances = book_change(book, account);
    CHECK(balances->open_count == 0);
    struct epoch before = book_epoch(balances);
    if (balances->epoch > 0)
        epochs_append(&balances->closed, &before);
    balances->epoch++;
    balances->frozen = false;
    balances->grant = *grant;
    balances->filter = *filter;
    balances->committed = balances->held = (struct curve){{0}};
}

struct reservation *book_reserve_take(struct book *book, struct account *account,
                                      const struct job_id *job, struct mechanism *m,
                                      const struct curve *charge)
{
    struct reservation *reservation = calloc(1, sizeof *reservation);
    CHECK(reservation != NULL);
    reservation->job = *job;
    reservation->account = account;
    reservation->mechanism = *m;
    *m = (struct mechanism){0};
    reservation->charge = *charge;
    reservation->steps = mechanism_steps(&reservation->mechanism);
    insert(&book->reservations, reservation);
    book_change_reservation(book, reservation)->open = true;

    struct balances *balances = book_change(book, account);
    balances->open =
        reallocarray(balances->open, balances->open_count + 1, sizeof *balances->open);
    CHECK(balances->open != NULL);
    balances->open[balances->open_count++] = reservation;
    balances->reserved = true;
    curve_add(&balances->held, charge);
    return reservation;
}

static void hold_all(struct balances *balances)
{
    balances->held = (struct curve){{0}};
    for (size_t i = 0; i < balances->open_count; i++)
        curve_add(&balances->held, &balances->open[i]->charge);
}

static void hold_weighted(struct balances *balances)
{
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++) {
        size_t order = balances->filter.weighted[i];
        double held = 0;
        for (size_t j = 0; j < balances->open_count; j++)
            held = upward_add(held, balances->open[j]->charge.at[order]);
        balances->held.at[order] = held;
    }
}

void book_settle(struct book *book, struct reservation *reservation,
                 const struct curve *charge)
{
    struct balances *balances = book_change(book, reservation->account);
    size_t kept = 0;
    for (size_t i = 0; i < balances->open_count; i++) {
        if (balances->open[i] != reservation)
            balances->open[kept++] = balances->open[i];
    }
    CHECK(kept + 1 == balances->open_count);
    balances->open_count = kept;
    if (book->replaying)
        hold_weighted(balances);
    else
        hold_all(balances);
    curve_add(&balances->committed, charge);
    book_change_reservation(book, reservation)->open = false;
}

void book_replayed(struct book *book)
{
    for (size_t i = 0; i < book->accounts.count; i++) {
        struct account *account = book->accounts.items[i];
        if (account->now != NULL)
            hold_all(account->now);
    }
    book->replaying = false;
}

struct epoch book_epoch(const struct balances *balances)
{
    return (struct epoch){.grant = balances->grant,
                          .filter = balances->filter,
                          .committed = balances->committed,
                          .frozen = balances->frozen};
}

bool book_sound(const struct balances *balances)
{
    struct curve sum = balances->committed;
    curve_add(&sum, &balances->held);
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++) {
        if (sum.at[balances->filter.weighted[i]] <= balances->filter.capacity[i])
            return true;
    }
    return false;
}

void book_keep(struct book *book)
{
    for (size_t i = 0; i < book->changed_accounts.count; i++) {
        struct account *account = book->changed_accounts.items[i];
        balances_destroy(account->now);
        account->now = account->next;
        account->next = NULL;
        CHECK(book_sound(account->now));
    }
    for (size_t i = 0; i < book->changed_reservations.count; i++) {
        struct reservation *reservation = book->changed_reservations.items[i];
        reservation->now = reservation->next;
        reservation->changed = false;
        reservation->durable = true;
        if (!reservation->now.open)
            mechanism_fini(&reservation->mechanism);
    }
    book->changed_accounts.count = book->changed_reservations.count = 0;
}

void book_drop(struct book *book)
{
    for (size_t i = 0; i < book->changed_accounts.count; i++) {
        struct account *account = book->changed_accounts.items[i];
        balances_destroy(account->next);
        account->next = NULL;
        if (account->now == NULL) {
            take_out(&book->accounts, account->dataset.text);
            account_destroy(account);
        }
    }
    for (size_t i = 0; i < book->changed_reservations.count; i++) {
        struct reservation *reservation = book->changed_reservations.items[i];
        reservation->changed = false;
        if (!reservation->durable) {
            take_out(&book->reservations, reservation->job.text);
            reservation_destroy(reservation);
        }
    }
    book->changed_accounts.count = book->changed_reservations.count = 0;
}
