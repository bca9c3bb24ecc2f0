/* Goal: every table returns the rows that were inserted, in order, and refuses invalid
 * rows, in both databases. */
#include "store/rows/audit_rows.h"
#include "store/rows/blob_rows.h"
#include "store/rows/caption_rows.h"
#include "store/rows/dataset_rows.h"
#include "store/rows/idempotency_rows.h"
#include "store/rows/job_rows.h"
#include "store/rows/ledger_rows.h"
#include "store/rows/model_rows.h"
#include "store/rows/statistics_rows.h"
#include "store/rows/weights_rows.h"

#include <string.h>

#include "tests/expect.h"
#include "tests/store/postgres_store_fixture.h"

static struct postgres_server server; /* if it runs, the tests use its database */
static struct store *store;
static struct store_tx *tx;

static int begin(void **state)
{
    (void)state;
    if (server.folder[0] != '\0') {
        const struct postgres_database database = postgres_schema(&server);
        store = postgres_store(&database);
    } else {
        assert_int_equal(store_open(&store, ":memory:", NULL), ST_OK);
    }
    assert_int_equal(store_begin(store, STORE_LEDGER, &tx, NULL), ST_OK);
    return 0;
}

static int end(void **state)
{
    (void)state;
    assert_false(store_poisoned(store));
    store_rollback(tx);
    store_close(store);
    return 0;
}

/* After a refusal the transaction can only be rolled back, so this commits what came
 * before. */
static void keep(void)
{
    assert_int_equal(store_commit(tx, NULL), ST_OK);
    assert_int_equal(store_begin(store, STORE_LEDGER, &tx, NULL), ST_OK);
}

static void drop(void)
{
    store_rollback(tx);
    assert_int_equal(store_begin(store, STORE_LEDGER, &tx, NULL), ST_OK);
}

#define assert_refused(call, status)                                                   \
    do {                                                                               \
        keep();                                                                        \
        assert_int_equal(call, status);                                                \
        drop();                                                                        \
    } while (0)

static void bytes(uint8_t out[SHA256_SIZE], uint8_t first)
{
    for (int i = 0; i < SHA256_SIZE; i++)
        out[i] = (uint8_t)(first + i);
}

static struct dataset_row dataset(const char *id, int64_t create_ms)
{
    struct dataset_row row = {.version = 1,
                              .state = "CREATED",
                              .spec = "{\"id\":1}",
                              .detail = "{}",
                              .create_ms = create_ms,
                              .project = "fraud",
                              .created_by = "ana"};
    assert_true(dataset_id_parse(&row.id, id));
    return row;
}

struct seen {
    int count;
    int stop_at;
    char texts[8][200];
};

static bool see_dataset(void *context, const struct dataset_row *row)
{
    struct seen *seen = context;
    snprintf(seen->texts[seen->count++], 200, "%s %d %s %s %s %d %lld %s %s",
             row->id.text, (int)row->version, row->state, row->spec, row->detail,
             row->sha256 == NULL ? -1 : row->sha256[31], (long long)row->create_ms,
             row->project, row->created_by);
    return seen->count != seen->stop_at;
}

static void datasets_keep_what_was_declared_and_take_what_became_of_it(void **state)
{
    (void)state;
    uint8_t digest[SHA256_SIZE];
    struct seen seen = {0};
    struct dataset_row a = dataset("a", 20), b = dataset("b", 10), c = dataset("c", 30);
    bytes(digest, 9);
    assert_int_equal(dataset_row_insert(tx, &a, NULL), ST_OK);
    assert_int_equal(dataset_row_insert(tx, &b, NULL), ST_OK);
    assert_refused(dataset_row_insert(tx, &a, NULL), ST_ALREADY_EXISTS);
    a.version = 2;
    a.replaces = 1;
    a.state = "READY";
    a.spec = "another";
    a.detail = "{\"n\":3}";
    a.sha256 = digest;
    assert_int_equal(dataset_row_update(tx, &a, NULL), ST_OK);
    assert_refused(dataset_row_update(tx, &c, NULL), ST_NOT_FOUND);
    assert_int_equal(dataset_rows_walk(tx, see_dataset, &seen, NULL), ST_OK);
    assert_int_equal(seen.count, 2);
    assert_string_equal(seen.texts[0],
                        "a 2 READY {\"id\":1} {\"n\":3} 40 20 fraud ana");
    assert_string_equal(seen.texts[1], "b 1 CREATED {\"id\":1} {} -1 10 fraud ana");
    b.version = 2;
    b.replaces = 1;
    b.spec = "another";
    b.state = "FAILED";
    assert_int_equal(dataset_row_declare(tx, &b, NULL), ST_OK);
    assert_refused(dataset_row_declare(tx, &c, NULL), ST_NOT_FOUND);
    seen.count = 0;
    assert_int_equal(dataset_rows_walk(tx, see_dataset, &seen, NULL), ST_OK);
    assert_int_equal(seen.count, 2);
    assert_string_equal(seen.texts[1], "b 2 FAILED another {} -1 10 fraud ana");
    seen = (struct seen){.stop_at = 1};
    assert_int_equal(dataset_rows_walk(tx, see_dataset, &seen, NULL), ST_OK);
    assert_int_equal(seen.count, 1);
}

static struct job_row job(const char *id)
{
    struct job_row row = {.version = 1,
                          .state = "QUEUED",
                          .attempt = 0,
                          .spec = "{}",
                          .detail = "[]",
                          .create_ms = 5,
                          .update_ms = 5,
                          .created_by = "ana"};
    snprintf(row.id.text, sizeof row.id.text, "%s", id);
    return row;
}

static bool see_job(void *context, const struct job_row *row)
{
    struct seen *seen = context;
    snprintf(seen->texts[seen->count++], 200, "%s %d %s %u %s %s %lld %lld %s",
             row->id.text, (int)row->version, row->state, row->attempt, row->spec,
             row->detail, (long long)row->create_ms, (long long)row->update_ms,
             row->created_by);
    return seen->count != seen->stop_at;
}

static void jobs_come_back_in_the_order_of_submission(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct job_row z = job("job_z"), a = job("job_a"), no = job("job_no");
    assert_int_equal(job_row_insert(tx, &z, NULL), ST_OK);
    assert_int_equal(job_row_insert(tx, &a, NULL), ST_OK);
    assert_refused(job_row_insert(tx, &z, NULL), ST_ALREADY_EXISTS);
    z.version = 7;
    z.replaces = 1;
    z.state = "RUNNING";
    z.attempt = 1;
    z.detail = "{}";
    z.update_ms = 99;
    assert_int_equal(job_row_update(tx, &z, NULL), ST_OK);
    assert_refused(job_row_update(tx, &no, NULL), ST_NOT_FOUND);
    assert_int_equal(job_rows_walk(tx, see_job, &seen, NULL), ST_OK);
    assert_int_equal(seen.count, 2);
    assert_string_equal(seen.texts[0], "job_z 7 RUNNING 1 {} {} 5 99 ana");
    assert_string_equal(seen.texts[1], "job_a 1 QUEUED 0 {} [] 5 5 ana");
}

static void an_update_of_what_has_changed_meanwhile_is_refused(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct dataset_row read = dataset("a", 20), late = read;
    struct job_row job_read = job("job_a"), job_late = job_read;
    assert_int_equal(dataset_row_insert(tx, &read, NULL), ST_OK);
    assert_int_equal(job_row_insert(tx, &job_read, NULL), ST_OK);
    read.replaces = late.replaces = job_read.replaces = job_late.replaces = 1;
    read.version = late.version = job_read.version = 2;
    job_late.version = 9;
    read.state = "READY";
    job_read.state = "RUNNING";
    late.state = job_late.state = "FAILED";
    assert_int_equal(dataset_row_update(tx, &read, NULL), ST_OK);
    assert_int_equal(job_row_update(tx, &job_read, NULL), ST_OK);
    assert_refused(dataset_row_update(tx, &late, NULL), ST_CONFLICT);
    assert_refused(dataset_row_declare(tx, &late, NULL), ST_CONFLICT);
    assert_refused(job_row_update(tx, &job_late, NULL), ST_CONFLICT);
    assert_int_equal(dataset_rows_walk(tx, see_dataset, &seen, NULL), ST_OK);
    assert_int_equal(job_rows_walk(tx, see_job, &seen, NULL), ST_OK);
    assert_string_equal(seen.texts[0], "a 2 READY {\"id\":1} {} -1 20 fraud ana");
    assert_string_equal(seen.texts[1], "job_a 2 RUNNING 0 {} [] 5 5 ana");
}

/* The store refuses even if this database itself would continue: another may have
 * dropped the earlier changes. */
static void after_a_refusal_nothing_more_is_done(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct dataset_row a = dataset("a", 20), b = dataset("b", 10);
    assert_int_equal(dataset_row_insert(tx, &a, NULL), ST_OK);
    assert_int_equal(dataset_row_insert(tx, &a, NULL), ST_ALREADY_EXISTS);
    assert_int_equal(dataset_row_insert(tx, &b, NULL), ST_ALREADY_EXISTS);
    assert_int_equal(dataset_rows_walk(tx, see_dataset, &seen, NULL),
                     ST_ALREADY_EXISTS);
    drop();
    assert_int_equal(dataset_row_insert(tx, &b, NULL), ST_OK);
    assert_int_equal(dataset_rows_walk(tx, see_dataset, &seen, NULL), ST_OK);
    assert_int_equal(seen.count, 1);
}

static bool see_model(void *context, const struct model_row *row)
{
    struct seen *seen = context;
    snprintf(seen->texts[seen->count++], 200, "%s %s %d %llu %s", row->id.text,
             row->job.text, row->sha256[0], (unsigned long long)row->size, row->card);
    return true;
}

static void a_job_has_at_most_one_model(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct job_row owner = job("job_a");
    struct model_row row = {.size = 1ULL << 40, .card = "{}", .create_ms = 3};
    bytes(row.sha256, 77);
    snprintf(row.id.text, sizeof row.id.text, "mdl_1");
    snprintf(row.job.text, sizeof row.job.text, "job_a");
    assert_refused(model_row_insert(tx, &row, NULL), ST_NOT_FOUND);
    assert_int_equal(job_row_insert(tx, &owner, NULL), ST_OK);
    assert_int_equal(model_row_insert(tx, &row, NULL), ST_OK);
    snprintf(row.id.text, sizeof row.id.text, "mdl_2");
    assert_refused(model_row_insert(tx, &row, NULL), ST_ALREADY_EXISTS);
    assert_int_equal(model_rows_walk(tx, see_model, &seen, NULL), ST_OK);
    assert_int_equal(seen.count, 1);
    assert_string_equal(seen.texts[0], "mdl_1 job_a 77 1099511627776 {}");
}

static void a_job_is_deleted_after_its_model(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct job_row owner = job("job_a"), other = job("job_b");
    struct model_row row = {.size = 1, .card = "{}"};
    snprintf(row.id.text, sizeof row.id.text, "mdl_1");
    snprintf(row.job.text, sizeof row.job.text, "job_a");
    assert_int_equal(job_row_insert(tx, &owner, NULL), ST_OK);
    assert_int_equal(job_row_insert(tx, &other, NULL), ST_OK);
    assert_int_equal(model_row_insert(tx, &row, NULL), ST_OK);
    assert_refused(job_row_delete(tx, &owner.id, NULL), ST_NOT_FOUND);
    assert_int_equal(model_row_delete(tx, &row.id, NULL), ST_OK);
    assert_refused(model_row_delete(tx, &row.id, NULL), ST_NOT_FOUND);
    assert_int_equal(job_row_delete(tx, &owner.id, NULL), ST_OK);
    assert_refused(job_row_delete(tx, &owner.id, NULL), ST_NOT_FOUND);
    assert_int_equal(job_rows_walk(tx, see_job, &seen, NULL), ST_OK);
    assert_int_equal(model_rows_walk(tx, see_model, &seen, NULL), ST_OK);
    assert_int_equal(seen.count, 1);
    assert_string_equal(seen.texts[0], "job_b 1 QUEUED 0 {} [] 5 5 ana");
}

static bool see_key(void *context, const struct idempotency_row *row)
{
    struct seen *seen = context;
    snprintf(seen->texts[seen->count++], 200, "%s|%s|%s|%s|%d|%s|%s|%d",
             row->name.project, row->name.owner, row->name.route, row->name.key,
             row->fingerprint[1], row->location, row->body, (int)row->time_ms);
    return true;
}

static void a_key_is_remembered_once_a_route_and_principal(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct idempotency_row row = {.name = {"p", "ana", "POST /v1/jobs", "k'1"},
                                  .location = "/v1/jobs/x",
                                  .body = "{}",
                                  .time_ms = 4};
    bytes(row.fingerprint, 3);
    assert_int_equal(idempotency_row_insert(tx, &row, NULL), ST_OK);
    assert_refused(idempotency_row_insert(tx, &row, NULL), ST_ALREADY_EXISTS);
    row.name.route = "POST /v1/datasets";
    assert_int_equal(idempotency_row_find(tx, &row.name, see_key, &seen, NULL), ST_OK);
    assert_int_equal(seen.count, 0);
    assert_int_equal(idempotency_row_insert(tx, &row, NULL), ST_OK);
    row.name.owner = "al"; /* sorts before ana; bob sorts after her */
    assert_int_equal(idempotency_row_find(tx, &row.name, see_key, &seen, NULL), ST_OK);
    row.name.owner = "bob";
    assert_int_equal(idempotency_row_find(tx, &row.name, see_key, &seen, NULL), ST_OK);
    row.name = (struct idempotency_name){"q", "ana", "POST /v1/jobs", "k'1"};
    assert_int_equal(idempotency_row_find(tx, &row.name, see_key, &seen, NULL), ST_OK);
    assert_int_equal(seen.count, 0);
    assert_int_equal(idempotency_row_insert(tx, &row, NULL), ST_OK);
    const struct idempotency_name unused = {"p", "ana", "POST /v1/jobs", "k"};
    const struct idempotency_name used = {"p", "ana", "POST /v1/jobs", "k'1"};
    assert_int_equal(idempotency_row_find(tx, &unused, see_key, &seen, NULL), ST_OK);
    assert_int_equal(seen.count, 0);
    assert_int_equal(idempotency_row_find(tx, &used, see_key, &seen, NULL), ST_OK);
    assert_int_equal(seen.count, 1);
    assert_string_equal(seen.texts[0], "p|ana|POST /v1/jobs|k'1|4|/v1/jobs/x|{}|4");
}

static void a_key_stays_used_when_its_answer_is_forgotten(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct idempotency_row row = {.name = {"p", "ana", "POST /v1/jobs", "k1"},
                                  .location = "/v1/jobs/x",
                                  .body = "{}",
                                  .time_ms = 4};
    bytes(row.fingerprint, 3);
    assert_int_equal(idempotency_row_insert(tx, &row, NULL), ST_OK);
    row.name.key = "k2";
    row.location = "/v1/jobs/xy";
    assert_int_equal(idempotency_row_insert(tx, &row, NULL), ST_OK);
    assert_int_equal(idempotency_rows_empty(tx, "/v1/jobs/x", NULL), ST_OK);
    assert_int_equal(idempotency_rows_empty(tx, "/v1/jobs/none", NULL), ST_OK);
    row.name.key = "k1";
    assert_refused(idempotency_row_insert(tx, &row, NULL), ST_ALREADY_EXISTS);
    assert_int_equal(idempotency_row_find(tx, &row.name, see_key, &seen, NULL), ST_OK);
    row.name.key = "k2";
    assert_int_equal(idempotency_row_find(tx, &row.name, see_key, &seen, NULL), ST_OK);
    assert_string_equal(seen.texts[0], "p|ana|POST /v1/jobs|k1|4|/v1/jobs/x||4");
    assert_string_equal(seen.texts[1], "p|ana|POST /v1/jobs|k2|4|/v1/jobs/xy|{}|4");
}

static bool see_caption(void *context, const struct caption_row *row)
{
    struct seen *seen = context;
    snprintf(seen->texts[seen->count++], 200, "%d %s %s", row->kind, row->id,
             row->text);
    return seen->count != seen->stop_at;
}

static void a_thing_of_each_kind_has_one_caption(void **state)
{
    (void)state;
    struct seen seen = {0};
    const struct caption_row rows[] = {{CAPTIONED_DATASET, "b", "{}"},
                                       {CAPTIONED_DATASET, "a", "[]"},
                                       {CAPTIONED_JOB, "a", "{}"},
                                       {CAPTIONED_DATASET, "b", "[1]"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(caption_row_set(tx, &rows[i], NULL), ST_OK);
    assert_int_equal(caption_rows_walk(tx, CAPTIONED_DATASET, see_caption, &seen, NULL),
                     ST_OK);
    assert_int_equal(seen.count, 2);
    assert_string_equal(seen.texts[0], "0 a []");
    assert_string_equal(seen.texts[1], "0 b [1]");
    assert_int_equal(caption_row_delete(tx, CAPTIONED_DATASET, "a", NULL), ST_OK);
    assert_int_equal(caption_row_delete(tx, CAPTIONED_MODEL, "a", NULL), ST_OK);
    seen.count = 0;
    assert_int_equal(caption_rows_walk(tx, CAPTIONED_JOB, see_caption, &seen, NULL),
                     ST_OK);
    assert_int_equal(caption_rows_walk(tx, CAPTIONED_MODEL, see_caption, &seen, NULL),
                     ST_OK);
    assert_int_equal(seen.count, 1);
    assert_string_equal(seen.texts[0], "1 a {}");
}

static const uint8_t curve[16] = {1, 2, 3};
static const uint8_t rest[16] = {9};

static struct ledger_row entry(uint64_t seq, const char *kind, const char *name)
{
    struct ledger_row row = {.seq = seq,
                             .dataset = "a",
                             .epoch = 1,
                             .job = name,
                             .kind = kind,
                             .curve = curve,
                             .curve_size = sizeof curve,
                             .released = strcmp(kind, "COMMIT") == 0 ? rest : NULL,
                             .meta = "{}",
                             .actor = "local",
                             .time_ms = 12};
    if (seq > 1)
        bytes(row.prev, (uint8_t)(seq - 1));
    bytes(row.hash, (uint8_t)seq);
    return row;
}

static bool see_entry(void *context, const struct ledger_row *row)
{
    struct seen *seen = context;
    snprintf(seen->texts[seen->count++], 200,
             "%d %s %d '%s' %s %d/%d %d %s %s %d %d %d", (int)row->seq, row->dataset,
             (int)row->epoch, row->job, row->kind, row->curve[1], (int)row->curve_size,
             row->released == NULL ? -1 : row->released[0], row->meta, row->actor,
             (int)row->time_ms, row->prev[0], row->hash[0]);
    return true;
}

static void entries_are_appended_in_a_chain_and_nothing_else(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct dataset_row a = dataset("a", 1), b = dataset("b", 2);
    struct ledger_row first = entry(1, "GRANT", "");
    assert_refused(ledger_row_insert(tx, &first, NULL), ST_NOT_FOUND);
    assert_int_equal(dataset_row_insert(tx, &a, NULL), ST_OK);
    assert_int_equal(dataset_row_insert(tx, &b, NULL), ST_OK);
    assert_int_equal(ledger_row_insert(tx, &first, NULL), ST_OK);

    struct ledger_row gap = entry(3, "RESERVE", "job_1");
    assert_refused(ledger_row_insert(tx, &gap, NULL), ST_CORRUPT);
    struct ledger_row fork = entry(2, "RESERVE", "job_1");
    fork.prev[0] ^= 1;
    assert_refused(ledger_row_insert(tx, &fork, NULL), ST_CORRUPT);
    struct ledger_row again = entry(1, "RESERVE", "job_1");
    assert_refused(ledger_row_insert(tx, &again, NULL), ST_CORRUPT);
    struct ledger_row unknown = entry(2, "REFUND", "job_1");
    assert_refused(ledger_row_insert(tx, &unknown, NULL), ST_CORRUPT);
    struct ledger_row ragged = entry(2, "RESERVE", "job_1");
    ragged.curve_size = 15;
    assert_refused(ledger_row_insert(tx, &ragged, NULL), ST_CORRUPT);
    struct ledger_row nameless = entry(2, "RESERVE", "");
    assert_refused(ledger_row_insert(tx, &nameless, NULL), ST_CORRUPT);
    struct ledger_row whole = entry(2, "COMMIT", "job_1");
    whole.released = NULL;
    assert_refused(ledger_row_insert(tx, &whole, NULL), ST_CORRUPT);

    struct ledger_row second = entry(2, "RESERVE", "job_1");
    second.time_ms = 30; /* as if the clock was set back */
    assert_int_equal(ledger_row_insert(tx, &second, NULL), ST_OK);
    struct ledger_row twice = entry(3, "RESERVE", "job_1");
    assert_refused(ledger_row_insert(tx, &twice, NULL), ST_ALREADY_EXISTS);
    struct ledger_row third = entry(3, "GRANT", "");
    third.dataset = "b";
    assert_int_equal(ledger_row_insert(tx, &third, NULL), ST_OK);
    struct ledger_row fourth = entry(4, "COMMIT", "job_1");
    assert_int_equal(ledger_row_insert(tx, &fourth, NULL), ST_OK);

    const struct ledger_range all = {0}, later = {.dataset = "a", .after = 1};
    assert_int_equal(ledger_rows_walk(tx, &all, see_entry, &seen, NULL), ST_OK);
    assert_int_equal(seen.count, 4);
    assert_string_equal(seen.texts[0], "1 a 1 '' GRANT 2/16 -1 {} local 12 0 1");
    assert_string_equal(seen.texts[3], "4 a 1 'job_1' COMMIT 2/16 9 {} local 12 3 4");
    seen.count = 0;
    assert_int_equal(ledger_rows_walk(tx, &later, see_entry, &seen, NULL), ST_OK);
    assert_int_equal(seen.count, 2);
    assert_string_equal(seen.texts[0], "2 a 1 'job_1' RESERVE 2/16 -1 {} local 30 1 2");
    const struct ledger_range recent = {.dataset = "a", .since_ms = 13};
    seen.count = 0;
    assert_int_equal(ledger_rows_walk(tx, &recent, see_entry, &seen, NULL), ST_OK);
    assert_int_equal(seen.count, 1);
    assert_memory_equal(seen.texts[0], "2 a", 3);
    const struct ledger_range newest = {.dataset = "a", .newest_first = true},
                              between = {.after = 1, .before = 4, .newest_first = true},
                              older = {.dataset = "a", .before = 2};
    uint64_t count = 77;
    seen.count = 0;
    assert_int_equal(ledger_rows_walk(tx, &newest, see_entry, &seen, NULL), ST_OK);
    assert_int_equal(seen.count, 3);
    assert_memory_equal(seen.texts[0], "4 a", 3);
    assert_memory_equal(seen.texts[2], "1 a", 3);
    seen.count = 0;
    assert_int_equal(ledger_rows_walk(tx, &between, see_entry, &seen, NULL), ST_OK);
    assert_int_equal(seen.count, 2);
    assert_memory_equal(seen.texts[0], "3 b", 3);
    assert_memory_equal(seen.texts[1], "2 a", 3);
    seen.count = 0;
    assert_int_equal(ledger_rows_walk(tx, &older, see_entry, &seen, NULL), ST_OK);
    assert_int_equal(seen.count, 1);
    assert_int_equal(ledger_rows_count(tx, "a", 0, &count, NULL), ST_OK);
    assert_int_equal(count, 3);
    assert_int_equal(ledger_rows_count(tx, "c", 0, &count, NULL), ST_OK);
    assert_int_equal(count, 0);
}

static bool see_mark(void *context, const char *name, uint64_t authorised)
{
    struct seen *seen = context;
    snprintf(seen->texts[seen->count++], 200, "%s %llu", name,
             (unsigned long long)authorised);
    return true;
}

static void marks_only_grow(void **state)
{
    (void)state;
    struct seen seen = {0};
    assert_int_equal(mark_row_raise(tx, "job_b", 5, NULL), ST_OK);
    assert_int_equal(mark_row_raise(tx, "job_a", 1ULL << 60, NULL), ST_OK);
    assert_refused(mark_row_raise(tx, "job_b", 5, NULL), ST_CORRUPT);
    assert_refused(mark_row_raise(tx, "job_b", 4, NULL), ST_CORRUPT);
    assert_refused(mark_row_raise(tx, "job_c", 0, NULL), ST_CORRUPT);
    assert_int_equal(mark_row_raise(tx, "job_b", 6, NULL), ST_OK);
    assert_int_equal(mark_rows_walk(tx, see_mark, &seen, NULL), ST_OK);
    assert_int_equal(seen.count, 2);
    assert_string_equal(seen.texts[0], "job_a 1152921504606846976");
    assert_string_equal(seen.texts[1], "job_b 6");
}

static bool see_freeze(void *context, const struct freeze_row *row)
{
    struct seen *seen = context;
    snprintf(seen->texts[seen->count++], 200, "%s %d %d %d %d", row->dataset,
             (int)row->epoch, (int)row->seq, row->hash[0], (int)row->time_ms);
    return true;
}

static bool see_timeline(void *context, const struct timeline_row *row)
{
    struct seen *seen = context;
    snprintf(seen->texts[seen->count++], 200, "%s %d %d %d %d %d %d/%d %d",
             row->dataset, (int)row->epoch, (int)row->seq, row->hash[0],
             (int)row->shared, row->seen, row->most[1], (int)row->most_size,
             (int)row->time_ms);
    return true;
}

static void an_epoch_has_each_timeline_once(void **state)
{
    (void)state;
    struct seen seen = {0};
    static const uint8_t most[16] = {0, 7};
    struct dataset_row a = dataset("a", 1);
    struct timeline_row row = {.dataset = "a",
                               .epoch = 1,
                               .seq = 17,
                               .shared = 12,
                               .seen = true,
                               .most = most,
                               .most_size = sizeof most,
                               .time_ms = 8};
    bytes(row.hash, 5);
    assert_refused(timeline_row_insert(tx, &row, NULL), ST_NOT_FOUND);
    assert_int_equal(dataset_row_insert(tx, &a, NULL), ST_OK);
    struct timeline_row ragged = row;
    ragged.most_size = 15;
    assert_refused(timeline_row_insert(tx, &ragged, NULL), ST_CORRUPT);
    assert_int_equal(timeline_row_insert(tx, &row, NULL), ST_OK);
    assert_refused(timeline_row_insert(tx, &row, NULL), ST_ALREADY_EXISTS);
    row.epoch = 2;
    row.seen = false;
    assert_int_equal(timeline_row_insert(tx, &row, NULL), ST_OK);
    assert_int_equal(timeline_rows_walk(tx, see_timeline, &seen, NULL), ST_OK);
    assert_int_equal(seen.count, 2);
    assert_string_equal(seen.texts[0], "a 1 17 5 12 1 7/16 8");
    assert_string_equal(seen.texts[1], "a 2 17 5 12 0 7/16 8");
    struct ledger_extent extent;
    assert_int_equal(ledger_rows_extent(tx, &extent, NULL), ST_OK);
    assert_int_equal(extent.freezes, 2);
}

static void an_epoch_freezes_once(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct dataset_row a = dataset("a", 1);
    struct freeze_row row = {.dataset = "a", .epoch = 1, .seq = 17, .time_ms = 8};
    bytes(row.hash, 5);
    assert_refused(freeze_row_insert(tx, &row, NULL), ST_NOT_FOUND);
    assert_int_equal(dataset_row_insert(tx, &a, NULL), ST_OK);
    assert_int_equal(freeze_row_insert(tx, &row, NULL), ST_OK);
    assert_refused(freeze_row_insert(tx, &row, NULL), ST_ALREADY_EXISTS);
    assert_int_equal(freeze_rows_walk(tx, see_freeze, &seen, NULL), ST_OK);
    assert_int_equal(seen.count, 1);
    assert_string_equal(seen.texts[0], "a 1 17 5 8");
}

static struct audit_row act(uint64_t seq, const char *actor, const char *object,
                            const char *result)
{
    struct audit_row row = {.seq = seq,
                            .second = 100 + (int64_t)seq,
                            .actor = actor,
                            .key = "k",
                            .project = "p",
                            .via = "v",
                            .address = "i",
                            .action = seq % 2 == 0 ? "even" : "odd",
                            .object = object,
                            .result = result,
                            .code = "c",
                            .request = "r",
                            .detail = "{}"};
    bytes(row.hash, (uint8_t)seq);
    if (seq > 1)
        bytes(row.prev, (uint8_t)(seq - 1));
    return row;
}

static bool see_act(void *context, const struct audit_row *row)
{
    struct seen *seen = context;
    snprintf(seen->texts[seen->count++], 200, "%d %d %s%s%s%s%s %s %s %s%s%s%s %d %d",
             (int)row->seq, (int)row->second, row->actor, row->key, row->project,
             row->via, row->address, row->action, row->object, row->result, row->code,
             row->request, row->detail, row->prev[31], row->hash[0]);
    return seen->count != seen->stop_at;
}

/* Expects a walk of the range to visit the rows with these numbers. */
static void expect_acts(const struct audit_range *range, const char *numbers)
{
    char text[32] = "";
    struct seen seen = {0};
    assert_int_equal(audit_rows_walk(tx, range, see_act, &seen, NULL), ST_OK);
    for (int i = 0; i < seen.count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%.1s",
                 seen.texts[i]);
    assert_string_equal(text, numbers);
}

static void acts_are_chained_and_found_by_who_what_and_how(void **state)
{
    (void)state;
    struct audit_head head = {.seq = 9};
    struct audit_row rows[] = {act(1, "ana", "x", "ok"), act(2, "bob", "x", "denied"),
                               act(3, "ana", "y", "error"), act(4, "ana", "x", "ok")};
    assert_int_equal(audit_rows_head(tx, &head, NULL), ST_OK);
    assert_int_equal(head.seq, 0);
    assert_refused(audit_row_insert(tx, &rows[1], NULL), ST_CORRUPT);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(audit_row_insert(tx, &rows[i], NULL), ST_OK);
    assert_refused(audit_row_insert(tx, &rows[3], NULL), ST_CORRUPT);
    struct audit_row fork = act(5, "ana", "x", "ok");
    bytes(fork.prev, 3);
    assert_refused(audit_row_insert(tx, &fork, NULL), ST_CORRUPT);
    assert_int_equal(audit_rows_head(tx, &head, NULL), ST_OK);
    assert_int_equal(head.seq, 4);
    assert_int_equal(head.hash[0], 4);
    struct seen seen = {.stop_at = 2};
    const struct audit_range all = {0};
    assert_int_equal(audit_rows_walk(tx, &all, see_act, &seen, NULL), ST_OK);
    assert_int_equal(seen.count, 2);
    assert_string_equal(seen.texts[1], "2 102 bobkpvi even x deniedcr{} 32 2");
    expect_acts(&all, "1234");
    expect_acts(&(struct audit_range){.newest_first = true, .before = 4}, "321");
    expect_acts(&(struct audit_range){.actor = "ana", .after = 1}, "34");
    expect_acts(&(struct audit_range){.object = "x"}, "124");
    expect_acts(&(struct audit_range){.action = "odd", .newest_first = true}, "31");
    expect_acts(&(struct audit_range){.result = "ok"}, "14");
    expect_acts(&(struct audit_range){.result = "denied"}, "2");
    expect_acts(
        &(struct audit_range){
            .actor = "ana", .object = "x", .action = "even", .result = "ok"},
        "4");
}

static bool see_survey(void *context, const struct statistics_row *row)
{
    struct seen *seen = context;
    snprintf(seen->texts[seen->count++], 200, "%d %s %s %s %s %d %s %s %s %lld %lld %s",
             (int)row->number, row->id.text, row->dataset, row->state, row->reason,
             (int)row->ledger_seq, row->spec, row->guarantee, row->answers,
             (long long)row->create_ms, (long long)row->end_ms, row->created_by);
    return seen->count != seen->stop_at;
}

static struct statistics_row survey(const char *id, const char *of)
{
    struct statistics_row row = {.dataset = of,
                                 .state = "RUNNING",
                                 .reason = "",
                                 .ledger_seq = 7,
                                 .spec = "[3]",
                                 .guarantee = "{}",
                                 .answers = "",
                                 .create_ms = 40,
                                 .created_by = "ana"};
    assert_true(survey_id_parse(&row.id, id));
    return row;
}

static void surveys_end_once_and_stay(void **state)
{
    (void)state;
    static const char first[] = "sta_01ARZ3NDEKTSV4RRFFQ69G5FAV",
                      second[] = "sta_01ARZ3NDEKTSV4RRFFQ69G5FAW",
                      third[] = "sta_01ARZ3NDEKTSV4RRFFQ69G5FAX";
    struct seen seen = {0};
    struct dataset_row one = dataset("surveyed", 20), two = dataset("beside", 20);
    struct statistics_row a = survey(first, "surveyed"), b = survey(second, "beside"),
                          c = survey(third, "surveyed");
    assert_int_equal(dataset_row_insert(tx, &one, NULL), ST_OK);
    assert_int_equal(dataset_row_insert(tx, &two, NULL), ST_OK);
    assert_int_equal(statistics_row_insert(tx, &a, NULL), ST_OK);
    assert_int_equal(statistics_row_insert(tx, &b, NULL), ST_OK);
    a.state = "SUCCEEDED";
    a.answers = "[1.5]";
    a.end_ms = 50;
    assert_int_equal(statistics_row_end(tx, &a, NULL), ST_OK);
    assert_refused(statistics_row_end(tx, &a, NULL), ST_CORRUPT);
    assert_refused(statistics_row_end(tx, &c, NULL), ST_NOT_FOUND);
    assert_int_equal(statistics_row_insert(tx, &c, NULL), ST_OK);
    assert_int_equal(statistics_row_find(tx, first, see_survey, &seen, NULL), ST_OK);
    assert_string_equal(seen.texts[0], "1 sta_01ARZ3NDEKTSV4RRFFQ69G5FAV surveyed "
                                       "SUCCEEDED  7 [3] {} [1.5] 40 50 ana");
    assert_int_equal(statistics_row_find(tx, "sta_none", see_survey, &seen, NULL),
                     ST_OK);
    assert_int_equal(seen.count, 1);
    const struct survey_range newest = {.dataset = "surveyed", .newest_first = true};
    assert_int_equal(statistics_rows_walk(tx, &newest, see_survey, &seen, NULL), ST_OK);
    assert_int_equal(seen.count, 3);
    assert_string_equal(seen.texts[1], "3 sta_01ARZ3NDEKTSV4RRFFQ69G5FAX surveyed "
                                       "RUNNING  7 [3] {}  40 0 ana");
    /* A walk does not read the answers. */
    assert_string_equal(seen.texts[2], "1 sta_01ARZ3NDEKTSV4RRFFQ69G5FAV surveyed "
                                       "SUCCEEDED  7 [3] {}  40 50 ana");
    const struct survey_range between = {.after = 1, .before = 3};
    assert_int_equal(statistics_rows_walk(tx, &between, see_survey, &seen, NULL),
                     ST_OK);
    assert_int_equal(seen.count, 4);
    assert_non_null(strstr(seen.texts[3], second));
    c = survey("sta_01ARZ3NDEKTSV4RRFFQ69G5FAY", "nowhere");
    assert_refused(statistics_row_insert(tx, &c, NULL), ST_NOT_FOUND);
}

static bool see_weights(void *context, const struct weights_row *row)
{
    struct seen *seen = context;
    snprintf(seen->texts[seen->count++], 200, "%s %s %s %s [%s] %d %d %lld",
             row->id.text, row->project, row->created_by, row->kind, row->note,
             row->sha256[31], (int)row->size, (long long)row->create_ms);
    return seen->count != seen->stop_at;
}

static void weights_come_back_in_order_until_they_are_deleted(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct weights_row row = {.project = "fraud",
                              .created_by = "ana",
                              .kind = "tokenizer",
                              .note = "a page",
                              .size = 17,
                              .create_ms = 5};
    snprintf(row.id.text, sizeof row.id.text, "fil_b");
    bytes(row.sha256, 3);
    assert_int_equal(weights_row_insert(tx, &row, NULL), ST_OK);
    assert_refused(weights_row_insert(tx, &row, NULL), ST_ALREADY_EXISTS);
    snprintf(row.id.text, sizeof row.id.text, "fil_a");
    row.note = "";
    assert_int_equal(weights_row_insert(tx, &row, NULL), ST_OK);
    assert_int_equal(weights_rows_walk(tx, see_weights, &seen, NULL), ST_OK);
    assert_int_equal(seen.count, 2);
    assert_string_equal(seen.texts[0], "fil_b fraud ana tokenizer [a page] 34 17 5");
    assert_string_equal(seen.texts[1], "fil_a fraud ana tokenizer [] 34 17 5");
    seen = (struct seen){.stop_at = 1};
    assert_int_equal(weights_rows_walk(tx, see_weights, &seen, NULL), ST_OK);
    assert_int_equal(seen.count, 1);
    assert_int_equal(weights_row_delete(tx, &row.id, NULL), ST_OK);
    assert_refused(weights_row_delete(tx, &row.id, NULL), ST_NOT_FOUND);
}

static uint64_t drawn(enum numbered table)
{
    uint64_t number = 0;
    assert_int_equal(row_number_draw(tx, table, &number, NULL), ST_OK);
    return number;
}

static uint64_t found(enum numbered table, const char *id)
{
    uint64_t number = 77;
    assert_int_equal(row_number_find(tx, table, id, &number, NULL), ST_OK);
    return number;
}

/* The newest rows are deleted, and the store is used as after a restart. */
static void the_number_of_a_deleted_row_is_never_another_ones(void **state)
{
    (void)state;
    struct job_row one = job("job_a"), next = job("job_b");
    struct model_row model = {.card = "{}"};
    struct weights_row file = {
        .project = "p", .created_by = "o", .kind = "weights", .note = ""};
    snprintf(model.id.text, sizeof model.id.text, "mdl_a");
    snprintf(model.job.text, sizeof model.job.text, "job_a");
    snprintf(file.id.text, sizeof file.id.text, "fil_a");
    one.number = drawn(NUMBERED_JOB);
    model.number = drawn(NUMBERED_MODEL);
    file.number = drawn(NUMBERED_WEIGHTS);
    assert_int_equal(job_row_insert(tx, &one, NULL), ST_OK);
    assert_int_equal(model_row_insert(tx, &model, NULL), ST_OK);
    assert_int_equal(weights_row_insert(tx, &file, NULL), ST_OK);
    assert_int_equal(found(NUMBERED_JOB, "job_a"), one.number);
    assert_int_equal(found(NUMBERED_MODEL, "mdl_a"), model.number);
    assert_int_equal(found(NUMBERED_WEIGHTS, "fil_a"), file.number);
    assert_int_equal(model_row_delete(tx, &model.id, NULL), ST_OK);
    assert_int_equal(weights_row_delete(tx, &file.id, NULL), ST_OK);
    assert_int_equal(job_row_delete(tx, &one.id, NULL), ST_OK);
    keep();
    assert_true(drawn(NUMBERED_JOB) > one.number);
    assert_true(drawn(NUMBERED_MODEL) > model.number);
    assert_true(drawn(NUMBERED_WEIGHTS) > file.number);
    assert_int_equal(job_row_insert(tx, &next, NULL), ST_OK); /* it draws one itself */
    assert_true(found(NUMBERED_JOB, "job_b") > one.number);
    assert_int_equal(found(NUMBERED_JOB, "job_a"), 0);
}

static bool see_blob(void *context, const struct blob_row *row)
{
    struct seen *seen = context;
    snprintf(seen->texts[seen->count++], sizeof seen->texts[0],
             "%s %s %llu %zu %u %u %lld", row->name, row->object,
             (unsigned long long)row->size, row->chunk_count,
             row->chunks[row->chunk_count * SHA256_SIZE - 1],
             row->wrapped[BLOB_WRAPPED_SIZE - 1], (long long)row->create_ms);
    return true;
}

static bool see_blob_name(void *context, const char *name, int64_t create_ms)
{
    struct seen *seen = context;
    snprintf(seen->texts[seen->count], sizeof seen->texts[0], "%s %lld", name,
             (long long)create_ms);
    return ++seen->count != seen->stop_at;
}

static void a_blob_of_a_name_is_replaced_and_found_by_its_object(void **state)
{
    (void)state;
    struct seen seen = {0};
    bool have = true;
    uint8_t chunks[3 * SHA256_SIZE] = {[63] = 7, [95] = 9};
    struct blob_row row = {"models/m", "ab12", 5, chunks, 2, {[59] = 4}, 1700};
    assert_int_equal(blob_row_set(tx, &row, NULL), ST_OK);
    row = (struct blob_row){"uploads/d", "cd34", 6, chunks, 3, {[59] = 5}, 1800};
    assert_int_equal(blob_row_set(tx, &row, NULL), ST_OK);
    row.object = "ef56";
    row.size = INT64_C(1) << 40;
    assert_int_equal(blob_row_set(tx, &row, NULL), ST_OK);
    assert_int_equal(blob_names_walk(tx, see_blob_name, &seen, NULL), ST_OK);
    assert_int_equal(seen.count, 2);
    assert_string_equal(seen.texts[0], "models/m 1700");
    assert_string_equal(seen.texts[1], "uploads/d 1800");
    assert_int_equal(blob_row_find(tx, "models/m", see_blob, &seen, NULL), ST_OK);
    assert_int_equal(blob_row_find(tx, "uploads/d", see_blob, &seen, NULL), ST_OK);
    assert_string_equal(seen.texts[2], "models/m ab12 5 2 7 4 1700");
    assert_string_equal(seen.texts[3], "uploads/d ef56 1099511627776 3 9 5 1800");
    seen = (struct seen){.stop_at = 1};
    assert_int_equal(blob_names_walk(tx, see_blob_name, &seen, NULL), ST_OK);
    assert_int_equal(seen.count, 1);
    assert_int_equal(blob_rows_have_object(tx, "cd34", &have, NULL), ST_OK);
    assert_false(have);
    assert_int_equal(blob_rows_have_object(tx, "ef56", &have, NULL), ST_OK);
    assert_true(have);
    assert_refused(blob_row_insert(tx, &row, NULL), ST_ALREADY_EXISTS);
    row.name = "models/m";
    assert_refused(blob_row_set(tx, &row, NULL), ST_ALREADY_EXISTS);
    assert_int_equal(blob_row_delete(tx, "uploads/d", NULL), ST_OK);
    seen.count = 0;
    assert_int_equal(blob_row_find(tx, "uploads/d", see_blob, &seen, NULL), ST_OK);
    assert_int_equal(seen.count, 0);
    assert_int_equal(blob_row_find(tx, "models/m", see_blob, &seen, NULL), ST_OK);
    assert_int_equal(seen.count, 1);
    assert_refused(blob_row_delete(tx, "uploads/d", NULL), ST_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            datasets_keep_what_was_declared_and_take_what_became_of_it, begin, end),
        cmocka_unit_test_setup_teardown(jobs_come_back_in_the_order_of_submission,
                                        begin, end),
        cmocka_unit_test_setup_teardown(
            an_update_of_what_has_changed_meanwhile_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(after_a_refusal_nothing_more_is_done, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_job_has_at_most_one_model, begin, end),
        cmocka_unit_test_setup_teardown(surveys_end_once_and_stay, begin, end),
        cmocka_unit_test_setup_teardown(a_job_is_deleted_after_its_model, begin, end),
        cmocka_unit_test_setup_teardown(a_key_is_remembered_once_a_route_and_principal,
                                        begin, end),
        cmocka_unit_test_setup_teardown(a_key_stays_used_when_its_answer_is_forgotten,
                                        begin, end),
        cmocka_unit_test_setup_teardown(a_thing_of_each_kind_has_one_caption, begin,
                                        end),
        cmocka_unit_test_setup_teardown(
            entries_are_appended_in_a_chain_and_nothing_else, begin, end),
        cmocka_unit_test_setup_teardown(marks_only_grow, begin, end),
        cmocka_unit_test_setup_teardown(an_epoch_freezes_once, begin, end),
        cmocka_unit_test_setup_teardown(an_epoch_has_each_timeline_once, begin, end),
        cmocka_unit_test_setup_teardown(acts_are_chained_and_found_by_who_what_and_how,
                                        begin, end),
        cmocka_unit_test_setup_teardown(
            weights_come_back_in_order_until_they_are_deleted, begin, end),
        cmocka_unit_test_setup_teardown(
            the_number_of_a_deleted_row_is_never_another_ones, begin, end),
        cmocka_unit_test_setup_teardown(
            a_blob_of_a_name_is_replaced_and_found_by_its_object, begin, end),
    };
    int failed = cmocka_run_group_tests_name("in SQLite", tests, NULL, NULL);
    if (!postgres_make_for_stores(&server, true))
        return failed;
    failed += cmocka_run_group_tests_name("in PostgreSQL", tests, NULL, NULL);
    postgres_remove(&server);
    return failed;
}
