/*
 * efficiency.h - how much of several ranks' time a job would make use of, by a model of what
 * a step costs. It says when more ranks do not pay.
 *
 *   T(1) = B f / F
 *   T(p) = rows f / F + d (8 + 4) (p - 1) / (p w) + 8 d / a + m
 *   rows = B/p + sqrt(2 ln p  B/p)        those of the rank that draws most
 *   efficiency = T(1) / (p T(p))
 *
 * m is what the messages of a step take however short they are, so that a model whose steps
 * take less never pays. B is the expected batch, f the work of a record, F the speed of a rank, d the parameters, w
 * and a the bytes a second of the network and of adding integers. Nothing overlaps: the sum
 * of a layer grows until the last micro-batch. Poisson batches alone cost a quarter at 64
 * ranks and batches of 4,096, whatever the network.
 *
 * Threads: pure.
 */
#ifndef ENGINE_EFFICIENCY_H
#define ENGINE_EFFICIENCY_H

#include <stdint.h>

/* A core of an ordinary machine, and its memory, for want of a measurement: a core makes 40
 * products or sums of them in a nanosecond. */
#define EFFICIENCY_CORE_FLOPS   40e9
#define EFFICIENCY_ADDING_BYTES 8e9
/* A step has some six messages in a row, of 34 us each over TCP (measured). */
#define EFFICIENCY_MESSAGES_S 200e-6

struct rank_machine {
    double flops;         /* a second, of one rank */
    double network_bytes; /* a second, from and to each rank */
    double adding_bytes;  /* a second, of integer sums */
    double messages_s;    /* of a step, were they empty */
};

struct rank_work {
    double batch;        /* expected records of a step */
    double record_flops; /* forward, backward and sum of one */
    double parameters;
};

/* The rows of the rank that draws most of a step's batch, as expected. 1 rank: the batch. */
double efficiency_rows(double batch, unsigned ranks);

/* In (0, 1]; ranks >= 1. */
double efficiency_of(const struct rank_machine *machine, const struct rank_work *work,
                     unsigned ranks);

#endif
