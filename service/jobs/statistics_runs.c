#include "service/jobs/statistics_runs.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api/limits.h"
#include "api/requests/evaluation_request.h"
#include "base/check.h"
#include "store/rows/statistics_rows.h"

enum { MS_PER_S = 1000 };

struct statistics_run_list {
    struct statistics_run **items; /* (count), oldest first */
    size_t count, capacity;
};

struct statistics_runs {
    pthread_mutex_t lock;
    struct statistics_run_list here;
    /* other daemons' surveys: never keep a pointer to one */
    struct statistics_run_list elsewhere;
    /* (entry_count), as statistics_runs_open read them */
    struct statistics_run_entry *entries;
    size_t entry_count, entry_capacity;
};

struct change { /* of a survey by a transaction, until it ends */
    struct statistics_runs *surveys;
    struct statistics_run *survey;
};

void statistics_run_ending_destroy(struct statistics_run_ending *ending)
{
    if (ending == NULL)
        return;
    free(ending->answers);
    free(ending);
}

void statistics_run_destroy(struct statistics_run *survey)
{
    if (survey == NULL)
        return;
    statistics_run_ending_destroy(survey->ending);
    statistics_fini(&survey->statistics);
    mechanism_fini(&survey->mechanism);
    model_spec_fini(&survey->prefix);
    free(survey);
}

enum parts statistics_run_parts(const struct statistics_run *survey)
{
    if (survey_id_is_evaluation(&survey->id))
        return survey->is_free ? PARTS_UNNAMED : PARTS_HOLDOUT;
    return survey->parts;
}

/* Returns items with room for one more of size bytes, if count are used. */
static void *grown(void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return items;
    *capacity = *capacity == 0 ? 16 : 2 * *capacity;
    items = reallocarray(items, *capacity, size);
    CHECK(items != NULL);
    return items;
}

static void enter(struct statistics_run_list *list, struct statistics_run *survey)
{
    list->items = grown(list->items, list->count, &list->capacity,
                        sizeof(struct statistics_run *));
    list->items[list->count++] = survey;
}

static void leave(struct statistics_run_list *list, const struct statistics_run *survey)
{
    size_t at = 0;
    while (list->items[at] != survey)
        at++;
    list->count--;
    memmove(list->items + at, list->items + at + 1,
            (list->count - at) * sizeof(struct statistics_run *));
}

/* Returns NULL if no survey of the list has this id. */
static struct statistics_run *find(const struct statistics_run_list *list,
                                   const char *id)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i]->id.text, id) == 0)
            return list->items[i];
    return NULL;
}

static size_t count_on(const struct statistics_run_list *list,
                       const struct dataset_id *dataset)
{
    size_t on = 0;
    for (size_t i = 0; i < list->count; i++)
        on += strcmp(list->items[i]->dataset.text, dataset->text) == 0;
    return on;
}

static void list_fini(struct statistics_run_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        statistics_run_destroy(list->items[i]);
    free(list->items);
}

/* --- opening --- */

struct loading {
    struct statistics_runs *surveys;
    struct datasets *datasets;
    enum status status;
    struct error *error;
};

static bool wrong(struct loading *loading, const struct statistics_row *row,
                  const char *what)
{
    loading->status = error_set(loading->error, ST_CORRUPT,
                                "table survey, row %.64s: %s", row->id.text, what);
    return false;
}

/* Makes a survey that does not run here. It has only the members that say whose it is
 * and what it holds. */
static struct statistics_run *statistics_run_of(const struct statistics_row *row,
                                                const struct dataset *dataset,
                                                const struct principal *owner)
{
    struct statistics_run *survey = calloc(1, sizeof *survey);
    CHECK(survey != NULL);
    survey->id = row->id;
    survey->dataset = dataset_spec(dataset)->id;
    survey->project = dataset_owner(dataset)->project;
    survey->ledger_seq = row->ledger_seq;
    survey->is_free = dataset_spec(dataset)->is_public;
    memcpy(survey->owner, owner->name, sizeof survey->owner);
    return survey;
}

static bool is_running(const struct statistics_row *row)
{
    return strcmp(row->state, "RUNNING") == 0;
}

static void keep_entry(struct statistics_runs *surveys,
                       const struct statistics_row *row, const struct dataset *dataset)
{
    surveys->entries = grown(surveys->entries, surveys->entry_count,
                             &surveys->entry_capacity, sizeof *surveys->entries);
    surveys->entries[surveys->entry_count++] = (struct statistics_run_entry){
        holder_of_survey(&row->id), row->ledger_seq, is_running(row),
        dataset_spec(dataset)->is_public};
}

/* Returns whether the row reads back. */
static bool check_row(struct loading *loading, const struct statistics_row *row,
                      struct principal *owner)
{
    struct survey_id id;
    enum job_reason reason;
    struct model_evaluation_kept kept = {0};
    const struct dataset *dataset = datasets_find(loading->datasets, row->dataset);
    if (!survey_id_parse(&id, row->id.text))
        return wrong(loading, row, "its id is no survey's");
    if (survey_id_is_evaluation(&id) &&
        model_evaluation_kept_parse(&kept, row->spec, NULL) != ST_OK)
        return wrong(loading, row, "its request does not read back");
    if (dataset == NULL)
        return wrong(loading, row, "there is no such dataset");
    if (!principal_parse(owner, row->created_by))
        return wrong(loading, row, "its owner is no name");
    if (!job_reason_parse(&reason, row->reason) ||
        (strcmp(row->state, "FAILED") == 0) != (reason != REASON_NONE))
        return wrong(loading, row, "its reason is none of its state");
    return true;
}

static bool load_row(void *context, const struct statistics_row *row)
{
    struct loading *loading = context;
    struct principal owner;
    if (!check_row(loading, row, &owner))
        return false;
    const struct dataset *dataset = datasets_find(loading->datasets, row->dataset);
    keep_entry(loading->surveys, row, dataset);
    if (is_running(row)) /* its process is gone */
        enter(&loading->surveys->here, statistics_run_of(row, dataset, &owner));
    return true;
}

enum status statistics_runs_open(struct statistics_runs **out, struct store_tx *tx,
                                 struct datasets *datasets, struct error *error)
{
    struct statistics_runs *surveys = calloc(1, sizeof *surveys);
    CHECK(surveys != NULL);
    pthread_mutex_init(&surveys->lock, NULL);
    struct loading loading = {surveys, datasets, ST_OK, error};
    const struct survey_range all = {0};
    enum status status = statistics_rows_walk(tx, &all, load_row, &loading, error);
    if (status == ST_OK)
        status = loading.status;
    if (status != ST_OK) {
        statistics_runs_close(surveys);
        return status;
    }
    *out = surveys;
    return ST_OK;
}

void statistics_runs_close(struct statistics_runs *surveys)
{
    if (surveys == NULL)
        return;
    list_fini(&surveys->here);
    list_fini(&surveys->elsewhere);
    free(surveys->entries);
    pthread_mutex_destroy(&surveys->lock);
    free(surveys);
}

const struct statistics_run_entry *
statistics_runs_read(const struct statistics_runs *surveys, size_t *count)
{
    *count = surveys->entry_count;
    return surveys->entries;
}

/* --- adding and ending --- */

enum status statistics_runs_check_room(struct statistics_runs *surveys,
                                       struct error *error)
{
    if (statistics_runs_count(surveys) < LIMIT_SURVEYS)
        return ST_OK;
    return error_set(error, ST_QUEUE_FULL, "%d requests of statistics are under way",
                     LIMIT_SURVEYS);
}

static struct change *change_create(struct statistics_runs *surveys,
                                    struct statistics_run *survey)
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
    enter(&change->surveys->here, change->survey);
    pthread_mutex_unlock(&change->surveys->lock);
    free(change);
}

static void not_added(void *context)
{
    struct change *change = context;
    statistics_run_destroy(change->survey);
    free(change);
}

enum status statistics_runs_add(struct statistics_runs *surveys, struct store_tx *tx,
                                const struct statistics_run_addition *addition,
                                struct error *error)
{
    struct statistics_run *survey = addition->survey_take;
    const struct statistics_row row = {
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
    enum status status = statistics_row_insert(tx, &row, error);
    if (status == ST_OK)
        store_tx_on_end(tx, added, not_added, change_create(surveys, survey));
    else
        statistics_run_destroy(survey);
    return status;
}

static void ended(void *context)
{
    struct change *change = context;
    struct statistics_runs *surveys = change->surveys;
    pthread_mutex_lock(&surveys->lock);
    bool here = find(&surveys->here, change->survey->id.text) != NULL;
    leave(here ? &surveys->here : &surveys->elsewhere, change->survey);
    pthread_mutex_unlock(&surveys->lock);
    statistics_run_destroy(change->survey);
    free(change);
}

enum status statistics_runs_end(struct statistics_runs *surveys, struct store_tx *tx,
                                struct statistics_run *survey,
                                const struct statistics_run_end *end,
                                struct error *error)
{
    bool succeeded = end->reason == REASON_NONE;
    const struct statistics_row row = {
        .id = survey->id,
        .state = succeeded ? "SUCCEEDED" : "FAILED",
        .reason = job_reason_name(end->reason),
        .answers = succeeded ? end->answers : "",
        .end_ms = end->second * MS_PER_S,
    };
    enum status status = statistics_row_end(tx, &row, error);
    if (status == ST_OK)
        store_tx_on_end(tx, ended, free, change_create(surveys, survey));
    return status;
}

/* --- endings of runs --- */

void statistics_run_hand_over(struct statistics_runs *surveys,
                              struct statistics_run *survey,
                              struct statistics_run_ending *ending_take)
{
    pthread_mutex_lock(&surveys->lock);
    survey->ending = ending_take;
    pthread_mutex_unlock(&surveys->lock);
}

struct statistics_run_ending *
statistics_run_ending_take(struct statistics_runs *surveys,
                           struct statistics_run *survey)
{
    pthread_mutex_lock(&surveys->lock);
    struct statistics_run_ending *ending = survey->ending;
    survey->ending = NULL;
    pthread_mutex_unlock(&surveys->lock);
    return ending;
}

/* --- reading --- */

struct statistics_run *statistics_runs_at(struct statistics_runs *surveys, size_t index)
{
    const struct statistics_run_list *here = &surveys->here;
    pthread_mutex_lock(&surveys->lock);
    struct statistics_run *survey = index < here->count ? here->items[index] : NULL;
    pthread_mutex_unlock(&surveys->lock);
    return survey;
}

size_t statistics_runs_here(struct statistics_runs *surveys)
{
    pthread_mutex_lock(&surveys->lock);
    size_t count = surveys->here.count;
    pthread_mutex_unlock(&surveys->lock);
    return count;
}

size_t statistics_runs_count(struct statistics_runs *surveys)
{
    pthread_mutex_lock(&surveys->lock);
    size_t count = surveys->here.count + surveys->elsewhere.count;
    pthread_mutex_unlock(&surveys->lock);
    return count;
}

size_t statistics_runs_on(struct statistics_runs *surveys,
                          const struct dataset_id *dataset)
{
    pthread_mutex_lock(&surveys->lock);
    size_t on =
        count_on(&surveys->here, dataset) + count_on(&surveys->elsewhere, dataset);
    pthread_mutex_unlock(&surveys->lock);
    return on;
}

struct statistics_run *statistics_runs_find(struct statistics_runs *surveys,
                                            const char *id)
{
    pthread_mutex_lock(&surveys->lock);
    struct statistics_run *survey = find(&surveys->here, id);
    if (survey == NULL)
        survey = find(&surveys->elsewhere, id);
    pthread_mutex_unlock(&surveys->lock);
    return survey;
}

bool statistics_runs_runs(struct statistics_runs *surveys, const char *id)
{
    return statistics_runs_find(surveys, id) != NULL;
}

void statistics_runs_look(struct statistics_runs *surveys,
                          void (*visit)(void *context,
                                        const struct statistics_run *survey),
                          void *context)
{
    const struct statistics_run_list *const lists[] = {&surveys->here,
                                                       &surveys->elsewhere};
    pthread_mutex_lock(&surveys->lock);
    for (size_t l = 0; l < sizeof lists / sizeof *lists; l++)
        for (size_t i = 0; i < lists[l]->count; i++)
            visit(context, lists[l]->items[i]);
    pthread_mutex_unlock(&surveys->lock);
}

/* --- changes by other daemons --- */

struct reading {
    struct loading loading;
    struct statistics_run *found; /* a RUNNING survey; NULL: it is not RUNNING */
};

static bool read_renewed(void *context, const struct statistics_row *row)
{
    struct reading *reading = context;
    struct loading *loading = &reading->loading;
    struct principal owner;
    if (check_row(loading, row, &owner) && is_running(row))
        reading->found = statistics_run_of(
            row, datasets_find(loading->datasets, row->dataset), &owner);
    return false;
}

/* The ledger says what the survey holds, for sums of an owner's share. */
/* A free survey holds nothing. */
static enum status read_mechanism(struct statistics_run *survey,
                                  const struct statistics_run_renewal *renewal,
                                  struct error *error)
{
    const struct job_id holder = holder_of_survey(&survey->id);
    if (survey->is_free)
        return ST_OK;
    char *text = renewal->reserved(renewal->context, &holder);
    if (text == NULL)
        return error_set(error, ST_CORRUPT,
                         "table survey, row %s: the ledger holds nothing for it",
                         survey->id.text);
    enum status status = mechanism_parse(&survey->mechanism, text, error);
    free(text);
    return status;
}

enum status statistics_runs_renew(struct statistics_runs *surveys, struct store_tx *tx,
                                  const char *id,
                                  const struct statistics_run_renewal *renewal,
                                  struct error *error)
{
    struct reading reading = {.loading = {surveys, renewal->datasets, ST_OK, error}};
    enum status status = statistics_row_find(tx, id, read_renewed, &reading, error);
    if (status == ST_OK)
        status = reading.loading.status;
    if (status == ST_OK && reading.found != NULL)
        status = read_mechanism(reading.found, renewal, error);
    pthread_mutex_lock(&surveys->lock);
    struct statistics_run *known = find(&surveys->elsewhere, id);
    bool is_new = status == ST_OK && reading.found != NULL && known == NULL &&
                  find(&surveys->here, id) == NULL;
    bool is_over = status == ST_OK && reading.found == NULL && known != NULL;
    if (is_new)
        enter(&surveys->elsewhere, reading.found);
    if (is_over)
        leave(&surveys->elsewhere, known);
    pthread_mutex_unlock(&surveys->lock);
    statistics_run_destroy(is_new ? NULL : reading.found);
    statistics_run_destroy(is_over ? known : NULL);
    return status;
}

enum status statistics_runs_yield(struct statistics_runs *surveys,
                                  const struct statistics_run_renewal *renewal,
                                  struct error *error)
{
    struct statistics_run *survey;
    enum status status = ST_OK;
    while (status == ST_OK && (survey = statistics_runs_at(surveys, 0)) != NULL) {
        status = read_mechanism(survey, renewal, error);
        pthread_mutex_lock(&surveys->lock);
        leave(&surveys->here, survey);
        enter(&surveys->elsewhere, survey);
        pthread_mutex_unlock(&surveys->lock);
    }
    return status;
}
