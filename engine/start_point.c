#include "engine/start_point.h"

#include <stdlib.h>

enum status start_point_make(float **values, const struct network *network,
                             const struct start_point *start, struct error *error)
{
    struct error local = {0};
    size_t count = network_floats(network);
    *values = calloc(count, sizeof **values);
    if (*values == NULL)
        return error_set(error, ST_NO_MEMORY, "no memory for %zu parameters", count);
    network_init(network, *values, start->seed);
    if (start->weights == NULL)
        return ST_OK;
    enum status status =
        model_file_read_start(start->weights, network, *values, &local);
    if (status == ST_OK || status == ST_NO_MEMORY)
        return status == ST_OK ? ST_OK : error_set(error, status, "%s", local.text);
    return error_set_at(error, ST_MODEL_CORRUPT, "/model/weights", "%s", local.text);
}
