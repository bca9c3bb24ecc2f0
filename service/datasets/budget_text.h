/*
 * budget_text.h - the body of an answer that shows a dataset's budget, with all its
 * parts.
 *
 * Threads: any. The caller frees texts.
 */
#ifndef SERVICE_DATASETS_BUDGET_TEXT_H
#define SERVICE_DATASETS_BUDGET_TEXT_H

#include "api/requests/dataset_request.h"

/* Sets *text to the budget of the dataset, which is private.
 *   ST_NOT_FOUND  it has none */
enum status budget_text(char **text, struct ledger *ledger,
                        const struct dataset_spec *spec, struct error *error);

#endif
