/* Goal: no declaration of a dataset breaks the parser, and an accepted one renders to a
 * text that reads back to the same text. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/requests/dataset_request.h"
#include "api/json/fault.h"
#include "api/limits.h"
#include "base/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dataset_spec spec, again;
    struct faults faults = {0};
    struct error error = {.faults = &faults};
    if (dataset_spec_parse(&spec, json_text_sized((const char *)data, size), &error) !=
        ST_OK) {
        CHECK(error.status == ST_INVALID && error.text[0] != '\0');
        CHECK(faults.count > 0 && faults.count <= LIMIT_FAULTS);
        return 0;
    }
    uint32_t features = schema_features(&spec.schema);
    CHECK(features >= 1 && features <= LIMIT_FEATURES);
    char *text = dataset_spec_render(&spec);
    CHECK(dataset_spec_parse(&again, json_text_of(text), NULL) == ST_OK);
    CHECK(schema_agrees(&spec.schema, &again.schema));
    char *second = dataset_spec_render(&again);
    CHECK(strcmp(text, second) == 0);
    free(second);
    free(text);
    dataset_spec_fini(&again);
    dataset_spec_fini(&spec);
    return 0;
}
