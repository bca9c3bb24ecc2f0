/* Goal: no body of a charge breaks the parser. An accepted body renders to a text that
 * reads back to the same text, its blocks cut all of its steps, and under each relation
 * it is a mechanism with a price or is refused at a place. No body of a block breaks
 * its parser. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/pricing/cost.h"
#include "api/requests/charge_request.h"
#include "api/json/fault.h"
#include "base/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_round_trip(const struct charge_request *request)
{
    struct charge_request again;
    char *text = charge_request_render(request);
    CHECK(charge_request_parse(&again, json_text_of(text), NULL) == ST_OK);
    char *second = charge_request_render(&again);
    CHECK(strcmp(text, second) == 0);
    charge_request_fini(&again);
    free(second);
    free(text);
}

static void check_blocks(const struct charge_request *request)
{
    uint64_t steps = charge_request_steps(request),
             blocks = charge_request_blocks(request);
    CHECK(steps > 0 && blocks > 0 && blocks <= steps);
    CHECK(charge_request_steps_of(request, 0) == 0);
    CHECK(charge_request_steps_of(request, blocks) == steps);
    CHECK(charge_request_steps_of(request, blocks - 1) < steps);
}

static void check_mechanism(const struct charge_request *request,
                            enum relation relation)
{
    struct mechanism m = {0};
    struct error error = {0};
    if (charge_request_mechanism(&m, request, relation, &error) != ST_OK) {
        CHECK(error.status == ST_INVALID);
        CHECK(strncmp(error.pointer, "/mechanism", 10) == 0);
        return;
    }
    CHECK(cost_supports(&m, NULL) == ST_OK);
    CHECK(mechanism_steps(&m) >= 1);
    CHECK(m.unit == request->unit && m.relation == relation);
    mechanism_fini(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct charge_request request;
    struct block_request block;
    struct faults faults = {0};
    struct error error = {.faults = &faults};
    if (block_request_parse(&block, json_text_sized((const char *)data, size), NULL) ==
        ST_OK)
        CHECK(block.block >= 1 && strlen(block.process) < CHARGE_PROCESS_SIZE);
    if (charge_request_parse(&request, json_text_sized((const char *)data, size),
                             &error) != ST_OK) {
        CHECK(error.status == ST_INVALID && error.text[0] != '\0');
        CHECK(faults.count > 0 && faults.count <= LIMIT_FAULTS);
        return 0;
    }
    check_round_trip(&request);
    check_blocks(&request);
    check_mechanism(&request, RELATION_ZERO_OUT);
    check_mechanism(&request, RELATION_REPLACE_ONE);
    charge_request_fini(&request);
    return 0;
}
