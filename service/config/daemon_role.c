#include "service/config/daemon_role.h"

#include <string.h>

static const char *const names[] = {[DAEMON_ALONE] = "alone",
                                    [DAEMON_API] = "api",
                                    [DAEMON_WORKER] = "worker",
                                    [DAEMON_BOTH] = "api,worker"};

bool daemon_role_parse(enum daemon_role *role, const char *text)
{
    for (int i = DAEMON_API; i < DAEMON_ROLES; i++) {
        *role = (enum daemon_role)i;
        if (strcmp(text, names[i]) == 0)
            return true;
    }
    return false;
}

const char *daemon_role_name(enum daemon_role role)
{
    return names[role];
}
