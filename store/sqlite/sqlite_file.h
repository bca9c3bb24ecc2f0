/*
 * sqlite_file.h - opens the database file of a data directory: recognises it as ours,
 * sets it up, checks it, and moves its tables forward to this program's. Inside store
 * only.
 *
 * Threads: none of its own; what is opened is database.h's.
 */
#ifndef STORE_SQLITE_SQLITE_FILE_H
#define STORE_SQLITE_SQLITE_FILE_H

#include "store/sql/database.h"
#include "store/sqlite/page_check.h"

/* The statuses of these are those of the functions of the same names in store.h. */
/* beside: NULL, or gets the check of the pages, which has begun and must be awaited. It
 * is not set if the pages were checked before the return. */
enum status sqlite_file_open(struct database **out, struct page_check **beside,
                             const char *path, struct error *error);
enum status sqlite_file_open_read(struct database **out, const char *path,
                                  struct error *error);
enum status sqlite_file_copy(const char *from, const char *to, struct error *error);

#endif
