/*
 * id_file.h - whose each record is, where the format has no column for it: a file of its
 * own, text in UTF-8, with a line for each record in the order of the records.
 *
 * It is read behind the records, so that ids are in memory as short as may be (privacy.md
 * P9).
 */
#ifndef ENGINE_DATA_READERS_ID_FILE_H
#define ENGINE_DATA_READERS_ID_FILE_H

#include <stdint.h>

#include "engine/data/readers/reading.h"

/* Adds the ids of that many records to reading->persons. Blanks around an id go, and a
 * carriage return at the end of its line; what is left is compared byte by byte.
 *   ST_IMPORT_FAILED  the file was not uploaded, has another number of lines than there
 *                     are records, or a line that is no id (persons_read_id)
 *   ST_CANCELLED, ST_DISK_FULL, ST_IO, ST_NO_MEMORY */
enum status id_file_read(struct reading *reading, uint64_t records);

#endif
