/*
 * statistics_rows.h - requested statistics and evaluations of models, and their
 * answers; a row ends once.
 * Ownership, visitors and ST_IO are as in table_rows.h.
 */
#ifndef STORE_ROWS_STATISTICS_ROWS_H
#define STORE_ROWS_STATISTICS_ROWS_H

#include "store/rows/table_rows.h"

struct statistics_row { /* statistics that were requested together, or an evaluation */
    uint64_t number;    /* their order in lists; drawn by the insertion */
    struct survey_id id;
    const char *dataset;
    const char *state;     /* RUNNING SUCCEEDED FAILED */
    const char *reason;    /* why it FAILED; else "" */
    uint64_t ledger_seq;   /* of its RESERVE entry; 0: it costs nothing */
    const char *spec;      /* the request, JSON */
    const char *guarantee; /* its cost, JSON; "": it costs nothing */
    const char *answers;   /* JSON; "" unless it SUCCEEDED, and in lists */
    int64_t create_ms, end_ms;
    const char *created_by; /* the owner's name */
};

/*   ST_NOT_FOUND  dataset has no row */
enum status statistics_row_insert(struct store_tx *tx, const struct statistics_row *row,
                                  struct error *error);
/* Replaces state, reason, answers and end_ms.
 *   ST_NOT_FOUND  there is no such id
 *   ST_CORRUPT    it is no longer RUNNING; a trigger refused */
enum status statistics_row_end(struct store_tx *tx, const struct statistics_row *row,
                               struct error *error);
/* Calls visit with the row of that id, if there is one. */
enum status statistics_row_find(struct store_tx *tx, const char *id,
                                bool (*visit)(void *context,
                                              const struct statistics_row *row),
                                void *context, struct error *error);

enum survey_kind { SURVEY_ANY, SURVEY_STATISTICS, SURVEY_EVALUATION };

struct survey_range { /* which rows are walked; {0}: all, oldest first */
    enum survey_kind kind;
    const char *dataset;    /* of this dataset only; NULL: of every dataset */
    uint64_t after, before; /* by number, as in struct ledger_range */
    bool newest_first;
};

/* Walks rows in the order of their numbers, without their answers. */
enum status statistics_rows_walk(struct store_tx *tx, const struct survey_range *range,
                                 bool (*visit)(void *context,
                                               const struct statistics_row *row),
                                 void *context, struct error *error);

#endif
