/*
 * closed_account.h - an answer from memory that tells of a budget whose account is in the
 * store alone (accountant/ledger_accounts.h). A connection's own thread waits for no store, so
 * the request leaves it, and is answered anew by a thread that may wait:
 *
 *   at once --the account is not in memory--> ASK_DUE --a reader--> handled anew --> sent
 *
 * What a reader asks for is in memory from then on, so an account is waited for once.
 *
 * Threads: the one that has the request.
 */
#ifndef SERVICE_CLOSED_ACCOUNT_H
#define SERVICE_CLOSED_ACCOUNT_H

#include "service/context.h"
#include "service/request.h"

/* Whether the handler has to do without the dataset's account on this thread: what it makes
 * is not sent, and the request is handled anew. */
bool closed_account_awaits(const struct context *context, struct request *request,
                           const struct dataset *dataset);

/* The same of a figure that asks for many, which this thread could not make. */
void closed_account_ask(struct request *request);

/* What a handler fails with where that is so; else ST_OK. */
enum status closed_account_status(const struct request *request, struct error *error);

#endif
