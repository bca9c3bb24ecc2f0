/*
 * sample_fixture.h - the data that the tests send: the digits of deploy/digits, small
 * made-up datasets that train in milliseconds, and files in each format; and the few
 * steps that most tests begin with.
 *
 * Ownership: the caller frees returned text and bytes.
 */
#ifndef TESTS_E2E_SAMPLE_FIXTURE_H
#define TESTS_E2E_SAMPLE_FIXTURE_H

#include <stdint.h>

#include "tests/expect.h"
#include "tests/e2e/client_fixture.h"

enum sample_part { SAMPLE_TRAIN, SAMPLE_TEST };

enum { SAMPLE_TRAIN_ROWS = 1438, SAMPLE_TEST_ROWS = 359 };

/* CSV of the digits: every fifth row belongs to the test part. */
char *sample_digits(enum sample_part part);

/* CSV of two numeric columns in [-1, 1] and a label, yes or no, that depends on them. A
 * different salt gives different content. */
char *sample_points(unsigned rows, unsigned salt);

/* Compresses bytes into a gzip file. */
uint8_t *sample_gzip(const void *bytes, size_t size, size_t *gzip_size);

/* Makes an IDX file of unsigned bytes; dimensions end with 0. */
uint8_t *sample_idx(const uint32_t *dimensions, const uint8_t *bytes, size_t *idx_size);

/* The two privacy members that most tests use. */
#define SAMPLE_PUBLIC          "'public'"
#define SAMPLE_BUDGET(epsilon) "{'epsilon':" #epsilon ",'delta':1e-5}"
/* Follows a budget of an epsilon above 10. */
#define SAMPLE_CONFIRMED ",'acknowledge':['epsilon_above_10']"

/* Declares, uploads and imports; the dataset is READY on return. */
void ready_digits(struct client *client, const char *id, enum sample_part part,
                  const char *privacy);
void ready_points(struct client *client, const char *id, unsigned rows, unsigned salt,
                  const char *privacy);

/* Declares points and uploads nothing. */
const struct reply *declare_points(struct client *client, const char *id,
                                   const char *privacy);

/* A job on points that takes very little of a budget and, with SAMPLE_ENDLESS steps,
 * outlasts any test. With SAMPLE_LONG steps its progress, shown in quarters, moves
 * every few seconds, and it outlasts a test that cancels it after two quarters. Under
 * the thread sanitizer a step takes some ten times as long, so such a job has a tenth
 * of the steps. */
enum { SAMPLE_ENDLESS = 10000000 };
#define SAMPLE_SHORTER (daemon_sanitizer() == SANITIZER_THREAD ? 10U : 1U)
#define SAMPLE_LONG    (400000 / SAMPLE_SHORTER)
#define SAMPLE_QUARTER (SAMPLE_LONG / 4)
#define SAMPLE_JOB                                                                     \
    "{'dataset':'%s','model':{'preset':'linear'},'algorithm':{'name':'dpsgd'},"        \
    "'batch_size':50,'steps':%d,'privacy':{'noise_multiplier':%g}}"

/* Creates the job and returns its id, which lives with the client. */
const char *submit(struct client *client, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Asks for the job to be cancelled; returns the answer, whose status must be 200. */
const struct reply *cancel(struct client *client, const char *job);

/* Returns the job once it is terminal. */
const struct reply *await_end(struct client *client, const char *job);
/* Returns the job once it has succeeded; any other end fails the test. */
const struct reply *await_success(struct client *client, const char *job);
/* Creates the job and waits for its success. */
const struct reply *train(struct client *client, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Returns the model that the job published. */
const struct reply *model_of(struct client *client, const struct reply *job);
/* Returns the job, of a private dataset, once some of its steps are authorised and
 * therefore run. The job must not end before. */
const struct reply *await_training(struct client *client, const char *job);
/* Returns the job once its step is at least this. The job must not end before. Shown
 * progress moves in whole quarters of the job's steps. */
const struct reply *await_step(struct client *client, const char *job, uint64_t step);

#endif
