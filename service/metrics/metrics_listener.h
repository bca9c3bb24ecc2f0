/*
 * metrics_listener.h - a second socket that answers GET /metrics and nothing else, for
 * a scraper on the same machine that has no key (--metrics-listen).
 *
 * It listens only on loopback: the metrics name the datasets of all projects. A request
 * whose Host is no loopback name, or that has an Origin, comes from a web page and is
 * refused, as on the other socket (admission.h).
 *
 * Threads: metrics_listener_open and metrics_listener_close by one thread; it answers
 * on a thread of its own.
 */
#ifndef SERVICE_METRICS_METRICS_LISTENER_H
#define SERVICE_METRICS_METRICS_LISTENER_H

#include "base/status.h"

struct MHD_Daemon;
struct daemon_state;
struct error;

/* Listens on the configured address, and logs it; *out is NULL if none is configured.
 *   ST_IO  it cannot listen on the address */
enum status metrics_listener_open(struct MHD_Daemon **out, struct daemon_state *context,
                                  struct error *error);
void metrics_listener_close(struct MHD_Daemon *listener); /* NULL is allowed */

#endif
