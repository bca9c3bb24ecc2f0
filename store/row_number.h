/*
 * row_number.h - the order in which the rows of a table came: how a row is inserted with a
 * number that was drawn before (table_rows.h), so that memory has it too. Inside store only.
 *
 * What is drawn is never given back, and a connection that breaks writes the same again.
 */
#ifndef STORE_ROW_NUMBER_H
#define STORE_ROW_NUMBER_H

#include "store/statement.h"
#include "store/table_rows.h"

/* Opens the INSERT of these columns, with a parameter each, behind the number, which is
 * bound; 0: it is drawn here. On failure there is nothing to be ended. */
enum status row_number_open(struct statement *statement, struct store_tx *tx,
                            enum numbered table, uint64_t number, const char *columns,
                            const char *parameters, struct error *error);

#endif
