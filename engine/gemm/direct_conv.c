/* A product is cut into tiles, which a kernel holds in registers. y is read in panels
 * of PANEL_COLUMNS columns. A stretch of a panel's terms is packed, so that it fits
 * into the first-level cache, and is multiplied with all rows. The next stretch
 * continues the chains from their values in z: a float that is stored and read again
 * does not change. A stretch is a number of whole runs, or a part of a long run.
 *
 * The rows of a tile are along one of the three directions of rows: the last, or the
 * longest if the last is short. If one direction continues where another ends, the two
 * are merged.
 *
 * The division of a product depends only on its shape, and does not affect the bits of
 * outputs. */
#include "engine/gemm/direct_conv.h"

#include <stdbool.h>
#include <string.h>

#include "engine/gemm/even_split.h"

enum {
    STRETCH_TERMS = 256, /* 32 KiB of a panel */
    ROWS_ENOUGH = 8,     /* of a tile: enough chains to keep a processor busy */
    DIRECTIONS = 3,
    CACHE_LINE = 64
};

/* Terms [term, term + terms) of each of the adjacent runs [first, first + runs) in
 * outer run `outer`. */
struct stretch {
    size_t outer, first, runs, term, terms;
    bool begins; /* it is the first of the chains */
};

/* A panel's columns. */
struct columns {
    size_t first, count;
};

static const float *y_of(const struct direct_conv *slide, const struct stretch *stretch,
                         size_t run)
{
    ptrdiff_t steps = (ptrdiff_t)stretch->outer * slide->runs[0].y_step +
                      (ptrdiff_t)(stretch->first + run) * slide->runs[1].y_step;
    return slide->y + steps;
}

/* Prefetches the next panel's part of each row while this one is copied: rows are far
 * apart, and processors do not predict the address of the next one. */
static void copy_rows(float *panel, struct product_source from, bool goes_on)
{
    for (size_t t = 0; t < from.rows; t++, from.at += from.stride) {
        float *to = panel + t * PANEL_COLUMNS;
        if (goes_on) {
            __builtin_prefetch(from.at + PANEL_COLUMNS);
            __builtin_prefetch(from.at + PANEL_COLUMNS + PANEL_COLUMNS / 2);
        }
        if (from.columns == PANEL_COLUMNS)
            memcpy(to, from.at, PANEL_COLUMNS * sizeof *to);
        else
            memcpy(to, from.at, from.columns * sizeof *to);
    }
}

static void pack(float *panel, const struct gemm_kernel *kernel,
                 const struct direct_conv *slide, const struct stretch *stretch,
                 struct columns columns)
{
    bool goes_on = slide->columns - columns.first > 2 * PANEL_COLUMNS;
    for (size_t r = 0; r < stretch->runs; r++) {
        float *to = panel + r * stretch->terms * PANEL_COLUMNS;
        const float *y = y_of(slide, stretch, r);
        if (slide->form == DIRECT_CONV_BY_ROWS)
            kernel->transpose(to,
                              (struct product_source){
                                  y + columns.first * slide->y_stride + stretch->term,
                                  slide->y_stride, columns.count, stretch->terms});
        else
            copy_rows(to,
                      (struct product_source){
                          y + stretch->term * slide->y_stride + columns.first,
                          slide->y_stride, stretch->terms, columns.count},
                      goes_on);
    }
}

/* Multiplies all tiles that differ only in their position in the first two
 * directions. */
static void multiply_all(const struct gemm_kernel *kernel,
                         const struct direct_conv *slide, struct product_tile tile)
{
    const struct direct_conv_rows *outer = &slide->rows[0], *inner = &slide->rows[1];
    const struct product_tile first = tile;
    for (size_t h = 0; h < outer->count; h++)
        for (size_t i = 0; i < inner->count; i++) {
            tile.x = first.x + h * outer->x_step + i * inner->x_step;
            tile.z = first.z + h * outer->z_step + i * inner->z_step;
            if (first.start != NULL)
                tile.start =
                    first.start + h * outer->start_step + i * inner->start_step;
            kernel->multiply(&tile);
        }
}

/* Continues the chains of a panel's columns with a stretch of their terms. */
static void multiply_panel(const struct gemm_kernel *kernel,
                           const struct direct_conv *slide,
                           const struct stretch *stretch, struct columns columns,
                           const float *panel)
{
    const struct direct_conv_rows *rows = &slide->rows[2];
    const struct direct_conv_runs *runs = slide->runs;
    size_t shares = even_split_of(rows->count, kernel->rows);
    const float *start = slide->start;
    for (size_t j = 0; j < columns.count; j += kernel->columns)
        for (size_t k = 0; k < shares; k++) {
            size_t begin = even_split_begin(rows->count, shares, k);
            size_t left = columns.count - j, column = columns.first + j;
            const struct product_tile tile = {
                .rows = even_split_begin(rows->count, shares, k + 1) - begin,
                .columns = left < kernel->columns ? left : kernel->columns,
                .runs = stretch->runs,
                .terms = stretch->terms,
                .x = slide->x + stretch->outer * runs[0].x_step +
                     stretch->first * runs[1].x_step + stretch->term +
                     begin * rows->x_step,
                .x_row = rows->x_step,
                .x_run = runs[1].x_step,
                .x_term = 1,
                .y = panel + j,
                .y_term = PANEL_COLUMNS,
                .z = slide->z + begin * rows->z_step + column,
                .z_row = rows->z_step,
                .start =
                    start == NULL ? NULL : start + begin * rows->start_step + column,
                .start_row = rows->start_step};
            multiply_all(kernel, slide, tile);
        }
}

/* After the first stretch, chains continue from their values in z. */
static struct direct_conv going_on(const struct direct_conv *slide)
{
    struct direct_conv next = *slide;
    next.start = slide->z;
    for (size_t d = 0; d < DIRECTIONS; d++)
        next.rows[d].start_step = slide->rows[d].z_step;
    return next;
}

static void multiply_stretch(const struct gemm_kernel *kernel,
                             const struct direct_conv *slide,
                             const struct stretch *stretch, float *panel)
{
    struct direct_conv next = going_on(slide);
    const struct direct_conv *from = stretch->begins ? slide : &next;
    struct columns columns = {0};
    for (; columns.first < slide->columns; columns.first += PANEL_COLUMNS) {
        size_t left = slide->columns - columns.first;
        columns.count = left < PANEL_COLUMNS ? left : PANEL_COLUMNS;
        pack(panel, kernel, slide, stretch, columns);
        multiply_panel(kernel, from, stretch, columns, panel);
    }
}

/* Merges the outer direction into the inner one if it continues where that ends. */
static void join(struct direct_conv_rows *outer, struct direct_conv_rows *inner)
{
    const size_t count = outer->count * inner->count;
    if (inner->count == 1)
        *inner = *outer;
    else if (outer->count != 1 &&
             (outer->x_step != inner->count * inner->x_step ||
              outer->z_step != inner->count * inner->z_step ||
              outer->start_step != inner->count * inner->start_step))
        return;
    inner->count = count;
    *outer = (struct direct_conv_rows){.count = 1};
}

/* Makes the direction of a tile's rows the last one. */
static void arrange_rows(struct direct_conv_rows rows[DIRECTIONS])
{
    join(&rows[1], &rows[2]);
    join(&rows[0], &rows[1]);
    join(&rows[1], &rows[2]);
    size_t longest = rows[0].count > rows[1].count ? 0 : 1;
    if (rows[2].count < ROWS_ENOUGH && rows[2].count < rows[longest].count) {
        struct direct_conv_rows last = rows[2];
        rows[2] = rows[longest];
        rows[longest] = last;
    }
}

/* Makes the runs of a stretch the last ones. */
static void arrange_runs(struct direct_conv_runs runs[2])
{
    if (runs[1].count == 1) {
        struct direct_conv_runs only = runs[0];
        runs[0] = runs[1];
        runs[1] = only;
    }
}

/* Multiplies the stretches of all terms; there must be at least one term. */
static void multiply_stretches(const struct gemm_kernel *kernel,
                               const struct direct_conv *slide, float *panel)
{
    const struct direct_conv_runs *runs = slide->runs;
    size_t together = slide->terms < STRETCH_TERMS ? STRETCH_TERMS / slide->terms : 1;
    size_t parts = even_split_of(runs[1].count, together),
           cuts = even_split_of(slide->terms, STRETCH_TERMS);
    struct stretch s = {.begins = true};
    for (s.outer = 0; s.outer < runs[0].count; s.outer++)
        for (size_t part = 0; part < parts; part++)
            for (size_t cut = 0; cut < cuts; cut++) {
                s.first = even_split_begin(runs[1].count, parts, part);
                s.runs = even_split_begin(runs[1].count, parts, part + 1) - s.first;
                s.term = even_split_begin(slide->terms, cuts, cut);
                s.terms = even_split_begin(slide->terms, cuts, cut + 1) - s.term;
                multiply_stretch(kernel, slide, &s, panel);
                s.begins = false;
            }
}

void direct_conv_multiply(const struct gemm_kernel *kernel,
                          const struct direct_conv *slide)
{
    _Alignas(CACHE_LINE) float panel[STRETCH_TERMS * PANEL_COLUMNS];
    struct direct_conv arranged = *slide;
    size_t terms = slide->runs[0].count * slide->runs[1].count * slide->terms;
    arrange_rows(arranged.rows);
    arrange_runs(arranged.runs);
    if (terms == 0) {
        multiply_stretch(kernel, &arranged, &(struct stretch){.begins = true}, panel);
        return;
    }
    if (slide->columns % PANEL_COLUMNS != 0)
        memset(panel, 0,
               (terms < STRETCH_TERMS ? terms : STRETCH_TERMS) * PANEL_COLUMNS *
                   sizeof *panel);
    multiply_stretches(kernel, &arranged, panel);
}
