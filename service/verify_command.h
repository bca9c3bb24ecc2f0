/*
 * verify_command.h - `epsilond verify --data-dir DIR`: recomputes the whole ledger from
 * its entries, read-only, beside a running daemon too, and says what it found on
 * stdout.
 */
#ifndef SERVICE_VERIFY_COMMAND_H
#define SERVICE_VERIFY_COMMAND_H

/* arguments after `verify`. Returns the exit code: 0 verified, 64 usage, 65 an entry is
 * wrong, 75 it cannot be read. */
int verify_command(int argc, char **argv);

#endif
