/*
 * login_cookie.h - reads and sets the cookie of a browser that is logged in
 * (service/identity/logins.h). It is HttpOnly, so that no script reads it, and
 * SameSite=Strict, so that no other site's page sends it. If HTTP is encrypted, by us
 * or by a proxy in front, it is Secure and its name begins with __Host-, so that no
 * other host and no plain connection can set it.
 *
 * Pure but for reading the request's headers.
 */
#ifndef SERVICE_IDENTITY_LOGIN_COOKIE_H
#define SERVICE_IDENTITY_LOGIN_COOKIE_H

#include <stdint.h>

struct config;
struct request;

/* Returns the cookie of the request, or NULL. */
const char *login_cookie_of(const struct request *request, const struct config *config);

/* Makes the browser keep value for this number of seconds; 0 makes it forget the
 * cookie. */
void login_cookie_set(struct request *request, const struct config *config,
                      const char *value, int64_t seconds);

#endif
