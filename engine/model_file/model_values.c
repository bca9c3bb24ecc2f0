#include "engine/model_file/model_values.h"

#include <stdlib.h>

static enum status open_own(struct model_values *values,
                            const struct model_source *source,
                            const struct network *network, struct error *error)
{
    values->floats = calloc(network_floats(network), sizeof *values->floats);
    if (values->floats == NULL)
        return error_set(error, ST_NO_MEMORY, "no memory for the model's parameters");
    return model_file_read_on(source->path, source->seal, source->body, network,
                              values->floats, error);
}

enum status model_values_open(struct model_values *values,
                              const struct model_source *source,
                              const struct network *network, struct error *error)
{
    if (source->body == NULL || source->bodies == NULL)
        return open_own(values, source, network, error);
    enum status status =
        shared_bodies_take(source->bodies, source->body, network, &values->body, error);
    if (status != ST_OK)
        return status;
    values->bodies = source->bodies;
    status = shared_body_map(values->body, network, &values->range, error);
    if (status != ST_OK)
        return status;
    values->floats = values->range.values;
    return model_file_read_own(source->path, source->seal, network, values->floats,
                               error);
}

void model_values_close(struct model_values *values)
{
    if (values->body != NULL) {
        body_range_unmap(&values->range);
        shared_bodies_give(values->bodies, values->body);
    } else {
        free(values->floats);
    }
    *values = (struct model_values){0};
}
