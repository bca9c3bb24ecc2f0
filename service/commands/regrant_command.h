/*
 * regrant_command.h - `epsilond regrant ID --epsilon E --delta D [--order A]
 * [--discovery-delta D] [--acknowledge NAME]... --data-dir DIR`: the owner of a dataset
 * that a restored backup has frozen opens a new epoch of its budget, with the daemon
 * stopped. The old epochs stay listed.
 */
#ifndef SERVICE_COMMANDS_REGRANT_COMMAND_H
#define SERVICE_COMMANDS_REGRANT_COMMAND_H

/* Takes the arguments after `regrant` and returns the exit code: 0 if the epoch was
 * granted, 64 for wrong usage or a dataset that is not frozen, 65 if the ledger does
 * not verify, 75 if it cannot be written or is in use. */
int regrant_command(int argc, char **argv);
extern const char regrant_usage[]; /* lines for --help */

#endif
