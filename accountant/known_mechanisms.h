/*
 * known_mechanisms.h - mechanisms that were read from their canonical texts before, so that
 * a text that stands in many entries is read once: what a text says follows from it alone.
 * Some that were read last are kept.
 *
 * Threads: one at a time.
 */
#ifndef ACCOUNTANT_KNOWN_MECHANISMS_H
#define ACCOUNTANT_KNOWN_MECHANISMS_H

#include "base/mechanism.h"

struct known_mechanisms; /* opaque */

struct known_mechanisms *known_mechanisms_create(void);
void known_mechanisms_destroy(struct known_mechanisms *known); /* NULL is allowed */

/* As mechanism_parse (base/mechanism.h). known may be NULL: nothing is known. */
enum status known_mechanisms_parse(struct known_mechanisms *known, struct mechanism *m,
                                   const char *text);

#endif
