/*
 * chain_fixture.h - recomputes the hash of a COMMIT from its published fields: the
 * chain as accountant/audit/README.md documents it, in code that shares nothing with
 * the daemon's.
 */
#ifndef TESTS_E2E_CHAIN_FIXTURE_H
#define TESTS_E2E_CHAIN_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <jansson.h>

/* Returns whether the entry's hash is that of its published fields and this time, in
 * milliseconds. line is the entry as the daemon sent it, byte for byte; entry is the
 * same, parsed. */
bool chain_hash_fits(const char *line, const json_t *entry, uint64_t time_ms);

#endif
