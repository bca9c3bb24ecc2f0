#include "engine/run_rows.h"

#include "engine/rounding/blas.h"
#include "engine/rounding/height_agreement.h"

/* How many rows a block has. Products over more rows are faster, but the last block is
 * computed whole. Above 96 rows 784-10 leaves the kernels for small products, which are
 * three times as fast; wider layers gain next to nothing from there on. Images have many
 * rows a record: more than 48 records gain nothing, and cells of 128 leave fewer rows
 * empty. */
size_t run_rows_block(const struct network *network, uint64_t batch_size)
{
    bool on_images = network_has_positions(network);
    if (batch_size >= 768)
        return on_images ? 48 : 96;
    if (batch_size >= 96)
        return on_images ? 48 : 64;
    return batch_size >= 24 ? 32 : 16;
}

/* The most rows of a product where heights agree: as many as a batch has, as long as more
 * rows make it faster. It is a multiple of 48. */
static size_t tallest_rows(uint64_t batch_size)
{
    enum { STEP = 48, MOST = 6 * STEP };
    return batch_size >= MOST ? MOST : ((size_t)batch_size / STEP + 2) * STEP;
}

static struct heights wanted_heights(const struct network *network,
                                     const struct train_spec *spec)
{
    return (struct heights){run_rows_block(network, spec->batch_size),
                            tallest_rows(spec->batch_size)};
}

/* Nothing that such a run releases would be covered by its noise. */
static enum status refuse_unsafe(const struct row_classes *rows, struct error *error)
{
    if (rows->safe)
        return ST_OK;
    return error_set_at(
        error, ST_NOT_FLOAT_SAFE, "/model",
        "with the BLAS kernels \"%s\" the rows of this model's products "
        "round in %u ways by where they stand: records could not be kept "
        "apart, and no noise would cover what they release",
        blas_kernel(), rows->count);
}

/* Public sums do not depend on how rows round: any row will do, so long as threads do not
 * change what it holds. */
static enum status compare(struct row_classes *rows, const struct train_spec *spec,
                           const struct row_classes *tried, struct error *error)
{
    const struct algorithm *algorithm = spec->algorithm.algorithm;
    struct heights wanted = wanted_heights(spec->network, spec);
    if (algorithm->is_private) {
        enum status status = row_classes_confirm(
            rows, spec->network, wanted, algorithm->uses_differences, tried, error);
        return status == ST_OK ? refuse_unsafe(rows, error) : status;
    }
    *rows = row_classes_alike(wanted.block);
    if (!heights_may_differ(spec->network))
        return ST_OK;
    enum status status = row_classes_find(rows, spec->network, wanted, error);
    rows->count = 1;
    rows->period = 1;
    return status;
}

enum status run_rows_find(struct row_classes *out, const struct train_spec *spec,
                          struct row_classes *known, struct error *error)
{
    if (known != NULL && known->is_whole) {
        *out = *known;
        return ST_OK;
    }
    enum status status = compare(out, spec, known, error);
    if (status == ST_OK && known != NULL)
        *known = *out;
    return status;
}

enum status run_rows_try(struct row_classes *tried, const struct train_spec *spec,
                         struct error *error)
{
    struct row_classes rows;
    enum status status =
        row_classes_try(&rows, spec->network, wanted_heights(spec->network, spec),
                        spec->algorithm.algorithm->uses_differences, error);
    if (status == ST_OK)
        status = refuse_unsafe(&rows, error);
    if (status == ST_OK)
        *tried = rows;
    return status;
}
