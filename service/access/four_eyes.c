#include "service/access/four_eyes.h"

#include "service/config/config.h"
#include "service/http/caller.h"
#include "service/process/daemon_state.h"

bool four_eyes_is_asked(const struct daemon_state *context, const struct caller *caller)
{
    return context->config->approvals && caller->principal.via != VIA_LOCAL;
}
