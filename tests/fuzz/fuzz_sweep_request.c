/* Goal: no body of a sweep breaks the parser, and each run of an accepted sweep gives
 * the body of a job that contains the run's own values; making one body changes neither
 * the other runs nor this run. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/fault.h"
#include "api/requests/job_request.h"
#include "api/limits.h"
#include "api/requests/sweep_request.h"
#include "base/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_run(const struct sweep_request *request, size_t run)
{
    struct job_request job;
    char *body, *again, *settings = sweep_request_settings(request, run), *after;
    CHECK(sweep_request_body(&body, request, run, NULL) == ST_OK);
    CHECK(sweep_request_body(&again, request, run, NULL) == ST_OK);
    CHECK(strcmp(body, again) == 0);
    after = sweep_request_settings(request, run);
    CHECK(strcmp(settings, after) == 0);
    if (job_request_parse(&job, json_text_of(body), NULL) == ST_OK)
        job_request_fini(&job);
    free(after);
    free(settings);
    free(again);
    free(body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sweep_request request;
    struct faults faults = {0};
    struct error error = {.faults = &faults};
    if (sweep_request_parse(&request, json_text_sized((const char *)data, size),
                            &error) != ST_OK) {
        CHECK(error.status == ST_INVALID && error.text[0] != '\0');
        CHECK(faults.count > 0 && faults.count <= LIMIT_FAULTS);
        return 0;
    }
    CHECK(request.count > 0 && request.count <= LIMIT_SWEEP_RUNS);
    for (size_t i = 0; i < request.count; i++)
        check_run(&request, i);
    sweep_request_fini(&request);
    return 0;
}
