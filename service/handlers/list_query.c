#include "service/handlers/list_query.h"

#include "api/http/query.h"
#include "base/id.h"
#include "api/requests/caption.h"

enum { DESCENDING, ASCENDING };
static const char *const directions[] = {
    [DESCENDING] = "desc", [ASCENDING] = "asc", NULL};

bool list_query_order(struct pagination_source *source, const struct request *request,
                      const struct list_order *order, struct error *error)
{
    unsigned by = 0, direction;
    bool good = query_choice(&by, "order_by", request_query(request, "order_by"),
                             order->names, error) == ST_OK;
    direction = order->ascending[by] ? ASCENDING : DESCENDING;
    good = query_choice(&direction, "order", request_query(request, "order"),
                        directions, error) == ST_OK &&
           good;
    source->order = (unsigned char)by;
    source->ascending = direction == ASCENDING;
    return good;
}

bool list_query_dataset(const char **dataset, const struct request *request,
                        struct error *error)
{
    struct dataset_id id;
    *dataset = request_query(request, "dataset");
    return *dataset == NULL || dataset_id_parse(&id, *dataset) ||
           query_refuse("dataset", "must match [a-z0-9][a-z0-9._-]{0,62}", error) ==
               ST_OK;
}

bool list_query_search(struct caption_search *search, const struct request *request,
                       struct error *error)
{
    return caption_search_read(search, request_query(request, "q"),
                               request_query(request, "tag"), error) == ST_OK;
}
