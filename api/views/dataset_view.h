/*
 * dataset_view.h - a dataset in API responses: its declaration and its current state.
 * The state is also what is stored. Details that only its owner may read have a
 * response of their own.
 *
 * Invariants
 *   (1) The digest of private content is never shown: it would confirm a guess of a
 *       record exactly (P6). The digest of public content is shown.
 *   (2) If units are persons, "records" is their number, and "size" is null: the number
 *       of rows is never shown.
 *   (3) Everyone who may read budgets can see that an import failed, and whether this
 *       service was at fault. Where and why it failed is shown only to the owner, only
 *       by import_render.
 */
#ifndef API_VIEWS_DATASET_VIEW_H
#define API_VIEWS_DATASET_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "accountant/pricing/odometer.h"
#include "api/requests/dataset_request.h"
#include "api/requests/proposal.h"
#include "engine/data/readers/import.h"

struct dataset_view {
    const struct dataset_spec *spec;
    const struct caption *caption; /* NULL: none */
    const char *state;             /* CREATED IMPORTING READY FAILED DELETED */
    uint64_t records;              /* once READY, else 0: null */
    uint64_t size;                 /* of the matrix, bytes, once READY, else 0: null */
    const uint8_t *sha256;
    const struct epochs *epochs;        /* of its budget; NULL: public, there is none */
    struct import_failure failure;      /* of the last import */
    const struct import_report *report; /* of the last import; NULL: none is shown */
    const struct proposal *proposal;
    int64_t now_ms, create_ms, import_ms;
    const char *project, *created_by;     /* the owner's name; NULL is null */
    const struct dataset_id *evaluations; /* (evaluation_count) */
    size_t evaluation_count;
    const struct balance *balance; /* for a summary; NULL: public, there is none */
};
/* Renders the members of the request, followed by "display_name","tags",
 * "state","state_reason","records","size","unit","sha256","guarantee",
 * "epochs","evaluations","grant","create_time","import_time". "state_reason"
 * is null, or after a failed import the public part of the reason: import_failed
 * if anything was wrong with the files or their content, internal or disk_full if
 * this service failed. */
char *dataset_render(const struct dataset_view *view);

/* Renders a line of a list: "id","display_name","tags","format","task","privacy",
 * "state","state_reason","records","size","unit", the figures of its "budget" or
 * null, "grant","create_time","import_time". */
char *dataset_summary_render(const struct dataset_view *view);

/* Renders the last import, for the owner: {"dataset","state",
 *  "failure":null | {"code","detail","file","line","column","report"}}; "report" as in
 * import_report_view.h, and only if there is one. */
char *import_render(const struct dataset_view *view);

struct upload_view { /* progress of an uploaded file, for its sender */
    const char *dataset, *file;
    bool is_whole;           /* it can be imported */
    bool is_begun;           /* part of the file, or of its replacement, has arrived */
    uint64_t offset, length; /* if is_begun */
};
/* Renders {"dataset","file","complete","offset","length"}. "offset" is the number
 * of bytes that have arrived, and "length" the total, null before the upload is begun.
 * Both are null for a complete file: the sender does not need its size, and no one else
 * may know it. */
char *upload_render(const struct upload_view *view);

struct
    import_act { /* who asked for the import now running; "": no one has to be named */
    char key[PRINCIPAL_KEY_SIZE], via[16], address[46], request[65];
    enum acknowledged acknowledged; /* in the request for the import */
};

struct dataset_detail {
    uint64_t records, size;
    int64_t import_ms;
    char rows_sha256[SHA256_HEX_SIZE];    /* of the rows as uploaded; "": not known */
    char sources_sha256[SHA256_HEX_SIZE]; /* of the uploaded files; "": not known */
    /* Whether its units have indices in a secret order (privacy.md P1). False for
     * public datasets, and for those that an earlier version imported. */
    bool is_shuffled;
    struct import_failure failure;
    struct import_act act;    /* only while it is IMPORTING */
    struct proposal proposal; /* the one that its grant waits for, or came from */
    struct proposal regrant;  /* the last one for a further epoch; zeroed: none */
    struct proposal words;    /* the last one for a discovery; zeroed: none */
};
char *dataset_detail_render(const struct dataset_detail *detail);
/* Reads what dataset_detail_render made. Earlier versions stored a failure as one text,
 * "reason", which is read as import_failed with that text; the digest of the rows and
 * "is_shuffled" may be absent.
 *   ST_INVALID  not such a text */
enum status dataset_detail_parse(struct dataset_detail *detail, const char *text,
                                 struct error *error);

#endif
