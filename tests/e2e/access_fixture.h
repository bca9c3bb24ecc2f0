/*
 * access_fixture.h - a daemon with access keys: two projects with their own people and
 * resources, and a key of each role in the first project. `epsilond key` on the host
 * makes the keys.
 */
#ifndef TESTS_E2E_ACCESS_FIXTURE_H
#define TESTS_E2E_ACCESS_FIXTURE_H

#include <stddef.h>

#include "base/principal.h"
#include "tests/e2e/client_fixture.h"
#include "tests/e2e/stage_fixture.h"

enum { KEY_SIZE = 64, ID_SIZE = 64 };

/* The resources of a project: a data owner's datasets, of which open is public; an
 * analyst's job and model; and a key that is never used. */
struct project {
    const char *name, *dataset, *spare, *open;
    char owner[KEY_SIZE], analyst[KEY_SIZE], spare_key[KEY_SIZE];
    char job[ID_SIZE], model[ID_SIZE], webhook[ID_SIZE], statistics[ID_SIZE],
        charge[ID_SIZE], evaluation[ID_SIZE];
    char sweep[ID_SIZE]; /* its only run is the job */
};

struct access_scene {
    struct stage *stage;
    struct project own, foreign;
    char keys[ROLE_COUNT][KEY_SIZE]; /* in project own, by role */
};
extern struct access_scene access_scene; /* one in each program */

/* cmocka's setup of a group; its teardown is stage_end. */
int access_begin(void **state);
/* The same, but the projects hold nothing except the dataset of the own project. */
int access_begin_keys(void **state);

struct client *access_client(void);
/* From now on the client sends this key; "": none. */
void access_show(const char *key);

/* Runs `epsilond key WORDS`; out is the first line that it prints. */
int access_run_key(const char *words, char *out, size_t size);
void access_make_key(char key[KEY_SIZE], const char *owner, const char *role,
                     const char *project);
/* Returns the id inside the key, valid until the next call. */
const char *access_key_id(const char *key);

#endif
