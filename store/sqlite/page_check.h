/*
 * page_check.h - checks the pages of a database file on a thread and a connection of
 * its own while the file is read elsewhere. Inside store only.
 *
 * Threads: one of its own; the creator calls both functions.
 */
#ifndef STORE_SQLITE_PAGE_CHECK_H
#define STORE_SQLITE_PAGE_CHECK_H

#include "store/sql/database.h"

/* Checks that every page and index is as SQLite left it.
 *   ST_CORRUPT  one is not
 *   ST_IO       the file cannot be read */
enum status page_check_run(struct database *database, struct error *error);

struct page_check; /* opaque */

/* Begins to check the file at path, which stays open elsewhere. */
struct page_check *page_check_create(const char *path);
/* Waits for the end of the check and returns its status, which is that of
 * page_check_run; frees it. NULL is allowed, and is ST_OK. */
enum status page_check_end(struct page_check *check, struct error *error);

#endif
