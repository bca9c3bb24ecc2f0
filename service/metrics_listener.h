/*
 * metrics_listener.h - a second socket that answers GET /metrics and nothing else, for a
 * scraper on the same machine that has no key (--metrics-listen).
 *
 * It listens on loopback alone: what it tells names the datasets of all projects. A request
 * whose Host is no loopback name, or that has an Origin, is a web page's and is refused, as
 * on the other socket (admission.h).
 *
 * Threads: metrics_listener_open and metrics_listener_close by one thread; it answers on a
 * thread of its own.
 */
#ifndef SERVICE_METRICS_LISTENER_H
#define SERVICE_METRICS_LISTENER_H

#include "service/context.h"

struct MHD_Daemon;

/* Listens where the configuration says and logs where; *out is NULL where it says nothing.
 *   ST_IO  the address cannot be had */
enum status metrics_listener_open(struct MHD_Daemon **out, struct context *context,
                                  struct error *error);
void metrics_listener_close(struct MHD_Daemon *listener); /* NULL is allowed */

#endif
