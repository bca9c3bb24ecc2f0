/*
 * log.h - JSON lines on stderr. Each event is one line, written by one call of write.
 *
 *   {"ts":"2026-01-31T12:00:00Z","level":"info","event":"job_started","job":"job_..."}
 *
 * Invariants
 *   (1) No value derived from a private record is ever passed here (privacy.md P6):
 *       callers log identifiers, counts that are public, and the closed list of
 *       failure texts.
 *
 * Threads: any.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARNING, LOG_ERROR };

/* Sets the level below which lines are dropped. Call it once, before the first thread
 * starts. The default is LOG_INFO. */
void log_level_set(enum log_level level);

/* Returns whether lines of level are written. Ask before composing a line that
 * takes time. */
bool log_shows(enum log_level level);

/* Writes one event. Pairs of strings follow, name then value, ended by (char *)NULL.
 * Values are escaped; names must need no escaping. */
void log_event(enum log_level level, const char *event, ...) __attribute__((sentinel));

/* Writes one line and exits with 75. For a ledger that cannot be written or read. */
void log_fatal(const char *event, const char *detail) __attribute__((noreturn));

#endif
