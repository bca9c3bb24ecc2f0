/*
 * cell_size.h - how many units of a batch a cell holds on average: as many as have
 * about 128 rows, or one unit if a cell of that size does not fit into the memory of a
 * thread.
 *
 * A sum of one unit is rounded onto the grid by itself, so with cells of one unit a
 * micro-batch may hold any number of units, and Theorem 1 holds with M = 1 (noise.md
 * 2.3). With larger cells a micro-batch holds the largest cell that may occur, at any
 * size of its rows.
 *
 * The choice is a function of the compiled model, the rows of a unit, the number of
 * records and the expected batch. It does not depend on data, on threads or on ranks:
 * all processes of a run choose alike, and so does the process that plans the run.
 *
 * Threads: pure.
 */
#ifndef ENGINE_DP_CELL_SIZE_H
#define ENGINE_DP_CELL_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/nn/network.h"

/* The average number of rows of a batch in a cell. If each row is a unit, the inflation
 * is then 1.1 % (noise.md 2.3). */
enum { CELL_ROWS = 128 };

/* The bytes of a thread's workspace from which on units are summed by themselves, and
 * those that a micro-batch of such units may then take. Summing by themselves costs time
 * (README.md), so the first limit is higher. */
#define CELL_MEMORY_MAX   ((size_t)1 << 31)
#define SINGLE_MEMORY_MAX ((size_t)1 << 30)

/* Returns whether each unit is a cell of its own: if the rows of cell_units units take
 * more than CELL_MEMORY_MAX in a workspace. It is false for networks of dense layers of
 * records: such a layer computes a sum of one record in the time that rounding it
 * takes, many times the time of the record's products.
 *   cell_units  M of cells of CELL_ROWS rows */
bool cell_size_is_one(const struct network *network, uint64_t cell_units);

/* Returns the rows of a micro-batch whose units are cells of their own: as many as take
 * at most SINGLE_MEMORY_MAX, a multiple of 16, at least 16 and at most rows_max. */
size_t cell_size_rows(const struct network *network, size_t rows_max);

#endif
