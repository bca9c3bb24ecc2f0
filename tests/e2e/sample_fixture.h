/*
 * sample_fixture.h - the data that the tests send: the digits of deploy/digits, small
 * made-up sets that train in milliseconds, and files in each format; and the few steps
 * that most tests begin with.
 *
 * Ownership: text and bytes returned are to be freed.
 */
#ifndef TESTS_E2E_SAMPLE_FIXTURE_H
#define TESTS_E2E_SAMPLE_FIXTURE_H

#include <stdint.h>

#include "tests/expect.h"
#include "tests/e2e/client_fixture.h"

enum sample_part { SAMPLE_TRAIN, SAMPLE_TEST };

enum { SAMPLE_TRAIN_ROWS = 1438, SAMPLE_TEST_ROWS = 359 };

/* CSV of the digits: every fifth row is the test part. */
char *sample_digits(enum sample_part part);

/* CSV of two numeric columns in [-1, 1] and a label, yes or no, that depends on them.
 * Another salt, another content. */
char *sample_points(unsigned rows, unsigned salt);

/* bytes as a gzip file. */
uint8_t *sample_gzip(const void *bytes, size_t size, size_t *gzip_size);

/* An IDX file of unsigned bytes: dimensions are 0-ended. */
uint8_t *sample_idx(const uint32_t *dimensions, const uint8_t *bytes, size_t *idx_size);

/* The two privacy members that most tests use. */
#define SAMPLE_PUBLIC          "'public'"
#define SAMPLE_BUDGET(epsilon) "{'epsilon':" #epsilon ",'delta':1e-5}"

/* Declares, uploads and imports; the dataset is READY on return. */
void ready_digits(struct client *client, const char *id, enum sample_part part,
                  const char *privacy);
void ready_points(struct client *client, const char *id, unsigned rows, unsigned salt,
                  const char *privacy);

/* Declares points without uploading anything. */
const struct reply *declare_points(struct client *client, const char *id,
                                   const char *privacy);

/* A job on points that takes next to nothing of a budget and, with SAMPLE_ENDLESS
 * steps, outlasts any test. With SAMPLE_LONG steps it is one whose progress, a quarter at a
 * time, moves every few seconds; it outlasts a test that cancels it after two quarters. A
 * step takes some ten times as long where races are sought, and such a job a tenth of them. */
enum {
    SAMPLE_SHORTER = RACES_SOUGHT ? 10 : 1,
    SAMPLE_ENDLESS = 10000000,
    SAMPLE_LONG = 400000 / SAMPLE_SHORTER,
    SAMPLE_QUARTER = SAMPLE_LONG / 4
};
#define SAMPLE_JOB                                                                     \
    "{'dataset':'%s','model':{'preset':'linear'},'algorithm':{'name':'dpsgd'},"        \
    "'batch_size':50,'steps':%d,'privacy':{'noise_multiplier':%g}}"

/* Creates the job and returns its id, which lives with the client. */
const char *submit(struct client *client, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Asks for the job to be cancelled: the answer, which is 200. */
const struct reply *cancel(struct client *client, const char *job);

/* The job once it is terminal. */
const struct reply *await_end(struct client *client, const char *job);
/* The job once it has succeeded; another end fails the test. */
const struct reply *await_success(struct client *client, const char *job);
/* Creates the job and awaits its success. */
const struct reply *train(struct client *client, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The model that the job published. */
const struct reply *model_of(struct client *client, const struct reply *job);
/* The job, of a private dataset, once steps of it are authorised, and so run; it must not
 * end before. */
const struct reply *await_training(struct client *client, const char *job);
/* The job once its step is at least this; it must not end before. What is shown of it moves
 * in whole quarters of its steps. */
const struct reply *await_step(struct client *client, const char *job, uint64_t step);

#endif
