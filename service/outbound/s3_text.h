/*
 * s3_text.h - what is read of the XML that a server of S3 answers: a few elements by name. It
 * is not believed to be well-formed, and nothing outside the text is read.
 *
 * Threads: pure.
 */
#ifndef SERVICE_OUTBOUND_S3_TEXT_H
#define SERVICE_OUTBOUND_S3_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* value = what stands in the first element of that name from at on, its five entities
 * decoded; *behind = what comes after it. False where there is none, or it does not fit. */
bool s3_text_element(const char *at, const char *name, char *value, size_t size,
                     const char **behind);

/* The seconds since 1970 of 2026-01-31T12:00:00.000Z; -1: it is no such time. */
int64_t s3_text_time(const char *text);

#endif
