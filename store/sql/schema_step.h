/*
 * schema_step.h - a step that makes or changes tables. All of them are listed in
 * schema_steps.def. Inside store only.
 */
#ifndef STORE_SQL_SCHEMA_STEP_H
#define STORE_SQL_SCHEMA_STEP_H

struct schema_step {
    int number; /* several texts in a row may make one step */
    const char *sql;
};

#endif
