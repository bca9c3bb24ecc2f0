#include "service/budget_board.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "accountant/ledger_view.h"
#include "base/check.h"

struct budget_board {
    pthread_mutex_t lock; /* guards all below */
    size_t lines_max, count, left_out;
    struct budget_line *lines; /* (count) */
    bool figured;
    uint64_t seq, datasets_version; /* as of which it was figured */
};

struct budget_board *budget_board_create(size_t lines_max)
{
    struct budget_board *board = calloc(1, sizeof *board);
    CHECK(board != NULL);
    pthread_mutex_init(&board->lock, NULL);
    board->lines_max = lines_max;
    return board;
}

void budget_board_destroy(struct budget_board *board)
{
    if (board == NULL)
        return;
    free(board->lines);
    pthread_mutex_destroy(&board->lock);
    free(board);
}

/* Fills in a line for each part of the dataset's budget, where that is still of use, as far
 * as it takes no conversion. Answers how many. */
static size_t read_shares(struct datasets *datasets, const struct dataset *dataset,
                          struct ledger *ledger, struct budget_line *lines)
{
    struct dataset_info info;
    struct share share;
    const struct dataset_spec *spec = dataset_spec(dataset);
    size_t count = 0;
    if (spec->is_public)
        return 0;
    dataset_read(datasets, dataset, &info);
    unsigned parts = division_parts(&spec->grant.division);
    if (info.state == DATASET_DELETED || proposal_bars(&info.detail.proposal))
        return 0;
    for (unsigned p = 0; p < parts; p++) {
        const struct ledger_part part = {&spec->id, (enum part)p};
        if (ledger_share(ledger, &part, &share, NULL) == ST_OK)
            lines[count++] = (struct budget_line){.dataset = spec->id,
                                                  .is_divided = parts > 1,
                                                  .part = part.part,
                                                  .left = fmax(share.left, 0),
                                                  .held = share.held};
    }
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

static void figure(struct budget_board *board, struct datasets *datasets,
                   struct ledger *ledger)
{
    struct visit visit;
    datasets_enter(datasets, &visit);
    size_t total = datasets_count(datasets);
    struct budget_line *lines = calloc(PARTS_MAX * total + 1, sizeof *lines);
    CHECK(lines != NULL);
    size_t count = 0;
    for (size_t i = 0; i < total; i++)
        count += read_shares(datasets, datasets_at(datasets, i), ledger, &lines[count]);
    datasets_leave(datasets, &visit);
    qsort(lines, count, sizeof *lines, compare_left);
    free(board->lines);
    board->lines = lines;
    board->count = count < board->lines_max ? count : board->lines_max;
    board->left_out = count - board->count;
    for (size_t i = 0; i < board->count; i++)
        read_balance(ledger, &lines[i]);
}

void budget_board_hold(struct budget_board *board, struct datasets *datasets,
                       struct ledger *ledger, const struct budget_line **lines,
                       size_t *count, size_t *left_out)
{
    struct ledger_entry_name head;
    pthread_mutex_lock(&board->lock);
    /* Both are read first, so that what is figured is never older than they say. */
    uint64_t version = datasets_version(datasets);
    ledger_head(ledger, &head);
    if (!board->figured || board->seq != head.seq ||
        board->datasets_version != version) {
        figure(board, datasets, ledger);
        board->seq = head.seq;
        board->datasets_version = version;
        board->figured = true;
    }
    *lines = board->lines;
    *count = board->count;
    *left_out = board->left_out;
}

void budget_board_release(struct budget_board *board)
{
    pthread_mutex_unlock(&board->lock);
}
