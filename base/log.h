/*
 * log.h - JSON lines on stderr, one event a line, one write a line.
 *
 *   {"ts":"2026-01-31T12:00:00Z","level":"info","event":"job_started","job":"job_..."}
 *
 * Invariants
 *   (1) No value derived from a private record is ever passed here (privacy.md P6):
 *       callers log identifiers, counts that are public, and the closed list of failure
 *       texts.
 *
 * Threads: any.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARNING, LOG_ERROR };

/* Lines below level are dropped. Set once, before the first thread. Default LOG_INFO. */
void log_level_set(enum log_level level);

/* Whether lines of level are written. Ask this where composing a line takes time. */
bool log_shows(enum log_level level);

/* Writes one event. After it come pairs of strings, name then value, ended by
 * (char *)NULL; values are escaped, names must be plain. */
void log_event(enum log_level level, const char *event, ...) __attribute__((sentinel));

/* Writes one line and exits with 75: for a ledger that cannot be written or read. */
void log_fatal(const char *event, const char *detail) __attribute__((noreturn));

#endif
