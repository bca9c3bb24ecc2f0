#include "service/audit/denied_events.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/id.h"
#include "service/audit/audit_trail.h"

enum {
    MINUTE_S = 60,
    ROWS_MAX = 2 * DENIED_EVENTS_DISTINCT_MAX + 1,
    DETAIL_SIZE = 64 + sizeof(struct dataset_id), /* which dataset, and how often */
};

struct denied_event {
    struct audit_row row; /* as first noted; its texts are owned */
    uint64_t mix;         /* hash of the members that make it distinct */
    int64_t last;         /* second in which it was last noted */
    uint64_t repeated;    /* times after the first */
    bool is_written;      /* whether the first one is written */
};

struct denied_events {
    /* Guards all below; only the writing thread frees texts. */
    pthread_mutex_t lock;
    int64_t minute; /* in which these refusals were noted */
    struct denied_event list[DENIED_EVENTS_DISTINCT_MAX];
    size_t count;
    uint64_t left_out; /* refusals for which there was no room */
    int64_t left_out_last;
};

struct denied_events *denied_events_create(void)
{
    struct denied_events *refusals = calloc(1, sizeof *refusals);
    CHECK(refusals != NULL);
    pthread_mutex_init(&refusals->lock, NULL);
    return refusals;
}

static void denied_event_fini(struct denied_event *refusal)
{
    const struct audit_row *row = &refusal->row;
    const char *const texts[] = {row->actor,   row->key,     row->project, row->via,
                                 row->address, row->action,  row->object,  row->result,
                                 row->code,    row->request, row->detail};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free((void *)(uintptr_t)texts[i]);
}

void denied_events_destroy(struct denied_events *refusals)
{
    if (refusals == NULL)
        return;
    for (size_t i = 0; i < refusals->count; i++)
        denied_event_fini(&refusals->list[i]);
    pthread_mutex_destroy(&refusals->lock);
    free(refusals);
}

/* --- noting --- */

static const char *copy(const char *text)
{
    char *copied = strdup(text);
    CHECK(copied != NULL);
    return copied;
}

/* FNV-1a of the members that is_same compares. With it one comparison rules out almost
 * every other entry, so that the place of a refusal in the list takes no measurable
 * time: otherwise the time would reveal which of two things was requested first. */
static uint64_t mix_of(const struct audit_row *row)
{
    const char *const texts[] = {row->address, row->key,    row->actor,  row->project,
                                 row->via,     row->action, row->object, row->result,
                                 row->code,    row->detail};
    uint64_t mix = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (const char *at = texts[i];; at++) {
            mix = (mix ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
            if (*at == '\0')
                break;
        }
    return mix;
}

static struct denied_event denied_event_of(const struct audit_row *row, uint64_t mix)
{
    return (struct denied_event){.mix = mix,
                                 .row = {.second = row->second,
                                         .actor = copy(row->actor),
                                         .key = copy(row->key),
                                         .project = copy(row->project),
                                         .via = copy(row->via),
                                         .address = copy(row->address),
                                         .action = copy(row->action),
                                         .object = copy(row->object),
                                         .result = copy(row->result),
                                         .code = copy(row->code),
                                         .request = copy(row->request),
                                         .detail = copy(row->detail)},
                                 .last = row->second};
}

static bool is_same(const struct audit_row *a, const struct audit_row *b)
{
    return strcmp(a->address, b->address) == 0 && strcmp(a->key, b->key) == 0 &&
           strcmp(a->actor, b->actor) == 0 && strcmp(a->project, b->project) == 0 &&
           strcmp(a->via, b->via) == 0 && strcmp(a->action, b->action) == 0 &&
           strcmp(a->object, b->object) == 0 && strcmp(a->result, b->result) == 0 &&
           strcmp(a->code, b->code) == 0 && strcmp(a->detail, b->detail) == 0;
}

/* Returns whether the minute has room for another distinct refusal like this. Half of
 * the places are for requests whose principal is known: strangers cannot fill them. */
static bool has_room(const struct denied_events *refusals, const struct audit_row *row)
{
    size_t strangers = 0;
    for (size_t i = 0; i < refusals->count; i++)
        strangers += refusals->list[i].row.actor[0] == '\0';
    return refusals->count < DENIED_EVENTS_DISTINCT_MAX &&
           (row->actor[0] != '\0' || strangers < DENIED_EVENTS_DISTINCT_MAX / 2);
}

void denied_events_note(struct denied_events *refusals, const struct audit_row *row)
{
    const uint64_t mix = mix_of(row);
    pthread_mutex_lock(&refusals->lock);
    struct denied_event *known = refusals->list, *end = known + refusals->count;
    while (known < end && (known->mix != mix || !is_same(&known->row, row)))
        known++;
    if (refusals->count == 0 && refusals->left_out == 0)
        refusals->minute = row->second / MINUTE_S;
    if (known < end) {
        known->repeated++;
        known->last = row->second;
    } else if (has_room(refusals, row)) {
        refusals->list[refusals->count++] = denied_event_of(row, mix);
    } else {
        refusals->left_out++;
        refusals->left_out_last = row->second;
    }
    pthread_mutex_unlock(&refusals->lock);
}

/* --- writing --- */

struct batch { /* rows that are about to be written */
    struct audit_row rows[ROWS_MAX];
    char details[ROWS_MAX][DETAIL_SIZE];
    size_t count;
    /* refusals of a minute that is over */
    struct denied_event over[DENIED_EVENTS_DISTINCT_MAX];
    size_t over_count;
};

/* Adds a row whose detail has the count, too. */
static void add_count(struct batch *batch, const struct audit_row *row,
                      const char *member, uint64_t times)
{
    char *detail = batch->details[batch->count];
    int known = (int)strlen(row->detail) - 1; /* without the closing bracket */
    snprintf(detail, DETAIL_SIZE, "%.*s%s\"%s\":%" PRIu64 "}", known, row->detail,
             known > 1 ? "," : "", member, times);
    batch->rows[batch->count] = *row;
    batch->rows[batch->count++].detail = detail;
}

static void add_repeated(struct batch *batch, const struct denied_event *refusal)
{
    struct audit_row row = refusal->row;
    row.second = refusal->last;
    if (refusal->repeated > 0)
        add_count(batch, &row, "repeated", refusal->repeated);
}

/* Ends the minute: adds rows for repetitions, and gives the refusals to the batch. */
static void end_minute(struct denied_events *refusals, struct batch *batch)
{
    const struct audit_row left_out = {
        .second = refusals->left_out_last,
        .actor = "",
        .key = "",
        .project = "",
        .via = "",
        .address = "",
        .action = "refusals",
        .object = "",
        .result = "denied",
        .code = "",
        .request = "",
        .detail = "{}",
    };
    for (size_t i = 0; i < refusals->count; i++)
        add_repeated(batch, &refusals->list[i]);
    if (refusals->left_out > 0)
        add_count(batch, &left_out, "left_out", refusals->left_out);
    memcpy(batch->over, refusals->list, refusals->count * sizeof *batch->over);
    batch->over_count = refusals->count;
    refusals->count = 0;
    refusals->left_out = 0;
}

/* Returns whether the minute of the list has ended by second. A clock that was set back
 * by more than a minute ends it too: the list would stay full until the clock had
 * caught up. */
static bool is_over(const struct denied_events *refusals, int64_t second)
{
    const int64_t minute = second / MINUTE_S;
    return minute > refusals->minute || minute < refusals->minute - 1;
}

static void take(struct denied_events *refusals, int64_t second, struct batch *batch)
{
    pthread_mutex_lock(&refusals->lock);
    for (size_t i = 0; i < refusals->count; i++) {
        struct denied_event *refusal = &refusals->list[i];
        if (!refusal->is_written)
            batch->rows[batch->count++] = refusal->row;
        refusal->is_written = true;
    }
    if (is_over(refusals, second))
        end_minute(refusals, batch);
    pthread_mutex_unlock(&refusals->lock);
}

static enum status write_batch(struct store *store, const struct batch *batch,
                               struct error *error)
{
    struct store_tx *tx = NULL;
    if (batch->count == 0)
        return ST_OK;
    enum status status = store_begin(store, STORE_ROW, &tx, error);
    if (status != ST_OK)
        return status;
    for (size_t i = 0; i < batch->count && status == ST_OK; i++)
        status = audit_trail_append(tx, &batch->rows[i], error);
    return store_end(tx, status, error);
}

enum status denied_events_write(struct denied_events *refusals, struct store *store,
                                int64_t second, struct error *error)
{
    struct batch *batch = calloc(1, sizeof *batch);
    CHECK(batch != NULL);
    take(refusals, second, batch);
    enum status status = write_batch(store, batch, error);
    for (size_t i = 0; i < batch->over_count; i++)
        denied_event_fini(&batch->over[i]);
    free(batch);
    return status;
}
