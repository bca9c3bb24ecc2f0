/* Goal: no body of predict breaks the parser, and an accepted body is whole rows of
 * finite features. Corpus: tests/fuzz/corpus/predict_request. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "api/requests/dataset_request.h"
#include "api/json/fault.h"
#include "api/limits.h"
#include "api/requests/predict_request.h"
#include "base/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const declarations[] = {
    "{\"id\":\"a\",\"format\":\"csv\",\"task\":\"classification\",\"columns\":["
    "{\"name\":\"x\",\"kind\":\"numeric\",\"range\":[0,1],\"default\":0.5},"
    "{\"name\":\"y\",\"kind\":\"label\",\"values\":[\"n\",\"y\"]},"
    "{\"name\":\"z\",\"kind\":\"categorical\",\"values\":[\"u\",\"v\"]}],"
    "\"privacy\":\"public\"}",
    "{\"id\":\"c\",\"format\":\"csv\",\"task\":\"classification\",\"missing\":[\"?\","
    "\"-9\"],\"columns\":["
    "{\"name\":\"n\",\"kind\":\"numeric\",\"range\":[0,1],\"if_missing\":\"indicator\"}"
    ","
    "{\"name\":\"y\",\"kind\":\"label\",\"values\":[\"n\",\"y\"]},"
    "{\"name\":\"w\",\"kind\":\"categorical\",\"values\":[\"u\"],\"other\":true,"
    "\"if_missing\":\"category\"},{\"name\":\"b\",\"kind\":\"boolean\"},"
    "{\"name\":\"d\",\"kind\":\"date\",\"format\":\"%b %d %Y\","
    "\"range\":[\"2000-01-01\",\"2020-01-01\"],\"parts\":[\"quarter\"]},"
    "{\"name\":\"h\",\"kind\":\"hashed\",\"buckets\":2,\"seed\":1}],"
    "\"privacy\":\"public\"}",
    "{\"id\":\"b\",\"format\":\"libsvm\",\"task\":\"regression\","
    "\"features\":{\"count\":2},\"target\":{\"range\":[0,5]},\"privacy\":\"public\"}",
};

/* Reads the whole body and checks the rows that come. */
static enum status read_all(const struct predict_body *body, struct error *error)
{
    static float room[3 * 16];
    struct predict_request *request = NULL;
    struct predict_block block = {.features = room, .stride = 16, .max = 3};
    size_t rows = 0;
    enum status status = predict_request_open(&request, body, error);
    while (status == ST_OK &&
           (status = predict_request_next(request, &block, error)) == ST_OK &&
           block.rows > 0) {
        for (size_t i = 0; i < block.rows; i++)
            for (size_t j = 0; j < schema_features(body->schema); j++)
                CHECK(isfinite(room[i * block.stride + j]));
        rows += block.rows;
    }
    CHECK(status != ST_OK || (rows >= 1 && rows <= LIMIT_PREDICT_ROWS));
    CHECK(status != ST_OK || rows <= predict_rows_most(body->size, body->schema));
    predict_request_close(request);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < sizeof declarations / sizeof *declarations; i++) {
        struct dataset_spec spec;
        struct faults faults = {0};
        struct error error = {.faults = &faults};
        const char *text = declarations[i];
        CHECK(dataset_spec_parse(&spec, json_text_of(text), NULL) == ST_OK);
        const struct predict_body body = {(const char *)data, size, &spec.schema, NULL,
                                          7};
        if (read_all(&body, &error) != ST_OK) {
            CHECK(error.status == ST_INVALID && error.text[0] != '\0');
            CHECK(faults.count > 0 && faults.count <= LIMIT_FAULTS);
        }
        dataset_spec_fini(&spec);
    }
    return 0;
}
