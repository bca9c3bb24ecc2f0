/*
 * efficiency.h - the share of several ranks' time that a job would use, by a model of
 * the cost of a step. It shows when more ranks are not worth it.
 *
 *   T(1) = B f / F
 *   T(p) = rows f / F + d (8 + 4) (p - 1) / (p w) + 8 d / a + m
 *   rows = B/p + sqrt(2 ln p  B/p)        rows of the rank that draws most
 *   efficiency = T(1) / (p T(p))
 *
 * m is the time of a step's messages even if they are empty, so more ranks are never
 * worth it for a model whose steps take less time. B is the expected batch, f the work
 * of a record, F the speed of a rank, d the parameters, w and a the bytes a second of
 * the network and of adding integers. Computation and communication do not overlap,
 * because the sum of a layer grows until the last micro-batch. At 64 ranks and batches
 * of 4,096, the uneven Poisson batches cost a quarter by themselves, with any network.
 *
 * Threads: pure.
 */
#ifndef ENGINE_EFFICIENCY_H
#define ENGINE_EFFICIENCY_H

#include <stdint.h>

/* A core of an ordinary machine, and its memory, assumed if there is no measurement: a
 * core computes 40 products or sums of products in a nanosecond. */
#define EFFICIENCY_CORE_FLOPS   40e9
#define EFFICIENCY_ADDING_BYTES 8e9
/* A step has about six consecutive messages, of 34 us each over TCP (measured). */
#define EFFICIENCY_MESSAGES_S 200e-6

struct rank_machine {
    double flops;         /* a second, of one rank */
    double network_bytes; /* a second, from and to each rank */
    double adding_bytes;  /* a second, of integer sums */
    double messages_s;    /* the time of a step's messages if empty */
};

struct rank_work {
    double batch;        /* expected records of a step */
    double record_flops; /* forward, backward and sum of one */
    double parameters;
};

/* The expected rows of the rank that draws most of a step's batch. With one rank: the
 * batch. */
double efficiency_rows(double batch, unsigned ranks);

/* In (0, 1]; ranks >= 1. */
double efficiency_of(const struct rank_machine *machine, const struct rank_work *work,
                     unsigned ranks);

#endif
