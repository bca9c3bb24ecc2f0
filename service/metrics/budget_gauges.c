#include "service/metrics/budget_gauges.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/ledger/ledger_view.h"
#include "base/check.h"
#include "service/threads/epoch_reclaim.h"

/* Budget shares of the parts of a dataset, as of a version of its account. */
struct shares {
    bool known;
    uint64_t version;
    struct {
        bool any;
        double left, held;
    } parts[PARTS_MAX];
};

struct budget_gauges {
    pthread_mutex_t lock; /* guards all below */
    size_t lines_max, count, left_out;
    struct budget_line *lines; /* (count), least left first */
    struct shares *shares;     /* (share_count), indexed like datasets */
    size_t share_count;
    bool figured;
    uint64_t seq, datasets_version; /* the versions that the lines were computed from */
};

struct budget_gauges *budget_gauges_create(size_t lines_max)
{
    struct budget_gauges *board = calloc(1, sizeof *board);
    CHECK(board != NULL);
    pthread_mutex_init(&board->lock, NULL);
    board->lines_max = lines_max;
    return board;
}

void budget_gauges_destroy(struct budget_gauges *board)
{
    if (board == NULL)
        return;
    free(board->lines);
    free(board->shares);
    pthread_mutex_destroy(&board->lock);
    free(board);
}

/* Reads the shares again if the account has changed. An account that is only in the
 * store is read from there once, and not loaded. */
static void renew_shares(struct shares *shares, const struct dataset_id *dataset,
                         unsigned parts, struct ledger *ledger)
{
    uint64_t version = ledger_version(ledger, dataset);
    if (shares->known && shares->version == version)
        return;
    *shares = (struct shares){.known = true, .version = version};
    for (unsigned p = 0; p < parts; p++) {
        struct budget_share share;
        const struct ledger_part part = {dataset, (enum part)p};
        if (ledger_share_glance(ledger, &part, &share, NULL) != ST_OK)
            continue;
        shares->parts[p].any = true;
        shares->parts[p].left = share.left;
        shares->parts[p].held = share.held;
    }
}

/* Fills in a line for each part of the dataset's budget that can still be used, with
 * the members that need no conversion. Returns how many lines. */
static size_t read_shares(struct shares *shares, struct datasets *datasets,
                          const struct dataset *dataset, struct ledger *ledger,
                          struct budget_line *lines)
{
    struct dataset_info info;
    const struct dataset_spec *spec = dataset_spec(dataset);
    size_t count = 0;
    if (spec->is_public)
        return 0;
    dataset_read(datasets, dataset, &info);
    unsigned parts = division_parts(&spec->grant.division);
    if (info.state == DATASET_DELETED || proposal_bars(&info.detail.proposal))
        return 0;
    renew_shares(shares, &spec->id, parts, ledger);
    for (unsigned p = 0; p < parts; p++)
        if (shares->parts[p].any)
            lines[count++] =
                (struct budget_line){.dataset = spec->id,
                                     .is_divided = parts > 1,
                                     .part = (enum part)p,
                                     .left = fmax(shares->parts[p].left, 0),
                                     .held = shares->parts[p].held};
    return count;
}

static int compare_left(const void *a, const void *b)
{
    double left = ((const struct budget_line *)a)->left,
           right = ((const struct budget_line *)b)->left;
    return (left > right) - (left < right);
}

static void read_balance(struct ledger *ledger, struct budget_line *line)
{
    struct balance balance;
    const struct ledger_part part = {&line->dataset, line->part};
    if (ledger_part_read(ledger, &part, NULL, &balance, NULL) != ST_OK)
        return;
    line->epsilon = balance.epsilon;
    line->spent = balance.epsilon_spent;
    line->remaining = balance.epsilon_remaining;
}

/* Makes room for the shares of this many datasets. A dataset keeps its index. */
static void reach(struct budget_gauges *board, size_t datasets)
{
    if (datasets <= board->share_count)
        return;
    board->shares = reallocarray(board->shares, datasets, sizeof *board->shares);
    CHECK(board->shares != NULL);
    memset(board->shares + board->share_count, 0,
           (datasets - board->share_count) * sizeof *board->shares);
    board->share_count = datasets;
}

static void figure(struct budget_gauges *board, struct datasets *datasets,
                   struct ledger *ledger)
{
    struct reclaim_reader visit;
    datasets_enter(datasets, &visit);
    size_t total = datasets_count(datasets);
    struct budget_line *lines = calloc(PARTS_MAX * total + 1, sizeof *lines);
    CHECK(lines != NULL);
    size_t count = 0;
    reach(board, total);
    for (size_t i = 0; i < total; i++)
        count += read_shares(&board->shares[i], datasets, datasets_at(datasets, i),
                             ledger, &lines[count]);
    datasets_leave(datasets, &visit);
    qsort(lines, count, sizeof *lines, compare_left);
    free(board->lines);
    board->count = count < board->lines_max ? count : board->lines_max;
    board->left_out = count - board->count;
    board->lines = realloc(lines, (board->count + 1) * sizeof *lines);
    CHECK(board->lines != NULL);
    lines = board->lines;
    for (size_t i = 0; i < board->count; i++)
        read_balance(ledger, &lines[i]);
}

/* Brings the board up to date. Returns false if that would need the store and the
 * caller may not wait. */
static bool renew(struct budget_gauges *board, const struct budget_sources *sources)
{
    struct ledger_entry_name head;
    /* Both versions are read first, so that the figures are never older than they
     * say. */
    uint64_t version = datasets_version(sources->datasets);
    ledger_head(sources->ledger, &head);
    if (board->figured && board->seq == head.seq && board->datasets_version == version)
        return true;
    if (!sources->waits && !ledger_all_in_memory(sources->ledger))
        return false;
    figure(board, sources->datasets, sources->ledger);
    board->seq = head.seq;
    board->datasets_version = version;
    board->figured = true;
    return true;
}

/* Takes the lock. A caller that may not wait only tries: the thread that holds the lock
 * may be reading the store. */
static bool enter(struct budget_gauges *board, bool waits)
{
    return waits ? pthread_mutex_lock(&board->lock) == 0
                 : pthread_mutex_trylock(&board->lock) == 0;
}

bool budget_gauges_hold(struct budget_gauges *board,
                        const struct budget_sources *sources,
                        struct budget_lines *lines)
{
    if (!enter(board, sources->waits))
        return false;
    if (!renew(board, sources)) {
        pthread_mutex_unlock(&board->lock);
        return false;
    }
    *lines = (struct budget_lines){board->lines, board->count, board->left_out};
    return true;
}

void budget_gauges_release(struct budget_gauges *board)
{
    pthread_mutex_unlock(&board->lock);
}
