/* Goal: no body of a job breaks the parser, and a body that is accepted and resolved
 * renders to a text that reads back to the same text. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/fault.h"
#include "api/requests/job_defaults.h"
#include "base/check.h"
#include "engine/data/readers/reader_registry.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct schema images = {.reader = &idx_reader,
                                     .task = TASK_CLASSIFICATION,
                                     .classes = 10,
                                     .shape_count = 1,
                                     .shape = {784},
                                     .scale = 255};
static const struct schema pairs = {.reader = &libsvm_reader,
                                    .task = TASK_CLASSIFICATION,
                                    .classes = 2,
                                    .feature_count = 123};
static const struct schema prices = {.reader = &libsvm_reader,
                                     .task = TASK_REGRESSION,
                                     .feature_count = 8,
                                     .has_target_range = true,
                                     .target_high = 5};

static const struct job_dataset datasets[] = {
    {.schema = &images, .records = 60000, .delta = 1e-5},
    {.schema = &pairs, .records = 1, .is_public = true},
    {.schema = &prices,
     .records = INT32_MAX,
     .held_out = 1000,
     .division = {0.1, 0},
     .relation = RELATION_REPLACE_ONE,
     .delta = 1e-6},
};

static void check_round_trip(const struct job_request *request,
                             const struct job_dataset *dataset)
{
    struct job_request again;
    char *text = job_request_render(request);
    CHECK(job_request_parse(&again, json_text_of(text), NULL) == ST_OK);
    CHECK(job_defaults_fill(&again, dataset, NULL) == ST_OK);
    CHECK(again.train.steps == request->train.steps);
    char *second = job_request_render(&again);
    CHECK(strcmp(text, second) == 0);
    job_request_fini(&again);
    free(second);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < sizeof datasets / sizeof *datasets; i++) {
        struct job_request request;
        struct faults faults = {0};
        struct error error = {.faults = &faults};
        if (job_request_parse(&request, json_text_sized((const char *)data, size),
                              &error) != ST_OK) {
            CHECK(error.status == ST_INVALID && error.text[0] != '\0');
            CHECK(faults.count > 0 && faults.count <= LIMIT_FAULTS);
            return 0;
        }
        if (job_defaults_fill(&request, &datasets[i], &error) == ST_OK)
            check_round_trip(&request, &datasets[i]);
        else
            CHECK(error.pointer[0] == '/');
        job_request_fini(&request);
    }
    return 0;
}
