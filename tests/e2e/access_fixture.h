/*
 * access_fixture.h - a daemon with keys: two projects with people and things of their own,
 * and a key of each role in the first. The command on the host makes the keys.
 */
#ifndef TESTS_E2E_ACCESS_FIXTURE_H
#define TESTS_E2E_ACCESS_FIXTURE_H

#include <stddef.h>

#include "base/principal.h"
#include "tests/e2e/client_fixture.h"
#include "tests/e2e/stage_fixture.h"

enum { KEY_SIZE = 64, ID_SIZE = 64 };

/* What there is of a project: a data owner's datasets, an analyst's job and model, and a
 * key of nobody that is used. */
struct project {
    const char *name, *dataset, *spare;
    char owner[KEY_SIZE], analyst[KEY_SIZE], spare_key[KEY_SIZE];
    char job[ID_SIZE], model[ID_SIZE], webhook[ID_SIZE], statistics[ID_SIZE],
        charge[ID_SIZE];
    char sweep[ID_SIZE]; /* whose only run is the job */
};

struct access_scene {
    struct stage *stage;
    struct project own, foreign;
    char keys[ROLE_COUNT][KEY_SIZE]; /* of project own, by role */
};
extern struct access_scene access_scene; /* of this program */

/* cmocka's setup of a group, whose end is stage_end. */
int access_begin(void **state);
/* The same with nothing in the projects but the own one's dataset. */
int access_begin_keys(void **state);

struct client *access_client(void);
/* The client shows this key from now on; "": none. */
void access_show(const char *key);

/* Runs `epsilond key WORDS`; out is the first line that it prints. */
int access_run_key(const char *words, char *out, size_t size);
void access_make_key(char key[KEY_SIZE], const char *owner, const char *role,
                     const char *project);
/* The id in the key, until the next call. */
const char *access_key_id(const char *key);

#endif
