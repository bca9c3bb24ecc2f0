/*
 * table_rows.h - the tables: each has a struct for a row, and functions that insert,
 * change and walk its rows. No meaning is added here: texts that are JSON are made and
 * read by api, curves by accountant.
 *
 * Ownership: pointers in a struct passed in are borrowed for the call; pointers in a
 * struct handed to a visitor live until it returns. A visitor that returns false stops
 * the walk. Every function may answer ST_IO, and has then poisoned the store.
 */
#ifndef STORE_TABLE_ROWS_H
#define STORE_TABLE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/id.h"
#include "base/status.h"
#include "store/store.h"

/* Tables whose rows are listed in the order in which they came. Of jobs, models and weights,
 * which may be deleted, that is the order of their numbers. */
enum numbered {
    NUMBERED_DATASET,
    NUMBERED_JOB,
    NUMBERED_MODEL,
    NUMBERED_WEIGHTS,
    NUMBERED_CHARGE,
    NUMBERED_ACCESS_KEY,
};

/* Draws the number of a job, a model or weights that tx inserts next, before it draws
 * another. It is greater than any before, and no other row has had it or will have it. */
enum status row_number_draw(struct store_tx *tx, enum numbered table, uint64_t *number,
                            struct error *error);
/* *number = that of the row of this id; 0: there is none. */
enum status row_number_find(struct store_tx *tx, enum numbered table, const char *id,
                            uint64_t *number, struct error *error);

struct dataset_row {
    struct dataset_id id;
    uint64_t version;      /* grows by 1 at every update */
    uint64_t replaces;     /* the version that an update was made of */
    const char *state;     /* CREATED IMPORTING READY FAILED DELETED */
    const char *spec;      /* the dataset as declared, JSON with its defaults */
    const char *detail;    /* what has become of it since, JSON */
    const uint8_t *sha256; /* (32) the stored matrix's; NULL before an import */
    int64_t create_ms;
    const char *project, *created_by; /* never change; the owner's name */
};

/*   ST_ALREADY_EXISTS  the id was used before, even if its dataset is deleted by now */
enum status dataset_row_insert(struct store_tx *tx, const struct dataset_row *row,
                               struct error *error);
/* Replaces state, detail, sha256 and version.
 *   ST_NOT_FOUND  there is no such id
 *   ST_CONFLICT   the row has another version than the update was made of */
enum status dataset_row_update(struct store_tx *tx, const struct dataset_row *row,
                               struct error *error);
/* Replaces spec too: the dataset is declared anew. The statuses are the same. */
enum status dataset_row_declare(struct store_tx *tx, const struct dataset_row *row,
                                struct error *error);
enum status dataset_rows_walk(struct store_tx *tx,
                              bool (*visit)(void *context,
                                            const struct dataset_row *row),
                              void *context, struct error *error);
/* Calls visit with the row of that id, if there is one. */
enum status dataset_row_find(struct store_tx *tx, const struct dataset_id *id,
                             bool (*visit)(void *context,
                                           const struct dataset_row *row),
                             void *context, struct error *error);

struct job_row {
    uint64_t number; /* by which they are walked; 0: the insertion draws it */
    struct job_id id;
    uint64_t version;  /* grows at every update */
    uint64_t replaces; /* the version that an update was made of */
    const char *state; /* QUEUED RUNNING CANCELLING SUCCEEDED FAILED CANCELLED */
    uint32_t attempt;
    const char *spec;   /* the request with every default written in, JSON */
    const char *detail; /* figures of its plan, progress, metrics, times, JSON */
    int64_t create_ms, update_ms;
    const char *created_by; /* never changes; the owner's name */
};

enum status job_row_insert(struct store_tx *tx, const struct job_row *row,
                           struct error *error);
/* Replaces state, attempt, detail, update_ms and version.
 *   ST_NOT_FOUND  there is no such id
 *   ST_CONFLICT   the row has another version than the update was made of */
enum status job_row_update(struct store_tx *tx, const struct job_row *row,
                           struct error *error);
/* Walks jobs in the order in which they were inserted. */
enum status job_rows_walk(struct store_tx *tx,
                          bool (*visit)(void *context, const struct job_row *row),
                          void *context, struct error *error);

/* Calls visit with the row of that id, if there is one. */
enum status job_row_find(struct store_tx *tx, const struct job_id *id,
                         bool (*visit)(void *context, const struct job_row *row),
                         void *context, struct error *error);

/* Deletes a job that has no model. Its ledger entries and its mark stay.
 *   ST_NOT_FOUND  there is no such id, or a model's row names it */
enum status job_row_delete(struct store_tx *tx, const struct job_id *id,
                           struct error *error);

struct claim_row { /* that a daemon of a shared store (server.h) runs a job */
    struct job_id job;
    uint64_t daemon;  /* store_daemon of it */
    uint64_t version; /* of the job's row */
    bool lost;        /* the daemon is fenced (lease.h): it runs the job no more */
};

/* Claims the job that is queued longest and that nobody has claimed or is claiming, for the
 * daemon. Its row stays locked until tx ends, in which the caller moves the job. Two that
 * claim at once take two jobs; *taken is false where there is none.
 *   ST_NOT_FOUND  there is no such daemon */
enum status claim_row_take(struct store_tx *tx, uint64_t daemon, struct job_id *job,
                           bool *taken, struct error *error);
/* The job has ended, in tx.
 *   ST_NOT_FOUND  nobody has claimed it */
enum status claim_row_end(struct store_tx *tx, const struct job_id *job,
                          struct error *error);
/* Walks what is claimed in the order in which the jobs were inserted. */
enum status claim_rows_walk(struct store_tx *tx,
                            bool (*visit)(void *context, const struct claim_row *row),
                            void *context, struct error *error);
/* *claimed tells whether a daemon has claimed the job, and *row then which. */
enum status claim_row_find(struct store_tx *tx, const struct job_id *job,
                           struct claim_row *row, bool *claimed, struct error *error);
/* Says how far the run of a job has come that the daemon has claimed. Nothing where it has not,
 * or not any more. */
enum status claim_row_say(struct store_tx *tx, uint64_t daemon, const struct job_id *job,
                          uint64_t step, uint64_t authorised, struct error *error);
struct claim_progress { /* what was said of a run */
    struct job_id job;
    uint64_t step, authorised;
};
/* Walks what was said of the runs of other daemons. */
enum status claim_rows_walk_said(struct store_tx *tx, uint64_t daemon,
                                 bool (*visit)(void *context,
                                               const struct claim_progress *said),
                                 void *context, struct error *error);
/* Walks the jobs that have begun and that no daemon runs any more: who has claimed them is
 * fenced, or they began where nobody claims. Oldest first. */
enum status claim_rows_walk_lost(struct store_tx *tx,
                                 bool (*visit)(void *context, const struct job_id *job),
                                 void *context, struct error *error);

enum held_kind { HELD_DATASET, HELD_SURVEY };

struct hold_row {    /* that a daemon of a shared store imports a dataset or measures one */
    uint64_t daemon; /* store_daemon of it; 0: none does */
    bool lost;       /* it is fenced */
};

/*   ST_ALREADY_EXISTS  a daemon holds it */
enum status hold_row_take(struct store_tx *tx, enum held_kind kind, const char *id,
                          uint64_t daemon, struct error *error);
/* It has ended, in tx; nothing where none holds it. */
enum status hold_row_end(struct store_tx *tx, enum held_kind kind, const char *id,
                         struct error *error);
enum status hold_row_find(struct store_tx *tx, enum held_kind kind, const char *id,
                          struct hold_row *row, struct error *error);
/* Walks the surveys that have not ended and that no daemon which is alive holds. */
enum status hold_rows_walk_lost(struct store_tx *tx,
                                bool (*visit)(void *context, const char *survey),
                                void *context, struct error *error);

struct model_row {
    struct model_id id;
    uint64_t number; /* as a job's */
    struct job_id job;
    uint8_t sha256[SHA256_SIZE]; /* the file's */
    uint64_t size;               /* the file's, bytes */
    const char *card;            /* certificate and description, JSON */
    int64_t create_ms;
};

enum status model_row_insert(struct store_tx *tx, const struct model_row *row,
                             struct error *error);
/*   ST_NOT_FOUND  there is no such id */
enum status model_row_delete(struct store_tx *tx, const struct model_id *id,
                             struct error *error);
enum status model_rows_walk(struct store_tx *tx,
                            bool (*visit)(void *context, const struct model_row *row),
                            void *context, struct error *error);
/* Calls visit with the row of that id, if there is one. */
enum status model_row_find(struct store_tx *tx, const struct model_id *id,
                           bool (*visit)(void *context, const struct model_row *row),
                           void *context, struct error *error);

struct weights_row { /* an uploaded file of public weights */
    struct file_id id;
    uint64_t number;                  /* as a job's */
    const char *project, *created_by; /* never change; the owner's name */
    const char *note;                 /* of whoever uploaded it: where it is from */
    uint8_t sha256[SHA256_SIZE];      /* the file's */
    uint64_t size;                    /* the file's, bytes */
    int64_t create_ms;
};

enum status weights_row_insert(struct store_tx *tx, const struct weights_row *row,
                               struct error *error);
/*   ST_NOT_FOUND  there is no such id */
enum status weights_row_delete(struct store_tx *tx, const struct file_id *id,
                               struct error *error);
/* Walks them in the order in which they were inserted. */
enum status weights_rows_walk(struct store_tx *tx,
                              bool (*visit)(void *context,
                                            const struct weights_row *row),
                              void *context, struct error *error);
/* Calls visit with the row of that id, if there is one. */
enum status weights_row_find(struct store_tx *tx, const struct file_id *id,
                             bool (*visit)(void *context,
                                           const struct weights_row *row),
                             void *context, struct error *error);

enum { BLOB_WRAPPED_SIZE = 60 };

struct blob_row { /* a blob that is kept in an object store: it is there with its row */
    const char *name;      /* as blob_file_name says it */
    const char *object;    /* its object's, drawn at random */
    uint64_t size;         /* bytes, before they were encrypted */
    const uint8_t *chunks; /* (chunk_count, 32) SHA-256 of each chunk of the object */
    size_t chunk_count;
    uint8_t wrapped[BLOB_WRAPPED_SIZE]; /* its key, under the operator's */
    int64_t create_ms;
};

/*   ST_ALREADY_EXISTS  the name is there, or another blob has this object */
enum status blob_row_insert(struct store_tx *tx, const struct blob_row *row,
                            struct error *error);
/* Puts the row in the place of the one of its name, if there is one.
 *   ST_ALREADY_EXISTS  another blob has this object */
enum status blob_row_set(struct store_tx *tx, const struct blob_row *row,
                         struct error *error);
/*   ST_NOT_FOUND  there is no such name */
enum status blob_row_delete(struct store_tx *tx, const char *name, struct error *error);
/* Calls visit with the row of that name, if there is one. */
enum status blob_row_find(struct store_tx *tx, const char *name,
                          bool (*visit)(void *context, const struct blob_row *row),
                          void *context, struct error *error);
/* Walks the names of all, in their order, and when each was put. */
enum status blob_names_walk(struct store_tx *tx,
                            bool (*visit)(void *context, const char *name,
                                          int64_t create_ms),
                            void *context, struct error *error);
/* *have = whether a blob has this object. */
enum status blob_rows_have_object(struct store_tx *tx, const char *object, bool *have,
                                  struct error *error);

enum captioned { CAPTIONED_DATASET, CAPTIONED_JOB, CAPTIONED_MODEL };

struct caption_row { /* what people call a thing; a thing without a row has no words */
    enum captioned kind;
    const char *id;
    const char *text; /* JSON */
};

/* Sets the caption of a thing, whether or not it had one. */
enum status caption_row_set(struct store_tx *tx, const struct caption_row *row,
                            struct error *error);
/* The thing has none from then on; it may have had none. */
enum status caption_row_delete(struct store_tx *tx, enum captioned kind, const char *id,
                               struct error *error);
enum status caption_rows_walk(struct store_tx *tx, enum captioned kind,
                              bool (*visit)(void *context,
                                            const struct caption_row *row),
                              void *context, struct error *error);
/* Calls visit with the row of that thing, if there is one. */
enum status caption_row_find(struct store_tx *tx, enum captioned kind, const char *id,
                             bool (*visit)(void *context,
                                           const struct caption_row *row),
                             void *context, struct error *error);

struct idempotency_name {        /* what a client calls a request, to send it twice */
    const char *project, *owner; /* whose request it is */
    const char *route;           /* "POST /v1/jobs" */
    const char *key;             /* the Idempotency-Key */
};

struct idempotency_row {
    struct idempotency_name name;
    uint8_t fingerprint[SHA256_SIZE]; /* method, path and canonical body */
    const char *location;             /* the Location answered */
    const char *body;                 /* the body answered; "": its thing is deleted */
    int64_t time_ms;
};

/*   ST_ALREADY_EXISTS  the name was used before */
enum status idempotency_row_insert(struct store_tx *tx,
                                   const struct idempotency_row *row,
                                   struct error *error);
/* Forgets the bodies that were answered with this location. Their names stay used. */
enum status idempotency_rows_empty(struct store_tx *tx, const char *location,
                                   struct error *error);
/* Calls visit with the row of that name, if there is one. */
enum status
idempotency_row_find(struct store_tx *tx, const struct idempotency_name *name,
                     bool (*visit)(void *context, const struct idempotency_row *row),
                     void *context, struct error *error);

struct charge_row { /* work that runs elsewhere, as a lease of a part of a budget */
    struct charge_id id;
    const char *dataset, *project, *created_by; /* never change */
    const char *spec;     /* what was declared, JSON; never changes */
    const char *state;    /* OPEN SETTLED LAPSED */
    const char *figures;  /* what it costs, JSON */
    uint64_t blocks;      /* granted so far */
    const char *process;  /* to which the newest was; "" before the first */
    int64_t lease_end_ms; /* when it ends by itself, a whole second */
    int64_t end_ms;       /* when it ended; 0 while it is OPEN */
    int64_t create_ms;
};

enum status charge_row_insert(struct store_tx *tx, const struct charge_row *row,
                              struct error *error);
/* Replaces state, figures, blocks, process, lease_end_ms and end_ms. Triggers refuse fewer
 * blocks and any change of one that has ended.
 *   ST_NOT_FOUND  there is no such id
 *   ST_CORRUPT    a trigger refused it */
enum status charge_row_update(struct store_tx *tx, const struct charge_row *row,
                              struct error *error);
/* Walks charges in the order in which they were inserted. */
enum status charge_rows_walk(struct store_tx *tx,
                             bool (*visit)(void *context, const struct charge_row *row),
                             void *context, struct error *error);
/* Calls visit with the row of that id, if there is one. */
enum status charge_row_find(struct store_tx *tx, const struct charge_id *id,
                            bool (*visit)(void *context, const struct charge_row *row),
                            void *context, struct error *error);

struct webhook_row {
    struct webhook_id id;
    const char *project, *owner; /* of who made it */
    bool everywhere;             /* it is told of the things of every project */
    const char *url;
    const char *events;        /* their names, a blank between two */
    const char *dataset;       /* "": of any */
    const char *state;         /* ACTIVE DISABLED */
    const char *reason;        /* why it is DISABLED; "" */
    const uint8_t *secret;     /* (32) what deliveries are signed with */
    const uint8_t *old_secret; /* (32) the one before, or NULL */
    int64_t old_until_ms;      /* until then it signs too; 0 */
    int64_t failing_ms;        /* since then no attempt has succeeded; 0: none fails */
    int64_t create_ms;
};

/* Inserts the row, or replaces state, reason, secrets and failing_ms of the one with its
 * id. */
enum status webhook_row_put(struct store_tx *tx, const struct webhook_row *row,
                            struct error *error);
/* Deletes it with its deliveries. */
enum status webhook_row_delete(struct store_tx *tx, const struct webhook_id *id,
                               struct error *error);
enum status webhook_rows_walk(struct store_tx *tx,
                              bool (*visit)(void *context,
                                            const struct webhook_row *row),
                              void *context, struct error *error);
/* Calls visit with the row of that id, if there is one. */
enum status webhook_row_find(struct store_tx *tx, const struct webhook_id *id,
                             bool (*visit)(void *context,
                                           const struct webhook_row *row),
                             void *context, struct error *error);

struct delivery_row { /* something that a webhook is to be told */
    struct delivery_id id;
    struct webhook_id webhook;
    const char *type;        /* of the event */
    const char *body;        /* as it is sent, at every attempt */
    const char *traceparent; /* that is sent with it; "": none */
    const char *state;       /* WAITING DELIVERED FAILED */
    const char *result;      /* of the last attempt; "": there was none */
    unsigned http_status;    /* that it was answered with; 0: none */
    unsigned attempts;       /* so far */
    int64_t next_ms;         /* when the next one is due, while it is WAITING */
    int64_t create_ms, update_ms;
};

/*   ST_NOT_FOUND  there is no such webhook */
enum status delivery_row_insert(struct store_tx *tx, const struct delivery_row *row,
                                struct error *error);
/* Replaces state, result, http_status, attempts, next_ms and update_ms.
 *   ST_NOT_FOUND  there is no such id */
enum status delivery_row_update(struct store_tx *tx, const struct delivery_row *row,
                                struct error *error);
/* Gives that state to all deliveries of the webhook that wait. */
enum status delivery_rows_end(struct store_tx *tx, const struct webhook_id *webhook,
                              const char *state, struct error *error);
/* Deletes those of the webhook that do not wait and are not among its newest. */
enum status delivery_rows_trim(struct store_tx *tx, const struct webhook_id *webhook,
                               uint64_t kept, struct error *error);
/* How many deliveries of the webhook wait. */
enum status delivery_rows_waiting(struct store_tx *tx, const struct webhook_id *webhook,
                                  uint64_t *count, struct error *error);
/* Calls visit with the delivery of the webhook that is due first, if one waits. */
enum status delivery_row_next(struct store_tx *tx, const struct webhook_id *webhook,
                              bool (*visit)(void *context,
                                            const struct delivery_row *row),
                              void *context, struct error *error);
/* Walks the newest deliveries of the webhook, the newest first. */
enum status
delivery_rows_walk(struct store_tx *tx, const struct webhook_id *webhook, uint64_t most,
                   bool (*visit)(void *context, const struct delivery_row *row),
                   void *context, struct error *error);
struct survey_row {  /* statistics that were asked for together */
    uint64_t number; /* by which they are listed; given by the insertion */
    struct survey_id id;
    const char *dataset;
    const char *state;     /* RUNNING SUCCEEDED FAILED */
    const char *reason;    /* why it FAILED; "" */
    uint64_t ledger_seq;   /* of its RESERVE entry */
    const char *spec;      /* what was asked, JSON */
    const char *guarantee; /* what it costs, JSON */
    const char *answers;   /* JSON; "" unless it SUCCEEDED, and in lists */
    int64_t create_ms, end_ms;
    const char *created_by; /* the owner's name */
};

/*   ST_NOT_FOUND  dataset has no row */
enum status survey_row_insert(struct store_tx *tx, const struct survey_row *row,
                              struct error *error);
/* Replaces state, reason, answers and end_ms.
 *   ST_NOT_FOUND  there is no such id
 *   ST_CORRUPT    it is not RUNNING any more; a trigger refused */
enum status survey_row_end(struct store_tx *tx, const struct survey_row *row,
                           struct error *error);
/* Calls visit with the row of that id, if there is one. */
enum status survey_row_find(struct store_tx *tx, const char *id,
                            bool (*visit)(void *context, const struct survey_row *row),
                            void *context, struct error *error);

struct survey_range {       /* which rows are walked; {0}: all, oldest first */
    const char *dataset;    /* the dataset's alone; NULL: every dataset's */
    uint64_t after, before; /* by number, as in struct ledger_range */
    bool newest_first;
};

/* Walks rows in the order of their numbers, without their answers. */
enum status survey_rows_walk(struct store_tx *tx, const struct survey_range *range,
                             bool (*visit)(void *context, const struct survey_row *row),
                             void *context, struct error *error);

struct access_key_row { /* who may come in by the secret of this digest (api/roles.h) */
    const char *id;
    uint8_t sha256[SHA256_SIZE]; /* of the secret */
    const char *owner, *project, *role;
    const char *scopes; /* beside the role's, a blank between them */
    const char *policy; /* JSON */
    int64_t create_ms;
    int64_t expire_ms; /* it only ever comes nearer */
    int64_t revoke_ms; /* 0: it is not revoked */
    int64_t used_day;  /* the last, counted from 1970-01-01; 0: it never was */
};

/*   ST_ALREADY_EXISTS  the id was used before: a row is never deleted */
enum status access_key_row_insert(struct store_tx *tx, const struct access_key_row *row,
                                  struct error *error);
/* Replaces policy, expire_ms, revoke_ms and used_day.
 *   ST_NOT_FOUND  there is no such id
 *   ST_CORRUPT    it would last longer, or not be revoked any more; a trigger refused */
enum status access_key_row_update(struct store_tx *tx, const struct access_key_row *row,
                                  struct error *error);
/* Walks keys in the order in which they were inserted. */
enum status access_key_rows_walk(struct store_tx *tx,
                                 bool (*visit)(void *context,
                                               const struct access_key_row *row),
                                 void *context, struct error *error);
/* Calls visit with the row of that id, if there is one. */
enum status access_key_row_find(struct store_tx *tx, const char *id,
                                bool (*visit)(void *context,
                                              const struct access_key_row *row),
                                void *context, struct error *error);

enum { LOGIN_ID_SIZE = SHA256_HEX_SIZE };

struct login_row { /* a browser that has shown a key */
    const char *id;  /* the SHA-256 of its cookie, in hexadecimal */
    const char *key; /* the id of the key */
    int64_t begin_ms, used_ms;
};

/*   ST_NOT_FOUND  there is no such key */
enum status login_row_insert(struct store_tx *tx, const struct login_row *row,
                             struct error *error);
/* It was used then, if it is there; a time that is not later than its own changes nothing. */
enum status login_row_use(struct store_tx *tx, const char *id, int64_t used_ms,
                          struct error *error);
/* It is there no more, and need not have been. */
enum status login_row_delete(struct store_tx *tx, const char *id, struct error *error);
enum status login_rows_walk(struct store_tx *tx,
                            bool (*visit)(void *context, const struct login_row *row),
                            void *context, struct error *error);
/* Calls visit with the row of that id, if there is one. */
enum status login_row_find(struct store_tx *tx, const char *id,
                           bool (*visit)(void *context, const struct login_row *row),
                           void *context, struct error *error);

struct policy_proposal_row { /* a wider policy of a key, that waits for a second person */
    const char *id;          /* the key's */
    const char *policy;      /* JSON */
    const char *proposed_by;
    int64_t propose_ms;
};

/* Puts the row in the place of the key's before, if there was one.
 *   ST_NOT_FOUND  there is no such key */
enum status policy_proposal_row_set(struct store_tx *tx,
                                    const struct policy_proposal_row *row,
                                    struct error *error);
/* It is there no more, and need not have been. */
enum status policy_proposal_row_delete(struct store_tx *tx, const char *id,
                                       struct error *error);
enum status policy_proposal_rows_walk(
    struct store_tx *tx,
    bool (*visit)(void *context, const struct policy_proposal_row *row), void *context,
    struct error *error);
/* Calls visit with the row of that key, if there is one. */
enum status policy_proposal_row_find(
    struct store_tx *tx, const char *id,
    bool (*visit)(void *context, const struct policy_proposal_row *row), void *context,
    struct error *error);

struct ledger_row {
    uint64_t seq;         /* dense, from 1; behind the newest SEAL */
    const char *dataset;  /* "" for SEAL */
    uint64_t epoch;       /* the number of the dataset's grant, or of the SEAL; from 1 */
    const char *job;      /* "" for GRANT and SEAL */
    const char *kind;     /* GRANT RESERVE COMMIT SEAL */
    const uint8_t *curve; /* raw little-endian doubles: capacity, held or committed; the
                           * digest of a SEAL's sums */
    size_t curve_size;    /* bytes */
    const uint8_t *released; /* (curve_size) of a COMMIT, else NULL */
    const char *meta;        /* canonical JSON: mechanism, weights, steps, model hash */
    const char *actor;
    int64_t time_ms;
    uint8_t prev[SHA256_SIZE], hash[SHA256_SIZE];
};

/* Appends an entry. Triggers refuse a gap in seq and a prev that is not the last hash.
 *   ST_ALREADY_EXISTS  this job has an entry of this kind in this epoch
 *   ST_NOT_FOUND       dataset has no row
 *   ST_CORRUPT         seq or prev does not continue the chain */
enum status ledger_row_insert(struct store_tx *tx, const struct ledger_row *row,
                              struct error *error);

struct ledger_range {    /* which rows are walked; {0}: all */
    const char *dataset; /* the dataset's alone; NULL: every dataset's */
    uint64_t after;      /* those with a greater seq */
    uint64_t before;     /* and a smaller one; 0: however great it is */
    bool newest_first;   /* else oldest first */
};

/* How many entries a dataset has with a seq greater than after. */
enum status ledger_rows_count(struct store_tx *tx, const char *dataset, uint64_t after,
                              uint64_t *count, struct error *error);

struct ledger_extent { /* how much of the ledger there is */
    uint64_t entries, freezes;
};
enum status ledger_rows_extent(struct store_tx *tx, struct ledger_extent *extent,
                               struct error *error);

/* Walks entries in the order of seq. */
enum status ledger_rows_walk(struct store_tx *tx, const struct ledger_range *range,
                             bool (*visit)(void *context, const struct ledger_row *row),
                             void *context, struct error *error);

/* Calls visit with the newest SEAL, if there is one. */
enum status ledger_row_seal(struct store_tx *tx,
                            bool (*visit)(void *context, const struct ledger_row *row),
                            void *context, struct error *error);

/* Sets the mark of job: how many of its steps have been authorised. It only grows.
 *   ST_CORRUPT  it would not grow; a trigger has refused it */
enum status mark_row_raise(struct store_tx *tx, const char *job, uint64_t authorised,
                           struct error *error);
enum status mark_rows_walk(struct store_tx *tx,
                           bool (*visit)(void *context, const char *job,
                                         uint64_t authorised),
                           void *context, struct error *error);
/* The same of the jobs alone that entries behind after are of. */
enum status mark_rows_walk_after(struct store_tx *tx, uint64_t after,
                                 bool (*visit)(void *context, const char *job,
                                               uint64_t authorised),
                                 void *context, struct error *error);

/* *authorised = the mark of job, or 0 where it has none. */
enum status mark_row_find(struct store_tx *tx, const char *job, uint64_t *authorised,
                          struct error *error);

struct freeze_row { /* an epoch that a restored backup has closed */
    const char *dataset;
    uint64_t epoch;
    uint64_t seq;              /* the head that was found elsewhere, */
    uint8_t hash[SHA256_SIZE]; /* and which the database does not contain */
    int64_t time_ms;
};

/*   ST_ALREADY_EXISTS  the epoch is frozen
 *   ST_NOT_FOUND       dataset has no row */
enum status freeze_row_insert(struct store_tx *tx, const struct freeze_row *row,
                              struct error *error);
enum status freeze_rows_walk(struct store_tx *tx,
                             bool (*visit)(void *context, const struct freeze_row *row),
                             void *context, struct error *error);

struct audit_row {                     /* an act, or that it was refused */
    uint64_t seq;                      /* dense, from 1 */
    int64_t second;                    /* of the wall clock */
    const char *actor, *key, *project; /* who; "" where there is none */
    const char *via;             /* "local", "bearer", "session", "proxy", "cli" */
    const char *address;         /* of the client; "" where it is not kept */
    const char *action, *object; /* "dataset.create", "mnist" */
    const char *result, *code;   /* "ok", "denied" or "error"; why, or "" */
    const char *request;         /* its X-Request-Id, or "" */
    const char *detail;          /* JSON */
    uint8_t prev[SHA256_SIZE], hash[SHA256_SIZE];
};

/* Appends a row. Triggers refuse a gap in seq and a prev that is not the last hash.
 *   ST_CORRUPT  seq or prev does not continue the chain */
enum status audit_row_insert(struct store_tx *tx, const struct audit_row *row,
                             struct error *error);

struct audit_head { /* the newest row; zeros where there is none */
    uint64_t seq;
    uint8_t hash[SHA256_SIZE];
};

enum status audit_rows_head(struct store_tx *tx, struct audit_head *head,
                            struct error *error);

struct audit_range {                     /* which rows are walked; {0}: all */
    const char *actor, *object, *action; /* those of this alone; NULL: any */
    const char *result;                  /* "ok", "denied" or "error"; NULL: any */
    uint64_t after, before;              /* as in struct ledger_range */
    bool newest_first;                   /* else oldest first */
};

/* Walks rows in the order of seq. */
enum status audit_rows_walk(struct store_tx *tx, const struct audit_range *range,
                            bool (*visit)(void *context, const struct audit_row *row),
                            void *context, struct error *error);

/* --- the database itself --- */

enum { MIGRATION_IDENTITY_SIZE = 40, MIGRATION_PLACE_SIZE = 256 };

enum migration_state {
    MIGRATION_HERE,     /* the database is in use, or may be */
    MIGRATION_ARRIVING, /* it is being filled from another */
    MIGRATION_LEFT,     /* another has taken its place */
};

struct migration_row {                      /* there is one */
    char identity[MIGRATION_IDENTITY_SIZE]; /* drawn when the tables were made */
    enum migration_state state;
    char
        other[MIGRATION_IDENTITY_SIZE]; /* the one that it comes from, or has gone to */
    char place[MIGRATION_PLACE_SIZE];   /* what people call that: a folder, a URL */
};

/*   ST_CORRUPT  the row is not there, or is none of this program's */
enum status migration_row_read(struct store_tx *tx, struct migration_row *row,
                               struct error *error);
/* Replaces all but the identity. */
enum status migration_row_update(struct store_tx *tx, const struct migration_row *row,
                                 struct error *error);

#endif
