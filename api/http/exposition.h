/*
 * exposition.h - metrics in the Prometheus text format 0.0.4: families one after
 * another, each with a help text, a kind and its samples.
 *
 *   # HELP epsilond_jobs Jobs in each state.
 *   # TYPE epsilond_jobs gauge
 *   epsilond_jobs{state="QUEUED"} 3
 *
 * Whole numbers are written without a point, other numbers so that they read back to
 * the same double. A label's value may be any text.
 *
 * Threads: an exposition belongs to one thread.
 */
#ifndef API_HTTP_EXPOSITION_H
#define API_HTTP_EXPOSITION_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define EXPOSITION_TYPE "text/plain; version=0.0.4; charset=utf-8"

enum exposition_kind { EXPOSE_COUNTER, EXPOSE_GAUGE, EXPOSE_HISTOGRAM };

struct exposition {
    FILE *stream;
    char *text;
    size_t size;
    const char *family; /* the family of the next samples */
};

void exposition_open(struct exposition *exposition);

/* Returns the text, to be freed. Aborts if there is no memory. */
char *exposition_close(struct exposition *exposition);

/* Begins a family. Its name is borrowed until the next one begins; help is one line
 * without a backslash. */
void exposition_family(struct exposition *exposition, const char *name,
                       enum exposition_kind kind, const char *help);

/* Writes a sample of the family. Pairs of strings follow the value, a label's name and
 * then its value, ended by (char *)NULL. */
void exposition_sample(struct exposition *exposition, double value, ...)
    __attribute__((sentinel));

struct exposition_buckets {
    size_t count;         /* number of bounds */
    const double *bounds; /* (count), ascending */
    const uint64_t *in;   /* (count + 1): the number of values in each bucket by itself,
                           * and last those above every bound */
    double sum;           /* of all values */
};

/* Writes the samples of a histogram without labels. */
void exposition_histogram(struct exposition *exposition,
                          const struct exposition_buckets *buckets);

#endif
