/*
 * epochs_view.h - the joint guarantee of all epochs of a dataset's budget, as members
 * of budgets, datasets and certificates: "guarantee" over all of them, and "epochs",
 * each as it was granted. A dataset that never got a further grant has one epoch, whose
 * grant is the guarantee. After a fork of the ledger the guarantee names the
 * "timelines" that it covers, which are the known ones.
 */
#ifndef API_VIEWS_EPOCHS_VIEW_H
#define API_VIEWS_EPOCHS_VIEW_H

#include <stdbool.h>

#include "accountant/pricing/budget_spent.h"
#include "accountant/pricing/odometer.h"
#include "api/json/json_writer.h"

/* Writes the members "guarantee" and "epochs". Each epoch has its "epsilon_spent" if
 * with_spent is set. */
void epochs_write(struct json_writer *writer, const struct epochs *epochs,
                  bool with_spent);

/* Writes the member "exposure": the privacy loss of all epochs so far, and what is
 * held. It is null if there is only one epoch and it was never frozen, since the
 * balance's own figures already show that. */
void exposure_write(struct json_writer *writer, const struct epochs *epochs,
                    const struct balance *balance);

#endif
