/*
 * curve_orders.h - the grid g1 of Renyi orders, the same for every curve of every
 * dataset (ledger.md 4).
 *
 * g1: 1.25 to 3.75 by .25; 4 to 7.5 by .5; 8 to 20 by 1; 22 to 32 by 2; 36, 40, 48, 56,
 * 64, 80, 96, 128, 256, 512, 1024, 2048: 50 orders.
 *
 * Threads: constant data.
 */
#ifndef ACCOUNTANT_MECHANISMS_CURVE_ORDERS_H
#define ACCOUNTANT_MECHANISMS_CURVE_ORDERS_H

#include <stddef.h>

enum { CURVE_ORDERS = 50 };

extern const double curve_orders[CURVE_ORDERS];

/* Index of the grid order equal to order, or CURVE_ORDERS if it is none of them. */
size_t curve_order_index(double order);

#endif
