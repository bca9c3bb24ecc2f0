/* Goal: an output of a product is one chain of fused multiply-adds over ascending
 * terms, with the same bits on every kernel, whatever its position and its neighbours.
 * Method: each kernel that this processor runs, compared with three loops of fmaf by
 * memcmp, at sizes on both sides of every edge at which a kernel or the product cuts;
 * rows with others and as a matrix of one row. */
#include "engine/gemm/gemm.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "engine/gemm/gemm_choice.h"
#include "engine/gemm/gemm_portable.h"
#include "tests/expect.h"

enum form { ROWS_BY_ROWS, ROWS_BY_COLUMNS, COLUMNS_BY_COLUMNS, FORMS };
enum start { FROM_ZEROS, FROM_ONE_ROW, FROM_ROWS, FROM_Z, STARTS };

static void (*const multiply[FORMS])(const struct gemm_kernel *kernel,
                                     const struct gemm *product) = {
    gemm_rows_by_rows, gemm_rows_by_columns, gemm_columns_by_columns};

/* Reads x[i][t] and y[t][j] of each form. */
static float x_at(const struct gemm *p, enum form form, size_t i, size_t t)
{
    return form == COLUMNS_BY_COLUMNS ? p->x[t * p->x_stride + i]
                                      : p->x[i * p->x_stride + t];
}

static float y_at(const struct gemm *p, enum form form, size_t t, size_t j)
{
    return form == ROWS_BY_ROWS ? p->y[j * p->y_stride + t] : p->y[t * p->y_stride + j];
}

static void multiply_plainly(const struct gemm *p, enum form form)
{
    for (size_t i = 0; i < p->rows; i++)
        for (size_t j = 0; j < p->columns; j++) {
            float chain = p->start == NULL ? 0.0F : p->start[i * p->start_stride + j];
            for (size_t t = 0; t < p->terms; t++)
                chain = fmaf(x_at(p, form, i, t), y_at(p, form, t, j), chain);
            p->z[i * p->z_stride + j] = chain;
        }
}

/* Makes numbers of many sizes and both signs, so that most additions round, and
 * sometimes a zero of either sign or a number below the normal range. */
static float value_at(uint64_t *state)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    unsigned kind = (unsigned)(*state >> 33) % 64;
    float value = (float)((double)(*state >> 11) * 0x1p-52 - 1.0);
    if (kind == 0)
        return 0.0F;
    if (kind == 1)
        return -0.0F;
    if (kind == 2)
        return value * 0x1p-130F;
    return ldexpf(value, (int)(kind % 8));
}

/* A matrix that ends where its memory does, so that a sanitizer sees reads past the
 * end. The memory next to its columns holds values that a wrong kernel would
 * include. */
static float *make_matrix(size_t rows, size_t stride, uint64_t seed)
{
    size_t count = rows * stride;
    float *matrix = malloc((count > 0 ? count : 1) * sizeof *matrix);
    uint64_t state = seed;
    assert_non_null(matrix);
    for (size_t k = 0; k < count; k++)
        matrix[k] = value_at(&state);
    return matrix;
}

static size_t widened(size_t columns)
{
    return (columns + 15) / 16 * 16;
}

struct sample {
    struct gemm product;
    enum form form;
    enum start from;
    float *x, *y, *start, *before; /* before: z as it is initialised */
    size_t size;                   /* bytes of z */
};

static struct sample sample_make(enum form form, enum start from, const size_t shape[3])
{
    size_t rows = shape[0], columns = shape[1], terms = shape[2];
    bool sideways = form == COLUMNS_BY_COLUMNS;
    struct sample s = {.form = form, .from = from};
    s.product =
        (struct gemm){.rows = rows,
                      .columns = columns,
                      .terms = terms,
                      .x_stride = (sideways ? rows : terms) + 3,
                      .y_stride = form == ROWS_BY_ROWS      ? terms + 5
                                  : form == ROWS_BY_COLUMNS ? columns + 1
                                                            : widened(columns) + 16,
                      .z_stride = columns + 2,
                      .start_stride = from == FROM_ROWS ? columns + 1
                                      : from == FROM_Z  ? columns + 2
                                                        : 0};
    struct gemm *p = &s.product;
    s.size = rows * p->z_stride * sizeof(float);
    s.x = make_matrix(sideways ? terms : rows, p->x_stride, 1 + rows);
    s.y = make_matrix(form == ROWS_BY_ROWS ? columns : terms, p->y_stride, 2 + columns);
    s.start = make_matrix(rows, columns + 1, 3 + terms);
    s.before = make_matrix(rows, p->z_stride, 4);
    p->x = s.x;
    p->y = s.y;
    p->z = make_matrix(rows, p->z_stride, 4);
    p->start = from == FROM_ZEROS ? NULL : from == FROM_Z ? p->z : s.start;
    return s;
}

static void sample_free(struct sample *s)
{
    free(s->x);
    free(s->y);
    free(s->start);
    free(s->before);
    free(s->product.z);
}

static void check_sample(struct sample *s)
{
    float *plain = malloc(s->size + 1);
    multiply_plainly(&s->product, s->form);
    memcpy(plain, s->product.z, s->size);
    for (size_t k = 0; gemm_choice_at(k) != NULL; k++) {
        const struct gemm_kernel *kernel = gemm_choice_at(k);
        if (!kernel->available())
            continue;
        memcpy(s->product.z, s->before, s->size);
        multiply[s->form](kernel, &s->product);
        if (memcmp(s->product.z, plain, s->size) != 0)
            fail_msg("%s, form %d from %d: %zu x %zu x %zu", kernel->name, s->form,
                     s->from, s->product.rows, s->product.columns, s->product.terms);
    }
    free(plain);
}

/* Tiles of 4, 6 and 14 rows, of 16 and 32 columns; vectors of 8 and 16; stretches of
 * 256 terms; squares of 8 for transposing a panel. */
static const size_t rows_tried[] = {1, 4, 5, 6, 7, 13, 14, 15, 29},
                    columns_tried[] = {1, 7, 8, 15, 16, 17, 31, 32, 33, 65},
                    terms_tried[] = {1, 2, 8, 9, 255, 256, 257};
#define COUNT(list) (sizeof(list) / sizeof *(list))

static void every_kernel_makes_the_same_chains(void **state)
{
    (void)state;
    size_t next = 0;
    for (size_t r = 0; r < COUNT(rows_tried); r++)
        for (size_t c = 0; c < COUNT(columns_tried); c++)
            for (size_t t = 0; t < COUNT(terms_tried); t++, next++) {
                const size_t shape[] = {rows_tried[r], columns_tried[c],
                                        terms_tried[t]};
                enum form form = (enum form)(next % FORMS);
                enum start from = (enum start)(next / FORMS % STARTS);
                struct sample s = sample_make(form, from, shape);
                check_sample(&s);
                sample_free(&s);
            }
}

/* Each form from each start, at sizes with several tiles, panels and stretches. */
static void every_form_begins_where_it_is_told_to(void **state)
{
    (void)state;
    static const size_t shapes[][3] = {
        {31, 70, 523}, {3, 10, 784}, {20, 33, 0}, {0, 5, 7}};
    for (size_t k = 0; k < 4; k++)
        for (int form = 0; form < FORMS; form++)
            for (int from = 0; from < STARTS; from++) {
                struct sample s =
                    sample_make((enum form)form, (enum start)from, shapes[k]);
                check_sample(&s);
                sample_free(&s);
            }
}

static void sum_units_plainly(const struct gemm *p, struct gemm_runs runs)
{
    for (size_t i = 0; i < p->rows; i++)
        for (size_t j = 0; j < p->columns; j++) {
            float sum = p->start == NULL ? 0.0F : p->start[i * p->start_stride + j];
            const float *y = p->y + j;
            for (size_t r = 0; r < runs.units.count * runs.count; r += runs.count) {
                float chain = 0;
                for (size_t k = r; k < r + runs.count; k++)
                    for (size_t t = 0; t < p->terms; t++, y += p->y_stride)
                        chain =
                            fmaf(p->x[k * runs.x_run + t * p->x_stride + i], *y, chain);
                sum = fmaf(runs.units.weights[r], chain, sum);
            }
            p->z[i * p->z_stride + j] = sum;
        }
}

static void a_sum_of_units_is_a_chain_of_their_chains(void **state)
{
    static const size_t rows[] = {1, 2, 3, 4, 5, 6, 7, 8, 15}, terms[] = {1, 4, 9};
    static const float weights[] = {1, 0.3F, 0, 0x1p-140F, 0.99F, 1, 0.7F, 0.1F};
    size_t next = 0;
    (void)state;
    for (size_t r = 0; r < COUNT(rows); r++)
        for (size_t c = 0; c < COUNT(columns_tried); c++)
            for (size_t k = 0; k < COUNT(terms); k++, next++) {
                struct gemm_runs runs = {.units = {next % 5, weights},
                                         .count = next % 2 + 1};
                const size_t shape[] = {rows[r], columns_tried[c], 8 * terms[k]};
                struct sample s =
                    sample_make(COLUMNS_BY_COLUMNS, (enum start)(next % STARTS), shape);
                s.product.terms = terms[k]; /* the first of 8 runs' */
                runs.x_run = terms[k] * s.product.x_stride;
                float *plain = malloc(s.size);
                sum_units_plainly(&s.product, runs);
                memcpy(plain, s.product.z, s.size);
                for (size_t n = 0; gemm_choice_at(n) != NULL; n++) {
                    if (!gemm_choice_at(n)->available())
                        continue;
                    memcpy(s.product.z, s.before, s.size);
                    gemm_sum_of_units(gemm_choice_at(n), &s.product, runs);
                    assert_memory_equal(s.product.z, plain, s.size);
                }
                free(plain);
                sample_free(&s);
            }
}

/* noise.md 2.5: no row's bits depend on its position or on the number of other rows. */
static void a_row_is_what_it_is_alone(void **state)
{
    (void)state;
    enum { ROWS = 40, COLUMNS = 37, TERMS = 300 };
    const size_t shape[] = {ROWS, COLUMNS, TERMS};
    for (size_t k = 0; gemm_choice_at(k) != NULL; k++) {
        const struct gemm_kernel *kernel = gemm_choice_at(k);
        if (!kernel->available())
            continue;
        struct sample s = sample_make(ROWS_BY_ROWS, FROM_ONE_ROW, shape);
        struct gemm alone = s.product;
        float *row = s.x + 17 * s.product.x_stride, z[COLUMNS];
        alone.x = row;
        alone.z = z;
        alone.rows = 1;
        multiply[s.form](kernel, &alone);
        for (s.product.rows = 1; s.product.rows <= ROWS; s.product.rows += 3) {
            for (size_t i = 0; i < s.product.rows; i++)
                memmove(s.x + i * s.product.x_stride, row, TERMS * sizeof *row);
            multiply[s.form](kernel, &s.product);
            for (size_t i = 0; i < s.product.rows; i++)
                assert_memory_equal(s.product.z + i * s.product.z_stride, z, sizeof z);
        }
        sample_free(&s);
    }
}

/* A column's padding in a panel is zero, and zero times infinity is not: the result
 * must stay in its own lane. */
static void what_is_not_finite_stays_in_its_row(void **state)
{
    (void)state;
    static const size_t shape[] = {15, 19, 40};
    static const float bad[] = {INFINITY, NAN, -3e38F};
    for (int form = 0; form < FORMS; form++)
        for (size_t b = 0; b < 3; b++)
            for (size_t k = 0; gemm_choice_at(k) != NULL; k++) {
                if (!gemm_choice_at(k)->available())
                    continue;
                struct sample s = sample_make((enum form)form, FROM_ZEROS, shape);
                struct gemm *p = &s.product;
                float *clean = malloc(s.size);
                multiply[form](gemm_choice_at(k), p);
                memcpy(clean, p->z, s.size);
                for (size_t t = 0; t < p->terms; t++) /* all of row 6 */
                    s.x[form == COLUMNS_BY_COLUMNS ? t * p->x_stride + 6
                                                   : 6 * p->x_stride + t] = bad[b];
                multiply[form](gemm_choice_at(k), p);
                for (size_t i = 0; i < p->rows; i++) {
                    const float *row = p->z + i * p->z_stride;
                    for (size_t j = 0; i == 6 && j < p->columns; j++)
                        assert_false(isfinite(row[j]) && b < 2);
                    if (i != 6)
                        assert_memory_equal(row, clean + i * p->z_stride,
                                            p->z_stride * sizeof *row);
                }
                free(clean);
                sample_free(&s);
            }
}

static void the_best_kernel_is_one_that_this_processor_runs(void **state)
{
    (void)state;
    size_t k = 0;
    while (gemm_choice_at(k) != NULL && !gemm_choice_at(k)->available())
        k++;
    assert_ptr_equal(gemm_choice_best(), gemm_choice_at(k));
    while (gemm_choice_at(k) != NULL)
        k++;
    assert_ptr_equal(gemm_choice_at(k - 1), &gemm_portable);
    for (size_t i = 0; i < k; i++) {
        const struct gemm_kernel *kernel = gemm_choice_at(i);
        processor_has(kernel->name, kernel->available()); /* no test runs the others */
        assert_true(PANEL_COLUMNS % kernel->columns == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_makes_the_same_chains),
        cmocka_unit_test(every_form_begins_where_it_is_told_to),
        cmocka_unit_test(a_sum_of_units_is_a_chain_of_their_chains),
        cmocka_unit_test(a_row_is_what_it_is_alone),
        cmocka_unit_test(what_is_not_finite_stays_in_its_row),
        cmocka_unit_test(the_best_kernel_is_one_that_this_processor_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
