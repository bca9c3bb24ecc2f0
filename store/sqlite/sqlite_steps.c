/* recursive_triggers must be on: without it INSERT OR REPLACE deletes a row without
 * running the triggers of its deletion. */
#include "store/sqlite/sqlite_steps.h"

#define TEXT             "TEXT NOT NULL"
#define NUMBER           "INTEGER NOT NULL"
#define BYTES            "BLOB NOT NULL"
#define BYTES_OR_NULL    "BLOB"
#define TEXT_KEY         "TEXT PRIMARY KEY"
#define NUMBER_KEY       "INTEGER PRIMARY KEY"
#define COUNTED_KEY      "INTEGER PRIMARY KEY"
#define COUNTED_ROW      "" /* the rowid */
#define TEXT_ADDED(text) TEXT " DEFAULT '" text "'"
#define FREEZE           "freeze"
#define NEW_IDENTITY     "lower(hex(randomblob(16)))"
#define STRICT           " STRICT;"

#define REFUSE(trigger, why)                                                           \
    "CREATE TRIGGER " trigger "  BEGIN SELECT RAISE(ABORT,'" why "'); END;"
#define KEEP(table, why) REFUSE(table "_keep BEFORE DELETE ON " table, why)
#define APPEND_ONLY(table)                                                             \
    REFUSE(table "_no_update BEFORE UPDATE ON " table, "append-only")                  \
    REFUSE(table "_no_delete BEFORE DELETE ON " table, "append-only")
#define GUARD(table, name, when, why)                                                  \
    REFUSE(table "_" name " BEFORE UPDATE ON " table "  WHEN " when, why)
#define CHAIN(table)                                                                   \
    REFUSE(table "_dense BEFORE INSERT ON " table                                      \
                 "  WHEN NEW.seq<>(SELECT coalesce(max(seq),0)+1 FROM " table ")"      \
                 "  OR NEW.prev<>coalesce((SELECT hash FROM " table                    \
                 " ORDER BY seq DESC LIMIT 1),                        zeroblob(32))",  \
           "does not continue the chain")
#define FEED_ROWS(table)  ""
#define FEED(table, what) ""

#define INDEX(name, table, columns, number)                                            \
    "CREATE INDEX " name " ON " table "(" columns ");"
#define INDEX_WHERE(name, table, columns, number, when)                                \
    "CREATE INDEX " name " ON " table "(" columns ") WHERE " when ";"

/* clang-format off */
/* A database that arrives from another brings a ledger with gaps. The key begins with
 * the job, so that the entries of a mark are found. */
static const char seals[] =
    "CREATE TABLE ledger_before AS SELECT * FROM ledger;"
    "DROP TABLE ledger;"
    "CREATE TABLE ledger("
    "  seq " NUMBER_KEY " CHECK(seq>0), dataset TEXT REFERENCES dataset(id),"
    "  epoch " NUMBER " CHECK(epoch>0), job " TEXT ","
    "  kind " TEXT " CHECK(kind IN('GRANT','RESERVE','COMMIT','SEAL')),"
    "  curve " BYTES " CHECK(length(curve)>0 AND length(curve)%8=0),"
    "  released " BYTES_OR_NULL " CHECK(length(released)=length(curve)), meta " TEXT ","
    "  actor " TEXT ", time_ms " NUMBER ","
    "  prev " BYTES " CHECK(length(prev)=32),"
    "  hash " BYTES " UNIQUE CHECK(length(hash)=32),"
    "  CHECK((kind='COMMIT')=(released IS NOT NULL)),"
    "  CHECK((kind IN('GRANT','SEAL'))=(job='')),"
    "  CHECK((kind='SEAL')=(dataset IS NULL)),"
    "  UNIQUE(job,dataset,epoch,kind))" STRICT
    "INSERT INTO ledger SELECT seq,dataset,epoch,job,kind,curve,released,meta,actor,"
    "  time_ms,prev,hash FROM ledger_before ORDER BY seq;"
    "DROP TABLE ledger_before;"
    "CREATE INDEX ledger_dataset ON ledger(dataset);"
    "CREATE INDEX ledger_seal ON ledger(kind) WHERE kind='SEAL';"
    REFUSE("ledger_no_update BEFORE UPDATE ON ledger", "append-only")
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
static const char numbers[] =
    "CREATE TABLE model_before AS SELECT * FROM model;"
    "DROP TABLE model;"
    "CREATE TABLE job_before AS SELECT * FROM job;"
    "DROP TABLE job;"
    "CREATE TABLE job("
    "  number INTEGER PRIMARY KEY AUTOINCREMENT, id " TEXT " UNIQUE,"
    "  version " NUMBER ", state " TEXT ", attempt " NUMBER ","
    "  spec " TEXT ", detail " TEXT ", create_ms " NUMBER ","
    "  update_ms " NUMBER ", created_by " TEXT ")" STRICT
    "INSERT INTO job SELECT number,id,version,state,attempt,spec,detail,create_ms,"
    "  update_ms,created_by FROM job_before;"
    "DROP TABLE job_before;"
    "CREATE TABLE model("
    "  number INTEGER PRIMARY KEY AUTOINCREMENT, id " TEXT " UNIQUE,"
    "  job " TEXT " UNIQUE REFERENCES job(id),"
    "  sha256 " BYTES " CHECK(length(sha256)=32), size " NUMBER ","
    "  card " TEXT ", create_ms " NUMBER ")" STRICT
    "INSERT INTO model SELECT number,id,job,sha256,size,card,create_ms"
    " FROM model_before;"
    "DROP TABLE model_before;"
    "CREATE TABLE weights_before AS SELECT * FROM weights;"
    "DROP TABLE weights;"
    "CREATE TABLE weights("
    "  number INTEGER PRIMARY KEY AUTOINCREMENT, id " TEXT " UNIQUE,"
    "  project " TEXT ", created_by " TEXT ", note " TEXT ","
    "  sha256 " BYTES " CHECK(length(sha256)=32),"
    "  size " NUMBER ", create_ms " NUMBER ")" STRICT
    "INSERT INTO weights SELECT number,id,project,created_by,note,sha256,size,create_ms"
    "  FROM weights_before;"
    "DROP TABLE weights_before;";
/* clang-format on */

#define STEP(file, server, sql) {file, sql},
#define SQLITE_STEP(file, sql)  {file, sql},
#define POSTGRES_STEP(server, sql)
static const struct schema_step steps[] = {
#include "store/sql/schema_steps.def"
};

const struct sqlite_tables *sqlite_steps_current(void)
{
    static const struct sqlite_tables current = {steps, sizeof steps / sizeof *steps};
    return &current;
}
