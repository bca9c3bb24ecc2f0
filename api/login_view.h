/*
 * login_view.h - who asks, as GET /v1/session answers: what a page needs to know of what it
 * may show.
 */
#ifndef API_LOGIN_VIEW_H
#define API_LOGIN_VIEW_H

#include <stdint.h>

#include "base/principal.h"

struct login_view {
    const struct principal *principal;
    int64_t expire_ms; /* of the browser's session; 0: it has none */
};

/* {"authenticated","name","project","role","scopes":[name],"via","key","expire_time"}. Of
 * nobody it is false, with nulls and no scopes. To be freed. */
char *login_render(const struct login_view *view);

#endif
