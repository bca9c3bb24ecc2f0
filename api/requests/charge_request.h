/*
 * charge_request.h - the body of POST /v1/charges, and the same text as stored: work
 * that runs elsewhere, as its owner declares it.
 *
 *   {"dataset","engine","mechanism":WORK or [WORK,...],"unit":"record" or "person",
 *    "parts"?:["train","holdout"],"records"?,"acknowledge"?,"lease_s"?,"block_steps"?}
 *   WORK = {"kind","neighbour","steps", the kind's parameter, "sampler"?,
 *           "sampling_rate"?}
 *
 * The proofs (accountant/mechanisms/outside.h) define which kinds there are, the name
 * of each kind's parameter and its samplers. With every default written in, and the
 * works as a list, the text parses to the same struct.
 *
 * Ownership: a request owns its works; release them with charge_request_fini.
 */
#ifndef API_REQUESTS_CHARGE_REQUEST_H
#define API_REQUESTS_CHARGE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "accountant/ledger/entry.h"
#include "accountant/mechanisms/outside.h"
#include "api/json/json_reader.h"
#include "api/requests/acknowledgement.h"
#include "base/id.h"
#include "base/part.h"
#include "base/status.h"

enum { CHARGE_PROCESS_SIZE = 65 };

struct charge_request {
    struct dataset_id dataset;
    char engine[ENTRY_ENGINE_SIZE];
    bool is_list; /* whether the works were written as a list */
    size_t work_count;
    struct outside_work *works; /* in the order in which they will run; owned */
    enum parts parts;           /* the parts that it reads and is charged to */
    enum privacy_unit unit;     /* the unit for which the sensitivity holds */
    uint64_t records;           /* number of units in the dataset; 0: not named */
    enum acknowledged acknowledged;
    uint64_t lease_s, block_steps;
};

/*   ST_INVALID  the error names every member at fault
 * On ST_OK the caller must finish the request. */
enum status charge_request_parse(struct charge_request *request, struct json_text body,
                                 struct error *error);
void charge_request_fini(struct charge_request *request); /* a zeroed one is allowed */

/* Renders the canonical text, to be freed. */
char *charge_request_render(const struct charge_request *request);
/* Writes the works as a list, as a member called "mechanism". */
struct json_writer;
void charge_works_write(struct json_writer *writer,
                        const struct charge_request *request);

/* Writes the names of the parts, as a member called "parts". */
void charge_parts_write(struct json_writer *writer,
                        const struct charge_request *request);

/* Returns the sum of all works' steps. */
uint64_t charge_request_steps(const struct charge_request *request);
/* Return the number of blocks in which the steps are granted, and the number of steps
 * in the first count blocks. */
uint64_t charge_request_blocks(const struct charge_request *request);
uint64_t charge_request_steps_of(const struct charge_request *request, uint64_t count);

/* Makes the mechanism of the works, under the relation.
 *   ST_INVALID  one has no proof; the error names its member
 * On ST_OK the caller must finish m. */
enum status charge_request_mechanism(struct mechanism *m,
                                     const struct charge_request *request,
                                     enum relation relation, struct error *error);

/* --- the body of POST /v1/charges/{id}/blocks: {"block","process"} --- */

struct block_request {
    uint64_t block; /* from 1 */
    /* The name that the process chose for itself: 16 to 64 letters, digits, _ and -,
     * generated again each time it starts. */
    char process[CHARGE_PROCESS_SIZE];
};

enum status block_request_parse(struct block_request *request, struct json_text body,
                                struct error *error);

#endif
