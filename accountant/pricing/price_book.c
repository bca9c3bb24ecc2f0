/* A price is found by the SHA-256 of its question and its mechanism's canonical
 * text. */
#include "accountant/pricing/price_book.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/pricing/balance_room.h"
#include "accountant/pricing/filter.h"
#include "base/check.h"
#include "base/hash.h"

enum {
    WAYS = 8,
    SETS = PRICE_BOOK_ENTRIES / WAYS,
    TEXT_SIZE = 256, /* of a refusal */
};

enum question { ASK_CHARGE, ASK_FIGURE, ASK_NOISE, ASK_NOISE_FOR_FRACTION };

struct price {
    enum status status;
    char text[TEXT_SIZE]; /* why there is no price; "": there is one */
    struct curve charge;
    struct figure figure;
    double noise;
};

struct place {
    uint8_t key[SHA256_SIZE];
    uint64_t used; /* the clock at its last use; 0: the place is empty */
    struct price price;
};

struct price_book {
    pthread_mutex_t lock; /* guards all below */
    uint64_t clock, computed;
    struct place places[SETS][WAYS];
};

struct price_book *price_book_create(void)
{
    struct price_book *book = calloc(1, sizeof *book);
    CHECK(book != NULL);
    CHECK(pthread_mutex_init(&book->lock, NULL) == 0);
    return book;
}

void price_book_destroy(struct price_book *book)
{
    if (book == NULL)
        return;
    pthread_mutex_destroy(&book->lock);
    free(book);
}

uint64_t price_book_computed(struct price_book *book)
{
    pthread_mutex_lock(&book->lock);
    uint64_t computed = book->computed;
    pthread_mutex_unlock(&book->lock);
    return computed;
}

/* --- questions --- */

struct asked {
    enum question question;
    const struct mechanism *m;
    const struct price_terms *terms;
    double target; /* an epsilon, or a fraction of the balance */
    const struct balance *balance;
};

/* The members of a balance that a price depends on. */
struct room {
    struct curve committed, held;
    double capacity[LEDGER_WEIGHTED];
    uint64_t weighted[LEDGER_WEIGHTED];
};

static void feed_balance(struct sha256 *hash, const struct balance *balance)
{
    struct room room = {.committed = balance->committed, .held = balance->held};
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++) {
        room.capacity[i] = balance->capacity[i];
        room.weighted[i] = balance->weighted[i];
    }
    sha256_update(hash, &room, sizeof room);
}

static void make_key(uint8_t key[SHA256_SIZE], const struct asked *asked)
{
    const double numbers[] = {(double)asked->question, asked->terms->by_losses,
                              asked->terms->delta, asked->target};
    struct sha256 *hash = sha256_create();
    char *text = mechanism_render(asked->m);
    sha256_update(hash, numbers, sizeof numbers);
    if (asked->balance != NULL)
        feed_balance(hash, asked->balance);
    sha256_update(hash, text, strlen(text));
    sha256_finish(hash, key);
    sha256_destroy(hash);
    free(text);
}

static enum status compute(struct price *price, const struct asked *asked,
                           struct error *error)
{
    const struct mechanism *m = asked->m;
    const struct price_terms *terms = asked->terms;
    switch (asked->question) {
    case ASK_CHARGE: return filter_charge(&price->charge, m, mechanism_steps(m), error);
    case ASK_FIGURE:
        if (figure_affords(m, error) != ST_OK)
            return ST_INVALID;
        return (terms->by_losses ? figure_epsilon_pld : figure_epsilon)(
            &price->figure, m, mechanism_steps(m), terms->delta, error);
    case ASK_NOISE:
        return (terms->by_losses ? figure_noise_pld : figure_noise)(
            &price->noise, m, asked->target, terms->delta, error);
    case ASK_NOISE_FOR_FRACTION:
        return balance_room_noise(&price->noise, m, asked->balance, asked->target,
                                  error);
    }
    return error_set(error, ST_INTERNAL, "no such question");
}

/* --- places; the lock is held --- */

static struct place *set_of(struct price_book *book, const uint8_t key[SHA256_SIZE])
{
    uint32_t number;
    memcpy(&number, key, sizeof number);
    return book->places[number % SETS];
}

static struct place *find(struct price_book *book, const uint8_t key[SHA256_SIZE])
{
    struct place *set = set_of(book, key);
    for (size_t i = 0; i < WAYS; i++)
        if (set[i].used > 0 && memcmp(set[i].key, key, SHA256_SIZE) == 0)
            return &set[i];
    return NULL;
}

static struct place *oldest(struct price_book *book, const uint8_t key[SHA256_SIZE])
{
    struct place *set = set_of(book, key), *place = set;
    for (size_t i = 1; i < WAYS; i++)
        if (set[i].used < place->used)
            place = &set[i];
    return place;
}

/* --- finding or computing a price --- */

static bool look_up(struct price_book *book, const uint8_t key[SHA256_SIZE],
                    struct price *price)
{
    pthread_mutex_lock(&book->lock);
    struct place *place = find(book, key);
    if (place != NULL) {
        place->used = ++book->clock;
        *price = place->price;
    }
    pthread_mutex_unlock(&book->lock);
    return place != NULL;
}

/* Lack of memory is no property of a mechanism, so it is not kept. */
static void keep(struct price_book *book, const uint8_t key[SHA256_SIZE],
                 const struct price *price)
{
    pthread_mutex_lock(&book->lock);
    struct place *place = find(book, key);
    if (place == NULL)
        place = oldest(book, key);
    book->computed++;
    if (price->status != ST_NO_MEMORY) {
        memcpy(place->key, key, SHA256_SIZE);
        place->used = ++book->clock;
        place->price = *price;
    }
    pthread_mutex_unlock(&book->lock);
}

static enum status answer(const struct price *price, struct error *error)
{
    return price->status == ST_OK ? ST_OK
                                  : error_set(error, price->status, "%s", price->text);
}

static enum status ask(struct price *price, const struct asked *asked,
                       struct error *error)
{
    uint8_t key[SHA256_SIZE];
    struct error found = {0};
    struct price_book *book = asked->terms->book;
    *price = (struct price){.status = ST_OK};
    if (book == NULL)
        return compute(price, asked, error);
    make_key(key, asked);
    if (look_up(book, key, price))
        return answer(price, error);
    if (asked->terms->known_only)
        return error_set(error, ST_QUEUE_FULL, "its price is not known yet");
    price->status = compute(price, asked, &found);
    snprintf(price->text, sizeof price->text, "%s", found.text);
    keep(book, key, price);
    return answer(price, error);
}

enum status price_charge(struct curve *charge, const struct mechanism *m,
                         const struct price_terms *terms, struct error *error)
{
    struct price price;
    const struct price_terms alone = {.book = terms->book,
                                      .known_only = terms->known_only};
    const struct asked asked = {.question = ASK_CHARGE, .m = m, .terms = &alone};
    enum status status = ask(&price, &asked, error);
    if (status == ST_OK)
        *charge = price.charge;
    return status;
}

enum status price_figure(struct figure *figure, const struct mechanism *m,
                         const struct price_terms *terms, struct error *error)
{
    struct price price;
    const struct asked asked = {.question = ASK_FIGURE, .m = m, .terms = terms};
    enum status status = ask(&price, &asked, error);
    if (status == ST_OK)
        *figure = price.figure;
    return status;
}

enum status price_noise(double *noise, const struct mechanism *m, double epsilon,
                        const struct price_terms *terms, struct error *error)
{
    struct price price;
    const struct asked asked = {
        .question = ASK_NOISE, .m = m, .terms = terms, .target = epsilon};
    enum status status = ask(&price, &asked, error);
    if (status == ST_OK)
        *noise = price.noise;
    return status;
}

enum status price_noise_for_fraction(double *noise, const struct mechanism *m,
                                     const struct balance *balance, double fraction,
                                     const struct price_terms *terms,
                                     struct error *error)
{
    struct price price;
    const struct price_terms alone = {.book = terms->book,
                                      .known_only = terms->known_only};
    const struct asked asked = {.question = ASK_NOISE_FOR_FRACTION,
                                .m = m,
                                .terms = &alone,
                                .target = fraction,
                                .balance = balance};
    enum status status = ask(&price, &asked, error);
    if (status == ST_OK)
        *noise = price.noise;
    return status;
}
