/*
 * approval_fixture.h - a daemon with access keys, whose people propose grants and
 * decide them: ana proposes, bob decides, carl trains, and eve belongs to another
 * project. Ana has an officer's key in addition to her own.
 */
#ifndef TESTS_E2E_APPROVAL_FIXTURE_H
#define TESTS_E2E_APPROVAL_FIXTURE_H

#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

enum { KEY_SIZE = 64 };

struct approval_scene {
    struct stage *stage;
    char ana[KEY_SIZE], ana_officer[KEY_SIZE], bob[KEY_SIZE], carl[KEY_SIZE],
        eve[KEY_SIZE];
};
extern struct approval_scene approval_scene; /* one in each program */

/* cmocka's setup of a group; its teardown is stage_end. */
int approval_begin(void **state);

/* Makes a key on the host; words are the arguments of `epsilond key create`. */
void approval_make_key(char key[KEY_SIZE], const char *words);

/* From now on the client sends this key. */
struct client *approval_as(const char *key);

/* The body of a declaration, with the id and the member privacy left to fill in. */
#define DECLARATION                                                                    \
    "{'id':'%s','format':'csv','task':'classification','classes':2,'columns':"         \
    "[{'name':'x1','kind':'numeric','range':[-1,1]},{'name':'x2','kind':'numeric',"    \
    "'range':[-1,1]},{'name':'y','kind':'label','values':['no','yes']}],"              \
    "'privacy':%s}"

/* Declares the dataset as ana and uploads its file; returns the id of its grant. */
const char *approval_propose(const char *id, const char *privacy, unsigned salt);

/* Approves or rejects the grant. */
const struct reply *approval_decide(const char *key, const char *verb,
                                    const char *grant);

/* Makes the daemon find that its database is older than the head kept elsewhere, which
 * freezes every budget: puts an old database back, after a job of carl's on the
 * dataset. */
void approval_freeze(const char *dataset);

#endif
