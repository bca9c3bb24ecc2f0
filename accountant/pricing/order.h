/*
 * order.h - finds the best Renyi order for a question, over all reals in (1, 16384].
 * The grid of the ledger ends at 2048; a job's own figures are not bound to it.
 *
 * For a mechanism of curve rdp(a)
 *
 *   (a - 1) epsilon(a) = (a - 1) rdp(a) + (a - 1) log(1 - 1/a) - log delta - log a
 *
 * is convex in a: the first term is the log of a moment, and
 * (a - 1) log(a - 1) - a log a has second derivative 1/(a - 1) - 1/a > 0. So
 * epsilon(a), a convex function over a - 1 > 0, is quasi-convex: it has one valley, and
 * a search by bracketing finds its bottom.
 *
 * Threads: pure.
 */
#ifndef ACCOUNTANT_PRICING_ORDER_H
#define ACCOUNTANT_PRICING_ORDER_H

#define ORDER_MAX 16384.0

struct order_choice {
    double order, value;
};

/* Returns the order of least value, and the value there. value_at(context, order) must
 * be quasi-convex in order and never NaN. */
struct order_choice order_best(double (*value_at)(void *context, double order),
                               void *context);

/* Like order_best, with fewer evaluations, for a search that evaluates many similar
 * functions. It starts at the order near, finds the least value to about 1e-8, and ends
 * as soon as a value is at most enough. */
struct order_choice order_near(double (*value_at)(void *context, double order),
                               void *context, double near, double enough);

#endif
