/*
 * feature_file.h - features of the rows of a dataset, in a file without a name.
 *
 *   feature_file_create --> feature_file_write, every row --> feature_file_map
 *                       --> feature_file_rows, until the last feature_file_let_go
 *
 * Features are raw data (privacy.md P9). The file is in the folder of the datasets, has
 * mode 0600, and has no name from its first byte on: no request can reach it, and it is
 * deleted with the last reference to it, or when the process ends, however that
 * happens.
 *
 * Threads: any number may write rows concurrently, before feature_file_map; after it,
 * the file is constant.
 */
#ifndef ENGINE_FEATURE_FILE_H
#define ENGINE_FEATURE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/dp/feature_rows.h"

struct feature_file; /* opaque; reference-counted */

/* Creates a file for records rows of width floats, with one reference for the caller.
 * The disk keeps at least as much free space as the file takes, and a gigabyte, because
 * the ledger stops when the disk is full.
 *   ST_NO_MEMORY  the disk has not enough room
 *   ST_IO         the folder cannot be written to */
enum status feature_file_create(struct feature_file **out, const char *folder,
                                size_t records, size_t width, struct error *error);

/* Returns false if the disk cannot store the row. */
bool feature_file_write(const struct feature_file *file, size_t row,
                        const float *features);

/*   ST_IO  it cannot be mapped */
enum status feature_file_map(struct feature_file *file, struct error *error);

struct feature_rows feature_file_rows(const struct feature_file *file);
uint64_t feature_file_size(const struct feature_file *file); /* bytes */

struct feature_file *feature_file_hold(struct feature_file *file); /* returns file */
void feature_file_let_go(struct feature_file *file);               /* NULL is allowed */

#endif
