/* Goal: a chunk is as noise.md 4.3 and 4.4 specify, in the common case and in the rare
 * ones. Method: an independent model (own ChaCha20, own 448-bit arithmetic, every
 * decision exact, no shortcuts), the published hash of 100 chunks, and layouts with so
 * few spare words that every rare path is taken in every chunk. */
#include "engine/noise/noise_chunk.h"

#include "base/hash.h"
#include "engine/noise/noise_choice.h"
#include "tests/engine/dp/big_number_fixture.h"
#include "tests/expect.h"

__extension__ typedef unsigned __int128 wide;

/* ---- the model ---- */

static void quarter(uint32_t *s, int a, int b, int c, int d)
{
    s[a] += s[b], s[d] ^= s[a], s[d] = s[d] << 16 | s[d] >> 16;
    s[c] += s[d], s[b] ^= s[c], s[b] = s[b] << 12 | s[b] >> 20;
    s[a] += s[b], s[d] ^= s[a], s[d] = s[d] << 8 | s[d] >> 24;
    s[c] += s[d], s[b] ^= s[c], s[b] = s[b] << 7 | s[b] >> 25;
}

struct model {
    uint8_t key[32];
    uint64_t query, chunk;
    struct big height[NOISE_LAYERS], base[NOISE_LAYERS];
};

/* Computes a block of ChaCha20 with 64-bit counter and nonce, as eight words. */
static void block_of(const struct model *model, uint64_t counter, uint64_t words[8])
{
    uint32_t start[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}, s[16];
    memcpy(start + 4, model->key, 32);
    memcpy(start + 12, &counter, 8);
    memcpy(start + 14, &model->query, 8);
    memcpy(s, start, sizeof s);
    for (int round = 0; round < 10; round++) {
        quarter(s, 0, 4, 8, 12), quarter(s, 1, 5, 9, 13);
        quarter(s, 2, 6, 10, 14), quarter(s, 3, 7, 11, 15);
        quarter(s, 0, 5, 10, 15), quarter(s, 1, 6, 11, 12);
        quarter(s, 2, 7, 8, 13), quarter(s, 3, 4, 9, 14);
    }
    for (int k = 0; k < 16; k++)
        s[k] += start[k];
    memcpy(words, s, 64);
}

static uint64_t word_of(const struct model *model, uint64_t index)
{
    uint64_t words[8];
    block_of(model, (model->chunk << 16) + index / 8, words);
    return words[index % 8];
}

static void model_init(struct model *model, uint64_t query)
{
    struct big base = big_of(0);
    for (int k = 0; k < 32; k++)
        model->key[k] = (uint8_t)k;
    model->query = query;
    model->chunk = 0;
    for (int i = 0; i < NOISE_LAYERS; i++) {
        struct big h = big_divide(big_double(big_of(NOISE_AREA), 16), noise_widths[i]);
        h = big_half(h, 32);
        memset(h.word, 0, 8 * sizeof h.word[0]);
        model->height[i] = h;
        model->base[i] = base;
        base = big_add(base, h);
    }
}

static struct big fraction_of(const uint64_t *limbs, int count) /* high first */
{
    struct big b = {{0}};
    for (int k = 0; k < count; k++) {
        b.word[BIG_FRACTION - 1 - 2 * k] = (uint32_t)(limbs[k] >> 32);
        b.word[BIG_FRACTION - 2 - 2 * k] = (uint32_t)limbs[k];
    }
    return b;
}

/* Computes one trial with all its digits: gives the sample in *out, or returns
 * false. */
static bool trial_of(const struct model *model, uint64_t j, uint64_t r, uint64_t v,
                     uint64_t theta, int64_t *out)
{
    uint64_t p[8], layer = r >> 52 & 255;
    block_of(model, (model->chunk << 16) + (1 << 15) + j, p);
    const uint64_t u_rest[] = {p[4], p[3]}, v_all[] = {v, p[6], p[5]};
    struct big u = big_half(big_of(r & NOISE_WIDTH_MASK), 52);
    struct big x, y, f;
    u = big_add(u, big_half(big_of(theta & NOISE_WIDTH_MASK), 104));
    u = big_add(u, big_half(fraction_of(u_rest, 2), 104));
    x = big_multiply(u, big_of(noise_widths[layer]));
    y = big_add(model->base[layer],
                big_multiply(model->height[layer], fraction_of(v_all, 3)));
    f = big_half(x, 36);
    f = big_exp_minus(big_half(big_multiply(f, f), 1));
    *out = (int64_t)((uint64_t)x.word[BIG_FRACTION + 1] << 32 | x.word[BIG_FRACTION]);
    if (r >> 63)
        *out = -*out - 1;
    return big_compare(y, f) < 0;
}

/* Returns whether the fast pass leaves the trial to an exact decision. */
static bool is_flagged(uint64_t r)
{
    uint64_t layer = r >> 52 & 255;
    uint64_t next = layer < 255 ? noise_widths[layer + 1] : 1;
    wide product = (wide)(r & NOISE_WIDTH_MASK) * noise_widths[layer];
    uint64_t m = (uint64_t)(product >> 52), low = (uint64_t)product & NOISE_WIDTH_MASK;
    return m >> 26 >= (next - 1) >> 26 ||
           low >= (UINT64_C(1) << 52) - (UINT64_C(1) << 40);
}

static void model_chunk(const struct model *model, const struct noise_layout *layout,
                        int64_t out[NOISE_CHUNK])
{
    unsigned trials = NOISE_CHUNK + layout->extras, rank = 0, rejects = 0, spare = 0;
    int64_t value[NOISE_TRIALS];
    bool good[NOISE_TRIALS];
    unsigned refused[NOISE_CHUNK];

    for (unsigned j = 0; j < trials; j++) {
        uint64_t r = word_of(model, j), own[8], v = 0, theta = 0;
        if (is_flagged(r)) {
            block_of(model, (model->chunk << 16) + (1 << 15) + j, own);
            bool inside = rank < layout->flags;
            v = inside ? word_of(model, trials + rank) : own[1];
            theta = inside ? word_of(model, trials + layout->flags + rank) : own[2];
            rank++;
            good[j] = trial_of(model, j, r, v, theta, &value[j]);
        } else {
            wide product = (wide)(r & NOISE_WIDTH_MASK) * noise_widths[r >> 52 & 255];
            value[j] = (int64_t)(product >> 52);
            if (r >> 63)
                value[j] = -value[j] - 1;
            good[j] = true;
        }
        if (!good[j] && j < NOISE_CHUNK)
            refused[rejects++] = j;
    }
    unsigned next = trials;
    for (unsigned k = 0; k < rejects; k++) {
        while (spare < layout->extras && !good[NOISE_CHUNK + spare])
            spare++;
        if (spare < layout->extras) {
            value[refused[k]] = value[NOISE_CHUNK + spare++];
            continue;
        }
        uint64_t own[8];
        do
            block_of(model, (model->chunk << 16) + (1 << 15) + next, own);
        while (!trial_of(model, next++, own[0], own[1], own[2], &value[refused[k]]));
    }
    memcpy(out, value, NOISE_CHUNK * sizeof *out);
}

/* ---- the tests ---- */

struct bench {
    struct noise_chunk chunk;
    struct stream *stream;
    struct model model;
};

static struct bench *bench_create(uint64_t query)
{
    struct bench *bench = calloc(1, sizeof *bench);
    assert_non_null(bench);
    noise_table_init(&bench->chunk.table);
    bench->stream = stream_create();
    model_init(&bench->model, query);
    return bench;
}

static void bench_destroy(struct bench *bench)
{
    stream_destroy(bench->stream);
    free(bench);
}

static void draw(struct bench *bench, uint64_t chunk, const struct noise_layout *layout)
{
    struct noise_position at = {bench->model.key, bench->model.query, chunk};
    noise_chunk_draw(&bench->chunk, bench->stream, &at, layout);
}

static void the_model_gives_the_published_hundred_chunks(void **state)
{
    (void)state;
    struct bench *bench = bench_create(5);
    struct sha256 *modelled = sha256_create(), *drawn = sha256_create();
    uint8_t a[SHA256_SIZE], b[SHA256_SIZE];
    char text[SHA256_HEX_SIZE];
    for (uint64_t c = 0; c < 100; c++) {
        int64_t out[NOISE_CHUNK];
        bench->model.chunk = c;
        model_chunk(&bench->model, &noise_layout, out);
        sha256_update(modelled, out, sizeof out);
        draw(bench, c, &noise_layout);
        sha256_update(drawn, bench->chunk.candidate, sizeof out);
    }
    sha256_finish(modelled, a);
    sha256_finish(drawn, b);
    sha256_render(text, b);
    assert_string_equal(
        text, "454df146dee10f2c1192f3b58e528268017819a0dee7dfc75c39715a92776097");
    assert_memory_equal(a, b, sizeof a);
    sha256_destroy(modelled);
    sha256_destroy(drawn);
    bench_destroy(bench);
}

static void flags_and_rejections_are_the_published_ones(void **state)
{
    (void)state;
    static const struct {
        uint64_t chunk;
        unsigned flagged, rejected;
    } rows[] = {{0, 31, 19}, {1, 32, 19}, {0x123456789a, 25, 14}};
    struct bench *bench = bench_create(5);
    for (size_t k = 0; k < 3; k++) {
        draw(bench, rows[k].chunk, &noise_layout);
        assert_int_equal(bench->chunk.flagged_count, rows[k].flagged);
        assert_int_equal(bench->chunk.rejected_count, rows[k].rejected);
    }
    bench_destroy(bench);
}

/* f - y of a flagged trial as a double, from the first 448 bits of both. */
static double gap_of(const struct model *model, uint64_t r, uint64_t v, uint64_t theta)
{
    uint64_t layer = r >> 52 & 255;
    struct big u = big_half(big_of(r & NOISE_WIDTH_MASK), 52);
    u = big_add(u, big_half(big_of(theta & NOISE_WIDTH_MASK), 104));
    struct big x = big_half(big_multiply(u, big_of(noise_widths[layer])), 36);
    struct big f = big_exp_minus(big_half(big_multiply(x, x), 1));
    struct big y = big_add(model->base[layer],
                           big_multiply(model->height[layer], fraction_of(&v, 1)));
    bool above = big_compare(f, y) > 0;
    struct big apart = above ? big_subtract(f, y) : big_subtract(y, f);
    double gap = 0;
    for (int k = BIG_FRACTION; k >= 0; k--)
        gap += ldexp(apart.word[k], 32 * (k - BIG_FRACTION));
    return above ? gap : -gap;
}

static void a_double_decides_within_its_proved_error(void **state)
{
    (void)state;
    struct bench *bench = bench_create(5);
    double worst = 0;
    for (uint64_t c = 0; c < 100; c++) {
        draw(bench, c, &noise_layout);
        const struct noise_chunk *chunk = &bench->chunk;
        for (unsigned k = 0; k < chunk->flagged_count; k++) {
            double exact = gap_of(&bench->model, chunk->words[chunk->flagged[k]],
                                  chunk->words[NOISE_TRIALS + k],
                                  chunk->words[NOISE_TRIALS + NOISE_FLAGS + k]);
            worst = fmax(worst, fabs(chunk->gap[k] - exact));
        }
    }
    assert_true(worst < 0x1p-48); /* noise.md 4.5 */
    assert_true(worst > 0x1p-56);
    bench_destroy(bench);
}

static void few_spare_words_take_the_rare_paths_rightly(void **state)
{
    (void)state;
    static const struct noise_layout tight = {
        .extras = 4, .flags = 16, .margin = 0x1p-44};
    struct bench *bench = bench_create(77);
    unsigned beyond_flags = 0, beyond_extras = 0;
    for (uint64_t c = 0; c < 40; c++) {
        int64_t out[NOISE_CHUNK];
        bench->model.chunk = c * 0x3ffffffff;
        model_chunk(&bench->model, &tight, out);
        draw(bench, bench->model.chunk, &tight);
        assert_memory_equal(bench->chunk.candidate, out, sizeof out);
        beyond_flags += bench->chunk.flagged_count > tight.flags;
        beyond_extras += bench->chunk.rejected_count > tight.extras;
    }
    assert_true(beyond_flags >= 38);
    assert_true(beyond_extras >= 38);
    bench_destroy(bench);
}

static void deciding_all_in_integers_changes_nothing(void **state)
{
    (void)state;
    static const struct noise_layout exact = {
        .extras = NOISE_EXTRAS, .flags = NOISE_FLAGS, .margin = 2};
    struct bench *bench = bench_create(3);
    for (uint64_t c = 0; c < 300; c++) {
        uint64_t fast[NOISE_CHUNK];
        draw(bench, c, &noise_layout);
        memcpy(fast, bench->chunk.candidate, sizeof fast);
        draw(bench, c, &exact);
        assert_memory_equal(bench->chunk.candidate, fast, sizeof fast);
    }
    bench_destroy(bench);
}

/* Draws the chunk into both, by the layout's kernel and by the last kernel, which uses
 * only loops, and compares everything that they write. */
static void assert_alike(struct bench *lanes, struct bench *loops, uint64_t chunk,
                         struct noise_layout layout)
{
    struct noise_position at = {lanes->model.key, lanes->model.query, chunk};
    const struct noise_chunk *a = &lanes->chunk, *b = &loops->chunk;
    noise_chunk_draw(&lanes->chunk, lanes->stream, &at, &layout);
    for (size_t k = 0; noise_choice_at(k) != NULL; k++)
        layout.kernel = noise_choice_at(k);
    noise_chunk_draw(&loops->chunk, loops->stream, &at, &layout);
    assert_memory_equal(a->candidate, b->candidate,
                        (NOISE_CHUNK + layout.extras) * sizeof *a->candidate);
    assert_int_equal(a->flagged_count, b->flagged_count);
    assert_int_equal(a->rejected_count, b->rejected_count);
    unsigned top = a->flagged_count > layout.flags ? a->flagged_count : layout.flags;
    assert_memory_equal(a->flagged, b->flagged, top * sizeof *a->flagged);
    assert_memory_equal(a->gap, b->gap, top * sizeof *a->gap);
    assert_memory_equal(a->fraction, b->fraction, top * sizeof *a->fraction);
    assert_memory_equal(a->magnitude, b->magnitude, top * sizeof *a->magnitude);
    assert_memory_equal(a->rejected, b->rejected,
                        a->rejected_count * sizeof *a->rejected);
}

static void assert_kernel_alike(const struct noise_kernel *kernel)
{
    enum { CHUNKS = 10000 };
    struct noise_layout layouts[] = {noise_layout,
                                     {.extras = 4, .flags = 16, .margin = 0x1p-44},
                                     {.extras = 61, .flags = 91, .margin = 0x1p-44},
                                     {.extras = 1, .flags = 3, .margin = 2}};
    struct bench *lanes = bench_create(11), *loops = bench_create(11);
    for (size_t k = 0; k < sizeof layouts / sizeof *layouts; k++) {
        layouts[k].kernel = kernel;
        for (uint64_t c = 0; c < (k == 0 ? CHUNKS : 100); c++)
            assert_alike(lanes, loops, c * 0x1ffffffff, layouts[k]);
    }
    bench_destroy(loops);
    bench_destroy(lanes);
}

static void vectors_leave_the_same_bits_as_loops(void **state)
{
    (void)state;
    for (size_t k = 0; noise_choice_at(k + 1) != NULL; k++) {
        const struct noise_kernel *kernel = noise_choice_at(k);
        if (processor_has(kernel->name, kernel->available()))
            assert_kernel_alike(kernel);
    }
}

static void a_wiped_chunk_holds_nothing_but_its_table(void **state)
{
    (void)state;
    struct bench *bench = bench_create(1);
    struct noise_chunk blank = {0};
    noise_table_init(&blank.table);
    draw(bench, 9, &noise_layout);
    noise_chunk_wipe(&bench->chunk);
    assert_memory_equal(&bench->chunk, &blank, sizeof blank);
    bench_destroy(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_model_gives_the_published_hundred_chunks),
        cmocka_unit_test(flags_and_rejections_are_the_published_ones),
        cmocka_unit_test(a_double_decides_within_its_proved_error),
        cmocka_unit_test(few_spare_words_take_the_rare_paths_rightly),
        cmocka_unit_test(deciding_all_in_integers_changes_nothing),
        cmocka_unit_test(vectors_leave_the_same_bits_as_loops),
        cmocka_unit_test(a_wiped_chunk_holds_nothing_but_its_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
