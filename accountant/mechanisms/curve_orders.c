#include "accountant/mechanisms/curve_orders.h"

const double curve_orders[CURVE_ORDERS] = {
    1.25, 1.5, 1.75, 2,   2.25, 2.5, 2.75, 3,   3.25, 3.5,  3.75, 4,  4.5,
    5,    5.5, 6,    6.5, 7,    7.5, 8,    9,   10,   11,   12,   13, 14,
    15,   16,  17,   18,  19,   20,  22,   24,  26,   28,   30,   32, 36,
    40,   48,  56,   64,  80,   96,  128,  256, 512,  1024, 2048};

size_t curve_order_index(double order)
{
    size_t i = 0;
    while (i < CURVE_ORDERS && curve_orders[i] != order)
        i++;
    return i;
}
