#include "service/surveys.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api/limits.h"
#include "base/check.h"

enum { MS_PER_S = 1000 };

struct surveys {
    pthread_mutex_t lock;
    struct survey **items; /* (count), oldest first */
    size_t count, capacity;
    struct survey_entry *entries; /* (entry_count), as they were opened */
    size_t entry_count, entry_capacity;
};

struct change { /* what a transaction does to a survey, until it ends */
    struct surveys *surveys;
    struct survey *survey;
};

void survey_ending_destroy(struct survey_ending *ending)
{
    if (ending == NULL)
        return;
    free(ending->answers);
    free(ending);
}

void survey_destroy(struct survey *survey)
{
    if (survey == NULL)
        return;
    survey_ending_destroy(survey->ending);
    statistics_fini(&survey->statistics);
    mechanism_fini(&survey->mechanism);
    free(survey);
}

/* Room for one more of size bytes in items, of which count are used. */
static void *grown(void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return items;
    *capacity = *capacity == 0 ? 16 : 2 * *capacity;
    items = reallocarray(items, *capacity, size);
    CHECK(items != NULL);
    return items;
}

static void enter(struct surveys *surveys, struct survey *survey)
{
    surveys->items = grown(surveys->items, surveys->count, &surveys->capacity,
                           sizeof(struct survey *));
    surveys->items[surveys->count++] = survey;
}

static void leave(struct surveys *surveys, const struct survey *survey)
{
    size_t at = 0;
    while (surveys->items[at] != survey)
        at++;
    surveys->count--;
    memmove(surveys->items + at, surveys->items + at + 1,
            (surveys->count - at) * sizeof(struct survey *));
}

/* --- opening --- */

struct loading {
    struct surveys *surveys;
    struct datasets *datasets;
    enum status status;
    struct error *error;
};

static bool wrong(struct loading *loading, const struct survey_row *row,
                  const char *what)
{
    loading->status = error_set(loading->error, ST_CORRUPT,
                                "table survey, row %.64s: %s", row->id.text, what);
    return false;
}

/* One whose process is gone. Nothing of it is needed but whose it is and what it holds. */
static void keep_lost(struct surveys *surveys, const struct survey_row *row,
                      const struct dataset *dataset, const struct principal *owner)
{
    struct survey *survey = calloc(1, sizeof *survey);
    CHECK(survey != NULL);
    survey->id = row->id;
    survey->dataset = dataset_spec(dataset)->id;
    survey->project = dataset_owner(dataset)->project;
    survey->ledger_seq = row->ledger_seq;
    memcpy(survey->owner, owner->name, sizeof survey->owner);
    enter(surveys, survey);
}

static void keep_entry(struct surveys *surveys, const struct survey_row *row,
                       bool running)
{
    surveys->entries = grown(surveys->entries, surveys->entry_count,
                             &surveys->entry_capacity, sizeof *surveys->entries);
    surveys->entries[surveys->entry_count++] =
        (struct survey_entry){holder_of_survey(&row->id), row->ledger_seq, running};
}

static bool load_row(void *context, const struct survey_row *row)
{
    struct loading *loading = context;
    struct survey_id id;
    struct principal owner;
    enum job_reason reason;
    bool running = strcmp(row->state, "RUNNING") == 0;
    const struct dataset *dataset = datasets_find(loading->datasets, row->dataset);
    if (!survey_id_parse(&id, row->id.text))
        return wrong(loading, row, "its id is no survey's");
    if (dataset == NULL)
        return wrong(loading, row, "there is no such dataset");
    if (!principal_parse(&owner, row->created_by))
        return wrong(loading, row, "its owner is no name");
    if (!job_reason_parse(&reason, row->reason) ||
        (strcmp(row->state, "FAILED") == 0) != (reason != REASON_NONE))
        return wrong(loading, row, "its reason is none of its state");
    keep_entry(loading->surveys, row, running);
    if (running)
        keep_lost(loading->surveys, row, dataset, &owner);
    return true;
}

enum status surveys_open(struct surveys **out, struct store_tx *tx,
                         struct datasets *datasets, struct error *error)
{
    struct surveys *surveys = calloc(1, sizeof *surveys);
    CHECK(surveys != NULL);
    pthread_mutex_init(&surveys->lock, NULL);
    struct loading loading = {surveys, datasets, ST_OK, error};
    const struct survey_range all = {0};
    enum status status = survey_rows_walk(tx, &all, load_row, &loading, error);
    if (status == ST_OK)
        status = loading.status;
    if (status != ST_OK) {
        surveys_close(surveys);
        return status;
    }
    *out = surveys;
    return ST_OK;
}

void surveys_close(struct surveys *surveys)
{
    if (surveys == NULL)
        return;
    for (size_t i = 0; i < surveys->count; i++)
        survey_destroy(surveys->items[i]);
    free(surveys->items);
    free(surveys->entries);
    pthread_mutex_destroy(&surveys->lock);
    free(surveys);
}

const struct survey_entry *surveys_read(const struct surveys *surveys, size_t *count)
{
    *count = surveys->entry_count;
    return surveys->entries;
}

/* --- adding and ending --- */

enum status surveys_check_room(struct surveys *surveys, struct error *error)
{
    if (surveys_count(surveys) < LIMIT_SURVEYS)
        return ST_OK;
    return error_set(error, ST_QUEUE_FULL, "%d requests of statistics are under way",
                     LIMIT_SURVEYS);
}

static struct change *change_create(struct surveys *surveys, struct survey *survey)
{
    struct change *change = malloc(sizeof *change);
    CHECK(change != NULL);
    *change = (struct change){surveys, survey};
    return change;
}

static void added(void *context)
{
    struct change *change = context;
    pthread_mutex_lock(&change->surveys->lock);
    enter(change->surveys, change->survey);
    pthread_mutex_unlock(&change->surveys->lock);
    free(change);
}

static void not_added(void *context)
{
    struct change *change = context;
    survey_destroy(change->survey);
    free(change);
}

enum status surveys_add(struct surveys *surveys, struct store_tx *tx,
                        const struct survey_addition *addition, struct error *error)
{
    struct survey *survey = addition->survey_take;
    const struct survey_row row = {
        .id = survey->id,
        .dataset = survey->dataset.text,
        .state = "RUNNING",
        .reason = job_reason_name(REASON_NONE),
        .ledger_seq = survey->ledger_seq,
        .spec = addition->spec,
        .guarantee = addition->guarantee,
        .answers = "",
        .create_ms = addition->create_ms,
        .created_by = survey->owner,
    };
    enum status status = survey_row_insert(tx, &row, error);
    if (status == ST_OK)
        store_tx_on_end(tx, added, not_added, change_create(surveys, survey));
    else
        survey_destroy(survey);
    return status;
}

static void ended(void *context)
{
    struct change *change = context;
    pthread_mutex_lock(&change->surveys->lock);
    leave(change->surveys, change->survey);
    pthread_mutex_unlock(&change->surveys->lock);
    survey_destroy(change->survey);
    free(change);
}

enum status surveys_end(struct surveys *surveys, struct store_tx *tx,
                        struct survey *survey, const struct survey_end *end,
                        struct error *error)
{
    bool succeeded = end->reason == REASON_NONE;
    const struct survey_row row = {
        .id = survey->id,
        .state = succeeded ? "SUCCEEDED" : "FAILED",
        .reason = job_reason_name(end->reason),
        .answers = succeeded ? end->answers : "",
        .end_ms = end->second * MS_PER_S,
    };
    enum status status = survey_row_end(tx, &row, error);
    if (status == ST_OK)
        store_tx_on_end(tx, ended, free, change_create(surveys, survey));
    return status;
}

/* --- how runs ended --- */

void survey_hand_over(struct surveys *surveys, struct survey *survey,
                      struct survey_ending *ending_take)
{
    pthread_mutex_lock(&surveys->lock);
    survey->ending = ending_take;
    pthread_mutex_unlock(&surveys->lock);
}

struct survey_ending *survey_ending_take(struct surveys *surveys, struct survey *survey)
{
    pthread_mutex_lock(&surveys->lock);
    struct survey_ending *ending = survey->ending;
    survey->ending = NULL;
    pthread_mutex_unlock(&surveys->lock);
    return ending;
}

/* --- reading --- */

struct survey *surveys_at(struct surveys *surveys, size_t index)
{
    pthread_mutex_lock(&surveys->lock);
    struct survey *survey = index < surveys->count ? surveys->items[index] : NULL;
    pthread_mutex_unlock(&surveys->lock);
    return survey;
}

size_t surveys_count(struct surveys *surveys)
{
    pthread_mutex_lock(&surveys->lock);
    size_t count = surveys->count;
    pthread_mutex_unlock(&surveys->lock);
    return count;
}

size_t surveys_on(struct surveys *surveys, const struct dataset_id *dataset)
{
    size_t on = 0;
    pthread_mutex_lock(&surveys->lock);
    for (size_t i = 0; i < surveys->count; i++)
        on += strcmp(surveys->items[i]->dataset.text, dataset->text) == 0;
    pthread_mutex_unlock(&surveys->lock);
    return on;
}

bool surveys_runs(struct surveys *surveys, const char *id)
{
    bool runs = false;
    pthread_mutex_lock(&surveys->lock);
    for (size_t i = 0; i < surveys->count && !runs; i++)
        runs = strcmp(surveys->items[i]->id.text, id) == 0;
    pthread_mutex_unlock(&surveys->lock);
    return runs;
}

void surveys_look(struct surveys *surveys,
                  void (*visit)(void *context, const struct survey *survey),
                  void *context)
{
    pthread_mutex_lock(&surveys->lock);
    for (size_t i = 0; i < surveys->count; i++)
        visit(context, surveys->items[i]);
    pthread_mutex_unlock(&surveys->lock);
}
