/*
 * row_class.h - which rows of a block round alike in the BLAS at hand, and where a
 * record may therefore stand (noise.md 2.5).
 *
 * A product of the BLAS may round a row differently at different places. One more record in
 * front would then move its neighbours to other rows and change their gradients. Rows that
 * agree bit for bit on the whole pipeline of the job's own model form a class. Products of
 * dense layers are not the BLAS's, and round all rows alike (engine/product): a network of
 * such layers alone has one class, and is not compared. A record's
 * class is fixed by its index, and it is only ever put in rows of its class: what it
 * contributes then depends on itself alone.
 *
 * With one class a cell's records stand one after the other. With more, the k-th record
 * of a class stands in the k-th row of that class from the cell's start, which is a
 * multiple of the period; rows between hold nothing. Either way a cell's arrangement is
 * a function of the cell's own records.
 *
 * Where a unit has several rows (network_create_of_units) whole units take the place of
 * rows in all of this: two places of units are of one class where each row of the one is
 * like the same row of the other. Of a row_classes only block then counts rows.
 *
 * Threads: pure; a struct row_classes is constant once found.
 */
#ifndef ENGINE_ROUNDING_ROW_CLASS_H
#define ENGINE_ROUNDING_ROW_CLASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/nn/network.h"

enum { ROW_PERIOD_MAX = 64 };

struct row_classes {
    size_t block;   /* rows of a block: records are padded to a multiple of it */
    uint32_t count; /* classes found; 1: all rows round alike */
    bool safe;      /* false: more classes than records can be kept apart by */
    size_t period;  /* row r is of class of[r % period]; a block holds whole periods */
    uint8_t of[ROW_PERIOD_MAX];
};

/* All rows in one class: for sums that do not depend on how rows round. */
struct row_classes row_classes_alike(size_t block);

/* The answer of row_classes_find that takes the most rows, of all that it may give. */
struct row_classes row_classes_most(const struct network *network, size_t block);

/* Runs network forward and backward on random records, each in every row of a block,
 * and compares rows bit by bit: first with blocks of block rows, and where these are
 * not all alike with the next multiple of 48, at which the AVX2 kernels have two equal
 * classes. A network of dense layers (network_is_dense) has one class, without a look.
 *   block       a multiple of 16
 *   two_points  for a job that also takes differences of gradients at two points: rows of
 *               a class then agree in both passes, and the network has passed
 *               network_check_differences
 *   ST_NO_MEMORY  no room for two blocks */
struct row_demand {
    size_t block;
    bool two_points;
};
enum status row_classes_find(struct row_classes *out, const struct network *network,
                             struct row_demand demand, struct error *error);

/* One block, and as many repetitions as tell trees apart in 512 outputs, instead of the
 * two blocks and eight records that a run insists on: what row_classes_find would find,
 * in down to a sixteenth of the time. */
enum status row_classes_try(struct row_classes *out, const struct network *network,
                            struct row_demand demand, struct error *error);

/* The most rows that a cell of that many records can take, whatever their classes are. */
size_t row_classes_reach(const struct row_classes *rows, size_t records);

/* The class of the record with this index, in [0, count). */
uint32_t row_classes_of_record(const struct row_classes *rows, uint64_t index);

/* places[k] = the row of the record indices[k], in a cell that starts at row first or
 * above. Returns the cell's first row and the row after its last. first is at most
 * 2^31. */
struct cell_rows {
    size_t first, end;
};
struct cell_rows row_classes_place(const struct row_classes *rows, size_t first,
                                   const uint32_t *indices, size_t count,
                                   uint32_t *places);

#endif
