/*
 * budget_text.h - a dataset's budget as answered, all parts of it.
 *
 * Threads: any. Texts are to be freed.
 */
#ifndef SERVICE_BUDGET_TEXT_H
#define SERVICE_BUDGET_TEXT_H

#include "accountant/ledger.h"
#include "api/dataset_request.h"

/* *text = the budget of the dataset, which is private.
 *   ST_NOT_FOUND  it has none */
enum status budget_text(char **text, struct ledger *ledger,
                        const struct dataset_spec *spec, struct error *error);

#endif
