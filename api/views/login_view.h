/*
 * login_view.h - the caller of a request, as GET /v1/session returns it: what a web
 * page needs to decide what to show.
 */
#ifndef API_VIEWS_LOGIN_VIEW_H
#define API_VIEWS_LOGIN_VIEW_H

#include <stdint.h>

#include "base/principal.h"

struct login_view {
    const struct principal *principal;
    int64_t expire_ms; /* end of the browser's session; 0: it has none */
};

/* Renders {"authenticated","name","project","role","scopes":[name],"via","key",
 * "expire_time"}. Without a principal, "authenticated" is false, with nulls and no
 * scopes. To be freed. */
char *login_render(const struct login_view *view);

#endif
