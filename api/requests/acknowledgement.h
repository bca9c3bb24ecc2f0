/*
 * acknowledgement.h - the member "acknowledge" of each request that gives a budget, or
 * that puts records under one: what its sender confirms about a weak promise.
 *
 *   "acknowledge": ["epsilon_above_10", "delta_above_1_over_n"]
 *
 * At epsilon 10 the odds of an attacker's guess may grow by e^10, 22,000 to 1. If
 * delta is above 1/n, a mechanism that publishes one of n units in full could keep the
 * promise. Neither is refused, but someone must confirm it by name in the request
 * itself. A request confirms exactly what it needs to: a confirmation that nothing
 * asked for is refused as well, because it was not meant for this request.
 *
 * Pure.
 */
#ifndef API_REQUESTS_ACKNOWLEDGEMENT_H
#define API_REQUESTS_ACKNOWLEDGEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "api/json/json_reader.h"
#include "api/json/json_writer.h"
#include "base/status.h"

enum acknowledged { /* a set: a bit for each */
                    ACKNOWLEDGED_NOTHING = 0,
                    ACKNOWLEDGED_EPSILON = 1,
                    ACKNOWLEDGED_DELTA = 2,
};

/* The names of the bits, from the lowest on. Ends with NULL. */
extern const char *const acknowledged_names[];

/* Returns what a budget of these figures has to be confirmed for: epsilon above
 * LIMIT_EPSILON_UNCONFIRMED; delta above 1 / units, if units is known (not 0). */
enum acknowledged acknowledgement_needed(double epsilon, double delta, uint64_t units);

/* Adds the confirmation of that name to the set. Returns false if there is none of that
 * name, or if the set has it. */
bool acknowledgement_add(enum acknowledged *set, const char *name);

/* Reads the member "acknowledge" of an object; nothing if it is absent. Refuses any
 * other name, and a name that stands twice. */
enum acknowledged acknowledgement_read(const struct json_node *object);

/* Returns what is wrong if this was confirmed and that is needed, with what to do about
 * it; NULL if the two are equal. */
const char *acknowledgement_fault(enum acknowledged given, enum acknowledged needed);

/* The same as an error at "/acknowledge".
 *   ST_INVALID  the two are not equal */
enum status acknowledgement_check(enum acknowledged given, enum acknowledged needed,
                                  struct error *error);

/* Writes the member "acknowledge" as a list, empty if nothing was confirmed; and only
 * if something was confirmed. */
void acknowledgement_write(struct json_writer *writer, enum acknowledged acknowledged);
void acknowledgement_write_if(struct json_writer *writer,
                              enum acknowledged acknowledged);

#endif
