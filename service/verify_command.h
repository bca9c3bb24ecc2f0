/*
 * verify_command.h - `epsilond verify --data-dir DIR [--from-genesis --archive FOLDER]`: recomputes the whole ledger from
 * its entries, checks all that a start checks (inventory.h; with --head-file PATH, the
 * head kept elsewhere too), and every matrix and model file against its row. Where parts of
 * the ledger are archived it begins at the newest SEAL, and with --from-genesis at the first
 * entry, reading the archives in FOLDER. It writes
 * nothing, and may run beside a daemon. What it found it says on stdout, and names the
 * table and row or the file.
 */
#ifndef SERVICE_VERIFY_COMMAND_H
#define SERVICE_VERIFY_COMMAND_H

/* Takes the arguments after `verify` and returns the exit code: 0 where all is well, 64
 * for wrong usage, 65 where an entry, a row or a file is wrong, 75 where it cannot be
 * read, 78 for a newer schema. */
int verify_command(int argc, char **argv);

/* The same of the data directory, and against the head file, that config names. */
struct config;
int verify_directory(const struct config *config);

/* The same of a store that is open, from the newest SEAL on, whose files are blobs; *head = its newest entry, where
 * all is well. */
struct blobs;
struct ledger_entry_name;
struct store;
int verify_opened(struct ledger_entry_name *head, const struct config *config,
                  struct blobs *blobs, struct store *store);

#endif
