/*
 * sqlite_file.h - the file of a data directory, whole: found to be ours, set up, checked,
 * and brought forward to this program's tables. Inside store only.
 *
 * Threads: none of its own; what is opened is database.h's.
 */
#ifndef STORE_SQLITE_FILE_H
#define STORE_SQLITE_FILE_H

#include "store/database.h"
#include "store/page_check.h"

/* The statuses of these are those of the functions of their names in store.h. */
/* beside: NULL, or where the check of the pages goes that was begun but not awaited; it is
 * left as it is where they were checked. */
enum status sqlite_file_open(struct database **out, struct page_check **beside,
                             const char *path, struct error *error);
enum status sqlite_file_open_read(struct database **out, const char *path,
                                  struct error *error);
enum status sqlite_file_copy(const char *from, const char *to, struct error *error);

#endif
