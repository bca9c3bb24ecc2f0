/*
 * known_mechanisms.h - a cache of mechanisms by their canonical texts, so that a text
 * that occurs in many entries is parsed once: the mechanism follows from the text only.
 * The cache keeps some that were read last.
 *
 * Threads: one at a time.
 */
#ifndef ACCOUNTANT_PRICING_KNOWN_MECHANISMS_H
#define ACCOUNTANT_PRICING_KNOWN_MECHANISMS_H

#include "base/mechanism.h"

struct known_mechanisms; /* opaque */

struct known_mechanisms *known_mechanisms_create(void);
void known_mechanisms_destroy(struct known_mechanisms *known); /* NULL is allowed */

/* Like mechanism_parse (base/mechanism.h). known may be NULL: there is no cache. */
enum status known_mechanisms_parse(struct known_mechanisms *known, struct mechanism *m,
                                   const char *text);

#endif
