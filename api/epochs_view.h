/*
 * epochs_view.h - what the epochs of a dataset's budget promise together, as members of
 * budgets, datasets and certificates: "guarantee" over all of them, and "epochs", each as
 * it was granted. A dataset that was never granted anew has one epoch, whose grant is the
 * guarantee. After a fork of the ledger the guarantee names the "timelines" that it covers:
 * those that are known.
 */
#ifndef API_EPOCHS_VIEW_H
#define API_EPOCHS_VIEW_H

#include <stdbool.h>

#include "accountant/odometer.h"
#include "accountant/spending.h"
#include "api/json_writer.h"

/* Writes the members "guarantee" and "epochs". Each epoch has its "epsilon_spent" where
 * with_spent is set. */
void epochs_write(struct json_writer *writer, const struct epochs *epochs,
                  bool with_spent);

/* Writes the member "exposure": what all epochs may have told so far, and what is held.
 * It is null where there is one epoch that was never frozen, since the balance's own
 * figures tell of that. */
void exposure_write(struct json_writer *writer, const struct epochs *epochs,
                    const struct balance *balance);

#endif
