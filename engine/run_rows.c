#include "engine/run_rows.h"

#include "engine/nn/workspace.h"
#include "engine/rounding/blas.h"

/* How many rows a block has. Dense layers take all rows of a micro-batch in one product,
 * and blocks only leave rows empty. Other products over more rows are faster, but the last
 * block is computed whole. Images have many rows a record: more than 48 records gain
 * nothing, and cells of 128 leave fewer rows empty. */
size_t run_rows_block(const struct network *network, uint64_t batch_size)
{
    bool on_images = network_has_positions(network);
    if (network_is_dense(network))
        return WORKSPACE_ROWS_STEP;
    if (batch_size >= 768)
        return on_images ? 48 : 96;
    if (batch_size >= 96)
        return on_images ? 48 : 64;
    return batch_size >= 24 ? 32 : 16;
}

static struct row_demand demand_of(const struct train_spec *spec)
{
    return (struct row_demand){run_rows_block(spec->network, spec->batch_size),
                               spec->algorithm.algorithm->uses_differences};
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
                           struct error *error)
{
    const struct row_demand demand = demand_of(spec);
    if (!spec->algorithm.algorithm->is_private) {
        *rows = row_classes_alike(demand.block);
        return ST_OK;
    }
    enum status status = row_classes_find(rows, spec->network, demand, error);
    return status == ST_OK ? refuse_unsafe(rows, error) : status;
}

enum status run_rows_find(struct row_classes *out, const struct train_spec *spec,
                          struct row_classes *known, struct error *error)
{
    if (known != NULL && known->block > 0) {
        *out = *known;
        return ST_OK;
    }
    enum status status = compare(out, spec, error);
    if (status == ST_OK && known != NULL)
        *known = *out;
    return status;
}

enum status run_rows_check(const struct train_spec *spec, struct error *error)
{
    struct row_classes rows;
    enum status status = row_classes_try(&rows, spec->network, demand_of(spec), error);
    return status == ST_OK ? refuse_unsafe(&rows, error) : status;
}
