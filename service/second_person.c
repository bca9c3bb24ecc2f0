#include "service/second_person.h"

bool second_person_is_asked(const struct context *context,
                            const struct request *request)
{
    return context->config->approvals && request->principal.via != VIA_LOCAL;
}
