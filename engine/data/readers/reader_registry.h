/*
 * reader_registry.h - the table of input formats.
 *
 * Adding a reader: one new file in this folder with its struct reader, one row in
 * READER_TABLE, and the schema in openapi.yaml. README.md explains the steps.
 *
 * Threads: constant data.
 */
#ifndef ENGINE_DATA_READERS_READER_REGISTRY_H
#define ENGINE_DATA_READERS_READER_REGISTRY_H

#include "engine/data/reader.h"

/* The table, in the order in which texts for people list the formats. A row is the name
 * of a struct reader. */
#define READER_TABLE(ROW)                                                              \
    ROW(idx_reader)                                                                    \
    ROW(csv_reader)                                                                    \
    ROW(jsonl_reader)                                                                  \
    ROW(libsvm_reader)                                                                 \
    ROW(npy_reader)                                                                    \
    ROW(cifar10_reader)                                                                \
    ROW(cifar100_reader)

#define DECLARE(name) extern const struct reader name;
READER_TABLE(DECLARE)
#undef DECLARE

extern const struct reader *const readers[]; /* NULL-ended */

/* Returns NULL if there is no format of that name. */
const struct reader *reader_find(const char *name);

/* Lists the names of the formats of one form (NULL: of all) for people: "idx, csv or
 * npy". */
enum { READER_NAMES_SIZE = 160 };
void reader_names(char text[READER_NAMES_SIZE], const enum record_form *form);

#endif
