/*
 * rank_text.h - the protocol between the daemon and rank 0 of a job's processes, over
 * rank 0's standard input and output (docs/ranks.md 5).
 *
 *   daemon --> plan                                the run's plan
 *   rank 0 --> report                              the ranks agree, no step was taken
 *   { daemon --> order: up to this step            these steps are authorised, durably
 *     rank 0 --> report                            that step was reached }  ...
 *   daemon --> order: over
 *
 * A plan is a line "epsilond-rank VERSION BYTES" followed by that number of bytes.
 * Orders and reports are lines of JSON; the functions here leave out the newline. An
 * empty line from rank 0 shows that it is alive. A report contains what was released
 * and nothing else about the records.
 *
 * Ownership: the caller frees returned texts. Threads: pure.
 */
#ifndef API_REQUESTS_RANK_TEXT_H
#define API_REQUESTS_RANK_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/file_checksum.h"
#include "base/mechanism.h"
#include "base/status.h"
#include "engine/dp/algorithm.h"

/* The interval at which rank 0 shows that it is alive, and the silence after which
 * the daemon ends a job: when twelve lines are missing, the reason is not just a
 * busy machine. */
enum { RANK_HEARTBEAT_S = 5, RANK_SILENCE_S = 60 };

/* --- the plan --- */

enum { RANK_PATH_SIZE = 4096, RANK_HEAD_SIZE = 64, RANK_PLAN_MAX = 1 << 30 };

struct rank_file {             /* a file that every rank finds under this path */
    char path[RANK_PATH_SIZE]; /* "": there is none */
    struct file_checksum seal;
};

struct rank_plan {
    char *dataset, *request; /* texts of dataset_request.h and job_request.h, owned */
    uint64_t records;        /* units of the dataset, including held-out ones */
    double noise_multiplier;
    unsigned ranks, threads; /* threads: of each rank */
    unsigned patience_s;     /* a rank ends if no step ends within this time */
    struct rank_file matrix, weights;
    struct rank_file body; /* the file of the body of these weights, if it is another */
    /* the daemon's file, into which rank 0 writes trainer_model when it is asked to */
    char model[RANK_PATH_SIZE];
};

/* Renders the plan's bytes, without the head. */
char *rank_plan_render(const struct rank_plan *plan);
/* Parses what rank_plan_render made.
 *   ST_INVALID  not such a text
 * On ST_OK plan must be released with rank_plan_fini. */
enum status rank_plan_parse(struct rank_plan *plan, const char *text, size_t size,
                            struct error *error);
void rank_plan_fini(struct rank_plan *plan); /* a zeroed one is allowed */

void rank_head_render(char head[RANK_HEAD_SIZE],
                      size_t bytes); /* including the newline */
/* Parses a head, which is one line.
 *   ST_INVALID  not such a line, or one from another version of the program */
enum status rank_head_parse(size_t *bytes, const char *line, struct error *error);

/* --- orders and reports --- */

enum { RANK_LINE_SIZE = 16384 }; /* a report or an order, with terminator */

struct rank_order {
    bool is_over;
    uint64_t until;   /* the steps up to here may be taken: durably authorised */
    bool wants_model; /* after these steps, write it to the plan's file */
};
char *rank_order_render(const struct rank_order *order);
enum status rank_order_parse(struct rank_order *order, const char *line,
                             struct error *error);

struct rank_report {
    enum status failure; /* ST_OK: none. Otherwise only detail is set */
    char detail[256];
    uint64_t step; /* steps that were taken */
    bool has_next; /* next is set: the plan does not give the next step's noise */
    struct mechanism_run next;
    size_t number_count; /* released by the last step besides the gradient, in order */
    double numbers[RELEASED_NUMBERS_MAX];
    bool has_model; /* the plan's file contains it, */
    uint8_t model_sha256[SHA256_SIZE];
    /* and this is the noise in its certificate (noise_render), or "" */
    char noise[4096];
};
char *rank_report_render(const struct rank_report *report);
enum status rank_report_parse(struct rank_report *report, const char *line,
                              struct error *error);

#endif
