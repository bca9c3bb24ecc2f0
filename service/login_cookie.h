/*
 * login_cookie.h - the cookie of a browser that is logged in (service/logins.h): on its way
 * out, and on its way in. It is HttpOnly, so that no script reads it, and SameSite=Strict,
 * so that no other site's page sends it. Where HTTP is enciphered, by us or by a proxy in
 * front, it is Secure and its name begins with __Host-, so that no other host and no
 * plain connection can set it.
 *
 * Pure but for reading the request's headers.
 */
#ifndef SERVICE_LOGIN_COOKIE_H
#define SERVICE_LOGIN_COOKIE_H

#include <stdint.h>

#include "service/config.h"
#include "service/request.h"

/* Answers the cookie that the request came with, or NULL. */
const char *login_cookie_of(const struct request *request, const struct config *config);

/* Has the browser keep value for so many seconds; after 0 it forgets it. */
void login_cookie_set(struct request *request, const struct config *config,
                      const char *value, int64_t seconds);

#endif
