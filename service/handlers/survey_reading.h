/*
 * survey_reading.h - reads surveys (statistics, or evaluations of models) from the store
 * for answers: one by its id, or a page of them.
 *
 * Threads: the readers'.
 */
#ifndef SERVICE_HANDLERS_SURVEY_READING_H
#define SERVICE_HANDLERS_SURVEY_READING_H

#include "service/http/request.h"
#include "store/rows/statistics_rows.h"

struct daemon_state;

struct survey_form { /* how surveys of one kind are read and shown */
    enum survey_kind kind;
    const char *name;   /* of one, in the text of an error */
    const char *member; /* of a page: its list */
    char *(*render)(const struct statistics_row *row, const char *project);
    /* Returns whether a row is in the list that the request asks for; NULL: all are. */
    bool (*fits)(const struct request *request, const struct statistics_row *row);
};

/* Answers with the survey that the path names.
 *   ST_NOT_FOUND  there is none of this kind, or the principal may not see it
 *   ST_IO         the store cannot be read */
enum status survey_get(struct daemon_state *context, struct request *request,
                       const struct survey_form *form, struct error *error);

/* Answers with a page of surveys, without their answers, of the dataset that the query
 * names, if it names one.
 *   ST_INVALID  a parameter of the query
 *   ST_IO       the store cannot be read */
enum status survey_list(struct daemon_state *context, struct request *request,
                        const struct survey_form *form, struct error *error);

#endif
