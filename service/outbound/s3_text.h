/*
 * s3_text.h - reads a few elements by name from the XML in a server's answer. The XML
 * may be malformed; nothing outside the text is read.
 *
 * Threads: pure.
 */
#ifndef SERVICE_OUTBOUND_S3_TEXT_H
#define SERVICE_OUTBOUND_S3_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sets value to the content of the first element of that name from at on, with its five
 * entities decoded, and *behind to what comes after it. False if there is none, or it
 * does not fit. */
bool s3_text_element(const char *at, const char *name, char *value, size_t size,
                     const char **behind);

/* Reads a time like 2026-01-31T12:00:00.000Z as seconds since 1970; -1: it is no such
 * time. */
int64_t s3_text_time(const char *text);

#endif
