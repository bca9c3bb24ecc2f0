/*
 * algorithm_request.h - the "algorithm" of a job and what GET /v1/algorithms says of
 * each, both from the table of engine/dp/algorithm.h: {"name", its parameters}.
 */
#ifndef API_ALGORITHM_REQUEST_H
#define API_ALGORITHM_REQUEST_H

#include "engine/dp/algorithm.h"

struct json_node;
struct json_writer;

/* Every parameter not named gets its fallback. */
void algorithm_request_read(struct algorithm_spec *spec, const struct json_node *node);
void algorithm_request_write(struct json_writer *writer, const char *name,
                             const struct algorithm_spec *spec);

/* The JSON Schema of the object above, as a member called name. */
void algorithm_schema_write(struct json_writer *writer, const char *name,
                            const struct algorithm *algorithm);

/* {"name","title","paper","charge","when_to_use","private","schema":JSON Schema of the
 *  object above} */
void algorithm_view_write(struct json_writer *writer,
                          const struct algorithm *algorithm);

#endif
