/*
 * history.h - the book as the entries of a store say it. Inside accountant only.
 */
#ifndef ACCOUNTANT_HISTORY_H
#define ACCOUNTANT_HISTORY_H

#include "accountant/book.h"
#include "accountant/head_file.h"

/* Reads every entry, mark and freeze into the empty book, checking the chain, the form of
 * each entry, each COMMIT against its RESERVE and mark, and the invariant after each.
 *   ST_CORRUPT  the error names the entry or row and what is wrong; book must still be
 *               finished
 *   ST_IO       the store cannot be read */
enum status history_read(struct book *book, struct head *head, struct store_tx *tx,
                         struct error *error);

#endif
