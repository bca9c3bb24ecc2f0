/*
 * job_log_view.h - the log of a job in API responses: what became visible of it,
 * and when.
 *
 *   {"seq":1,"time":T,"event":"state","state":"QUEUED","state_reason":null}
 *   {"seq":3,"time":T,"event":"authorised","authorised_steps":12}
 *   {"seq":4,"time":T,"event":"evaluation","evaluation":{"step":12,...}}
 *   {"seq":5,"time":T,"event":"released","released":{"step":12,...}}
 *
 * It is made only of what the job shows anyway and of the ticks of its log. So it
 * contains nothing that was not shown, and no time that is finer (P6). New lines are
 * only ever appended.
 *
 * Pure.
 */
#ifndef API_VIEWS_JOB_LOG_VIEW_H
#define API_VIEWS_JOB_LOG_VIEW_H

#include "api/views/job_view.h"

/* Writes the lines of the job's log, each to be freed, into texts[0..number), and
 * returns their number. A line whose tick is not known has no time: earlier versions
 * did not store it. */
size_t job_log_render(const struct job_view *view, char *texts[LIMIT_JOB_LOG]);

#endif
