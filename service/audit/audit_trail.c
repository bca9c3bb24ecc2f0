#include "service/audit/audit_trail.h"

#include <inttypes.h>
#include <string.h>

#include "base/chain_hash.h"

void audit_trail_hash(uint8_t hash[SHA256_SIZE], const struct audit_row *row)
{
    struct chain_hash running;
    chain_hash_begin(&running, "a1", row->prev);
    chain_hash_number(&running, row->seq);
    chain_hash_number(&running, (uint64_t)row->second);
    chain_hash_text(&running, row->actor);
    chain_hash_text(&running, row->key);
    chain_hash_text(&running, row->project);
    chain_hash_text(&running, row->via);
    chain_hash_text(&running, row->address);
    chain_hash_text(&running, row->action);
    chain_hash_text(&running, row->object);
    chain_hash_text(&running, row->result);
    chain_hash_text(&running, row->code);
    chain_hash_text(&running, row->request);
    chain_hash_text(&running, row->detail);
    chain_hash_end(&running, hash);
}

enum status audit_trail_append(struct store_tx *tx, const struct audit_row *row,
                               struct error *error)
{
    struct audit_head head;
    struct audit_row next = *row;
    enum status status = audit_rows_head(tx, &head, error);
    if (status != ST_OK)
        return status;
    next.seq = head.seq + 1;
    memcpy(next.prev, head.hash, sizeof next.prev);
    audit_trail_hash(next.hash, &next);
    return audit_row_insert(tx, &next, error);
}

struct check { /* the state while a chain is checked */
    struct audit_head head;
    enum status status;
    struct error *error;
};

static bool check_row(void *context, const struct audit_row *row)
{
    struct check *check = context;
    uint8_t hash[SHA256_SIZE];
    uint64_t seq = check->head.seq + 1;
    if (row->seq != seq)
        check->status = error_set(check->error, ST_CORRUPT,
                                  "audit row %" PRIu64 " is missing", seq);
    else if (memcmp(row->prev, check->head.hash, SHA256_SIZE) != 0)
        check->status =
            error_set(check->error, ST_CORRUPT,
                      "audit row %" PRIu64 " does not continue the chain", seq);
    if (check->status != ST_OK)
        return false;
    audit_trail_hash(hash, row);
    if (memcmp(row->hash, hash, sizeof hash) != 0) {
        check->status = error_set(check->error, ST_CORRUPT,
                                  "audit row %" PRIu64 " is not what was written", seq);
        return false;
    }
    check->head.seq = seq;
    memcpy(check->head.hash, hash, sizeof hash);
    return true;
}

enum status audit_trail_verify(struct store_tx *tx, struct audit_head *head,
                               struct error *error)
{
    const struct audit_range all = {0};
    struct check check = {.error = error};
    enum status status = audit_rows_walk(tx, &all, check_row, &check, error);
    *head = check.head;
    return status == ST_OK ? check.status : status;
}
