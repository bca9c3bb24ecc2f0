/*
 * dataset_view.h - a dataset as answered: as declared, and what has become of it; and
 * the latter as stored. What its owner alone may read has an answer of its own.
 *
 * Invariants
 *   (1) The digest of private content is never shown: it would confirm a guess of a
 *       record exactly (P6). That of public content is.
 *   (2) Where units are persons "records" is their number, and "size" is null: how many
 *       rows there are is shown to nobody.
 *   (3) Whoever may read budgets learns that an import failed, and whether by a fault of
 *       this service; where and why is for the owner, in import_render alone.
 */
#ifndef API_DATASET_VIEW_H
#define API_DATASET_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "accountant/odometer.h"
#include "api/dataset_request.h"
#include "api/proposal.h"
#include "engine/data/readers/import.h"

struct dataset_view {
    const struct dataset_spec *spec;
    const struct caption *caption; /* NULL: none */
    const char *state;             /* CREATED IMPORTING READY FAILED DELETED */
    uint64_t records;              /* once READY, else 0: null */
    uint64_t size;                 /* of the matrix, bytes, once READY, else 0: null */
    const uint8_t *sha256;
    const struct epochs *epochs;   /* of its budget; NULL: public, it has none */
    struct import_failure failure; /* of the last import */
    const struct proposal *proposal;
    int64_t now_ms, create_ms, import_ms;
    const char *project, *created_by;     /* the owner's name; NULL is null */
    const struct dataset_id *evaluations; /* (evaluation_count) */
    size_t evaluation_count;
    const struct balance *balance; /* of a summary; NULL: public, it has none */
};
/* The members of the request, "display_name" and "tags" behind them, then "state","state_reason","records","size","unit","sha256",
 * "guarantee","epochs","evaluations","grant","create_time","import_time". "state_reason" is null, or
 * after a failed import what everybody may know of it: import_failed whatever was wrong
 * with the files or their content, internal or disk_full where this service failed. */
char *dataset_render(const struct dataset_view *view);

/* A line of a list: "id","display_name","tags","format","task","privacy","state","state_reason","records",
 * "size", "unit", the figures of its "budget" or null, "grant","create_time","import_time". */
char *dataset_summary_render(const struct dataset_view *view);

/* The last import, for the owner: {"dataset","state",
 *  "failure":null | {"code","detail","file","line","column"}}. */
char *import_render(const struct dataset_view *view);

struct upload_view { /* what is there of an uploaded file, for whoever sent it */
    const char *dataset, *file;
    bool is_whole;           /* it can be imported */
    bool is_begun;           /* a part of it, or of one that is to replace it */
    uint64_t offset, length; /* where is_begun */
};
/* {"dataset","file","complete","offset","length"}. "offset" is how much of it is there, and
 * "length" how much there will be, null before it is begun. Both are null of a file that
 * is complete: its sender has no use for its size, and nobody else may know it. */
char *upload_render(const struct upload_view *view);

struct
    import_act { /* who asked for an import that is under way; "": nobody has to be named */
    char key[PRINCIPAL_KEY_SIZE], via[16], address[46], request[65];
};

struct dataset_detail {
    uint64_t records, size;
    int64_t import_ms;
    char rows_sha256[SHA256_HEX_SIZE]; /* of the rows as uploaded; "": not known */
    /* Its units have indices in a secret order (privacy.md P1). False of public datasets, and
     * of those that an earlier version imported. */
    bool is_shuffled;
    struct import_failure failure;
    struct import_act act;    /* while it is IMPORTING */
    struct proposal proposal; /* that its grant waits for, or came from */
    struct proposal regrant;  /* the last of a further epoch; zeroed: there was none */
};
char *dataset_detail_render(const struct dataset_detail *detail);
/* A failure stored as one text, "reason", is read as import_failed with that text, and the
 * digest of the rows and "is_shuffled" may be absent: earlier versions wrote it so.
 *   ST_INVALID  not such a text */
enum status dataset_detail_parse(struct dataset_detail *detail, const char *text,
                                 struct error *error);

#endif
