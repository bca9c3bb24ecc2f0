/*
 * webhook_view.h - a webhook and its deliveries in API responses.
 *
 * Invariant: a secret is shown only by the response that created it.
 */
#ifndef API_VIEWS_WEBHOOK_VIEW_H
#define API_VIEWS_WEBHOOK_VIEW_H

#include <stddef.h>
#include <stdint.h>

#include "api/json/json_writer.h"
#include "store/rows/delivery_rows.h"
#include "store/rows/webhook_rows.h"

/* Writes {"id","url","events","dataset","state","state_reason","failing_since",
 * "create_time"}, and "secret" if it is not NULL, as a member called name. */
void webhook_write(struct json_writer *writer, const char *name,
                   const struct webhook_row *row, const uint8_t *secret);

/* Renders the same as a text, to be freed. */
char *webhook_render(const struct webhook_row *row, const uint8_t *secret);

/* Writes {"id","type","state","attempts","result","status","create_time",
 * "attempt_time","next_attempt_time"} as a member called name. */
void delivery_write(struct json_writer *writer, const char *name,
                    const struct delivery_row *row);

#endif
