/*
 * id_file.h - the ids of the persons, if the format has no column for them: a separate
 * file, text in UTF-8, with one line per record in the order of the records.
 *
 * It is read after the records, so that ids are in memory for as short a time as
 * possible (privacy.md P9).
 */
#ifndef ENGINE_DATA_READERS_ID_FILE_H
#define ENGINE_DATA_READERS_ID_FILE_H

#include <stdint.h>

#include "engine/data/readers/reading.h"

/* Adds the ids of that many records to reading->persons. Blanks around an id and a
 * carriage return at the end of its line are dropped. The remaining text is compared
 * byte by byte.
 *   ST_IMPORT_FAILED  the file was not uploaded, does not have as many lines as there
 *                     are records, or has a line that is not an id (persons_read_id)
 *   ST_CANCELLED, ST_DISK_FULL, ST_IO, ST_NO_MEMORY */
enum status id_file_read(struct reading *reading, uint64_t records);

#endif
