/*
 * cold_account.h - answers from memory that need a cold account: one that is only in
 * the store (accountant/ledger/ledger_accounts.h). A connection's own thread never
 * waits for the store, so the request leaves that thread, and a thread that may wait
 * handles it again:
 *
 *   at once --account not in memory--> ASK_DUE --a reader--> handled again --> sent
 *
 * An account that a reader has loaded stays in memory, so requests wait for it once.
 *
 * Threads: the one that has the request.
 */
#ifndef SERVICE_HANDLERS_COLD_ACCOUNT_H
#define SERVICE_HANDLERS_COLD_ACCOUNT_H

#include "service/http/request.h"

struct daemon_state;
struct dataset;

/* Returns whether this thread cannot read the dataset's account. If so, what the
 * handler makes is not sent, and the request is handled again. */
bool cold_account_awaits(const struct daemon_state *context, struct request *request,
                         const struct dataset *dataset);

/* Has the request handled again. For a figure that needs many accounts, which this
 * thread could not compute. */
void cold_account_ask(struct request *request);

/* Returns the status that the handler must fail with: ST_QUEUE_FULL if the request has
 * to wait for an account, else ST_OK. */
enum status cold_account_status(const struct request *request, struct error *error);

#endif
