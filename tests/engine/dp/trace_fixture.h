/*
 * trace_fixture.h - records what a job did, step by step, between the engine's files:
 * the keys of a step, every stretch of key stream that was read and its purpose, who
 * was in the batch, and each release's sum, divisor and outcome.
 *
 * The linker replaces functions of the engine by the wrappers below that are named after
 * them (--wrap, make/tests.mk): the engine's own objects run, as in the
 * daemon, and are not changed for it. Keys start from bytes that a salt chooses, instead
 * of the kernel's bytes.
 *
 * A steered job gets made-up releases, the same for every job: its sum is recorded and
 * not released. Jobs on different data then pass through the same public states, so a
 * difference between them did not come through a release; and the effect of one record
 * on a sum is the difference of two jobs' sums, in any step.
 *
 * One job at a time. Ownership: trace_free releases what trace_take returns.
 */
#ifndef TESTS_ENGINE_DP_TRACE_FIXTURE_H
#define TESTS_ENGINE_DP_TRACE_FIXTURE_H

#include <pthread.h>

#include "base/check.h"
#include "engine/dp/batch.h"
#include "engine/noise/noise.h"
#include "engine/nn/layers/dropout_mask.h"
#include "tests/engine/dp/ways_fixture.h"
#include "tests/engine/draw_fixture.h"

enum { TRACE_KEYS = 8, TRACE_RELEASES = 4, TRACE_ROWS = 4096 };

enum trace_use { USE_SAMPLING, USE_RATCHET, USE_NOISE, USE_DROPOUT };

struct trace_read { /* a read of key stream */
    struct noise_key key;
    uint64_t nonce, block, blocks;
    enum trace_use use;
    size_t step; /* from 1; 0: before the first */
};

struct trace_release {
    struct noise_key key;
    uint64_t query;
    double scale, divisor; /* G, and the divisor of the noisy sum over G */
    bool of_counts;
    size_t count;
    int64_t *sum; /* (count) grid steps, without noise */
    double *out;  /* (count) */
};

struct trace_step {
    struct noise_key keys[TRACE_KEYS]; /* new keys, in the order of their sources */
    size_t key_count;
    uint8_t *uses;           /* (records) how often each record was read */
    size_t batch;            /* records read */
    double noise_multiplier; /* charged for the step */
    struct trace_release releases[TRACE_RELEASES];
    size_t release_count;
    double shown[RELEASED_NUMBERS_MAX];
    size_t shown_count;
    struct noise_plan plan; /* after the step */
    float *parameters;      /* (dim) after the step */
};

struct trace {
    size_t step_count, records, dim;
    struct trace_step *steps;
    struct trace_read *reads;
    size_t read_count, read_max;
    struct noise_key *origins; /* keys that the kernel gave */
    size_t origin_count, origin_max;
};

enum trace_absence { ABSENT_NONE, ABSENT_ONE, ABSENT_OTHERS };

struct trace_setup {
    const struct way *way;
    const struct matrix *data; /* NULL: the data of the way */
    uint64_t salt;
    bool steered;
    bool lies; /* rules get the loss lie for every record, and spreads of 0 */
    double lie;
    /* Slots of the dataset that are empty: none, the slot of record, or all but that of
     * record. The draw does not change. */
    enum trace_absence absent;
    size_t record;
};

struct trace_job {
    const struct trace_setup *setup;
    struct trace *trace;
    struct trace_step *now; /* NULL before the first step */
    uint64_t drawn;         /* bytes requested from the kernel */
    double lies[TRACE_ROWS], spreads[TRACE_ROWS];
    pthread_mutex_t lock;
};

/* The job that is being traced; NULL: none, and all calls pass through. */
static struct trace_job *trace_job;

static _Thread_local enum trace_use trace_use;

static inline void trace_lock(void)
{
    pthread_mutex_lock(&trace_job->lock);
}

static inline void trace_unlock(void)
{
    pthread_mutex_unlock(&trace_job->lock);
}

static inline size_t trace_step_number(void)
{
    return trace_job->now == NULL
               ? 0
               : (size_t)(trace_job->now - trace_job->trace->steps) + 1;
}

static inline void trace_add_origin(struct trace *trace, const uint8_t *bytes)
{
    if (trace->origin_count == trace->origin_max) {
        trace->origin_max = 2 * trace->origin_max + 64;
        trace->origins =
            realloc(trace->origins, trace->origin_max * sizeof *trace->origins);
        CHECK(trace->origins != NULL);
    }
    memcpy(trace->origins[trace->origin_count++].bytes, bytes, STREAM_KEY_SIZE);
}

static inline void trace_add_read(const struct stream_position *from, size_t size)
{
    struct trace *trace = trace_job->trace;
    if (trace->read_count == trace->read_max) {
        trace->read_max = 2 * trace->read_max + 256;
        trace->reads = realloc(trace->reads, trace->read_max * sizeof *trace->reads);
        CHECK(trace->reads != NULL);
    }
    struct trace_read *read = &trace->reads[trace->read_count++];
    *read = (struct trace_read){.nonce = from->nonce,
                                .block = from->block,
                                .blocks =
                                    (size + STREAM_BLOCK_SIZE - 1) / STREAM_BLOCK_SIZE,
                                .use = trace_use,
                                .step = trace_step_number()};
    memcpy(read->key.bytes, from->key, STREAM_KEY_SIZE);
}

void __real_random_bytes(void *out, size_t size);
void __wrap_random_bytes(void *out, size_t size);
void __wrap_random_bytes(void *out, size_t size)
{
    if (trace_job == NULL) {
        __real_random_bytes(out, size);
        return;
    }
    uint8_t *bytes = out;
    trace_lock();
    for (size_t k = 0; k < size; k++, trace_job->drawn++) {
        uint64_t seed = trace_job->setup->salt * 0x9e3779b97f4a7c15U + trace_job->drawn;
        draw_uniform(&seed);
        bytes[k] = (uint8_t)(draw_uniform(&seed) * 256);
    }
    if (size == STREAM_KEY_SIZE)
        trace_add_origin(trace_job->trace, bytes);
    trace_unlock();
}

void __real_stream_read(struct stream *stream, void *out, size_t size,
                        const struct stream_position *from);
void __wrap_stream_read(struct stream *stream, void *out, size_t size,
                        const struct stream_position *from);
void __wrap_stream_read(struct stream *stream, void *out, size_t size,
                        const struct stream_position *from)
{
    /* A model's first parameters are drawn before the kernel is asked for keys: they
     * are public. */
    if (trace_job != NULL && trace_job->drawn > 0) {
        trace_lock();
        trace_add_read(from, size);
        trace_unlock();
    }
    __real_stream_read(stream, out, size, from);
}

/* A step of the ratchet: the key that it gives, and the state that it keeps. */
void __real_noise_source_next(struct noise_source *source, struct noise_key *step_key);
void __wrap_noise_source_next(struct noise_source *source, struct noise_key *step_key);
void __wrap_noise_source_next(struct noise_source *source, struct noise_key *step_key)
{
    enum trace_use outer = trace_use;
    trace_use = USE_RATCHET;
    __real_noise_source_next(source, step_key);
    trace_use = outer;
    if (trace_job == NULL || trace_job->now == NULL)
        return;
    trace_lock();
    struct trace_step *now = trace_job->now;
    CHECK(now->key_count < TRACE_KEYS);
    now->keys[now->key_count++] = *step_key;
    trace_unlock();
}

void __real_noise_chunk_draw(struct noise_chunk *chunk, struct stream *stream,
                             const struct noise_position *position,
                             const struct noise_layout *layout);
void __wrap_noise_chunk_draw(struct noise_chunk *chunk, struct stream *stream,
                             const struct noise_position *position,
                             const struct noise_layout *layout);
void __wrap_noise_chunk_draw(struct noise_chunk *chunk, struct stream *stream,
                             const struct noise_position *position,
                             const struct noise_layout *layout)
{
    enum trace_use outer = trace_use;
    trace_use = USE_NOISE;
    __real_noise_chunk_draw(chunk, stream, position, layout);
    trace_use = outer;
}

void __real_dropout_mask(const struct dropout *dropout, struct stream *stream,
                         const struct dropout_record *record, float *mask,
                         size_t width);
void __wrap_dropout_mask(const struct dropout *dropout, struct stream *stream,
                         const struct dropout_record *record, float *mask,
                         size_t width);
void __wrap_dropout_mask(const struct dropout *dropout, struct stream *stream,
                         const struct dropout_record *record, float *mask, size_t width)
{
    enum trace_use outer = trace_use;
    trace_use = USE_DROPOUT;
    __real_dropout_mask(dropout, stream, record, mask, width);
    trace_use = outer;
}

void __real_matrix_gather(const struct matrix *matrix, float *out, size_t stride,
                          const uint32_t *indices, size_t count);
void __wrap_matrix_gather(const struct matrix *matrix, float *out, size_t stride,
                          const uint32_t *indices, size_t count);
void __wrap_matrix_gather(const struct matrix *matrix, float *out, size_t stride,
                          const uint32_t *indices, size_t count)
{
    __real_matrix_gather(matrix, out, stride, indices, count);
    if (trace_job == NULL || trace_job->now == NULL)
        return;
    trace_lock();
    for (size_t k = 0; k < count; k++) {
        CHECK(indices[k] < trace_job->trace->records);
        trace_job->now->uses[indices[k]]++;
        trace_job->now->batch++;
    }
    trace_unlock();
}

void __real_batch_cut_cells(struct batch *batch, const struct grid *grid);
void __wrap_batch_cut_cells(struct batch *batch, const struct grid *grid);
void __wrap_batch_cut_cells(struct batch *batch, const struct grid *grid)
{
    size_t kept = 0, drawn = batch->count;
    for (size_t k = 0; trace_job != NULL && k < drawn; k++) {
        const struct trace_setup *setup = trace_job->setup;
        bool is_it = batch->indices[k] == setup->record;
        if (setup->absent == ABSENT_NONE || is_it == (setup->absent == ABSENT_OTHERS))
            batch->indices[kept++] = batch->indices[k];
    }
    if (trace_job != NULL)
        batch->count = kept;
    __real_batch_cut_cells(batch, grid);
}

const double *__real_workspace_losses(const struct workspace *workspace);
const double *__wrap_workspace_losses(const struct workspace *workspace);
const double *__wrap_workspace_losses(const struct workspace *workspace)
{
    if (trace_job == NULL || !trace_job->setup->lies)
        return __real_workspace_losses(workspace);
    return trace_job->lies;
}

const double *__real_workspace_spreads(const struct workspace *workspace);
const double *__wrap_workspace_spreads(const struct workspace *workspace);
const double *__wrap_workspace_spreads(const struct workspace *workspace)
{
    if (trace_job == NULL || !trace_job->setup->lies)
        return __real_workspace_spreads(workspace);
    return trace_job->spreads;
}

const double *__real_workspace_layer_spreads(const struct workspace *workspace,
                                             size_t layer);
const double *__wrap_workspace_layer_spreads(const struct workspace *workspace,
                                             size_t layer);
const double *__wrap_workspace_layer_spreads(const struct workspace *workspace,
                                             size_t layer)
{
    if (trace_job == NULL || !trace_job->setup->lies)
        return __real_workspace_layer_spreads(workspace, layer);
    return trace_job->spreads;
}

/* Returns the entry of the release with this key and query, or starts one: each thread
 * releases a span of its own. */
static inline struct trace_release *
trace_release_of(const struct noise_release *release, bool of_counts)
{
    struct trace_step *now = trace_job->now;
    CHECK(now != NULL);
    for (size_t k = 0; k < now->release_count; k++) {
        struct trace_release *known = &now->releases[k];
        if (known->query == release->address.query && known->of_counts == of_counts &&
            memcmp(&known->key, release->address.key, sizeof known->key) == 0)
            return known;
    }
    CHECK(now->release_count < TRACE_RELEASES);
    struct trace_release *made = &now->releases[now->release_count++];
    size_t room = of_counts ? HISTOGRAM_BINS_MAX : trace_job->trace->dim;
    *made = (struct trace_release){.key = *release->address.key,
                                   .query = release->address.query,
                                   .scale = release->grid->scale,
                                   .divisor = release->divisor,
                                   .of_counts = of_counts,
                                   .sum = calloc(room, sizeof *made->sum),
                                   .out = calloc(room, sizeof *made->out)};
    CHECK(made->sum != NULL && made->out != NULL);
    return made;
}

/* Returns what a steered job gets instead of a noisy sum, in units of the release. */
static inline double trace_steer(const struct trace_release *release, size_t j)
{
    uint64_t seed = (trace_step_number() * 16 + release->query) * 0x10001 + j;
    draw_uniform(&seed);
    double steps = floor(GRID_NOISE_STDDEV * draw_normal(&seed)) + 0.5;
    return steps * (1 / (release->scale * release->divisor));
}

void __real_noise_release(struct noise *noise, float *out, const int64_t *sum,
                          struct span span, const struct noise_release *release);
void __wrap_noise_release(struct noise *noise, float *out, const int64_t *sum,
                          struct span span, const struct noise_release *release);
void __wrap_noise_release(struct noise *noise, float *out, const int64_t *sum,
                          struct span span, const struct noise_release *release)
{
    __real_noise_release(noise, out, sum, span, release);
    if (trace_job == NULL)
        return;
    trace_lock();
    struct trace_release *seen = trace_release_of(release, false);
    size_t end = span.first + span.count;
    CHECK(end <= trace_job->trace->dim);
    seen->count = end > seen->count ? end : seen->count;
    for (size_t j = 0; j < span.count; j++) {
        if (trace_job->setup->steered)
            out[j] = (float)trace_steer(seen, span.first + j);
        seen->sum[span.first + j] = sum[j];
        seen->out[span.first + j] = (double)out[j];
    }
    trace_unlock();
}

void __real_noise_release_counts(struct noise *noise, double *out,
                                 const int64_t *counts, size_t count,
                                 const struct noise_release *release);
void __wrap_noise_release_counts(struct noise *noise, double *out,
                                 const int64_t *counts, size_t count,
                                 const struct noise_release *release);
void __wrap_noise_release_counts(struct noise *noise, double *out,
                                 const int64_t *counts, size_t count,
                                 const struct noise_release *release)
{
    __real_noise_release_counts(noise, out, counts, count, release);
    if (trace_job == NULL)
        return;
    trace_lock();
    struct trace_release *seen = trace_release_of(release, true);
    CHECK(count <= HISTOGRAM_BINS_MAX);
    seen->count = count;
    for (size_t j = 0; j < count; j++) {
        if (trace_job->setup->steered)
            out[j] = trace_steer(seen, j);
        seen->sum[j] = counts[j] * (int64_t)release->grid->scale;
        seen->out[j] = out[j];
    }
    trace_unlock();
}

/* Records what a job shows of its step, and the parameters after it. */
static inline void trace_look(const struct kit *kit, struct trace_step *step)
{
    struct released_value values[RELEASED_SERIES_MAX];
    const struct algorithm *row = kit->spec.algorithm;
    size_t dim = network_parameters(kit->network), count = 0;
    if (row->released != NULL)
        count = row->released(kit->state, values);
    for (size_t k = 0; k < count; k++)
        for (size_t j = 0; j < values[k].count; j++)
            step->shown[step->shown_count++] = values[k].numbers[j];
    step->plan = *algorithm_noise(row, kit->state);
    step->parameters = calloc(dim, sizeof *step->parameters);
    assert_non_null(step->parameters);
    memcpy(step->parameters, kit->parameters, dim * sizeof *step->parameters);
}

static inline void trace_take_steps(struct trace *trace, struct trace_job *job,
                                    struct kit *kit)
{
    const struct algorithm *row = kit->spec.algorithm;
    for (size_t k = 0; k < trace->step_count; k++) {
        struct trace_step *step = &trace->steps[k];
        struct mechanism_run run = way_run(job->setup->way, k);
        step->uses = calloc(trace->records, sizeof *step->uses);
        assert_non_null(step->uses);
        if (row->next != NULL)
            row->next(kit->state, &run);
        step->noise_multiplier = run.noise_multiplier;
        job->now = step;
        kit_step(kit);
        trace_look(kit, step);
    }
}

/* Runs a whole job of setup->way, with its own sources of keys. */
static inline struct trace *trace_take(const struct trace_setup *setup)
{
    struct kit_setup opened = setup->way->setup;
    struct kit kit = {.spec = setup->way->spec};
    struct trace *trace = calloc(1, sizeof *trace);
    struct trace_job job = {.setup = setup, .trace = trace};
    assert_non_null(trace);
    if (setup->data != NULL)
        opened.data = setup->data;
    for (size_t k = 0; k < TRACE_ROWS; k++)
        job.lies[k] = setup->lie;
    pthread_mutex_init(&job.lock, NULL);
    trace_job = &job;
    kit_open(&kit, &opened);
    trace->records = (size_t)opened.data->records;
    trace->dim = network_parameters(kit.network);
    trace->step_count = (size_t)opened.steps;
    trace->steps = calloc(trace->step_count, sizeof *trace->steps);
    assert_non_null(trace->steps);
    trace_take_steps(trace, &job, &kit);
    kit_close(&kit);
    trace_job = NULL;
    pthread_mutex_destroy(&job.lock);
    return trace;
}

static inline void trace_free(struct trace *trace)
{
    for (size_t k = 0; k < trace->step_count; k++) {
        struct trace_step *step = &trace->steps[k];
        for (size_t r = 0; r < step->release_count; r++) {
            free(step->releases[r].sum);
            free(step->releases[r].out);
        }
        free(step->uses);
        free(step->parameters);
    }
    free(trace->steps);
    free(trace->reads);
    free(trace->origins);
    free(trace);
}

#endif
