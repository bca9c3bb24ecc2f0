/*
 * row_class.h - which rows of a block round alike in the BLAS at hand, and where a
 * record may therefore stand (NOISE.md 2.5).
 *
 * A product may round a row differently by its place: then a record in front would
 * change its neighbours' gradients. Rows that agree bit for bit on the whole pipeline
 * of the job's own model form a class. A record's class is fixed by its index, and it
 * is only ever put in rows of its class: what it contributes then depends on itself
 * alone.
 *
 * With one class a cell's records stand one after the other. With more, the k-th record
 * of a class stands in the k-th row of that class from the cell's start, which is a
 * multiple of the period; rows between hold nothing. Either way a cell's arrangement is
 * a function of the cell's own records.
 *
 * Threads: pure; a struct row_classes is constant once found.
 */
#ifndef ENGINE_DP_ROW_CLASS_H
#define ENGINE_DP_ROW_CLASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/nn/heights.h"
#include "engine/nn/network.h"

enum { ROW_PERIOD_MAX = 64 };

struct row_classes {
    size_t block;   /* rows of one product, or of which a product has a multiple, */
    size_t tallest; /* up to tallest; block otherwise */
    uint32_t count; /* classes found; 1: all rows round alike */
    bool safe;      /* false: more classes than records can be kept apart by */
    size_t period;  /* row r is of class of[r % period]; divides block */
    uint8_t of[ROW_PERIOD_MAX];
};

/* All rows of one class: where nothing hangs on it. */
struct row_classes row_classes_alike(size_t block);

/* What row_classes_find may answer that takes the most rows. */
struct row_classes row_classes_most(size_t block);

/* Runs network forward and backward on random records, each in every row of a block,
 * and compares rows bit by bit: first with blocks of block rows, and where these are
 * not all alike with the next multiple of 48, at which the AVX2 kernels have two equal
 * classes.
 *   wanted  block, a multiple of 16; where tallest, a multiple of 48, is more, products
 *           of any multiple of 16 rows, or of 48, up to tallest are tried first, and
 *           taken if none changes a bit (heights_agree)
 *   ST_NO_MEMORY  no room for two blocks */
enum status row_classes_find(struct row_classes *out, const struct network *network,
                             struct heights wanted, struct error *error);

/* The same for a job that also takes differences of gradients at two points, whose rows
 * then are alike in both passes. The network has passed network_check_differences. */
enum status row_classes_find_two_points(struct row_classes *out,
                                        const struct network *network,
                                        struct heights wanted, struct error *error);

/* Rows that a cell of at most records can take, wherever their classes fall. */
size_t row_classes_reach(const struct row_classes *rows, size_t records);

/* The class of the record with this index, in [0, count). */
uint32_t row_classes_of_record(const struct row_classes *rows, uint64_t index);

/* places[k] = row of the record indices[k], in a cell that starts at row first or
 * above: returned in *end is the row after the last. first is at most 2^31. */
struct cell_rows {
    size_t first, end;
};
struct cell_rows row_classes_place(const struct row_classes *rows, size_t first,
                                   const uint32_t *indices, size_t count,
                                   uint32_t *places);

#endif
