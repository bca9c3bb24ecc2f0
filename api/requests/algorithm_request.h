/*
 * algorithm_request.h - the "algorithm" of a job, {"name", its parameters}, and the
 * entries of GET /v1/algorithms. Both follow the table of engine/dp/algorithm.h.
 */
#ifndef API_REQUESTS_ALGORITHM_REQUEST_H
#define API_REQUESTS_ALGORITHM_REQUEST_H

#include "engine/dp/algorithm.h"

struct json_node;
struct json_writer;

/* Every parameter that is not named gets its default. */
void algorithm_request_read(struct algorithm_spec *spec, const struct json_node *node);
void algorithm_request_write(struct json_writer *writer, const char *name,
                             const struct algorithm_spec *spec);

/* Writes the JSON Schema of the object above, as a member called name. */
void algorithm_schema_write(struct json_writer *writer, const char *name,
                            const struct algorithm *algorithm);

/* Writes {"name","title","paper","charge","when_to_use","private","schema"},
 * where "schema" is the JSON Schema of the object above. */
void algorithm_view_write(struct json_writer *writer,
                          const struct algorithm *algorithm);

#endif
