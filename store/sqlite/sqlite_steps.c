#include "store/sqlite/sqlite_steps.h"

/* Triggers keep these invariants against this program's own errors: entries and marks
 * are append-only, seq is dense, prev is the head's hash, a mark only grows. A person
 * who has the file can drop the triggers; the exported head guards against that.
 * recursive_triggers must be on: without it INSERT OR REPLACE deletes without firing
 * the triggers. */
static const char step_1[] =
    "CREATE TABLE dataset("
    "  id TEXT PRIMARY KEY, version INTEGER NOT NULL, state TEXT NOT NULL,"
    "  spec TEXT NOT NULL, detail TEXT NOT NULL,"
    "  sha256 BLOB CHECK(length(sha256)=32), create_ms INTEGER NOT NULL) STRICT;"
    "CREATE TRIGGER dataset_keep BEFORE DELETE ON dataset"
    "  BEGIN SELECT RAISE(ABORT,'a name is never free again'); END;"
    "CREATE TABLE job("
    "  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, version INTEGER NOT NULL,"
    "  state TEXT NOT NULL, attempt INTEGER NOT NULL, spec TEXT NOT NULL,"
    "  detail TEXT NOT NULL, create_ms INTEGER NOT NULL, update_ms INTEGER NOT NULL)"
    "  STRICT;"
    "CREATE TABLE model("
    "  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
    "  job TEXT NOT NULL UNIQUE REFERENCES job(id),"
    "  sha256 BLOB NOT NULL CHECK(length(sha256)=32), size INTEGER NOT NULL,"
    "  card TEXT NOT NULL, create_ms INTEGER NOT NULL) STRICT;"
    "CREATE TABLE replay("
    "  route TEXT NOT NULL, key TEXT NOT NULL,"
    "  fingerprint BLOB NOT NULL CHECK(length(fingerprint)=32), location TEXT NOT NULL,"
    "  body TEXT NOT NULL, time_ms INTEGER NOT NULL, PRIMARY KEY(route,key)) STRICT;"
    "CREATE TABLE ledger("
    "  seq INTEGER PRIMARY KEY CHECK(seq>0),"
    "  dataset TEXT NOT NULL REFERENCES dataset(id),"
    "  epoch INTEGER NOT NULL CHECK(epoch>0), job TEXT NOT NULL,"
    "  kind TEXT NOT NULL CHECK(kind IN('GRANT','RESERVE','COMMIT')),"
    "  curve BLOB NOT NULL CHECK(length(curve)>0 AND length(curve)%8=0),"
    "  released BLOB CHECK(length(released)=length(curve)), meta TEXT NOT NULL,"
    "  actor TEXT NOT NULL, time_ms INTEGER NOT NULL,"
    "  prev BLOB NOT NULL CHECK(length(prev)=32),"
    "  hash BLOB NOT NULL UNIQUE CHECK(length(hash)=32),"
    "  CHECK((kind='COMMIT')=(released IS NOT NULL)),"
    "  CHECK((kind='GRANT')=(job='')),"
    "  UNIQUE(dataset,epoch,job,kind)) STRICT;"
    "CREATE TRIGGER ledger_no_update BEFORE UPDATE ON ledger"
    "  BEGIN SELECT RAISE(ABORT,'append-only'); END;"
    "CREATE TRIGGER ledger_no_delete BEFORE DELETE ON ledger"
    "  BEGIN SELECT RAISE(ABORT,'append-only'); END;"
    "CREATE TRIGGER ledger_dense BEFORE INSERT ON ledger"
    "  WHEN NEW.seq<>(SELECT coalesce(max(seq),0)+1 FROM ledger)"
    "  OR NEW.prev<>coalesce((SELECT hash FROM ledger ORDER BY seq DESC LIMIT 1),"
    "                        zeroblob(32))"
    "  BEGIN SELECT RAISE(ABORT,'does not continue the chain'); END;"
    "CREATE TABLE mark("
    "  job TEXT PRIMARY KEY, authorised INTEGER NOT NULL CHECK(authorised>0)) STRICT;"
    "CREATE TRIGGER mark_grows BEFORE UPDATE ON mark"
    "  WHEN NEW.authorised<=OLD.authorised OR NEW.job<>OLD.job"
    "  BEGIN SELECT RAISE(ABORT,'must grow'); END;"
    "CREATE TRIGGER mark_keep BEFORE DELETE ON mark"
    "  BEGIN SELECT RAISE(ABORT,'append-only'); END;"
    "CREATE TABLE freeze("
    "  dataset TEXT NOT NULL REFERENCES dataset(id), epoch INTEGER NOT NULL,"
    "  seq INTEGER NOT NULL, hash BLOB NOT NULL CHECK(length(hash)=32),"
    "  time_ms INTEGER NOT NULL, PRIMARY KEY(dataset,epoch)) STRICT;"
    "CREATE TRIGGER freeze_no_update BEFORE UPDATE ON freeze"
    "  BEGIN SELECT RAISE(ABORT,'append-only'); END;"
    "CREATE TRIGGER freeze_no_delete BEFORE DELETE ON freeze"
    "  BEGIN SELECT RAISE(ABORT,'append-only'); END;";

/* Finds the entries of one dataset in the order of seq, which every index ends with. */
static const char step_2[] = "CREATE INDEX ledger_dataset ON ledger(dataset);";

/* Objects belong to projects and to their creators. Those that were made before belong
 * to the local principal (base/principal.h). Remembered answers are kept per
 * principal. */
static const char step_3[] =
    "ALTER TABLE dataset ADD COLUMN project TEXT NOT NULL DEFAULT 'default';"
    "ALTER TABLE dataset ADD COLUMN created_by TEXT NOT NULL DEFAULT 'local';"
    "ALTER TABLE job ADD COLUMN created_by TEXT NOT NULL DEFAULT 'local';"
    "CREATE TABLE replay_before AS SELECT * FROM replay;"
    "DROP TABLE replay;"
    "CREATE TABLE replay("
    "  project TEXT NOT NULL, owner TEXT NOT NULL, route TEXT NOT NULL,"
    "  key TEXT NOT NULL, fingerprint BLOB NOT NULL CHECK(length(fingerprint)=32),"
    "  location TEXT NOT NULL, body TEXT NOT NULL, time_ms INTEGER NOT NULL,"
    "  PRIMARY KEY(project,owner,route,key)) STRICT;"
    "INSERT INTO replay SELECT 'default','local',route,key,fingerprint,location,body,"
    "  time_ms FROM replay_before;"
    "DROP TABLE replay_before;";

/* The audit trail: a row for each act, chained and append-only as the ledger is. An
 * index ends with seq, so the acts of one person, on one object or of one kind come in
 * order; the index of refusals holds only those. */
static const char step_4[] =
    "CREATE TABLE audit("
    "  seq INTEGER PRIMARY KEY CHECK(seq>0), second INTEGER NOT NULL,"
    "  actor TEXT NOT NULL, key TEXT NOT NULL, project TEXT NOT NULL,"
    "  via TEXT NOT NULL, address TEXT NOT NULL, action TEXT NOT NULL,"
    "  object TEXT NOT NULL, result TEXT NOT NULL CHECK(result "
    "IN('ok','denied','error')),"
    "  code TEXT NOT NULL, request TEXT NOT NULL, detail TEXT NOT NULL,"
    "  prev BLOB NOT NULL CHECK(length(prev)=32),"
    "  hash BLOB NOT NULL CHECK(length(hash)=32)) STRICT;"
    "CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit"
    "  BEGIN SELECT RAISE(ABORT,'append-only'); END;"
    "CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit"
    "  BEGIN SELECT RAISE(ABORT,'append-only'); END;"
    "CREATE TRIGGER audit_dense BEFORE INSERT ON audit"
    "  WHEN NEW.seq<>(SELECT coalesce(max(seq),0)+1 FROM audit)"
    "  OR NEW.prev<>coalesce((SELECT hash FROM audit ORDER BY seq DESC LIMIT 1),"
    "                        zeroblob(32))"
    "  BEGIN SELECT RAISE(ABORT,'does not continue the chain'); END;"
    "CREATE INDEX audit_actor ON audit(actor);"
    "CREATE INDEX audit_object ON audit(object);"
    "CREATE INDEX audit_action ON audit(action);"
    "CREATE INDEX audit_refused ON audit(result) WHERE result<>'ok';";

/* Labels of a dataset, a job or a model; and an index by the location of remembered
 * answers, for when the object there is deleted. */
static const char step_5[] =
    "CREATE TABLE caption("
    "  kind TEXT NOT NULL CHECK(kind IN('dataset','job','model')), id TEXT NOT NULL,"
    "  text TEXT NOT NULL, PRIMARY KEY(kind,id)) STRICT;"
    "CREATE INDEX replay_location ON replay(location);";
/* Receivers of events, and the events that they are still to receive: the outbox. */
static const char step_6[] =
    "CREATE TABLE webhook("
    "  id TEXT PRIMARY KEY, project TEXT NOT NULL, owner TEXT NOT NULL,"
    "  everywhere INTEGER NOT NULL CHECK(everywhere IN(0,1)), url TEXT NOT NULL,"
    "  events TEXT NOT NULL, dataset TEXT NOT NULL,"
    "  state TEXT NOT NULL CHECK(state IN('ACTIVE','DISABLED')),"
    "  reason TEXT NOT NULL, secret BLOB NOT NULL CHECK(length(secret)=32),"
    "  old_secret BLOB CHECK(length(old_secret)=32), old_until_ms INTEGER NOT NULL,"
    "  failing_ms INTEGER NOT NULL, create_ms INTEGER NOT NULL) STRICT;"
    "CREATE TABLE delivery("
    "  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
    "  webhook TEXT NOT NULL REFERENCES webhook(id), type TEXT NOT NULL,"
    "  body TEXT NOT NULL,"
    "  state TEXT NOT NULL CHECK(state IN('WAITING','DELIVERED','FAILED')),"
    "  result TEXT NOT NULL, http_status INTEGER NOT NULL,"
    "  attempts INTEGER NOT NULL CHECK(attempts>=0), next_ms INTEGER NOT NULL,"
    "  create_ms INTEGER NOT NULL, update_ms INTEGER NOT NULL) STRICT;"
    "CREATE INDEX delivery_due ON delivery(webhook,state,next_ms);";

/* Keys are never deleted, so a daemon that once required keys always does. The rights
 * of a key never change, and it can only end sooner. */
static const char step_7[] =
    "CREATE TABLE access_key("
    "  id TEXT PRIMARY KEY, sha256 BLOB NOT NULL CHECK(length(sha256)=32),"
    "  owner TEXT NOT NULL, project TEXT NOT NULL, role TEXT NOT NULL,"
    "  scopes TEXT NOT NULL, policy TEXT NOT NULL, create_ms INTEGER NOT NULL,"
    "  expire_ms INTEGER NOT NULL, revoke_ms INTEGER NOT NULL,"
    "  used_day INTEGER NOT NULL) STRICT;"
    "CREATE TRIGGER access_key_keep BEFORE DELETE ON access_key"
    "  BEGIN SELECT RAISE(ABORT,'a key is revoked, never deleted'); END;"
    "CREATE TRIGGER access_key_ends BEFORE UPDATE ON access_key"
    "  WHEN NEW.id<>OLD.id OR NEW.sha256<>OLD.sha256 OR NEW.owner<>OLD.owner"
    "  OR NEW.project<>OLD.project OR NEW.role<>OLD.role OR NEW.scopes<>OLD.scopes"
    "  OR NEW.create_ms<>OLD.create_ms OR NEW.expire_ms>OLD.expire_ms"
    "  OR (OLD.revoke_ms<>0 AND NEW.revoke_ms<>OLD.revoke_ms)"
    "  BEGIN SELECT RAISE(ABORT,'a key only ends sooner'); END;";

/* A delivery carries the trace of the request that caused its event. */
static const char step_8[] =
    "ALTER TABLE delivery ADD COLUMN traceparent TEXT NOT NULL DEFAULT '';";

/* Statistics requested of a dataset's columns, and their answers. A row ends once: an
 * answer is released with the charge for it, and never again. */
static const char step_9[] =
    "CREATE TABLE survey("
    "  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
    "  dataset TEXT NOT NULL REFERENCES dataset(id),"
    "  state TEXT NOT NULL CHECK(state IN('RUNNING','SUCCEEDED','FAILED')),"
    "  reason TEXT NOT NULL, ledger_seq INTEGER NOT NULL, spec TEXT NOT NULL,"
    "  guarantee TEXT NOT NULL, answers TEXT NOT NULL, create_ms INTEGER NOT NULL,"
    "  end_ms INTEGER NOT NULL, created_by TEXT NOT NULL) STRICT;"
    "CREATE INDEX survey_dataset ON survey(dataset);"
    "CREATE TRIGGER survey_ends BEFORE UPDATE ON survey"
    "  WHEN OLD.state<>'RUNNING' OR NEW.id<>OLD.id OR NEW.dataset<>OLD.dataset"
    "  OR NEW.ledger_seq<>OLD.ledger_seq OR NEW.spec<>OLD.spec"
    "  OR NEW.guarantee<>OLD.guarantee"
    "  BEGIN SELECT RAISE(ABORT,'it has ended'); END;"
    "CREATE TRIGGER survey_keep BEFORE DELETE ON survey"
    "  BEGIN SELECT RAISE(ABORT,'what was released stays on record'); END;";

/* Public weights that were uploaded, for jobs to begin with. */
static const char step_10[] =
    "CREATE TABLE weights("
    "  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, project TEXT NOT NULL,"
    "  created_by TEXT NOT NULL, note TEXT NOT NULL,"
    "  sha256 BLOB NOT NULL CHECK(length(sha256)=32),"
    "  size INTEGER NOT NULL, create_ms INTEGER NOT NULL) STRICT;";
/* Charges are never deleted, and one that has ended does not change. A block is granted
 * once, so their number only grows. */
static const char step_11[] =
    "CREATE TABLE charge("
    "  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
    "  dataset TEXT NOT NULL REFERENCES dataset(id), project TEXT NOT NULL,"
    "  created_by TEXT NOT NULL, spec TEXT NOT NULL,"
    "  state TEXT NOT NULL CHECK(state IN('OPEN','SETTLED','LAPSED')),"
    "  figures TEXT NOT NULL, blocks INTEGER NOT NULL CHECK(blocks>=0),"
    "  process TEXT NOT NULL, lease_end_ms INTEGER NOT NULL, end_ms INTEGER NOT NULL,"
    "  create_ms INTEGER NOT NULL) STRICT;"
    "CREATE TRIGGER charge_keep BEFORE DELETE ON charge"
    "  BEGIN SELECT RAISE(ABORT,'a charge is never deleted'); END;"
    "CREATE TRIGGER charge_moves BEFORE UPDATE ON charge"
    "  WHEN OLD.state<>'OPEN' OR NEW.blocks<OLD.blocks OR NEW.id<>OLD.id"
    "  OR NEW.dataset<>OLD.dataset OR NEW.project<>OLD.project"
    "  OR NEW.created_by<>OLD.created_by OR NEW.spec<>OLD.spec"
    "  BEGIN SELECT RAISE(ABORT,'a charge only moves on'); END;";

/* Blobs that are kept in an object store, and with them the keys that they are
 * encrypted under. A directory that keeps blobs in its folders has no rows here. */
static const char step_12[] =
    "CREATE TABLE blob("
    "  name TEXT PRIMARY KEY, object TEXT NOT NULL UNIQUE,"
    "  size INTEGER NOT NULL CHECK(size>=0),"
    "  chunks BLOB NOT NULL CHECK(length(chunks)>0 AND length(chunks)%32=0),"
    "  wrapped BLOB NOT NULL CHECK(length(wrapped)=60),"
    "  create_ms INTEGER NOT NULL) STRICT;";

/* Tells whether this database is in use, or another has taken its place: one row. */
static const char step_13[] =
    "CREATE TABLE migration("
    "  one INTEGER PRIMARY KEY CHECK(one=1), identity TEXT NOT NULL,"
    "  state TEXT NOT NULL CHECK(state IN('HERE','ARRIVING','LEFT')),"
    "  other TEXT NOT NULL, place TEXT NOT NULL) STRICT;"
    "INSERT INTO migration VALUES(1,lower(hex(randomblob(16))),'HERE','','');"
    "CREATE TRIGGER migration_keep BEFORE DELETE ON migration"
    "  BEGIN SELECT RAISE(ABORT,'a database stays the one that it is'); END;"
    "CREATE TRIGGER migration_same BEFORE UPDATE ON migration"
    "  WHEN NEW.identity<>OLD.identity"
    "  BEGIN SELECT RAISE(ABORT,'a database stays the one that it is'); END;";

/* Parts of the ledger that are archived: a SEAL entry replaces all entries before it,
 * of which only grants and open reservations may stay; the sums of the deleted entries
 * are rows that the SEAL authenticates. A database that arrives from another brings a
 * ledger with such gaps. The key begins with the job, so that the entries of a mark are
 * found. */
static const char step_14[] =
    "CREATE TABLE sealed_sum("
    "  dataset TEXT PRIMARY KEY REFERENCES dataset(id),"
    "  body BLOB NOT NULL CHECK(length(body)>0)) STRICT;"
    "CREATE TABLE ledger_before AS SELECT * FROM ledger;"
    "DROP TABLE ledger;"
    "CREATE TABLE ledger("
    "  seq INTEGER PRIMARY KEY CHECK(seq>0), dataset TEXT REFERENCES dataset(id),"
    "  epoch INTEGER NOT NULL CHECK(epoch>0), job TEXT NOT NULL,"
    "  kind TEXT NOT NULL CHECK(kind IN('GRANT','RESERVE','COMMIT','SEAL')),"
    "  curve BLOB NOT NULL CHECK(length(curve)>0 AND length(curve)%8=0),"
    "  released BLOB CHECK(length(released)=length(curve)), meta TEXT NOT NULL,"
    "  actor TEXT NOT NULL, time_ms INTEGER NOT NULL,"
    "  prev BLOB NOT NULL CHECK(length(prev)=32),"
    "  hash BLOB NOT NULL UNIQUE CHECK(length(hash)=32),"
    "  CHECK((kind='COMMIT')=(released IS NOT NULL)),"
    "  CHECK((kind IN('GRANT','SEAL'))=(job='')),"
    "  CHECK((kind='SEAL')=(dataset IS NULL)),"
    "  UNIQUE(job,dataset,epoch,kind)) STRICT;"
    "INSERT INTO ledger SELECT seq,dataset,epoch,job,kind,curve,released,meta,actor,"
    "  time_ms,prev,hash FROM ledger_before ORDER BY seq;"
    "DROP TABLE ledger_before;"
    "CREATE INDEX ledger_dataset ON ledger(dataset);"
    "CREATE INDEX ledger_seal ON ledger(kind) WHERE kind='SEAL';"
    "CREATE TRIGGER ledger_no_update BEFORE UPDATE ON ledger"
    "  BEGIN SELECT RAISE(ABORT,'append-only'); END;"
    "CREATE TRIGGER ledger_no_delete BEFORE DELETE ON ledger"
    "  WHEN OLD.kind='GRANT' OR"
    "  OLD.seq>=coalesce((SELECT max(seq) FROM ledger WHERE kind='SEAL'),0)"
    "  BEGIN SELECT RAISE(ABORT,'append-only'); END;"
    "CREATE TRIGGER ledger_dense BEFORE INSERT ON ledger"
    "  WHEN (NEW.seq<>(SELECT coalesce(max(seq),0)+1 FROM ledger)"
    "  OR NEW.prev<>coalesce((SELECT hash FROM ledger ORDER BY seq DESC LIMIT 1),"
    "                        zeroblob(32)))"
    "  AND NOT(NEW.seq>(SELECT coalesce(max(seq),0)+1 FROM ledger)"
    "          AND (SELECT state FROM migration)='ARRIVING')"
    "  BEGIN SELECT RAISE(ABORT,'does not continue the chain'); END;"
    "DROP TRIGGER mark_keep;"
    "CREATE TRIGGER mark_keep BEFORE DELETE ON mark"
    "  WHEN NOT EXISTS(SELECT 1 FROM ledger WHERE kind='SEAL')"
    "  OR EXISTS(SELECT 1 FROM ledger WHERE job=OLD.job)"
    "  BEGIN SELECT RAISE(ABORT,'append-only'); END;";

/* A number is never given to a second row: if the newest row is deleted, SQLite
 * would give its number again. A page of a list continues after a number
 * (service/http/pagination.h). */
static const char step_15[] =
    "CREATE TABLE model_before AS SELECT * FROM model;"
    "DROP TABLE model;"
    "CREATE TABLE job_before AS SELECT * FROM job;"
    "DROP TABLE job;"
    "CREATE TABLE job("
    "  number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,"
    "  version INTEGER NOT NULL, state TEXT NOT NULL, attempt INTEGER NOT NULL,"
    "  spec TEXT NOT NULL, detail TEXT NOT NULL, create_ms INTEGER NOT NULL,"
    "  update_ms INTEGER NOT NULL, created_by TEXT NOT NULL) STRICT;"
    "INSERT INTO job SELECT number,id,version,state,attempt,spec,detail,create_ms,"
    "  update_ms,created_by FROM job_before;"
    "DROP TABLE job_before;"
    "CREATE TABLE model("
    "  number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,"
    "  job TEXT NOT NULL UNIQUE REFERENCES job(id),"
    "  sha256 BLOB NOT NULL CHECK(length(sha256)=32), size INTEGER NOT NULL,"
    "  card TEXT NOT NULL, create_ms INTEGER NOT NULL) STRICT;"
    "INSERT INTO model SELECT number,id,job,sha256,size,card,create_ms FROM "
    "model_before;"
    "DROP TABLE model_before;"
    "CREATE TABLE weights_before AS SELECT * FROM weights;"
    "DROP TABLE weights;"
    "CREATE TABLE weights("
    "  number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,"
    "  project TEXT NOT NULL, created_by TEXT NOT NULL, note TEXT NOT NULL,"
    "  sha256 BLOB NOT NULL CHECK(length(sha256)=32),"
    "  size INTEGER NOT NULL, create_ms INTEGER NOT NULL) STRICT;"
    "INSERT INTO weights SELECT number,id,project,created_by,note,sha256,size,create_ms"
    "  FROM weights_before;"
    "DROP TABLE weights_before;";

/* Browsers that are logged in, by the digests of their cookies; and wider policies of
 * keys that await a second person. */
static const char step_16[] =
    "CREATE TABLE login("
    "  id TEXT PRIMARY KEY CHECK(length(id)=64),"
    "  key TEXT NOT NULL REFERENCES access_key(id),"
    "  begin_ms INTEGER NOT NULL, used_ms INTEGER NOT NULL) STRICT;"
    "CREATE TABLE policy_proposal("
    "  id TEXT PRIMARY KEY REFERENCES access_key(id), policy TEXT NOT NULL,"
    "  proposed_by TEXT NOT NULL, propose_ms INTEGER NOT NULL) STRICT;";

/* Other timelines of the ledger, which a restored backup has made: how much each may
 * have spent of an epoch since it left this one. */
static const char step_17[] =
    "CREATE TABLE timeline("
    "  dataset TEXT NOT NULL REFERENCES dataset(id), epoch INTEGER NOT NULL,"
    "  seq INTEGER NOT NULL, hash BLOB NOT NULL CHECK(length(hash)=32),"
    "  shared INTEGER NOT NULL, seen INTEGER NOT NULL CHECK(seen IN(0,1)),"
    "  most BLOB NOT NULL CHECK(length(most)>0 AND length(most)%8=0),"
    "  time_ms INTEGER NOT NULL, PRIMARY KEY(dataset,epoch,hash)) STRICT;"
    "CREATE TRIGGER timeline_no_update BEFORE UPDATE ON timeline"
    "  BEGIN SELECT RAISE(ABORT,'append-only'); END;"
    "CREATE TRIGGER timeline_no_delete BEFORE DELETE ON timeline"
    "  BEGIN SELECT RAISE(ABORT,'append-only'); END;";

static const char *const steps[] = {
    step_1,  step_2,  step_3,  step_4,  step_5,  step_6,  step_7,  step_8, step_9,
    step_10, step_11, step_12, step_13, step_14, step_15, step_16, step_17};

static const struct sqlite_constraint constraints[] = {
    {"dataset", "id", "length(sha256)=32", 1},
    {"model", "id", "length(sha256)=32", 1},
    {"replay", "key", "length(fingerprint)=32", 1},
    {"mark", "job", "authorised>0", 1},
    {"freeze", "dataset", "length(hash)=32", 1},
    {"caption", "id", "kind IN('dataset','job','model')", 5},
    {"webhook", "id", "state IN('ACTIVE','DISABLED') AND length(secret)=32", 6},
    {"webhook", "id", "old_secret IS NULL OR length(old_secret)=32", 6},
    {"delivery", "id", "state IN('WAITING','DELIVERED','FAILED') AND attempts>=0", 6},
    {"access_key", "id", "length(sha256)=32", 7},
    {"survey", "id", "state IN('RUNNING','SUCCEEDED','FAILED')", 9},
    {"weights", "id", "length(sha256)=32", 10},
    {"charge", "id", "state IN('OPEN','SETTLED','LAPSED') AND blocks>=0", 11},
    {"blob", "name", "size>=0 AND length(wrapped)=60", 12},
    {"blob", "name", "length(chunks)>0 AND length(chunks)%32=0", 12},
    {"migration", "identity", "state IN('HERE','ARRIVING','LEFT')", 13},
    {"sealed_sum", "dataset", "length(body)>0", 14},
    {"login", "id", "length(id)=64", 16},
    {"timeline", "dataset", "length(hash)=32 AND seen IN(0,1)", 17},
    {"timeline", "dataset", "length(most)>0 AND length(most)%8=0", 17},
};

const struct sqlite_tables *sqlite_steps_current(void)
{
    static const struct sqlite_tables current = {steps, sizeof steps / sizeof *steps};
    return &current;
}

const struct sqlite_constraint *sqlite_steps_constraints(size_t *count)
{
    *count = sizeof constraints / sizeof *constraints;
    return constraints;
}
