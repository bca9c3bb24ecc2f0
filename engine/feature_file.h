/*
 * feature_file.h - features of the rows of a dataset, in a file that has no name.
 *
 *   feature_file_create --> feature_file_write, every row --> feature_file_map
 *                       --> feature_file_rows; held by some, let go by each of them
 *
 * Features are raw data (privacy.md P9). The file lies in the dataset's own folder, of mode
 * 0600, and has no name from its first byte on: nothing can be asked for it, and it is gone
 * when nobody holds it any more, or with the process, however that ends.
 *
 * Threads: rows are written by any number at once, before the map; then it is constant.
 */
#ifndef ENGINE_FEATURE_FILE_H
#define ENGINE_FEATURE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/dp/feature_rows.h"

struct feature_file; /* opaque; counted */

/* For records rows of width floats, held by the caller. The disk keeps at least as much
 * free as the file takes, and a gigabyte: the ledger stops where it is full.
 *   ST_NO_MEMORY  the disk has no such room
 *   ST_IO         the folder cannot be written to */
enum status feature_file_create(struct feature_file **out, const char *folder,
                                size_t records, size_t width, struct error *error);

/* False where the disk does not take it. */
bool feature_file_write(const struct feature_file *file, size_t row,
                        const float *features);

/*   ST_IO  it cannot be mapped */
enum status feature_file_map(struct feature_file *file, struct error *error);

struct feature_rows feature_file_rows(const struct feature_file *file);
uint64_t feature_file_size(const struct feature_file *file); /* bytes */

struct feature_file *feature_file_hold(struct feature_file *file); /* returns file */
void feature_file_let_go(struct feature_file *file);               /* NULL is allowed */

#endif
