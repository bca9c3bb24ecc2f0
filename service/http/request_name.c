#include "service/http/request_name.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "service/http/request.h"

enum { NAME_DIGITS = 16 }; /* in each half of a name that is made here */

/* Writes NAME_DIGITS digits and a NUL. */
static void render_hex(char *text, uint64_t value)
{
    for (int i = 0; i < NAME_DIGITS; i++)
        text[i] = "0123456789abcdef"[value >> (60 - 4 * i) & 15];
    text[NAME_DIGITS] = '\0';
}

void request_name_take(struct request *request, const char *nonce,
                       atomic_uint_fast64_t *numbers)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789-_.";
    const char *given = request_header(request, "X-Request-Id");
    request->caller.traceparent = request_header(request, "traceparent");
    if (given != NULL && given[0] != '\0' && strlen(given) < REQUEST_ID_SIZE &&
        strspn(given, allowed) == strlen(given)) {
        snprintf(request->caller.request_id, sizeof request->caller.request_id, "%s",
                 given);
        request->named = true;
        return;
    }
    memcpy(request->caller.request_id, nonce, NAME_DIGITS);
    render_hex(request->caller.request_id + NAME_DIGITS, atomic_fetch_add(numbers, 1));
}
