/*
 * start_facts.h - what must be the same at all ranks before a run of theirs authorises its
 * first step. A rank with another program, plan or matrix takes part in another run; one
 * whose products round otherwise leaves other bits than any process alone would.
 *
 * Threads: pure, but for what the group does.
 */
#ifndef CLUSTER_START_FACTS_H
#define CLUSTER_START_FACTS_H

#include "base/hash.h"
#include "base/status.h"
#include "engine/dp/group.h"
#include "engine/trainer.h"

enum start_fact {
    FACT_PROGRAM, /* its version */
    FACT_PLAN,    /* digest of what is to be run */
    FACT_MATRIX,  /* digest of the stored records */
    FACT_GRIDS,   /* digest of the grids, which each rank has planned for itself */
    FACT_PRODUCT_KERNEL, /* product_choice.h */
    FACT_BLAS_KERNEL,    /* "" where the BLAS multiplies nothing */
    FACTS
};

enum { START_FACT_SIZE = 80 }; /* characters and their end */

struct start_facts {
    char of[FACTS][START_FACT_SIZE];
};

/* Fills in the facts of this process.
 *   trainer  as it was created, of a private algorithm */
struct start_digests {
    uint8_t plan[SHA256_SIZE], matrix[SHA256_SIZE];
};
void start_facts_init(struct start_facts *facts, const struct train_spec *spec,
                      const struct trainer *trainer,
                      const struct start_digests *digests);

/* Whether those of all ranks are rank 0's: all ranks return the same.
 *   ST_INVALID  they are not: the text names the first fact that differs, how many ranks
 *               have another, and here, if this is one of them, which */
enum status start_facts_compare(const struct start_facts *facts,
                                const struct group *group, struct error *error);

#endif
