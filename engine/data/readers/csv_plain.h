/*
 * csv_plain.h - records of csv without a quote, which most are, read in one pass from
 * their line to their features. What is not as declared is none of its business: the
 * reader then takes the record apart cell by cell, and says what is wrong with it.
 *
 * Threads: pure.
 */
#ifndef ENGINE_DATA_READERS_CSV_PLAIN_H
#define ENGINE_DATA_READERS_CSV_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/data/encode.h"
#include "engine/data/schema.h"

struct csv_plain {
    const struct schema *schema;
    const struct encoder *encoders; /* (columns) in declared order */
    const size_t *places; /* (columns) the declared column of each of the file */
    size_t *offsets;      /* (columns) a declared column's first feature */
};

/* The arrays stay the caller's, who may still change places.
 *   ST_NO_MEMORY  no room for offsets; plain is then as after csv_plain_fini */
enum status csv_plain_init(struct csv_plain *plain, const struct schema *schema,
                           const struct encoder *encoders, const size_t *places,
                           struct error *error);
void csv_plain_fini(struct csv_plain *plain); /* a zeroed one is allowed */

struct csv_target { /* of a record: a class or a value, as the task is, */
    uint32_t class_index;
    float value;
    struct cell id; /* and whose it is, where a column says so: a part of the line */
};

/* Encodes the label's cell; its encoder answers. */
enum status csv_target_encode(struct csv_target *target, enum task task,
                              const struct encoder *encoder, struct cell cell,
                              struct error *error);

/* Reads the record text[0..size), which holds no quote. False where a cell, or their
 * number, is not as declared; features and *target are then undefined.
 *   features  (schema_features) */
bool csv_plain_read(const struct csv_plain *plain, float *features,
                    struct csv_target *target, const char *text, size_t size);

#endif
