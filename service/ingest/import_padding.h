/*
 * import_padding.h - how long an import is shown to take. The true duration reveals how
 * many rows a file has, and where a refused file is bad; for rows of persons not even
 * their total number is public (privacy.md P6). So the end of such an import is shown
 * at one of few moments, counted from its begin:
 *
 *   least, f least, f^2 least, ...    seconds: the first that has not passed
 *
 * least is a function of the stored matrix's size, and so of n and the shape: the time
 * that a slow machine takes to import a file in which persons have as many rows as are
 * kept of them. If persons are the unit, least is at least IMPORT_PADDING_PERSONS, and
 * f is 4: a few persons may have millions of rows, which no function of n covers.
 * Otherwise f is 2. If an import is not slower than least, its time reveals nothing.
 * The duration of a longer one is revealed up to a factor of f. A refused import has no
 * size.
 *
 * Threads: pure.
 */
#ifndef SERVICE_INGEST_IMPORT_PADDING_H
#define SERVICE_INGEST_IMPORT_PADDING_H

#include <stdint.h>

#include "base/privacy_unit.h"

/* Bytes of stored matrix per second at which an import is shown to go. This is less
 * than half of what was measured for text with 16 rows a person, 87 MB a second on two
 * cores that were busy with builds, because the disk that syncs the file is slower
 * elsewhere. */
enum { IMPORT_PADDING_RATE = 32 << 20 };

/* The earliest second at which the end of an import of persons is shown. Two cores that
 * were busy with builds read 3,000,000 short rows in 4 to 8 s. */
enum { IMPORT_PADDING_PERSONS = 8 };

/* Returns the second after the import's begin, at least took + 1, at which its end is
 * shown.
 *   took  whole seconds that have passed since its begin
 *   size  of the matrix, bytes; 0 for a refused import */
uint64_t import_padding_end(uint64_t took, uint64_t size, enum privacy_unit unit);

#endif
