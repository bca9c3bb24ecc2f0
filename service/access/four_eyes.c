#include "service/access/four_eyes.h"

#include "base/principal.h"
#include "service/config/config.h"
#include "service/http/request.h"
#include "service/process/daemon_state.h"

bool four_eyes_is_asked(const struct daemon_state *context,
                        const struct request *request)
{
    return context->config->approvals && request->principal.via != VIA_LOCAL;
}
