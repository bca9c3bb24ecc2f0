/*
 * import_claim.h - passes imports that no daemon has to this daemon's importer, if several
 * daemons share the store.
 *
 * Threads: the clock's.
 */
#ifndef SERVICE_INGEST_IMPORT_CLAIM_H
#define SERVICE_INGEST_IMPORT_CLAIM_H

struct daemon_state;

/* Takes the import that was requested first of those that no daemon has, if none is under
 * way here. Does nothing if the store is not shared. */
void import_claim_take(struct daemon_state *context);

#endif
