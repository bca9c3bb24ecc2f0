#include "service/second_person.h"

#include "base/principal.h"
#include "service/config.h"
#include "service/context.h"
#include "service/request.h"

bool second_person_is_asked(const struct context *context,
                            const struct request *request)
{
    return context->config->approvals && request->principal.via != VIA_LOCAL;
}
