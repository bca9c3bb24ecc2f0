#include "service/jobs/charges.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "service/threads/registry.h"
#include "store/rows/charge_rows.h"

enum { MS_PER_S = 1000 };

const char *const charge_state_names[] = {"OPEN", "SETTLED", "LAPSED", NULL};

struct charge {
    struct charge_id id; /* first, because the registry finds it by this */
    struct charge_request request;
    struct principal owner;
    int64_t create_ms;
    struct charge_info info; /* guarded by the lock of charges */
};

struct charges {
    pthread_mutex_t lock; /* guards the members below */
    struct registry registry;
    struct charge **open; /* those that are OPEN, oldest first */
    size_t open_count, open_capacity;
    struct charges_tally tally;
    uint64_t version;
};

static void destroy(void *item)
{
    struct charge *charge = item;
    charge_request_fini(&charge->request);
    free(charge);
}

/* --- rows --- */

static struct charge_row row_of(const struct charge *charge,
                                const struct charge_info *info, const char *spec,
                                const char *figures)
{
    return (struct charge_row){
        .id = charge->id,
        .dataset = charge->request.dataset.text,
        .project = charge->owner.project,
        .created_by = charge->owner.name,
        .spec = spec,
        .state = charge_state_names[info->state],
        .figures = figures,
        .blocks = info->blocks,
        .process = info->process,
        .lease_end_ms = info->lease_end_s * MS_PER_S,
        .end_ms = info->end_s * MS_PER_S,
        .create_ms = charge->create_ms,
    };
}

static bool state_parse(enum charge_state *state, const char *text)
{
    for (unsigned i = 0; i < CHARGE_STATE_COUNT; i++) {
        if (strcmp(text, charge_state_names[i]) == 0) {
            *state = (enum charge_state)i;
            return true;
        }
    }
    return false;
}

/* Reads the row into a zeroed charge. Returns false if it cannot be read. */
static bool from_row(struct charge *charge, const struct charge_row *row)
{
    struct charge_info *info = &charge->info;
    info->blocks = row->blocks;
    info->lease_end_s = row->lease_end_ms / MS_PER_S;
    info->end_s = row->end_ms / MS_PER_S;
    charge->create_ms = row->create_ms;
    if (!charge_id_parse(&charge->id, row->id.text) ||
        charge_request_parse(&charge->request, json_text_of(row->spec), NULL) !=
            ST_OK ||
        strcmp(charge->request.dataset.text, row->dataset) != 0 ||
        !principal_parse(&charge->owner, row->created_by) ||
        strlen(row->project) >= sizeof charge->owner.project ||
        strlen(row->process) >= sizeof info->process ||
        !state_parse(&info->state, row->state) ||
        !charge_figures_parse(&info->figures, row->figures))
        return false;
    strcpy(charge->owner.project, row->project);
    strcpy(info->process, row->process);
    return info->blocks <= charge_request_blocks(&charge->request) &&
           (info->end_s > 0) == (info->state != CHARGE_OPEN);
}

/* --- the list; the caller holds the lock, or no other thread knows it --- */

static void add_open(struct charges *charges, struct charge *charge)
{
    if (charges->open_count == charges->open_capacity) {
        charges->open_capacity =
            charges->open_capacity == 0 ? 16 : 2 * charges->open_capacity;
        charges->open = reallocarray(charges->open, charges->open_capacity,
                                     sizeof(struct charge *));
        CHECK(charges->open != NULL);
    }
    charges->open[charges->open_count++] = charge;
}

static void remove_open(struct charges *charges, const struct charge *charge)
{
    size_t kept = 0;
    for (size_t i = 0; i < charges->open_count; i++)
        if (charges->open[i] != charge)
            charges->open[kept++] = charges->open[i];
    charges->open_count = kept;
}

static void add(struct charges *charges, struct charge *charge)
{
    registry_add(&charges->registry, charge);
    charges->tally.by_state[charge->info.state]++;
    if (charge->info.state == CHARGE_OPEN)
        add_open(charges, charge);
    charges->version++;
}

/* --- opening --- */

struct loading {
    struct charges *charges;
    bool good;
    struct error *error;
};

/* Returns NULL if the row cannot be read. */
static struct charge *charge_of(struct loading *loading, const struct charge_row *row)
{
    struct charge *charge = calloc(1, sizeof *charge);
    CHECK(charge != NULL);
    loading->good = from_row(charge, row);
    if (loading->good)
        return charge;
    destroy(charge);
    error_set(loading->error, ST_CORRUPT, "table charge, row %s: it does not read back",
              row->id.text);
    return NULL;
}

static bool load_row(void *context, const struct charge_row *row)
{
    struct loading *loading = context;
    struct charge *charge = charge_of(loading, row);
    if (charge != NULL)
        add(loading->charges, charge);
    return charge != NULL;
}

enum status charges_open(struct charges **out, struct store_tx *tx, struct error *error)
{
    struct charges *charges = calloc(1, sizeof *charges);
    CHECK(charges != NULL);
    pthread_mutex_init(&charges->lock, NULL);
    struct loading loading = {charges, true, error};
    enum status status = charge_rows_walk(tx, load_row, &loading, error);
    if (status == ST_OK && !loading.good)
        status = ST_CORRUPT;
    if (status != ST_OK) {
        charges_close(charges);
        return status;
    }
    *out = charges;
    return ST_OK;
}

void charges_close(struct charges *charges)
{
    if (charges == NULL)
        return;
    registry_fini(&charges->registry, destroy);
    free(charges->open);
    pthread_mutex_destroy(&charges->lock);
    free(charges);
}

/* --- reading --- */

struct charge *charges_find(struct charges *charges, const char *id)
{
    pthread_mutex_lock(&charges->lock);
    struct charge *charge = registry_find(&charges->registry, id);
    pthread_mutex_unlock(&charges->lock);
    return charge;
}

const struct charge_id *charge_id(const struct charge *charge)
{
    return &charge->id;
}

const struct charge_request *charge_declared(const struct charge *charge)
{
    return &charge->request;
}

const struct principal *charge_owner(const struct charge *charge)
{
    return &charge->owner;
}

int64_t charge_create_ms(const struct charge *charge)
{
    return charge->create_ms;
}

void charge_read(struct charges *charges, const struct charge *charge,
                 struct charge_info *info)
{
    pthread_mutex_lock(&charges->lock);
    *info = charge->info;
    pthread_mutex_unlock(&charges->lock);
}

struct charge **charges_list_open(struct charges *charges,
                                  const struct dataset_id *dataset, size_t *count)
{
    pthread_mutex_lock(&charges->lock);
    struct charge **list = calloc(charges->open_count + 1, sizeof(struct charge *));
    CHECK(list != NULL);
    *count = 0;
    for (size_t i = 0; i < charges->open_count; i++) {
        const char *on = charges->open[i]->request.dataset.text;
        if (dataset == NULL || strcmp(on, dataset->text) == 0)
            list[(*count)++] = charges->open[i];
    }
    pthread_mutex_unlock(&charges->lock);
    return list;
}

bool charges_open_on(struct charges *charges, const struct dataset_id *dataset)
{
    size_t count;
    free(charges_list_open(charges, dataset, &count));
    return count > 0;
}

uint64_t charges_records(struct charges *charges, const struct dataset_id *dataset)
{
    for (size_t i = charges_count(charges); i-- > 0;) {
        const struct charge_request *declared = charge_declared(charges_at(charges, i));
        if (strcmp(declared->dataset.text, dataset->text) == 0 && declared->records > 0)
            return declared->records;
    }
    return 0;
}

struct charges_tally charges_tally(struct charges *charges)
{
    pthread_mutex_lock(&charges->lock);
    struct charges_tally tally = charges->tally;
    pthread_mutex_unlock(&charges->lock);
    return tally;
}

int64_t charges_next_end(struct charges *charges)
{
    int64_t next = INT64_MAX;
    pthread_mutex_lock(&charges->lock);
    for (size_t i = 0; i < charges->open_count; i++)
        if (charges->open[i]->info.lease_end_s < next)
            next = charges->open[i]->info.lease_end_s;
    pthread_mutex_unlock(&charges->lock);
    return next;
}

uint64_t charges_version(struct charges *charges)
{
    pthread_mutex_lock(&charges->lock);
    uint64_t version = charges->version;
    pthread_mutex_unlock(&charges->lock);
    return version;
}

size_t charges_count(struct charges *charges)
{
    pthread_mutex_lock(&charges->lock);
    size_t count = charges->registry.count;
    pthread_mutex_unlock(&charges->lock);
    return count;
}

struct charge *charges_at(struct charges *charges, size_t index)
{
    pthread_mutex_lock(&charges->lock);
    CHECK(index < charges->registry.count);
    struct charge *charge = charges->registry.items[index];
    pthread_mutex_unlock(&charges->lock);
    return charge;
}

/* --- changing --- */

struct change { /* the change that is made in memory when the transaction commits */
    struct charges *charges;
    struct charge *charge;
    struct charge_info info;
};

static struct change *change_create(struct charges *charges, struct charge *charge,
                                    const struct charge_info *info)
{
    struct change *change = malloc(sizeof *change);
    CHECK(change != NULL);
    *change = (struct change){charges, charge, *info};
    return change;
}

static void added(void *context)
{
    struct change *change = context;
    pthread_mutex_lock(&change->charges->lock);
    add(change->charges, change->charge);
    pthread_mutex_unlock(&change->charges->lock);
    free(change);
}

static void not_added(void *context)
{
    struct change *change = context;
    destroy(change->charge);
    free(change);
}

enum status charges_add(struct charges *charges, struct store_tx *tx,
                        const struct charge_addition *addition, struct charge **out,
                        struct error *error)
{
    struct charge *charge = calloc(1, sizeof *charge);
    CHECK(charge != NULL);
    charge->id = addition->id;
    charge->request = *addition->request_take;
    *addition->request_take = (struct charge_request){0};
    charge->owner = *addition->owner;
    charge->create_ms = addition->create_s * MS_PER_S;
    charge->info = addition->info;
    char *spec = charge_request_render(&charge->request);
    char *figures = charge_figures_render(&charge->info.figures);
    const struct charge_row row = row_of(charge, &charge->info, spec, figures);
    enum status status = charge_row_insert(tx, &row, error);
    free(figures);
    free(spec);
    if (status != ST_OK) {
        destroy(charge);
        return status;
    }
    store_tx_on_end(tx, added, not_added,
                    change_create(charges, charge, &charge->info));
    *out = charge;
    return ST_OK;
}

/* The caller holds the lock. */
static void take_over(struct charges *charges, struct charge *charge,
                      const struct charge_info *info)
{
    charges->tally.by_state[charge->info.state]--;
    charges->tally.by_state[info->state]++;
    if (info->state != CHARGE_OPEN)
        remove_open(charges, charge);
    charge->info = *info;
    charges->version++;
}

static void moved(void *context)
{
    struct change *change = context;
    pthread_mutex_lock(&change->charges->lock);
    take_over(change->charges, change->charge, &change->info);
    pthread_mutex_unlock(&change->charges->lock);
    free(change);
}

enum status charge_move(struct charges *charges, struct store_tx *tx,
                        struct charge *charge, const struct charge_info *info,
                        struct error *error)
{
    char *figures = charge_figures_render(&info->figures);
    const struct charge_row row = row_of(charge, info, NULL, figures);
    enum status status = charge_row_update(tx, &row, error);
    free(figures);
    if (status == ST_OK)
        store_tx_on_end(tx, moved, free, change_create(charges, charge, info));
    return status;
}

enum status charge_check_block(const struct charge_request *request,
                               const struct charge_info *info, uint64_t block,
                               struct error *error)
{
    uint64_t blocks = charge_request_blocks(request);
    if (block <= info->blocks)
        return error_set_at(error, ST_BLOCK_GRANTED, "/block",
                            "block %" PRIu64 " was granted before", block);
    if (info->state != CHARGE_OPEN)
        return error_set(error, ST_CHARGE_ENDED, "the charge is %s",
                         charge_state_names[info->state]);
    if (block > blocks)
        return error_set_at(error, ST_BLOCK_OUT_OF_ORDER, "/block",
                            "the charge has %" PRIu64 " blocks", blocks);
    if (block != info->blocks + 1)
        return error_set_at(error, ST_BLOCK_OUT_OF_ORDER, "/block",
                            "the next block is %" PRIu64, info->blocks + 1);
    return ST_OK;
}

/* --- changes by other daemons --- */

static bool renew_row(void *context, const struct charge_row *row)
{
    struct loading *renewal = context;
    struct charges *charges = renewal->charges;
    struct charge *fresh = charge_of(renewal, row);
    if (fresh == NULL)
        return false;
    pthread_mutex_lock(&charges->lock);
    struct charge *known = registry_find(&charges->registry, row->id.text);
    if (known == NULL)
        add(charges, fresh);
    else if (known->info.state == CHARGE_OPEN)
        take_over(charges, known, &fresh->info);
    pthread_mutex_unlock(&charges->lock);
    if (known != NULL)
        destroy(fresh);
    return false;
}

enum status charges_renew(struct charges *charges, struct store_tx *tx, const char *id,
                          struct error *error)
{
    struct charge_id parsed;
    struct loading renewal = {charges, true, error};
    if (!charge_id_parse(&parsed, id))
        return error_set(error, ST_CORRUPT,
                         "table charge, row %s: its id is no charge's", id);
    enum status status = charge_row_find(tx, &parsed, renew_row, &renewal, error);
    return status == ST_OK && !renewal.good ? ST_CORRUPT : status;
}
