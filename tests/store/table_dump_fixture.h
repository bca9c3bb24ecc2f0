/*
 * table_dump_fixture.h - dumps every table of a database as text. It queries SQLite's
 * own library and psql, and uses no code of store/. Include after postgres_fixture.h.
 */
#ifndef TESTS_STORE_TABLE_DUMP_FIXTURE_H
#define TESTS_STORE_TABLE_DUMP_FIXTURE_H

#include <sqlite3.h>

enum { DUMP_SIZE = 1 << 22, DUMP_SQL_SIZE = 8192 };

struct dump {
    char *text;  /* DUMP_SIZE bytes */
    size_t used; /* bytes in use */
};

static inline void dump_add(struct dump *dump, const char *line)
{
    int length =
        snprintf(dump->text + dump->used, DUMP_SIZE - dump->used, "%s\n", line);
    assert_true(length > 0 && dump->used + (size_t)length < DUMP_SIZE);
    dump->used += (size_t)length;
}

/* Runs SQL that returns lines, each a text. */
static inline void dump_sqlite(struct dump *dump, const char *path, const char *sql)
{
    sqlite3 *handle;
    sqlite3_stmt *lines;
    assert_int_equal(sqlite3_open_v2(path, &handle, SQLITE_OPEN_READONLY, NULL),
                     SQLITE_OK);
    if (sqlite3_prepare_v2(handle, sql, -1, &lines, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sqlite3_errmsg(handle), sql);
    while (sqlite3_step(lines) == SQLITE_ROW)
        dump_add(dump, (const char *)sqlite3_column_text(lines, 0));
    sqlite3_finalize(lines);
    sqlite3_close(handle);
}

static inline void dump_postgres(struct dump *dump,
                                 const struct postgres_server *server,
                                 const struct postgres_database *database,
                                 const char *sql)
{
    char command[512], line[DUMP_SQL_SIZE], path[] = "/tmp/epsilond-test-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0 && dprintf(file, "%s;\n", sql) > 0);
    close(file);
    snprintf(
        command, sizeof command,
        "PATH=%s:$PATH %s -X -q -At -v ON_ERROR_STOP=1 -h '%s' -U epsilond -f %s 2>&1",
        server->bin, database->words, server->folder, path);
    FILE *answer = popen(command, "r");
    assert_non_null(answer);
    while (fgets(line, sizeof line, answer) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        dump_add(dump, line);
    }
    if (pclose(answer) != 0)
        fail_msg("%s: %s", sql, dump->text);
    unlink(path);
}

/* Queries the columns of the tables: a line "table column type" each, in order. The
 * test has its own list of the objects that belong to the database system. */
static const char dump_sqlite_columns[] =
    "SELECT t.name||' '||c.name||' '||c.type FROM sqlite_schema t"
    " JOIN pragma_table_info(t.name) c WHERE t.type='table'"
    " AND t.name NOT LIKE 'sqlite%' AND t.name<>'migration' UNION ALL"
    " SELECT 'access_key rowid INTEGER' UNION ALL"
    " SELECT 'dataset rowid INTEGER' ORDER BY 1";
static const char dump_postgres_columns[] =
    "SELECT name FROM (SELECT table_name||' '||column_name||' '||CASE data_type"
    " WHEN 'text' THEN 'TEXT' WHEN 'bigint' THEN 'INTEGER' WHEN 'bytea' THEN 'BLOB'"
    " ELSE data_type END AS name FROM information_schema.columns"
    " WHERE table_schema=current_schema()"
    " AND table_name NOT IN('migration','schema_step','head','writer','claim',"
    "'change','duty','daemon','hold')) AS a"
    " ORDER BY name COLLATE \"C\"";

static inline struct dump dump_create(void)
{
    struct dump dump = {calloc(1, DUMP_SIZE), 0};
    assert_non_null(dump.text);
    return dump;
}

/* Appends to the SQL of a line the expression that shows the column, and a bar. */
static inline void dump_column(char *sql, bool sqlite, const char *column,
                               const char *type)
{
    char shown[128];
    if (strcmp(type, "BLOB") == 0)
        snprintf(shown, sizeof shown,
                 sqlite ? "hex(\"%s\")" : "upper(encode(\"%s\",'hex'))", column);
    else
        snprintf(shown, sizeof shown, "CAST(\"%s\" AS text)", column);
    snprintf(sql + strlen(sql), DUMP_SQL_SIZE - strlen(sql),
             "%sCASE WHEN \"%s\" IS NULL THEN '<null>' ELSE %s END",
             sql[0] != '\0' ? "||'|'||" : "", column, shown);
}

struct dump_source { /* a file, or else a database of a server */
    const char *path;
    const struct postgres_server *server;
    const struct postgres_database *database;
};

static inline void dump_ask(struct dump *dump, const struct dump_source *source,
                            const char *sql)
{
    if (source->path != NULL)
        dump_sqlite(dump, source->path, sql);
    else
        dump_postgres(dump, source->server, source->database, sql);
}

/* Dumps a line "== table rows", and a line for each row, sorted by their text. */
static inline void dump_table(struct dump *dump, const struct dump_source *source,
                              const char *table, const char *shown)
{
    char sql[DUMP_SQL_SIZE + 256];
    snprintf(sql, sizeof sql, "SELECT '== %s '||count(*) FROM \"%s\"", table, table);
    dump_ask(dump, source, sql);
    snprintf(sql, sizeof sql,
             "SELECT line FROM (SELECT %s AS line FROM \"%s\") AS a ORDER BY line%s",
             shown, table, source->path != NULL ? "" : " COLLATE \"C\"");
    dump_ask(dump, source, sql);
}

/* Dumps every row of every table, with all columns of the schema. */
static inline struct dump dump_all(const struct dump_source *source)
{
    struct dump columns = dump_create(), dump = dump_create();
    char shown[DUMP_SQL_SIZE] = "", table[64] = "", of[64], column[64], type[32];
    dump_ask(&columns, source,
             source->path != NULL ? dump_sqlite_columns : dump_postgres_columns);
    for (char *line = strtok(columns.text, "\n"); line != NULL;
         line = strtok(NULL, "\n")) {
        assert_int_equal(sscanf(line, "%63s %63s %31s", of, column, type), 3);
        if (table[0] != '\0' && strcmp(of, table) != 0) {
            dump_table(&dump, source, table, shown);
            shown[0] = '\0';
        }
        snprintf(table, sizeof table, "%s", of);
        dump_column(shown, source->path != NULL, column, type);
    }
    dump_table(&dump, source, table, shown);
    free(columns.text);
    return dump;
}

/* Fails with the first line that differs, if one does. */
static inline void dump_expect(const struct dump *found, const struct dump *expected)
{
    if (strcmp(found->text, expected->text) == 0)
        return;
    const char *one = found->text, *other = expected->text;
    while (strcspn(one, "\n") == strcspn(other, "\n") && *one != '\0' &&
           strncmp(one, other, strcspn(one, "\n")) == 0) {
        one += strcspn(one, "\n") + 1;
        other += strcspn(other, "\n") + 1;
    }
    fail_msg("%.*s\nis not\n%.*s", (int)strcspn(one, "\n"), one,
             (int)strcspn(other, "\n"), other);
}

#endif
