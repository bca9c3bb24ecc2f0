/*
 * postgres_steps.h - the steps that make the tables of a server: those of
 * schema_steps.def in PostgreSQL's dialect. Inside store only.
 *
 * Some tables exist only here: schema_step; head, which the triggers of the ledger keep;
 * writer (pg_commit_outcome.h); and those of daemons that share the database: claim,
 * change, duty, daemon and hold.
 */
#ifndef STORE_POSTGRES_POSTGRES_STEPS_H
#define STORE_POSTGRES_POSTGRES_STEPS_H

#include <stddef.h>

#include "store/sql/schema_step.h"

const struct schema_step *postgres_steps(size_t *count); /* of texts; at least one */

#endif
