/*
 * rank_text.h - what the daemon and rank 0 of a job's processes say to each other, over rank
 * 0's standard input and output (docs/ranks.md 5).
 *
 *   daemon --> plan                                what is to be run
 *   rank 0 --> report                              the ranks are alike, no step was taken
 *   { daemon --> order: up to this step            they are authorised, durably
 *     rank 0 --> report                            it was reached }  ...
 *   daemon --> order: over
 *
 * A plan is a line "epsilond-rank VERSION BYTES" and so many bytes. Orders and reports are
 * lines of JSON, without the line's end here. An empty line from rank 0 says that it is alive. A report holds what was released and nothing
 * else of the records.
 *
 * Ownership: texts returned are to be freed. Threads: pure.
 */
#ifndef API_RANK_TEXT_H
#define API_RANK_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/file_seal.h"
#include "base/mechanism.h"
#include "base/status.h"
#include "engine/dp/algorithm.h"

/* Rank 0 says so often that it is alive, and the daemon ends a job whose ranks were silent for
 * so long: twelve lines are missed by more than a busy machine. */
enum { RANK_HEARTBEAT_S = 5, RANK_SILENCE_S = 60 };

/* --- the plan --- */

enum { RANK_PATH_SIZE = 4096, RANK_HEAD_SIZE = 64, RANK_PLAN_MAX = 1 << 30 };

struct rank_file {             /* which every rank finds under this path */
    char path[RANK_PATH_SIZE]; /* "": there is none */
    struct file_seal seal;
};

struct rank_plan {
    char *dataset, *request; /* texts of dataset_request.h and job_request.h, owned */
    uint64_t records;        /* units of the dataset, those held out too */
    double noise_multiplier;
    unsigned ranks, threads; /* threads: of each */
    unsigned patience_s;     /* a rank ends where no step does for so long */
    struct rank_file matrix, weights;
    char model
        [RANK_PATH_SIZE]; /* the daemon's file, into which rank 0 writes trainer_model
                                 * when it is told to */
};

/* Its bytes, without the head. */
char *rank_plan_render(const struct rank_plan *plan);
/*   ST_INVALID  not such a text
 * On ST_OK plan must be released with rank_plan_fini. */
enum status rank_plan_parse(struct rank_plan *plan, const char *text, size_t size,
                            struct error *error);
void rank_plan_fini(struct rank_plan *plan); /* a zeroed one is allowed */

void rank_head_render(char head[RANK_HEAD_SIZE],
                      size_t bytes); /* with the line's end */
/*   ST_INVALID  not such a line, or one of another version of the program */
enum status rank_head_parse(size_t *bytes, const char *line, struct error *error);

/* --- orders and reports --- */

enum { RANK_LINE_SIZE = 16384 }; /* of a report or an order, and its end */

struct rank_order {
    bool is_over;
    uint64_t until;   /* steps that may have been taken: durably authorised */
    bool wants_model; /* once they are, in the plan's file */
};
char *rank_order_render(const struct rank_order *order);
enum status rank_order_parse(struct rank_order *order, const char *line,
                             struct error *error);

struct rank_report {
    enum status failure; /* ST_OK: none. Then nothing else but detail stands */
    char detail[256];
    uint64_t step; /* steps that were taken */
    bool has_next; /* the plan does not say the next step's noise, but this does */
    struct mechanism_run next;
    size_t number_count; /* that the last step released beside the gradient, in order */
    double numbers[RELEASED_NUMBERS_MAX];
    bool has_model; /* the plan's file holds it, */
    uint8_t model_sha256[SHA256_SIZE];
    char noise
        [4096]; /* and this is the noise of its certificate (noise_render), or "" */
};
char *rank_report_render(const struct rank_report *report);
enum status rank_report_parse(struct rank_report *report, const char *line,
                              struct error *error);

#endif
