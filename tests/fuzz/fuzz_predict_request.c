/* Goal: no body of predict breaks the parser, and what it accepts is whole rows of finite
 * features. Corpus: tests/fuzz/corpus/predict_request. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "api/dataset_request.h"
#include "api/limits.h"
#include "api/predict_request.h"
#include "base/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const declarations[] = {
    "{\"id\":\"a\",\"format\":\"csv\",\"task\":\"classification\",\"columns\":["
    "{\"name\":\"x\",\"kind\":\"numeric\",\"range\":[0,1],\"default\":0.5},"
    "{\"name\":\"y\",\"kind\":\"label\",\"values\":[\"n\",\"y\"]},"
    "{\"name\":\"z\",\"kind\":\"categorical\",\"values\":[\"u\",\"v\"]}],"
    "\"privacy\":\"public\"}",
    "{\"id\":\"b\",\"format\":\"libsvm\",\"task\":\"regression\","
    "\"features\":{\"count\":2},\"target\":{\"range\":[0,5]},\"privacy\":\"public\"}",
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < sizeof declarations / sizeof *declarations; i++) {
        struct dataset_spec spec;
        struct predict_request request;
        struct error error = {0};
        const char *text = declarations[i];
        CHECK(dataset_spec_parse(&spec, text, strlen(text), NULL) == ST_OK);
        if (predict_request_parse(&request, (const char *)data, size, &spec.schema,
                                  &error) == ST_OK) {
            CHECK(request.rows >= 1 && request.rows <= LIMIT_PREDICT_ROWS);
            for (size_t j = 0; j < request.rows * schema_features(&spec.schema); j++)
                CHECK(isfinite(request.features[j]));
            predict_request_fini(&request);
        } else {
            CHECK(error.status == ST_INVALID && error.text[0] != '\0');
        }
        dataset_spec_fini(&spec);
    }
    return 0;
}
