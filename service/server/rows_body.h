/*
 * rows_body.h - the body of a request whose rows are predicted while it arrives
 * (service/handlers/predict_file.h), between the connection and a file predictor.
 *
 *   receive -> a piece is complete: suspended -> run, again and again -> resumed
 *
 * While a file predictor has the request, its connection is suspended and nothing more
 * is read from the client: a client cannot send faster than its rows are predicted.
 *
 * Threads: rows_body_receive is the HTTP server's, rows_body_run a file predictor's.
 */
#ifndef SERVICE_SERVER_ROWS_BODY_H
#define SERVICE_SERVER_ROWS_BODY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

struct connection_deadline;
struct daemon_state;
struct request;
struct sessions;

/* Takes the next bytes of the body, and returns their number. If a piece is complete, it
 * suspends the connection and gives the request to a file predictor.
 *   error  ST_DRAINING, ST_BODY_TOO_LARGE: the body is refused */
size_t rows_body_receive(struct request *request, struct sessions *sessions,
                         struct connection_deadline *deadline, const char *data,
                         size_t size, struct error *error);

/* Predicts for a while, on a file predictor. Returns false if the request went back to
 * the end of the queue of the file predictors; if true, its connection may be
 * resumed. */
bool rows_body_run(struct daemon_state *context, struct request *request);

#endif
