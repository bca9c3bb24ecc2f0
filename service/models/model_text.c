#include "service/models/model_text.h"

#include <stdlib.h>

#include "api/requests/model_request.h"
#include "engine/data/column_ranges.h"
#include "service/datasets/datasets.h"
#include "service/process/daemon_state.h"

void model_text_init(struct model_text *text, struct daemon_state *context,
                     const struct job_request *request, const char *card,
                     const struct certificate_base *base)
{
    *text = (struct model_text){
        .arch = model_spec_render(&request->train.model),
        .base = base != NULL ? certificate_base_render(base) : NULL,
        .model = &request->train.model,
        .declared =
            &dataset_spec(datasets_find(context->datasets, request->dataset.text))
                 ->schema};
    column_ranges_narrow(&text->schema, &request->scaling.ranges, text->declared);
    text->inputs = inputs_render(&text->schema);
    text->items[0] = (struct metadata){"format", "epsilond/1"};
    text->items[1] = (struct metadata){"arch", text->arch};
    text->items[2] = (struct metadata){"inputs", text->inputs};
    text->items[3] = (struct metadata){"certificate", card};
    text->items[4] = (struct metadata){"base", text->base};
    text->metadata = (struct metadata_list){text->items, base != NULL ? 5 : 4};
}

void model_text_fini(struct model_text *text)
{
    column_ranges_release(&text->schema, text->declared);
    free(text->arch);
    free(text->inputs);
    free(text->base);
}
