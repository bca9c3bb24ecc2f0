/*
 * start_facts.h - what must be the same at all ranks before their run authorises its
 * first step. A rank with another program, plan or matrix takes part in another run. A
 * rank whose matrix products round differently computes other bits than a run in a
 * single process would.
 *
 * Threads: pure, except for the calls of the group.
 */
#ifndef MPI_START_FACTS_H
#define MPI_START_FACTS_H

#include "base/hash.h"
#include "base/status.h"
#include "engine/dp/group.h"
#include "engine/trainer.h"

enum start_fact {
    FACT_PROGRAM, /* its version */
    FACT_PLAN,    /* digest of the plan of the run */
    FACT_MATRIX,  /* digest of the stored records */
    FACT_GRIDS,   /* digest of the grids, which each rank has planned by itself */
    FACT_PRODUCT_KERNEL, /* gemm_choice.h */
    FACT_BLAS_KERNEL,    /* "" if the BLAS multiplies nothing */
    FACTS
};

enum { START_FACT_SIZE = 80 }; /* characters and their terminator */

struct start_facts {
    char of[FACTS][START_FACT_SIZE];
};

/* Fills in the facts of this process.
 *   trainer  just created, for a private algorithm */
struct start_digests {
    uint8_t plan[SHA256_SIZE], matrix[SHA256_SIZE];
};
void start_facts_init(struct start_facts *facts, const struct train_spec *spec,
                      const struct trainer *trainer,
                      const struct start_digests *digests);

/* Checks that the facts of all ranks are those of rank 0. All ranks return the same.
 *   ST_INVALID  they are not: the text names the first fact that differs; at a rank
 *               with another value than rank 0's both values, at the others how many
 *               ranks differ */
enum status start_facts_compare(const struct start_facts *facts,
                                const struct group *group, struct error *error);

#endif
