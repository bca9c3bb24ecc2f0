#include "service/second_look.h"

bool second_look_due(const struct context *context, struct request *request)
{
    if (request->look != LOOK_NONE || request->refused != ST_NOT_FOUND ||
        request->match.route == NULL || !store_shared(context->store))
        return false;
    request->look = LOOK_DUE;
    return true;
}

bool second_look_end(struct request *request)
{
    if (request->look != LOOK_DUE)
        return false;
    reply_fini(&request->reply);
    request->refused = ST_OK;
    request->look = LOOK_DONE;
    return true;
}

/* A failure has poisoned the store, and ends the process where the request ends. */
void second_look_before(const struct context *context)
{
    if (store_shared(context->store))
        store_look(context->store, NULL);
}
