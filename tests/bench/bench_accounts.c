/*
 * bench_accounts - a start from a sealed ledger of many datasets: with every account
 * read, as before accounts stayed in the store, and with only the open ones; and the
 * cost of reading one that is not in memory. Processor time of one thread, and bytes
 * that stay allocated.
 */
#include <malloc.h>
#include <time.h>

#include "tests/expect.h"
#include "accountant/ledger/ledger_seal.h"
#include "base/check.h"
#include "tests/accountant/accounts_fixture.h"
#include "tests/store/place_fixture.h"

enum { TURNS = 7 };

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static double allocated_mb(void)
{
    struct mallinfo2 info = mallinfo2();
    return (double)(info.uordblks + info.hblkhd) / 1e6;
}

struct start {
    double ms[TURNS], mb;
};

static int compare(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) -
           (*(const double *)a < *(const double *)b);
}

static double median(double values[TURNS])
{
    qsort(values, TURNS, sizeof *values, compare);
    return values[TURNS / 2];
}

static struct ledger *start(struct store *store, bool whole, unsigned turn,
                            struct start *figures)
{
    struct store_tx *tx = NULL;
    struct ledger *ledger = NULL;
    double before = allocated_mb(), then = now_ms();
    CHECK(store_begin(store, STORE_READ, &tx, NULL) == ST_OK);
    CHECK((whole ? ledger_open_whole : ledger_open_in)(&ledger, store, tx, NULL) ==
          ST_OK);
    figures->ms[turn] = now_ms() - then;
    figures->mb = allocated_mb() - before;
    store_rollback(tx);
    return ledger;
}

/* Returns the microseconds for each account that is read. */
static double ask(struct ledger *ledger, unsigned datasets)
{
    double then = now_ms();
    unsigned asked = 0;
    for (unsigned i = 0; i < datasets; i += 7, asked++) {
        char name[16];
        struct budget_share share;
        name_dataset(name, i);
        const struct dataset_id id = kit_dataset(name);
        const struct ledger_part part = {&id, PART_TRAIN};
        CHECK(ledger_share(ledger, &part, &share, NULL) == ST_OK);
    }
    return (now_ms() - then) * 1e3 / asked;
}

static void bench(unsigned datasets)
{
    struct place place = place_make(), archive = place_make();
    struct start whole = {{0}, 0}, some = {{0}, 0};
    struct seal seal;
    bool any;
    double asked[TURNS];
    struct kit kit = kit_open(place.path);
    kit_close(&kit);
    accounts_fill(place.path, datasets);
    kit = kit_open(place.path);
    CHECK(ledger_seal(kit.ledger, archive.folder, &seal, &any, NULL) == ST_OK);
    ledger_close(kit.ledger);
    for (unsigned turn = 0; turn < TURNS; turn++) {
        ledger_close(start(kit.store, true, turn, &whole));
        kit.ledger = start(kit.store, false, turn, &some);
        asked[turn] = ask(kit.ledger, datasets);
        ledger_close(kit.ledger);
    }
    kit.ledger = NULL;
    kit_close(&kit);
    double all_ms = median(whole.ms), some_ms = median(some.ms);
    printf("%7u datasets, %7u entries: all accounts %7.1f ms %6.1f MB, those that are "
           "open "
           "%5.2f ms %5.2f MB (%.4f), asking for one %.0f us\n",
           datasets, 5 * datasets, all_ms, whole.mb, some_ms, some.mb, some_ms / all_ms,
           median(asked));
    fflush(stdout);
    place_remove(&place);
    place_remove(&archive);
}

int main(void)
{
    bench(2000);
    bench(20000);
    return 0;
}
