/*
 * row_number.h - the order in which the rows of a table were inserted: a row is
 * inserted with a number that was drawn before (table_rows.h), so that memory has it
 * too. Inside store only.
 *
 * A number that was drawn is never drawn again, and if a connection breaks the same
 * number is written again.
 */
#ifndef STORE_ROWS_ROW_NUMBER_H
#define STORE_ROWS_ROW_NUMBER_H

#include "store/rows/table_rows.h"
#include "store/sql/statement.h"

/* Opens the INSERT of these columns, with a parameter each, after the number, which is
 * bound; 0: it is drawn here. On failure there is no statement that the caller must
 * end. */
enum status row_number_open(struct statement *statement, struct store_tx *tx,
                            enum numbered table, uint64_t number, const char *columns,
                            const char *parameters, struct error *error);

#endif
