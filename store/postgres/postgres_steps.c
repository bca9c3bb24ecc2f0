/*
 * Bytes are bytea, numbers bigint, texts compare byte by byte. Triggers keep the same
 * invariants as in SQLite, by two functions: one refuses, and one continues the
 * ledger's chain by moving the head, which locks it.
 */
#include "store/postgres/postgres_steps.h"

#define TEXT             "text COLLATE \"C\" NOT NULL"
#define NUMBER           "bigint NOT NULL"
#define BYTES            "bytea NOT NULL"
#define BYTES_OR_NULL    "bytea"
#define TEXT_KEY         "text COLLATE \"C\" PRIMARY KEY"
#define NUMBER_KEY       "bigint PRIMARY KEY"
#define COUNTED          "bigint GENERATED ALWAYS AS IDENTITY"
#define COUNTED_KEY      COUNTED " PRIMARY KEY"
#define COUNTED_ROW      " rowid " COUNTED ","
#define TEXT_ADDED(text) TEXT /* no server has a row of a table without it */
#define FREEZE           "\"freeze\""
#define NEW_IDENTITY     "(SELECT identity::text FROM schema_step)"
#define STRICT           ";"

#define REFUSE(trigger, each, why)                                                     \
    "CREATE TRIGGER " trigger " FOR EACH " each                                        \
    " EXECUTE FUNCTION epsilond_refuse('" why "');"
#define KEEP(table, why)                                                               \
    REFUSE(table "_keep BEFORE DELETE OR TRUNCATE ON \"" table "\"", "STATEMENT", why)
#define APPEND_ONLY(table)                                                             \
    REFUSE(table "_keep BEFORE UPDATE OR DELETE OR TRUNCATE ON \"" table "\"",         \
           "STATEMENT", "append-only")
#define GUARD(table, name, when, why)                                                  \
    REFUSE(table "_" name " BEFORE UPDATE ON " table, "ROW WHEN (" when ")", why)
#define CHAIN(table)                                                                   \
    "CREATE TRIGGER " table "_dense BEFORE INSERT ON " table                           \
    " FOR EACH ROW EXECUTE FUNCTION epsilond_continue_" table "();"

/* True in a transaction of a daemon that shares the database (global_write_lock.c). */
#define SHARED "current_setting('epsilond.daemon',true)<>''"
#define CHANGE "INSERT OR UPDATE OR DELETE"
#define TELL(table, when, each, what)                                                  \
    "CREATE TRIGGER tell AFTER " when " ON \"" table "\" FOR EACH " each               \
    " WHEN (" SHARED ") EXECUTE FUNCTION epsilond_" what ";"
#define FEED_ROWS(table)  TELL(table, CHANGE, "ROW", "tell('" table "')")
#define FEED(table, what) TELL(table, "INSERT", "STATEMENT", "tell('" what "')")

#define INDEX(name, table, columns, number)                                            \
    "CREATE INDEX " name " ON " table "(" columns "," number ");"
#define INDEX_WHERE(name, table, columns, number, when)                                \
    "CREATE INDEX " name " ON " table "(" columns "," number ") WHERE " when ";"

/* "epsm": in addition to the lock of the database (pg_commit_outcome.c), a lock for
 * each job's name. */
#define JOB_LOCK "1702392685"

/* clang-format off */
static const char functions[] =
    "CREATE FUNCTION epsilond_refuse() RETURNS trigger LANGUAGE plpgsql AS $$"
    "  BEGIN RAISE EXCEPTION USING ERRCODE='23514', MESSAGE=TG_ARGV[0]; END $$;"
    "CREATE FUNCTION epsilond_continue_ledger() RETURNS trigger LANGUAGE plpgsql AS $$"
    "  BEGIN"
    "    UPDATE head SET seq=NEW.seq,hash=NEW.hash WHERE seq=NEW.seq-1 AND hash=NEW.prev;"
    "    IF NOT FOUND THEN RAISE EXCEPTION USING ERRCODE='23514',"
    "      MESSAGE='does not continue the chain'; END IF;"
    "    RETURN NEW;"
    "  END $$;"
    "CREATE FUNCTION epsilond_continue_audit() RETURNS trigger LANGUAGE plpgsql AS $$"
    "  DECLARE last_seq bigint := 0; last_hash bytea := decode(repeat('00',32),'hex');"
    "  BEGIN"
    "    SELECT seq,hash INTO last_seq,last_hash FROM audit ORDER BY seq DESC LIMIT 1;"
    "    IF NEW.seq<>coalesce(last_seq,0)+1"
    "      OR NEW.prev<>coalesce(last_hash,decode(repeat('00',32),'hex')) THEN"
    "      RAISE EXCEPTION USING ERRCODE='23514',"
    "        MESSAGE='does not continue the chain'; END IF;"
    "    RETURN NEW;"
    "  END $$;";

/* Tables of the database itself; and the head, which the ledger's trigger moves. */
static const char own[] =
    "CREATE TABLE schema_step("
    "  one boolean PRIMARY KEY DEFAULT true CHECK(one), step " NUMBER ","
    "  identity uuid NOT NULL DEFAULT gen_random_uuid());"
    "INSERT INTO schema_step(step) VALUES(0);"
    "CREATE TABLE writer("
    "  id " COUNTED_KEY ", daemon text NOT NULL,"
    "  n " NUMBER " DEFAULT 0, fenced boolean NOT NULL DEFAULT false,"
    "  seen timestamptz NOT NULL DEFAULT clock_timestamp());"
    KEEP("writer", "a writer is fenced, never deleted")
    "CREATE TABLE head("
    "  one boolean PRIMARY KEY DEFAULT true CHECK(one), seq " NUMBER ","
    "  hash " BYTES " CHECK(length(hash)=32));"
    "INSERT INTO head(seq,hash) VALUES(0,decode(repeat('00',32),'hex'));"
    KEEP("head", "append-only");

/* The rows of `writer` that belong to one daemon: lead is the id of the first of
 * them. */
static const char sharing[] =
    "ALTER TABLE writer ADD COLUMN lead " NUMBER " DEFAULT 0;";

/* The daemon that runs each job; daemon is its lead. */
static const char claims[] =
    "CREATE TABLE claim("
    "  job " TEXT_KEY " REFERENCES job(id) ON DELETE CASCADE,"
    "  daemon " NUMBER " REFERENCES writer(id));";

/* Changes, by which daemons that share the database learn what the others have
 * written (change_feed.h): which rows they have changed, as long as a daemon may
 * still read them. A daemon that has the database for itself records none: it sets
 * no epsilond.daemon. */
static const char feed[] =
    "ALTER TABLE writer ADD COLUMN alone boolean NOT NULL DEFAULT true;"
    "ALTER TABLE writer ADD COLUMN follows xid8 NOT NULL DEFAULT '0';"
    "CREATE TABLE change("
    "  by xid8 NOT NULL DEFAULT pg_current_xact_id(), what " TEXT ", id " TEXT ","
    "  daemon " NUMBER " DEFAULT current_setting('epsilond.daemon')::bigint,"
    "  PRIMARY KEY(by,what,id));"
    "CREATE FUNCTION epsilond_tell() RETURNS trigger LANGUAGE plpgsql AS $$"
    "  DECLARE which text := '';"
    "  BEGIN"
    "    IF TG_LEVEL='ROW' AND TG_OP='DELETE' THEN which := OLD.id;"
    "    ELSIF TG_LEVEL='ROW' THEN which := NEW.id; END IF;"
    "    INSERT INTO change(what,id) VALUES(TG_ARGV[0],which) ON CONFLICT DO NOTHING;"
    "    RETURN NULL;"
    "  END $$;"
    "CREATE FUNCTION epsilond_tell_caption() RETURNS trigger LANGUAGE plpgsql AS $$"
    "  DECLARE which text;"
    "  BEGIN"
    "    IF TG_OP='DELETE' THEN which := OLD.kind||'/'||OLD.id;"
    "    ELSE which := NEW.kind||'/'||NEW.id; END IF;"
    "    INSERT INTO change(what,id) VALUES('caption',which) ON CONFLICT DO NOTHING;"
    "    RETURN NULL;"
    "  END $$;"
    FEED("ledger", "ledger")
    FEED("freeze", "ledger")
    FEED("audit", "audit")
    FEED_ROWS("dataset")
    FEED_ROWS("weights")
    FEED_ROWS("job")
    FEED_ROWS("model")
    FEED_ROWS("survey")
    FEED_ROWS("charge")
    FEED_ROWS("access_key")
    FEED_ROWS("webhook")
    TELL("caption", CHANGE, "ROW", "tell_caption()");

/* Rules between daemons: no mark is raised after the end of its job, and no end charges
 * other steps than its mark says. A transaction that raises the mark of a job and one
 * that ends the job wait for each other by a lock of the job's name. */
static const char rules[] =
    "CREATE INDEX ledger_ended ON ledger(job) WHERE kind='COMMIT';"
    "CREATE FUNCTION epsilond_mark_open() RETURNS trigger LANGUAGE plpgsql AS $$"
    "  BEGIN"
    "    PERFORM pg_advisory_xact_lock_shared(" JOB_LOCK ",hashtext(NEW.job));"
    "    IF EXISTS(SELECT 1 FROM ledger WHERE job=NEW.job AND kind='COMMIT') THEN"
    "      RAISE EXCEPTION USING ERRCODE='23514', MESSAGE='the job has ended'; END IF;"
    "    RETURN NEW;"
    "  END $$;"
    "CREATE FUNCTION epsilond_end_whole() RETURNS trigger LANGUAGE plpgsql AS $$"
    "  BEGIN"
    "    PERFORM pg_advisory_xact_lock(" JOB_LOCK ",hashtext(NEW.job));"
    "    IF coalesce((SELECT authorised FROM mark WHERE job=NEW.job),0)"
    "      <>(NEW.meta::jsonb->>'steps')::bigint THEN"
    "      RAISE EXCEPTION USING ERRCODE='23514',"
    "        MESSAGE='charges other steps than were authorised'; END IF;"
    "    RETURN NEW;"
    "  END $$;"
    "CREATE TRIGGER mark_open BEFORE INSERT OR UPDATE ON mark FOR EACH ROW"
    "  WHEN (" SHARED ") EXECUTE FUNCTION epsilond_mark_open();"
    "CREATE TRIGGER ledger_whole BEFORE INSERT ON ledger FOR EACH ROW"
    "  WHEN (NEW.kind='COMMIT' AND " SHARED ") EXECUTE FUNCTION epsilond_end_whole();";

/* Work that one of several daemons does at a time, and the address of each. */
static const char duties[] =
    "CREATE TABLE duty("
    "  name " TEXT_KEY ", daemon " NUMBER " REFERENCES writer(id),"
    "  until timestamptz NOT NULL);"
    "CREATE TABLE daemon("
    "  id " NUMBER_KEY " REFERENCES writer(id), role " TEXT ", address " TEXT ");";

/* The daemon that imports each dataset, and that computes each survey. */
static const char holds[] =
    "CREATE TABLE hold("
    "  what " TEXT " CHECK(what IN('dataset','survey')), id " TEXT ","
    "  daemon " NUMBER " REFERENCES writer(id), PRIMARY KEY(what,id));";

/* While a database arrives from another, its entries are compared with the one before,
 * and the head is moved once they are all there: else every entry would leave a dead
 * version of the head's one row, and each insertion would read past all of them. */
static const char seals[] =
    "ALTER TABLE ledger ALTER COLUMN dataset DROP NOT NULL,"
    "  DROP CONSTRAINT ledger_kind_check, DROP CONSTRAINT ledger_check2,"
    "  DROP CONSTRAINT ledger_dataset_epoch_job_kind_key,"
    "  ADD CONSTRAINT ledger_kinds CHECK(kind IN('GRANT','RESERVE','COMMIT','SEAL')),"
    "  ADD CONSTRAINT ledger_jobs CHECK((kind IN('GRANT','SEAL'))=(job='')),"
    "  ADD CONSTRAINT ledger_datasets CHECK((kind='SEAL')=(dataset IS NULL)),"
    "  ADD CONSTRAINT ledger_once UNIQUE(job,dataset,epoch,kind);"
    "CREATE INDEX ledger_seal ON ledger(seq) WHERE kind='SEAL';"
    "CREATE OR REPLACE FUNCTION epsilond_continue_ledger() RETURNS trigger"
    "  LANGUAGE plpgsql AS $$"
    "  DECLARE last_seq bigint; last_hash bytea;"
    "  BEGIN"
    "    IF (SELECT state FROM migration)='ARRIVING' THEN"
    "      SELECT seq,hash INTO last_seq,last_hash FROM ledger ORDER BY seq DESC LIMIT 1;"
    "      IF NEW.seq<=coalesce(last_seq,0) OR (NEW.seq=coalesce(last_seq,0)+1 AND"
    "        NEW.prev<>coalesce(last_hash,decode(repeat('00',32),'hex'))) THEN"
    "        RAISE EXCEPTION USING ERRCODE='23514',"
    "          MESSAGE='does not continue the chain'; END IF;"
    "      RETURN NEW;"
    "    END IF;"
    "    UPDATE head SET seq=NEW.seq,hash=NEW.hash WHERE seq=NEW.seq-1 AND hash=NEW.prev;"
    "    IF NOT FOUND THEN RAISE EXCEPTION USING ERRCODE='23514',"
    "      MESSAGE='does not continue the chain'; END IF;"
    "    RETURN NEW;"
    "  END $$;"
    "CREATE FUNCTION epsilond_arrive() RETURNS trigger LANGUAGE plpgsql AS $$"
    "  BEGIN"
    "    UPDATE head SET (seq,hash)=(SELECT seq,hash FROM ledger ORDER BY seq DESC LIMIT 1)"
    "      WHERE EXISTS(SELECT 1 FROM ledger);"
    "    RETURN NEW;"
    "  END $$;"
    "CREATE TRIGGER migration_arrives AFTER UPDATE ON migration FOR EACH ROW"
    "  WHEN (NEW.state='ARRIVING') EXECUTE FUNCTION epsilond_arrive();"
    "CREATE FUNCTION epsilond_sealed_entries() RETURNS trigger LANGUAGE plpgsql AS $$"
    "  BEGIN"
    "    IF NOT EXISTS(SELECT 1 FROM ledger WHERE kind='SEAL') OR"
    "      EXISTS(SELECT 1 FROM gone WHERE kind='GRANT' OR"
    "      seq>=(SELECT max(seq) FROM ledger WHERE kind='SEAL')) THEN"
    "      RAISE EXCEPTION USING ERRCODE='23514', MESSAGE='append-only'; END IF;"
    "    RETURN NULL;"
    "  END $$;"
    "CREATE FUNCTION epsilond_sealed_marks() RETURNS trigger LANGUAGE plpgsql AS $$"
    "  BEGIN"
    "    IF NOT EXISTS(SELECT 1 FROM ledger WHERE kind='SEAL') OR"
    "      EXISTS(SELECT 1 FROM gone JOIN ledger USING(job)) THEN"
    "      RAISE EXCEPTION USING ERRCODE='23514', MESSAGE='append-only'; END IF;"
    "    RETURN NULL;"
    "  END $$;"
    "DROP TRIGGER ledger_keep ON ledger;"
    "CREATE TRIGGER ledger_keep BEFORE UPDATE OR TRUNCATE ON ledger"
    "  FOR EACH STATEMENT EXECUTE FUNCTION epsilond_refuse('append-only');"
    "CREATE TRIGGER ledger_sealed AFTER DELETE ON ledger REFERENCING OLD TABLE AS gone"
    "  FOR EACH STATEMENT EXECUTE FUNCTION epsilond_sealed_entries();"
    "DROP TRIGGER mark_keep ON mark;"
    "CREATE TRIGGER mark_keep BEFORE TRUNCATE ON mark"
    "  FOR EACH STATEMENT EXECUTE FUNCTION epsilond_refuse('append-only');"
    "CREATE TRIGGER mark_sealed AFTER DELETE ON mark REFERENCING OLD TABLE AS gone"
    "  FOR EACH STATEMENT EXECUTE FUNCTION epsilond_sealed_marks();";

/* The order in which datasets were inserted, as SQLite has it. */
static const char numbers[] =
    "ALTER TABLE dataset ADD COLUMN rowid bigint;"
    "UPDATE dataset SET rowid=place FROM (SELECT id AS which,row_number() OVER"
    "  (ORDER BY create_ms,id) AS place FROM dataset) AS placed WHERE id=which;"
    "ALTER TABLE dataset ALTER COLUMN rowid SET NOT NULL,"
    "  ALTER COLUMN rowid ADD GENERATED ALWAYS AS IDENTITY;"
    "DO $$ BEGIN PERFORM setval(pg_get_serial_sequence('dataset','rowid'),"
    "  (SELECT coalesce(max(rowid),0)+1 FROM dataset),false); END $$;";

/* The progress of a run, as the daemon that runs it reports it. */
static const char progress[] =
    "ALTER TABLE claim ADD COLUMN step " NUMBER " DEFAULT 0,"
    "  ADD COLUMN authorised " NUMBER " DEFAULT 0;";
/* clang-format on */

#define STEP(file, server, sql) {server, sql},
#define SQLITE_STEP(file, sql)
#define POSTGRES_STEP(server, sql) {server, sql},
static const struct schema_step steps[] = {
#include "store/sql/schema_steps.def"
};

const struct schema_step *postgres_steps(size_t *count)
{
    *count = sizeof steps / sizeof *steps;
    return steps;
}
