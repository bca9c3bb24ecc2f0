#include "service/outbound/target.h"

#include <stdlib.h>
#include <string.h>
#include <curl/curl.h>

#include "base/check.h"

/* Removes the brackets that IPv6 addresses have in a URL. */
static bool host_is_address(struct host_address *address, const char *host)
{
    char text[64];
    size_t length = strlen(host);
    bool bracketed = length > 2 && host[0] == '[' && host[length - 1] == ']';
    if (length >= sizeof text)
        return false;
    memcpy(text, host, length + 1);
    if (bracketed) {
        memmove(text, text + 1, length - 2);
        text[length - 2] = '\0';
    }
    return host_address_parse(address, text);
}

static enum status check_host(const char *host, bool plain,
                              const struct host_address_list *allowed,
                              const char *pointer, struct error *error)
{
    struct host_address address;
    if (!host_is_address(&address, host))
        return ST_OK;
    if (plain && !host_address_is_loopback(&address))
        return error_set_at(error, ST_INVALID, pointer, "must be https");
    if (!host_address_is_public(&address) &&
        !host_address_list_holds(allowed, &address))
        return error_set_at(error, ST_INVALID, pointer,
                            "its host is no public address");
    return ST_OK;
}

/* libcurl reads https:///a and https:/a as host a, and accepts port 0, which no server
 * has. */
static bool names_server(CURLU *parsed, const char *url)
{
    char *port = NULL;
    const char *slashes = strstr(url, "://");
    bool named = slashes != NULL && slashes[3] != '/';
    if (curl_url_get(parsed, CURLUPART_PORT, &port, 0) == CURLUE_OK)
        named = named && strtoul(port, NULL, 10) > 0;
    curl_free(port);
    return named;
}

static bool has_part(CURLU *parsed, CURLUPart part)
{
    char *text = NULL;
    bool has = curl_url_get(parsed, part, &text, 0) == CURLUE_OK;
    curl_free(text);
    return has;
}

static enum status check_parts(CURLU *parsed, const char *url,
                               const struct host_address_list *allowed,
                               const char *pointer, struct error *error)
{
    char *scheme = NULL, *host = NULL;
    enum status status = ST_OK;
    bool read = curl_url_get(parsed, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
                curl_url_get(parsed, CURLUPART_HOST, &host, 0) == CURLUE_OK;
    bool plain = read && strcmp(scheme, "http") == 0;
    if (!read || (strcmp(scheme, "https") != 0 &&
                  !(plain && host_address_list_has_loopback(allowed))))
        status = error_set_at(error, ST_INVALID, pointer, "must be https");
    else if (!names_server(parsed, url))
        status = error_set_at(error, ST_INVALID, pointer,
                              "must name a host, and a port above 0 where it has one");
    else if (has_part(parsed, CURLUPART_USER) || has_part(parsed, CURLUPART_PASSWORD))
        status = error_set_at(error, ST_INVALID, pointer,
                              "must not hold a user or a password");
    else if (has_part(parsed, CURLUPART_FRAGMENT))
        status = error_set_at(error, ST_INVALID, pointer, "must not have a fragment");
    else
        status = check_host(host, plain, allowed, pointer, error);
    curl_free(scheme);
    curl_free(host);
    return status;
}

enum status target_check(const char *url, const struct host_address_list *allowed,
                         const char *pointer, struct error *error)
{
    if (strlen(url) >= TARGET_SIZE_MAX)
        return error_set_at(error, ST_INVALID, pointer, "has more than %d bytes",
                            TARGET_SIZE_MAX - 1);
    for (const char *c = url; *c != '\0'; c++)
        if (*c <= ' ' || *c >= 127)
            return error_set_at(error, ST_INVALID, pointer,
                                "must be a URL of printable ASCII, without blanks");
    CURLU *parsed = curl_url();
    CHECK(parsed != NULL);
    enum status status =
        curl_url_set(parsed, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK
            ? check_parts(parsed, url, allowed, pointer, error)
            : error_set_at(error, ST_INVALID, pointer, "must be an absolute URL");
    curl_url_cleanup(parsed);
    return status;
}
