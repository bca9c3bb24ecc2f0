/*
 * Bytes are bytea, numbers bigint, texts compare byte by byte. Triggers keep the same
 * invariants as in SQLite, by two functions: one refuses, and one continues the
 * ledger's chain by moving the head, which locks it.
 */
#include "store/postgres/postgres_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <libpq-fe.h>

#include "store/postgres/postgres_seals.h"

enum { SQL_SIZE = 96 };

#define TEXT       "text COLLATE \"C\" NOT NULL"
#define REFUSE     "FOR EACH STATEMENT EXECUTE FUNCTION epsilond_refuse"
#define REFUSE_ROW "EXECUTE FUNCTION epsilond_refuse"

/* "epsm": in addition to the lock of the database (pg_commit_outcome.c), a lock for
 * each job's name. */
#define JOB_LOCK "1702392685"
/* Held by the session that looks for the tables and makes them, so that the second
 * of two daemons that start together on an empty database finds what the first has
 * made. */
#define TABLES_LOCK "1702392686"
/* True in a transaction of a daemon that shares the database (global_write_lock.c). */
#define SHARED "current_setting('epsilond.daemon',true)<>''"
#define CHANGE "INSERT OR UPDATE OR DELETE"
#define TELL(table, when, each, what)                                                  \
    "CREATE TRIGGER tell AFTER " when " ON " table " FOR EACH " each " WHEN (" SHARED  \
    ") EXECUTE FUNCTION epsilond_" what ";"

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

static const char things[] =
    "CREATE TABLE dataset("
    "  id text COLLATE \"C\" PRIMARY KEY, version bigint NOT NULL, state " TEXT ","
    "  spec " TEXT ", detail " TEXT ", sha256 bytea CHECK(length(sha256)=32),"
    "  create_ms bigint NOT NULL, project " TEXT ", created_by " TEXT ");"
    "CREATE TRIGGER dataset_keep BEFORE DELETE OR TRUNCATE ON dataset"
    "  " REFUSE "('a name is never free again');"
    "CREATE TABLE job("
    "  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id " TEXT " UNIQUE,"
    "  version bigint NOT NULL, state " TEXT ", attempt bigint NOT NULL, spec " TEXT ","
    "  detail " TEXT ", create_ms bigint NOT NULL, update_ms bigint NOT NULL,"
    "  created_by " TEXT ");"
    "CREATE TABLE model("
    "  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id " TEXT " UNIQUE,"
    "  job " TEXT " UNIQUE REFERENCES job(id),"
    "  sha256 bytea NOT NULL CHECK(length(sha256)=32), size bigint NOT NULL,"
    "  card " TEXT ", create_ms bigint NOT NULL);"
    "CREATE TABLE replay("
    "  project " TEXT ", owner " TEXT ", route " TEXT ", key " TEXT ","
    "  fingerprint bytea NOT NULL CHECK(length(fingerprint)=32), location " TEXT ","
    "  body " TEXT ", time_ms bigint NOT NULL, PRIMARY KEY(project,owner,route,key));"
    "CREATE INDEX replay_location ON replay(location);"
    "CREATE TABLE caption("
    "  kind " TEXT " CHECK(kind IN('dataset','job','model')), id " TEXT ","
    "  text " TEXT ", PRIMARY KEY(kind,id));"
    "CREATE TABLE weights("
    "  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id " TEXT " UNIQUE,"
    "  project " TEXT ", created_by " TEXT ", note " TEXT ","
    "  sha256 bytea NOT NULL CHECK(length(sha256)=32), size bigint NOT NULL,"
    "  create_ms bigint NOT NULL);";

static const char budgets[] =
    "CREATE TABLE ledger("
    "  seq bigint PRIMARY KEY CHECK(seq>0), dataset " TEXT " REFERENCES dataset(id),"
    "  epoch bigint NOT NULL CHECK(epoch>0), job " TEXT ","
    "  kind " TEXT " CHECK(kind IN('GRANT','RESERVE','COMMIT')),"
    "  curve bytea NOT NULL CHECK(length(curve)>0 AND length(curve)%8=0),"
    "  released bytea CHECK(length(released)=length(curve)), meta " TEXT ","
    "  actor " TEXT ", time_ms bigint NOT NULL,"
    "  prev bytea NOT NULL CHECK(length(prev)=32),"
    "  hash bytea NOT NULL UNIQUE CHECK(length(hash)=32),"
    "  CHECK((kind='COMMIT')=(released IS NOT NULL)), CHECK((kind='GRANT')=(job='')),"
    "  UNIQUE(dataset,epoch,job,kind));"
    "CREATE INDEX ledger_dataset ON ledger(dataset,seq);"
    "CREATE TABLE head("
    "  one boolean PRIMARY KEY DEFAULT true CHECK(one), seq bigint NOT NULL,"
    "  hash bytea NOT NULL CHECK(length(hash)=32));"
    "INSERT INTO head(seq,hash) VALUES(0,decode(repeat('00',32),'hex'));"
    "CREATE TRIGGER head_keep BEFORE DELETE OR TRUNCATE ON head"
    "  " REFUSE "('append-only');"
    "CREATE TRIGGER ledger_keep BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger"
    "  " REFUSE "('append-only');"
    "CREATE TRIGGER ledger_dense BEFORE INSERT ON ledger FOR EACH ROW"
    "  EXECUTE FUNCTION epsilond_continue_ledger();"
    "CREATE TABLE mark("
    "  job text COLLATE \"C\" PRIMARY KEY,"
    "  authorised bigint NOT NULL CHECK(authorised>0));"
    "CREATE TRIGGER mark_grows BEFORE UPDATE ON mark FOR EACH ROW"
    "  WHEN (NEW.authorised<=OLD.authorised OR NEW.job<>OLD.job)"
    "  " REFUSE_ROW "('must grow');"
    "CREATE TRIGGER mark_keep BEFORE DELETE OR TRUNCATE ON mark"
    "  " REFUSE "('append-only');"
    "CREATE TABLE \"freeze\"("
    "  dataset " TEXT " REFERENCES dataset(id), epoch bigint NOT NULL,"
    "  seq bigint NOT NULL, hash bytea NOT NULL CHECK(length(hash)=32),"
    "  time_ms bigint NOT NULL, PRIMARY KEY(dataset,epoch));"
    "CREATE TRIGGER freeze_keep BEFORE UPDATE OR DELETE OR TRUNCATE ON \"freeze\""
    "  " REFUSE "('append-only');";

static const char acts[] =
    "CREATE TABLE audit("
    "  seq bigint PRIMARY KEY CHECK(seq>0), second bigint NOT NULL, actor " TEXT ","
    "  key " TEXT ", project " TEXT ", via " TEXT ", address " TEXT ", action " TEXT ","
    "  object " TEXT ", result " TEXT " CHECK(result IN('ok','denied','error')),"
    "  code " TEXT ", request " TEXT ", detail " TEXT ","
    "  prev bytea NOT NULL CHECK(length(prev)=32),"
    "  hash bytea NOT NULL CHECK(length(hash)=32));"
    "CREATE TRIGGER audit_keep BEFORE UPDATE OR DELETE OR TRUNCATE ON audit"
    "  " REFUSE "('append-only');"
    "CREATE TRIGGER audit_dense BEFORE INSERT ON audit FOR EACH ROW"
    "  EXECUTE FUNCTION epsilond_continue_audit();"
    "CREATE INDEX audit_actor ON audit(actor,seq);"
    "CREATE INDEX audit_object ON audit(object,seq);"
    "CREATE INDEX audit_action ON audit(action,seq);"
    "CREATE INDEX audit_refused ON audit(result,seq) WHERE result<>'ok';"
    "CREATE TABLE webhook("
    "  id text COLLATE \"C\" PRIMARY KEY, project " TEXT ", owner " TEXT ","
    "  everywhere bigint NOT NULL CHECK(everywhere IN(0,1)), url " TEXT ","
    "  events " TEXT ", dataset " TEXT ", state " TEXT
    "  CHECK(state IN('ACTIVE','DISABLED')), reason " TEXT ","
    "  secret bytea NOT NULL CHECK(length(secret)=32),"
    "  old_secret bytea CHECK(length(old_secret)=32), old_until_ms bigint NOT NULL,"
    "  failing_ms bigint NOT NULL, create_ms bigint NOT NULL);"
    "CREATE TABLE delivery("
    "  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id " TEXT " UNIQUE,"
    "  webhook " TEXT " REFERENCES webhook(id), type " TEXT ", body " TEXT ","
    "  state " TEXT " CHECK(state IN('WAITING','DELIVERED','FAILED')), result " TEXT ","
    "  http_status bigint NOT NULL, attempts bigint NOT NULL CHECK(attempts>=0),"
    "  next_ms bigint NOT NULL, create_ms bigint NOT NULL, update_ms bigint NOT NULL,"
    "  traceparent " TEXT ");"
    "CREATE INDEX delivery_due ON delivery(webhook,state,next_ms);";

static const char leases[] =
    "CREATE TABLE access_key("
    "  id text COLLATE \"C\" PRIMARY KEY,"
    "  rowid bigint GENERATED ALWAYS AS IDENTITY,"
    "  sha256 bytea NOT NULL CHECK(length(sha256)=32), owner " TEXT ", project " TEXT ","
    "  role " TEXT ", scopes " TEXT ", policy " TEXT ", create_ms bigint NOT NULL,"
    "  expire_ms bigint NOT NULL, revoke_ms bigint NOT NULL, used_day bigint NOT NULL);"
    "CREATE TRIGGER access_key_keep BEFORE DELETE OR TRUNCATE ON access_key"
    "  " REFUSE "('a key is revoked, never deleted');"
    "CREATE TRIGGER access_key_ends BEFORE UPDATE ON access_key FOR EACH ROW"
    "  WHEN (NEW.id<>OLD.id OR NEW.sha256<>OLD.sha256 OR NEW.owner<>OLD.owner"
    "  OR NEW.project<>OLD.project OR NEW.role<>OLD.role OR NEW.scopes<>OLD.scopes"
    "  OR NEW.create_ms<>OLD.create_ms OR NEW.expire_ms>OLD.expire_ms"
    "  OR (OLD.revoke_ms<>0 AND NEW.revoke_ms<>OLD.revoke_ms))"
    "  " REFUSE_ROW "('a key only ends sooner');"
    "CREATE TABLE survey("
    "  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id " TEXT " UNIQUE,"
    "  dataset " TEXT " REFERENCES dataset(id),"
    "  state " TEXT " CHECK(state IN('RUNNING','SUCCEEDED','FAILED')), reason " TEXT ","
    "  ledger_seq bigint NOT NULL, spec " TEXT ", guarantee " TEXT ", answers " TEXT ","
    "  create_ms bigint NOT NULL, end_ms bigint NOT NULL, created_by " TEXT ");"
    "CREATE INDEX survey_dataset ON survey(dataset,number);"
    "CREATE TRIGGER survey_ends BEFORE UPDATE ON survey FOR EACH ROW"
    "  WHEN (OLD.state<>'RUNNING' OR NEW.id<>OLD.id OR NEW.dataset<>OLD.dataset"
    "  OR NEW.ledger_seq<>OLD.ledger_seq OR NEW.spec<>OLD.spec"
    "  OR NEW.guarantee<>OLD.guarantee)"
    "  " REFUSE_ROW "('it has ended');"
    "CREATE TRIGGER survey_keep BEFORE DELETE OR TRUNCATE ON survey"
    "  " REFUSE "('what was released stays on record');"
    "CREATE TABLE charge("
    "  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id " TEXT " UNIQUE,"
    "  dataset " TEXT " REFERENCES dataset(id), project " TEXT ", created_by " TEXT ","
    "  spec " TEXT ", state " TEXT " CHECK(state IN('OPEN','SETTLED','LAPSED')),"
    "  figures " TEXT ", blocks bigint NOT NULL CHECK(blocks>=0), process " TEXT ","
    "  lease_end_ms bigint NOT NULL, end_ms bigint NOT NULL, create_ms bigint NOT NULL);"
    "CREATE TRIGGER charge_keep BEFORE DELETE OR TRUNCATE ON charge"
    "  " REFUSE "('a charge is never deleted');"
    "CREATE TRIGGER charge_moves BEFORE UPDATE ON charge FOR EACH ROW"
    "  WHEN (OLD.state<>'OPEN' OR NEW.blocks<OLD.blocks OR NEW.id<>OLD.id"
    "  OR NEW.dataset<>OLD.dataset OR NEW.project<>OLD.project"
    "  OR NEW.created_by<>OLD.created_by OR NEW.spec<>OLD.spec)"
    "  " REFUSE_ROW "('a charge only moves on');";

static const char own[] =
    "CREATE TABLE schema_step("
    "  one boolean PRIMARY KEY DEFAULT true CHECK(one), step bigint NOT NULL,"
    "  identity uuid NOT NULL DEFAULT gen_random_uuid());"
    "INSERT INTO schema_step(step) VALUES(0);"
    "CREATE TABLE writer("
    "  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, daemon text NOT NULL,"
    "  n bigint NOT NULL DEFAULT 0, fenced boolean NOT NULL DEFAULT false,"
    "  seen timestamptz NOT NULL DEFAULT clock_timestamp());"
    "CREATE TRIGGER writer_keep BEFORE DELETE OR TRUNCATE ON writer"
    "  " REFUSE "('a writer is fenced, never deleted');";

static const char objects[] =
    "CREATE TABLE blob("
    "  name text COLLATE \"C\" PRIMARY KEY, object " TEXT " UNIQUE,"
    "  size bigint NOT NULL CHECK(size>=0),"
    "  chunks bytea NOT NULL CHECK(length(chunks)>0 AND length(chunks)%32=0),"
    "  wrapped bytea NOT NULL CHECK(length(wrapped)=60), create_ms bigint NOT NULL);";

static const char migration[] =
    "CREATE TABLE migration("
    "  one bigint PRIMARY KEY CHECK(one=1), identity " TEXT ","
    "  state " TEXT " CHECK(state IN('HERE','ARRIVING','LEFT')), other " TEXT ","
    "  place " TEXT ");"
    "INSERT INTO migration SELECT 1,identity::text,'HERE','','' FROM schema_step;"
    "CREATE TRIGGER migration_keep BEFORE DELETE OR TRUNCATE ON migration"
    "  " REFUSE "('a database stays the one that it is');"
    "CREATE TRIGGER migration_same BEFORE UPDATE ON migration FOR EACH ROW"
    "  WHEN (NEW.identity<>OLD.identity)"
    "  " REFUSE_ROW "('a database stays the one that it is');";
/* The rows of `writer` that belong to one daemon: lead is the id of the first of
 * them. */
static const char sharing[] =
    "ALTER TABLE writer ADD COLUMN lead bigint NOT NULL DEFAULT 0;";

/* The daemon that runs each job; daemon is its lead. */
static const char claims[] =
    "CREATE TABLE claim("
    "  job text COLLATE \"C\" PRIMARY KEY REFERENCES job(id) ON DELETE CASCADE,"
    "  daemon bigint NOT NULL REFERENCES writer(id));";

/* Changes, by which daemons that share the database learn what the others have
 * written (change_feed.h): which rows they have changed, as long as a daemon may
 * still read them. A daemon that has the database for itself records none: it sets
 * no epsilond.daemon. */
static const char following[] =
    "ALTER TABLE writer ADD COLUMN alone boolean NOT NULL DEFAULT true;"
    "ALTER TABLE writer ADD COLUMN follows xid8 NOT NULL DEFAULT '0';"
    "CREATE TABLE change("
    "  by xid8 NOT NULL DEFAULT pg_current_xact_id(), what " TEXT ", id " TEXT ","
    "  daemon bigint NOT NULL DEFAULT current_setting('epsilond.daemon')::bigint,"
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
    TELL("ledger", "INSERT", "STATEMENT", "tell('ledger')")
    TELL("\"freeze\"", "INSERT", "STATEMENT", "tell('ledger')")
    TELL("audit", "INSERT", "STATEMENT", "tell('audit')")
    TELL("dataset", CHANGE, "ROW", "tell('dataset')")
    TELL("weights", CHANGE, "ROW", "tell('weights')")
    TELL("job", CHANGE, "ROW", "tell('job')")
    TELL("model", CHANGE, "ROW", "tell('model')")
    TELL("survey", CHANGE, "ROW", "tell('survey')")
    TELL("charge", CHANGE, "ROW", "tell('charge')")
    TELL("access_key", CHANGE, "ROW", "tell('access_key')")
    TELL("webhook", CHANGE, "ROW", "tell('webhook')")
    TELL("caption", CHANGE, "ROW", "tell_caption()");

/* Rules between daemons: no mark is raised after the end of its job, and no end charges
 * other steps than its mark says. A transaction that raises the mark of a job and one
 * that ends the job wait for each other by a lock of the job's name. */
static const char walls[] =
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
    "  name text COLLATE \"C\" PRIMARY KEY, daemon bigint NOT NULL REFERENCES writer(id),"
    "  until timestamptz NOT NULL);"
    "CREATE TABLE daemon("
    "  id bigint PRIMARY KEY REFERENCES writer(id), role " TEXT ", address " TEXT ");";

/* The daemon that imports each dataset, and that computes each survey. */
static const char holds[] =
    "CREATE TABLE hold("
    "  what " TEXT " CHECK(what IN('dataset','survey')), id " TEXT ","
    "  daemon bigint NOT NULL REFERENCES writer(id), PRIMARY KEY(what,id));";

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
    "ALTER TABLE claim ADD COLUMN step bigint NOT NULL DEFAULT 0,"
    "  ADD COLUMN authorised bigint NOT NULL DEFAULT 0;";

/* Browsers that are logged in, and policies of keys that await a second person. */
static const char logins[] =
    "CREATE TABLE login("
    "  id text COLLATE \"C\" PRIMARY KEY CHECK(length(id)=64),"
    "  key " TEXT " REFERENCES access_key(id),"
    "  begin_ms bigint NOT NULL, used_ms bigint NOT NULL);"
    "CREATE TABLE policy_proposal("
    "  id text COLLATE \"C\" PRIMARY KEY REFERENCES access_key(id), policy " TEXT ","
    "  proposed_by " TEXT ", propose_ms bigint NOT NULL);"
    TELL("login", CHANGE, "ROW", "tell('login')")
    TELL("policy_proposal", CHANGE, "ROW", "tell('policy_proposal')");
/* Other timelines of the ledger: how much each may have spent of an epoch since its
 * fork. */
static const char timelines[] =
    "CREATE TABLE timeline("
    "  dataset " TEXT " REFERENCES dataset(id), epoch bigint NOT NULL,"
    "  seq bigint NOT NULL, hash bytea NOT NULL CHECK(length(hash)=32),"
    "  shared bigint NOT NULL, seen bigint NOT NULL CHECK(seen IN(0,1)),"
    "  most bytea NOT NULL CHECK(length(most)>0 AND length(most)%8=0),"
    "  time_ms bigint NOT NULL, PRIMARY KEY(dataset,epoch,hash));"
    "CREATE TRIGGER timeline_keep BEFORE UPDATE OR DELETE OR TRUNCATE ON timeline"
    "  " REFUSE "('append-only');"
    TELL("timeline", "INSERT", "STATEMENT", "tell('ledger')");
/* clang-format on */

/* Each step runs on the tables that the steps before it left; several texts may make
 * one step. */
static const struct step {
    int number;
    const char *sql;
} steps[] = {
    {11, functions}, {11, own},    {11, things},         {11, budgets},
    {11, acts},      {11, leases}, {12, objects},        {13, migration},
    {14, sharing},   {15, claims}, {16, following},      {16, walls},
    {16, duties},    {17, holds},  {18, postgres_seals}, {19, numbers},
    {20, progress},  {21, logins}, {22, timelines},
};

enum { STEPS = sizeof steps / sizeof *steps };

static int known(void)
{
    return steps[STEPS - 1].number;
}

static int count_of(const char *words)
{
    int count = 0;
    for (size_t i = 0; i < STEPS; i++)
        for (const char *at = steps[i].sql; (at = strstr(at, words)) != NULL; at++)
            count++;
    return count;
}

static int triggers_made(void)
{
    return count_of("CREATE TRIGGER") - count_of("DROP TRIGGER");
}

static enum status failed(struct pg_connection *wire, struct error *error)
{
    return error_set(error, ST_IO, "the store: %s", pg_connection_said(wire));
}

/* *number = the value that the statement returns. */
static enum status ask(struct pg_connection *wire, const char *sql, int *number,
                       struct error *error)
{
    PGresult *answer = NULL;
    if (pg_connection_ask(wire, sql, &answer) != PG_CONNECTION_DONE)
        return failed(wire, error);
    *number = PQntuples(answer) == 1 ? atoi(PQgetvalue(answer, 0, 0)) : 0;
    PQclear(answer);
    return ST_OK;
}

/* found = the step that the database is at; 0 if it is empty. */
static enum status find_step(struct pg_connection *wire, int *found,
                             struct error *error)
{
    int tables = 0, ours = 0;
    enum status status = ask(wire,
                             "SELECT count(*) FROM pg_class WHERE relkind='r' AND"
                             " relnamespace=current_schema()::regnamespace",
                             &tables, error);
    if (status == ST_OK)
        status = ask(wire, "SELECT (to_regclass('schema_step') IS NOT NULL)::int",
                     &ours, error);
    if (status != ST_OK)
        return status;
    if (ours == 0 && tables > 0)
        return error_set(error, ST_CORRUPT, "the store: not a database of epsilond");
    *found = 0;
    if (ours == 1)
        status = ask(wire, "SELECT step FROM schema_step", found, error);
    if (status == ST_OK && *found > known())
        return error_set(error, ST_INVALID,
                         "the store has schema %d, this program knows up to %d", *found,
                         known());
    return status;
}

/* Checks that the head is the ledger's newest entry, and that no trigger is missing or
 * switched off. */
static enum status check(struct pg_connection *wire, struct error *error)
{
    int same = 0, triggers = 0, made = triggers_made();
    enum status status =
        ask(wire,
            "SELECT ((SELECT (seq,hash) FROM head) = coalesce((SELECT (seq,hash) FROM"
            " ledger ORDER BY seq DESC LIMIT 1),"
            "(0::bigint,decode(repeat('00',32),'hex'))))::int",
            &same, error);
    if (status == ST_OK)
        status = ask(wire,
                     "SELECT count(*) FROM pg_trigger t JOIN pg_class c ON"
                     " c.oid=t.tgrelid WHERE NOT tgisinternal AND tgenabled IN('O','A')"
                     " AND relnamespace=current_schema()::regnamespace"
                     " AND tgfoid::regproc::text LIKE 'epsilond\\_%'",
                     &triggers, error);
    if (status != ST_OK)
        return status;
    if (same != 1)
        return error_set(error, ST_CORRUPT,
                         "the store: head is not the ledger's newest entry");
    if (triggers < made)
        return error_set(error, ST_CORRUPT,
                         "the store: of %d triggers %d are missing or switched off",
                         made, made - triggers);
    return ST_OK;
}

enum status postgres_tables_check(struct pg_connection *wire, struct error *error)
{
    int found = 0;
    enum status status = find_step(wire, &found, error);
    if (status != ST_OK)
        return status;
    if (found == 0)
        return error_set(error, ST_CORRUPT, "the store: the database is empty");
    if (found < known())
        return error_set(error, ST_INVALID, "the store has schema %d, not %d", found,
                         known());
    return check(wire, error);
}

static enum status take_steps(struct pg_connection *wire, int found,
                              struct error *error)
{
    char last[SQL_SIZE];
    enum pg_connection_end end =
        pg_connection_run(wire, "BEGIN;SET LOCAL statement_timeout=0", NULL);
    for (size_t i = 0; end == PG_CONNECTION_DONE && i < STEPS; i++)
        if (steps[i].number > found)
            end = pg_connection_run(wire, steps[i].sql, NULL);
    snprintf(last, sizeof last, "UPDATE schema_step SET step=%d;COMMIT", known());
    if (end == PG_CONNECTION_DONE)
        end = pg_connection_run(wire, last, NULL);
    if (end == PG_CONNECTION_DONE && !pg_connection_warned(wire))
        return ST_OK;
    error_set(error, ST_IO, "schema %d: %s", known(), pg_connection_said(wire));
    pg_connection_run(wire, "ROLLBACK", NULL);
    return ST_IO;
}

static enum status move_forward(struct pg_connection *wire, bool migrate,
                                struct error *error)
{
    int found = 0;
    enum status status = find_step(wire, &found, error);
    if (status == ST_OK && found > 0 && found < steps[0].number)
        status = error_set(error, ST_INVALID,
                           "the store has schema %d, which no program has made", found);
    if (status == ST_OK && found > 0 && found < known() && !migrate)
        status = error_set(error, ST_INVALID,
                           "the store has schema %d, this program's is %d: make a "
                           "backup, then start it once with --migrate on",
                           found, known());
    if (status == ST_OK && found < known())
        status = take_steps(wire, found, error);
    return status;
}

enum status postgres_tables_forward(struct pg_connection *wire, bool migrate,
                                    struct error *error)
{
    int held = 0;
    enum status status =
        ask(wire, "SELECT 1 FROM pg_advisory_lock(" TABLES_LOCK ")", &held, error);
    if (status == ST_OK)
        status = move_forward(wire, migrate, error);
    if (status == ST_OK)
        status =
            ask(wire, "SELECT pg_advisory_unlock(" TABLES_LOCK ")::int", &held, error);
    return status == ST_OK ? check(wire, error) : status;
}
