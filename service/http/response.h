/*
 * response.h - a request's reply as libmicrohttpd sends it.
 *
 * Threads: the HTTP server's. Ownership: what the reply holds passes to the response.
 */
#ifndef SERVICE_HTTP_RESPONSE_H
#define SERVICE_HTTP_RESPONSE_H

#include <microhttpd.h>

struct request;

/* Hands request->reply to libmicrohttpd, with its headers. Polls that are answered with
 * the same job share one response (service/http/cached_response.h). */
enum MHD_Result response_queue(struct request *request);

#endif
