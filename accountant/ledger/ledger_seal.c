#include "accountant/ledger/ledger_seal.h"

#include <stdlib.h>
#include <string.h>

#include "accountant/ledger/ledger_accounts.h"
#include "accountant/ledger/sealed_sum.h"
#include "base/chain_hash.h"
#include "base/check.h"
#include "store/rows/sealed_rows.h"

enum { AT_ONCE = 10000 }; /* entries that one statement reads or deletes */

struct body { /* of a row */
    uint8_t *bytes;
    size_t size;
};

struct sealing {
    struct ledger *ledger;
    struct sealed before; /* the present one */
    struct seal seal;     /* the new one */
    struct archive_part part;
    struct archive_writer *writer;
    struct sealed_sum *sums; /* (count), of all accounts, in their order */
    struct body *bodies;     /* (count) */
    size_t count;
    struct ledger_entry_name head; /* of the part, as far as it was walked */
    size_t walked;                 /* entries, of this statement */
    enum status status;
    struct error *error;
};

/* --- the sums --- */

static struct sealed_sum *sum_of(const struct sealing *sealing, const char *dataset)
{
    size_t low = 0, high = sealing->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(sealing->sums[middle].dataset, dataset) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < sealing->count && strcmp(sealing->sums[low].dataset, dataset) == 0
               ? &sealing->sums[low]
               : NULL;
}

/* Each sum begins with the grants and spendings of the newest SEAL. */
static void begin_sums(struct sealing *sealing)
{
    const struct pointers *accounts = &sealing->ledger->state.accounts;
    sealing->count = accounts->count;
    sealing->sums = calloc(sealing->count + 1, sizeof *sealing->sums);
    sealing->bodies = calloc(sealing->count + 1, sizeof *sealing->bodies);
    CHECK(sealing->sums != NULL && sealing->bodies != NULL);
    for (size_t i = 0; i < sealing->count; i++) {
        struct sealed_sum *sum = &sealing->sums[i];
        const struct account *account = accounts->items[i];
        struct sealed_sum *before =
            sealed_find(&sealing->before, account->dataset.text);
        memcpy(sum->dataset, account->dataset.text, sizeof sum->dataset);
        if (before == NULL)
            continue;
        sum->grants = before->grants;
        sum->spendings = before->spendings;
        sum->spending_count = before->spending_count;
        sum->spending_capacity = before->spending_capacity;
        before->grants = (struct entry_names){0};
        before->spendings = NULL;
    }
}

/* Takes the rest from the ledger. */
static void end_sum(struct sealed_sum *sum, const struct balances *now)
{
    struct epochs epochs[PARTS_MAX] = {{0}};
    size_t at = 0;
    sum->epoch = now->epoch;
    sum->reserved = now->reserved;
    sum->external = now->external;
    sum->part_count = now->part_count;
    sum->epoch_count = now->parts[PART_TRAIN].closed.count + 1;
    sum->committed = calloc(sum->epoch_count * sum->part_count, sizeof *sum->committed);
    CHECK(sum->committed != NULL);
    for (unsigned p = 0; p < now->part_count; p++)
        epochs[p] = now->parts[p].closed;
    for (size_t e = 0; e < sum->epoch_count; e++)
        for (unsigned p = 0; p < now->part_count; p++)
            sum->committed[at++] = e + 1 < sum->epoch_count
                                       ? epochs[p].items[e].committed
                                       : now->parts[p].committed;
    for (size_t i = 0; i < now->open_count; i++)
        entry_names_append(&sum->open, now->open[i]->entry.seq,
                           now->open[i]->entry.hash);
}

/* Appends to the sum the path and the place that authenticate it. */
static void place_sum(struct body *body, const struct seal_tree *tree, size_t place)
{
    struct seal_hash path[SEAL_PATH_MAX];
    size_t size = seal_tree_path(tree, place, path) * sizeof *path;
    body->bytes = realloc(body->bytes, body->size + size + 8);
    CHECK(body->bytes != NULL);
    memcpy(body->bytes + body->size, path, size);
    chain_number_encode(body->bytes + body->size + size, place);
    body->size += size + 8;
}

static void end_sums(struct sealing *sealing)
{
    struct seal_tree tree = {0};
    const struct pointers *accounts = &sealing->ledger->state.accounts;
    for (size_t i = 0; i < sealing->count; i++) {
        const struct account *account = accounts->items[i];
        struct body *body = &sealing->bodies[i];
        end_sum(&sealing->sums[i], account->now);
        sealed_sum_age(&sealing->sums[i], sealing->seal.time_ms);
        body->bytes = sealed_sum_encode(&sealing->sums[i], &body->size);
        seal_tree_add(&tree, sealing->sums[i].dataset, body->bytes, body->size);
    }
    seal_tree_grow(&tree);
    for (size_t i = 0; i < sealing->count; i++)
        place_sum(&sealing->bodies[i], &tree, i);
    memcpy(sealing->seal.sums_sha256, seal_tree_root(&tree).bytes, SHA256_SIZE);
    sealing->seal.accounts = sealing->count;
    seal_tree_fini(&tree);
}

/* --- 1: the archive --- */

static bool put_row(void *context, const struct ledger_row *row)
{
    struct sealing *sealing = context;
    struct dataset_id dataset;
    struct sealed_sum *sum = sum_of(sealing, row->dataset);
    if (sum != NULL && dataset_id_parse(&dataset, row->dataset))
        sealed_sum_note(sum, row,
                        ledger_state_account(&sealing->ledger->state, &dataset)
                            ->now->filter.weighted);
    sealing->status = archive_put(sealing->writer, row, sealing->error);
    sealing->head.seq = row->seq;
    sealing->seal.time_ms = row->time_ms;
    return sealing->status == ST_OK && ++sealing->walked < AT_ONCE;
}

static enum status write_rows(struct sealing *sealing, struct store_tx *tx)
{
    enum status status = ST_OK;
    sealing->head.seq = sealing->part.first - 1;
    while (status == ST_OK && sealing->head.seq < sealing->part.last) {
        const struct ledger_range range = {.after = sealing->head.seq,
                                           .before = sealing->head.seq + AT_ONCE + 1};
        sealing->walked = 0;
        status = ledger_rows_walk(tx, &range, put_row, sealing, sealing->error);
        if (status == ST_OK)
            status = sealing->status;
        if (status == ST_OK && sealing->walked == 0)
            status = error_set(sealing->error, ST_CORRUPT, "an entry is missing");
    }
    return status;
}

static enum status write_part(struct sealing *sealing, struct store_tx *tx)
{
    enum status status =
        archive_create(&sealing->writer, &sealing->part, sealing->error);
    if (status != ST_OK)
        return status;
    status = write_rows(sealing, tx);
    if (status == ST_OK)
        return archive_publish(sealing->writer, sealing->seal.archive_sha256,
                               sealing->error);
    archive_discard(sealing->writer);
    return status;
}

/* --- 2: read back --- */

static bool check_row(void *context, const struct ledger_row *row)
{
    struct sealing *sealing = context;
    struct ledger_entry_name *head = &sealing->head;
    uint8_t hash[SHA256_SIZE];
    entry_hash(hash, row);
    bool continues = row->seq == head->seq + 1 &&
                     memcmp(row->hash, hash, SHA256_SIZE) == 0 &&
                     memcmp(row->prev, head->hash, SHA256_SIZE) == 0;
    if (!continues && sealing->status == ST_OK)
        sealing->status = error_set(sealing->error, ST_CORRUPT,
                                    "what was read back of the archive is not the "
                                    "chain");
    head->seq = row->seq;
    memcpy(head->hash, row->hash, SHA256_SIZE);
    return continues;
}

/* The first entry of a later part is a SEAL, whose hash is known; before the first part
 * there is nothing. */
static enum status check_part(struct sealing *sealing)
{
    uint8_t digest[SHA256_SIZE];
    const struct seal *before = &sealing->before.seal;
    sealing->head = (struct ledger_entry_name){0};
    if (before->entry.seq > 0) {
        sealing->head.seq = before->entry.seq - 1;
        memcpy(sealing->head.hash, before->prev, SHA256_SIZE);
    }
    enum status status =
        archive_walk(&sealing->part, digest, check_row, sealing, sealing->error);
    if (status == ST_OK)
        status = sealing->status;
    const struct ledger_entry_name *head = &sealing->ledger->now.entry;
    if (status == ST_OK &&
        (memcmp(digest, sealing->seal.archive_sha256, SHA256_SIZE) != 0 ||
         sealing->head.seq != head->seq ||
         memcmp(sealing->head.hash, head->hash, SHA256_SIZE) != 0))
        status = error_set(sealing->error, ST_CORRUPT,
                           "what was read back of the archive is not what was written");
    return status;
}

/* --- 3: the seal --- */

static enum status append_seal(struct sealing *sealing, struct store_tx *tx)
{
    struct seal *seal = &sealing->seal;
    char *meta = seal_render(seal);
    struct ledger_row row = {.dataset = "",
                             .epoch = seal->number,
                             .job = "",
                             .kind = "SEAL",
                             .curve = seal->sums_sha256,
                             .curve_size = SHA256_SIZE,
                             .meta = meta,
                             .actor = principal_local.name};
    enum status status =
        ledger_change_append(sealing->ledger, tx, &row, sealing->error);
    if (status == ST_OK)
        CHECK(seal_parse(seal, &row));
    free(meta);
    return status;
}

static enum status replace_sums(struct sealing *sealing, struct store_tx *tx)
{
    enum status status = sealed_rows_delete(tx, sealing->error);
    for (size_t i = 0; status == ST_OK && i < sealing->count; i++) {
        const struct sealed_row row = {.dataset = sealing->sums[i].dataset,
                                       .body = sealing->bodies[i].bytes,
                                       .size = sealing->bodies[i].size};
        status = sealed_row_insert(tx, &row, sealing->error);
    }
    return status;
}

/* Deletes what earlier parts have left at once, then the part in slices, because a
 * server ends a statement that takes long. */
static enum status forget(struct sealing *sealing, struct store_tx *tx)
{
    const uint64_t end = sealing->seal.entry.seq;
    uint64_t count = 1;
    enum status status = ledger_rows_forget(tx, 0, sealing->part.first, sealing->error);
    for (uint64_t from = sealing->part.first - 1; status == ST_OK && from + 1 < end;
         from += AT_ONCE) {
        uint64_t before = from + AT_ONCE + 1;
        status =
            ledger_rows_forget(tx, from, before < end ? before : end, sealing->error);
    }
    while (status == ST_OK && count > 0)
        status = mark_rows_forget(tx, &count, sealing->error);
    return status;
}

static enum status seal_in(struct sealing *sealing, struct store_tx *tx)
{
    pthread_mutex_lock(&sealing->ledger->lock);
    enum status status = append_seal(sealing, tx);
    pthread_mutex_unlock(&sealing->ledger->lock);
    if (status == ST_OK)
        status = replace_sums(sealing, tx);
    return status == ST_OK ? forget(sealing, tx) : status;
}

static void describe(struct sealing *sealing, const char *folder)
{
    const struct ledger *ledger = sealing->ledger;
    const struct seal *before = &sealing->before.seal;
    struct seal *seal = &sealing->seal;
    uint64_t open = 0;
    for (size_t i = 0; i < ledger->state.accounts.count; i++) {
        const struct balances *now =
            ((const struct account *)ledger->state.accounts.items[i])->now;
        for (size_t j = 0; j < now->open_count; j++)
            open += now->open[j]->now.authorised;
    }
    *seal = (struct seal){
        .number = before->number + 1,
        .first = before->entry.seq > 0 ? before->entry.seq : 1,
        .last = ledger->now.entry.seq,
        .tally = ledger->state.tally,
        .authorised = ledger->now.authorised - open,
    };
    sealing->part = (struct archive_part){folder, seal->first, seal->last};
}

static enum status archive(struct sealing *sealing, struct store_tx *tx,
                           const char *folder, bool *any)
{
    enum status status = sealed_read(&sealing->before, tx, sealing->error);
    *any = status == ST_OK &&
           sealing->ledger->now.entry.seq > sealing->before.seal.entry.seq;
    if (*any) {
        pthread_mutex_lock(&sealing->ledger->lock);
        status = ledger_accounts_all(sealing->ledger, tx, sealing->error);
        pthread_mutex_unlock(&sealing->ledger->lock);
    }
    if (!*any || status != ST_OK)
        return status;
    describe(sealing, folder);
    begin_sums(sealing);
    return write_part(sealing, tx);
}

static void sealing_fini(struct sealing *sealing)
{
    for (size_t i = 0; i < sealing->count; i++) {
        sealed_sum_fini(&sealing->sums[i]);
        free(sealing->bodies[i].bytes);
    }
    free(sealing->sums);
    free(sealing->bodies);
    sealed_fini(&sealing->before);
}

/* Runs while nothing else is written, so the part and its sums are of one moment. */
static enum status run(struct sealing *sealing, const char *folder, bool *any)
{
    struct store_tx *tx = NULL;
    struct store *store = sealing->ledger->store;
    enum status status = store_begin(store, STORE_READ, &tx, sealing->error);
    if (status != ST_OK)
        return status;
    status = archive(sealing, tx, folder, any);
    store_rollback(tx);
    if (status != ST_OK || !*any)
        return status;
    status = check_part(sealing);
    if (status != ST_OK)
        return status;
    end_sums(sealing);
    status = store_begin(store, STORE_LEDGER, &tx, sealing->error);
    if (status != ST_OK)
        return status;
    return store_end(tx, seal_in(sealing, tx), sealing->error);
}

enum status ledger_seal(struct ledger *ledger, const char *folder, struct seal *done,
                        bool *any, struct error *error)
{
    struct sealing sealing = {.ledger = ledger, .error = error};
    *any = false;
    enum status status = run(&sealing, folder, any);
    *done = *any ? sealing.seal : sealing.before.seal;
    sealing_fini(&sealing);
    return status;
}
