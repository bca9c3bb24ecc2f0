/*
 * entry_cost.h - what a ledger entry grants, holds or commits, as bytes: 50 doubles, 8
 * bytes each, little-endian, in the order of g1. A 51st is the delta of a discovery:
 * what its GRANT sets aside, what its RESERVE holds, what its COMMIT charges and
 * releases. Other entries have none.
 *
 * Threads: pure.
 */
#ifndef ACCOUNTANT_LEDGER_ENTRY_COST_H
#define ACCOUNTANT_LEDGER_ENTRY_COST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "accountant/pricing/curve.h"
#include "accountant/pricing/filter.h"
#include "store/rows/ledger_rows.h"

enum {
    ENTRY_CURVE_SIZE = 8 * CURVE_ORDERS,
    ENTRY_COST_SIZE = ENTRY_CURVE_SIZE + 8 /* with a delta */
};

/* Encodes the orders only. */
void entry_curve_encode(uint8_t bytes[ENTRY_CURVE_SIZE], const struct curve *curve);
/* Encodes the orders, then the delta if has_delta. Returns the size. */
size_t entry_cost_encode(uint8_t bytes[ENTRY_COST_SIZE], const struct curve *curve,
                         bool has_delta);

/* Reads capacities, with or without a delta. Returns false if size is another grid's or
 * the delta is NaN or negative; curve is undefined then. */
bool entry_cost_decode(struct curve *curve, const uint8_t *bytes, size_t size);
/* Reads a charge, with or without a delta. Returns false and leaves curve if size is
 * another grid's or a value is NaN or negative. */
bool entry_charge_decode(struct curve *curve, const uint8_t *bytes, size_t size);

/* Returns whether the entry has a delta exactly if delta is not 0. */
bool entry_has_delta(const struct ledger_row *row, double delta);

/* *curve = the capacities, and what discoveries may use of delta. */
void entry_capacity(struct curve *curve, const struct filter *filter);

/* released = held - committed, rounded down, never negative. */
void entry_released(struct curve *released, const struct curve *held,
                    const struct curve *committed);

#endif
