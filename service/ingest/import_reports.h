/*
 * import_reports.h - the reports of refused imports (import_report.h), until they are
 * answered to the key that sent the files.
 *
 *   none --awaited--> AWAITED --put--> WAITING --taken--> none
 *                        |                |
 *                        +----dropped-----+--> none
 *
 * Invariants
 *   (1) An import is awaited only by the key that sent all of its files and began it.
 *   (2) A report is taken at most once, and only by that key. Who lost the answer imports
 *       again: the files are still there.
 *   (3) Reports hold cells of records, so they are in memory only and are zeroed when
 *       they are taken, dropped or REPORT_KEPT_S old (privacy.md P9).
 *
 * Threads: any.
 */
#ifndef SERVICE_INGEST_IMPORT_REPORTS_H
#define SERVICE_INGEST_IMPORT_REPORTS_H

#include <stdbool.h>
#include <stdint.h>

struct import_report;
struct import_reports; /* opaque */
struct principal;

enum {
    REPORTS_MAX = 64,   /* kept at once; the oldest one makes room */
    REPORT_KEPT_S = 600 /* of one that no key fetches */
};

struct import_reports *import_reports_create(void);
void import_reports_destroy(struct import_reports *reports); /* NULL is allowed */

/* The principal, whose key sent all files of the dataset, begins its import. An earlier
 * report of the dataset is dropped. */
void import_reports_await(struct import_reports *reports, const char *dataset,
                          const struct principal *principal);

/* Drops the dataset's report, and awaits none. */
void import_reports_drop(struct import_reports *reports, const char *dataset);

/* Returns whether a report of this dataset is awaited. */
bool import_reports_awaits(struct import_reports *reports, const char *dataset);

/* Keeps the report of the dataset's refused import, which it takes. If none is awaited,
 * the report is destroyed. */
void import_reports_put(struct import_reports *reports, const char *dataset,
                        struct import_report *report_take);

/* Returns the dataset's report if it is for this principal, who must destroy it; NULL if
 * there is none for it. */
struct import_report *import_reports_take(struct import_reports *reports,
                                          const char *dataset,
                                          const struct principal *principal);

/* Drops reports that no key has fetched in time. */
void import_reports_expire(struct import_reports *reports, int64_t now_ns);

#endif
