#include "mpi/start_facts.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "engine/gemm/gemm_choice.h"
#include "engine/rounding/blas.h"

_Static_assert(START_FACT_SIZE > 2 * SHA256_SIZE,
               "a fact holds a digest in hexadecimal");

static const char *const names[FACTS] = {
    [FACT_PROGRAM] = "version of the program",
    [FACT_PLAN] = "plan",
    [FACT_MATRIX] = "matrix",
    [FACT_GRIDS] = "plan of the noise",
    [FACT_PRODUCT_KERNEL] = "kernel of products",
    [FACT_BLAS_KERNEL] = "BLAS kernel",
};

static void set(struct start_facts *facts, enum start_fact fact, const char *text)
{
    snprintf(facts->of[fact], START_FACT_SIZE, "%s", text);
}

static void set_digest(struct start_facts *facts, enum start_fact fact,
                       const uint8_t digest[SHA256_SIZE])
{
    sha256_render(facts->of[fact], digest);
}

static void feed_grid(struct sha256 *hash, const struct grid *grid)
{
    char text[128];
    int length = snprintf(text, sizeof text, "%a %a %llu;", grid->scale,
                          grid->multiplier, (unsigned long long)grid->cells);
    sha256_update(hash, text, (size_t)length);
}

static void set_grids(struct start_facts *facts, const struct trainer *trainer)
{
    uint8_t digest[SHA256_SIZE];
    struct noise_certificate noise;
    struct sha256 *hash = sha256_create();
    CHECK(trainer_noise_certificate(trainer, &noise));
    feed_grid(hash, &noise.plan.grid);
    for (size_t k = 0; k < noise.plan.named_count; k++)
        feed_grid(hash, &noise.plan.named[k].grid);
    sha256_finish(hash, digest);
    sha256_destroy(hash);
    set_digest(facts, FACT_GRIDS, digest);
}

void start_facts_init(struct start_facts *facts, const struct train_spec *spec,
                      const struct trainer *trainer,
                      const struct start_digests *digests)
{
    *facts = (struct start_facts){{{0}}};
    set(facts, FACT_PROGRAM, EPSILOND_VERSION);
    set_digest(facts, FACT_PLAN, digests->plan);
    set_digest(facts, FACT_MATRIX, digests->matrix);
    set_grids(facts, trainer);
    set(facts, FACT_PRODUCT_KERNEL, gemm_choice_best()->name);
    if (network_has_positions(spec->network))
        set(facts, FACT_BLAS_KERNEL, blas_kernel());
}

static enum status refuse(enum start_fact fact, const char *first, const char *mine,
                          int64_t others, struct error *error)
{
    if (strcmp(first, mine) == 0)
        return error_set(error, ST_INVALID, "%lld of the other ranks have another %s",
                         (long long)others, names[fact]);
    return error_set(error, ST_INVALID, "this rank's %s is \"%s\", and rank 0's \"%s\"",
                     names[fact], mine, first);
}

enum status start_facts_compare(const struct start_facts *facts,
                                const struct group *group, struct error *error)
{
    struct start_facts first = *facts;
    int64_t others[FACTS];
    group_tell(group, &first, sizeof first);
    for (size_t k = 0; k < FACTS; k++)
        others[k] = strcmp(facts->of[k], first.of[k]) != 0;
    group_collect(group, others, FACTS);
    group_tell(group, others, sizeof others);
    for (size_t k = 0; k < FACTS; k++)
        if (others[k] > 0)
            return refuse((enum start_fact)k, first.of[k], facts->of[k], others[k],
                          error);
    return ST_OK;
}
