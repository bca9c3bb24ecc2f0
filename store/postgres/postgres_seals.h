/*
 * postgres_seals.h - the step of postgres_tables.c that lets parts of the ledger be
 * archived. Inside store only.
 *
 * Threads: it is constant.
 */
#ifndef STORE_POSTGRES_POSTGRES_SEALS_H
#define STORE_POSTGRES_POSTGRES_SEALS_H

extern const char postgres_seals[]; /* SQL */

#endif
