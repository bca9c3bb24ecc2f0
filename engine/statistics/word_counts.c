#include "engine/statistics/word_counts.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "engine/noise/noise.h"

enum { BYTES = 256 };

void word_counts_fini(struct word_counts *words)
{
    if (words->items != NULL)
        hash_zero(words->items, words->count * sizeof *words->items);
    free(words->items);
    *words = (struct word_counts){0};
}

struct counting { /* of the texts of a matrix */
    const struct measurement *measurement;
    const struct matrix *matrix;
    struct stored_text text;
    size_t places;      /* rows that the matrix has room for */
    uint32_t *order;    /* (places) rows, sorted by their texts */
    uint32_t *sorted;   /* (places) the next order */
    int64_t *shares;    /* (places) what each row adds, in grid steps */
    int64_t *sums;      /* (places) of each text, in the order of texts */
    uint32_t *examples; /* (places) a row of each text */
    size_t texts;
};

static const float *packed_of(const struct counting *counting, uint32_t row)
{
    return matrix_stored_row(counting->matrix, row) + counting->text.first;
}

/* --- counting --- */

/* Sorts the rows by one byte, and keeps the order of rows that have the same. */
static void sort_by(struct counting *counting, uint32_t place)
{
    size_t firsts[BYTES + 1] = {0};
    for (size_t i = 0; i < counting->places; i++)
        firsts[cell_text_byte(packed_of(counting, (uint32_t)i), place) + 1]++;
    for (size_t b = 1; b <= BYTES; b++)
        firsts[b] += firsts[b - 1];
    for (size_t i = 0; i < counting->places; i++) {
        uint32_t row = counting->order[i];
        counting->sorted[firsts[cell_text_byte(packed_of(counting, row), place)]++] =
            row;
    }
    uint32_t *before = counting->order;
    counting->order = counting->sorted;
    counting->sorted = before;
}

static bool same_text(const struct counting *counting, uint32_t a, uint32_t b)
{
    return memcmp(packed_of(counting, a), packed_of(counting, b),
                  cell_text_floats(counting->text.bytes) * sizeof(float)) == 0;
}

static void share_out(struct counting *counting)
{
    uint64_t units = matrix_units(counting->matrix);
    for (uint64_t u = 0; u < units; u++) {
        const struct matrix_unit rows = matrix_unit(counting->matrix, (uint32_t)u);
        for (uint32_t k = 0; k < rows.room; k++)
            counting->shares[rows.first + k] =
                measurement_share(counting->measurement->scale, k, rows.count);
    }
}

static void add_up(struct counting *counting)
{
    for (size_t i = 0; i < counting->places; i++) {
        uint32_t row = counting->order[i];
        if (i == 0 || !same_text(counting, row, counting->order[i - 1]))
            counting->examples[counting->texts++] = row;
        counting->sums[counting->texts - 1] += counting->shares[row];
    }
}

static enum status count_texts(struct counting *counting, const atomic_bool *cancel,
                               struct error *error)
{
    for (size_t i = 0; i < counting->places; i++)
        counting->order[i] = (uint32_t)i;
    for (uint32_t place = counting->text.bytes; place-- > 0;) {
        if (atomic_load(cancel))
            return error_set(error, ST_CANCELLED, "stopped");
        sort_by(counting, place);
    }
    share_out(counting);
    add_up(counting);
    return ST_OK;
}

/* --- release --- */

static void read_text(char text[CELL_TEXT_MAX + 1], const struct counting *counting,
                      uint32_t row)
{
    const float *packed = packed_of(counting, row);
    uint32_t bytes = counting->text.bytes;
    for (uint32_t i = 0; i < bytes; i++)
        text[i] = (char)cell_text_byte(packed, i);
    text[bytes] = '\0';
}

/* Adds a text whose noisy count has reached the cut. Rows without a text are no word. */
static void show(struct word_counts *words, const struct counting *counting,
                 size_t text, double steps)
{
    struct word_count word = {.count = steps / counting->measurement->scale};
    read_text(word.text, counting, counting->examples[text]);
    if (word.text[0] == '\0')
        return;
    if (words->count == words->capacity) {
        words->capacity = words->capacity == 0 ? 64 : 2 * words->capacity;
        words->items =
            reallocarray(words->items, words->capacity, sizeof *words->items);
        CHECK(words->items != NULL);
    }
    words->items[words->count++] = word;
}

/* Noise is added to all places. A sum beyond 2^53 steps is rounded to a double, which
 * does not move it across the cut. */
static void release(struct word_counts *words, const struct counting *counting,
                    const struct noise_key *seed)
{
    static const struct grid whole = {.scale = 1}; /* sums are in grid steps already */
    struct noise_key key;
    struct noise *noise = noise_create();
    struct noise_source *source = noise_source_open(seed);
    double *steps = calloc(NOISE_CHUNK, sizeof *steps);
    CHECK(steps != NULL);
    noise_source_next(source, &key);
    struct noise_release terms = {
        .address = {.key = &key}, .grid = &whole, .divisor = 1};
    for (size_t done = 0; done < counting->places; done += NOISE_CHUNK) {
        size_t left = counting->places - done;
        size_t count = left < NOISE_CHUNK ? left : NOISE_CHUNK;
        noise_release_counts(noise, steps, counting->sums + done, count, &terms);
        for (size_t j = 0; j < count; j++)
            if (done + j < counting->texts && steps[j] >= counting->measurement->cut)
                show(words, counting, done + j, steps[j]);
        terms.address.query++;
    }
    hash_zero(steps, NOISE_CHUNK * sizeof *steps);
    free(steps);
    noise_source_close(source);
    noise_destroy(noise);
    hash_zero(&key, sizeof key);
}

static void destroy(void *memory, size_t size)
{
    if (memory != NULL)
        hash_zero(memory, size);
    free(memory);
}

enum status word_counts_run(struct word_counts *words,
                            const struct measurement *measurement,
                            const struct statistic *statistic,
                            const struct matrix *matrix, const struct noise_key *seed,
                            const atomic_bool *cancel, struct error *error)
{
    size_t places = matrix->records;
    struct counting counting = {
        .measurement = measurement,
        .matrix = matrix,
        .text = statistic->axes[0].text,
        .places = places,
        .order = calloc(places, sizeof *counting.order),
        .sorted = calloc(places, sizeof *counting.sorted),
        .shares = calloc(places, sizeof *counting.shares),
        .sums = calloc(places, sizeof *counting.sums),
        .examples = calloc(places, sizeof *counting.examples),
    };
    CHECK(matrix_units(matrix) == measurement->units && matrix->division.holdout == 0);
    CHECK(counting.text.first + cell_text_floats(counting.text.bytes) <=
          matrix->features + matrix->texts);
    bool has_room = counting.order != NULL && counting.sorted != NULL &&
                    counting.shares != NULL && counting.sums != NULL &&
                    counting.examples != NULL;
    enum status status =
        has_room ? count_texts(&counting, cancel, error)
                 : error_set(error, ST_NO_MEMORY, "no memory to count texts");
    if (status == ST_OK)
        release(words, &counting, seed);
    destroy(counting.order, places * sizeof *counting.order);
    destroy(counting.sorted, places * sizeof *counting.sorted);
    destroy(counting.shares, places * sizeof *counting.shares);
    destroy(counting.sums, places * sizeof *counting.sums);
    destroy(counting.examples, places * sizeof *counting.examples);
    return status;
}
