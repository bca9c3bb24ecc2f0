/*
 * key_fixture.h - access keys for the daemon, made on its host by `epsilond key
 * create`.
 */
#ifndef TESTS_E2E_KEY_FIXTURE_H
#define TESTS_E2E_KEY_FIXTURE_H

#include "tests/e2e/daemon_fixture.h"

enum { KEY_SIZE = 96 };

/* Makes a key in the daemon's directory. The daemon must not be running. */
void key_make(struct daemon *daemon, const char *owner, const char *role,
              const char *project, char key[KEY_SIZE]);

struct key_header {
    char text[KEY_SIZE + 32];
};

/* "Authorization: Bearer KEY" */
struct key_header key_header(const char *key);

#endif
