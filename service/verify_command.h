/*
 * verify_command.h - `epsilond verify --data-dir DIR`: recomputes the whole ledger from
 * its entries, checks all that a start checks (inventory.h; with --head-file PATH, the
 * head kept elsewhere too), and every matrix and model file against its row. Read-only,
 * beside a running daemon too; says on stdout what it found, and names the table and row
 * or the file.
 */
#ifndef SERVICE_VERIFY_COMMAND_H
#define SERVICE_VERIFY_COMMAND_H

/* arguments after `verify`. Returns the exit code: 0 verified, 64 usage, 65 an entry, a
 * row or a file is wrong, 75 it cannot be read, 78 a newer schema. */
int verify_command(int argc, char **argv);

#endif
