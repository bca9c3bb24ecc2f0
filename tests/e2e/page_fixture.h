/*
 * page_fixture.h - what a reader of a page would type: its blocks of sh, run in order by
 * one shell. The page begins them with the address of the daemon that it starts, and the
 * test's own daemon is put in its place.
 *
 * Failures of the machine end the test. Not for several threads.
 */
#ifndef TESTS_E2E_PAGE_FIXTURE_H
#define TESTS_E2E_PAGE_FIXTURE_H

/* The blocks of sh that follow the line heading, up to the next heading of its level; or
 * all of the page, where heading is NULL. Text to be freed. */
char *page_session(const char *page, const char *heading);

/* Runs session in folder with `sh -eu` against the daemon at base. What it prints stands
 * in folder/output afterwards. Returns its exit status. */
int page_run(const char *session, const char *folder, const char *base);

/* What folder/output holds, to be freed. */
char *page_output(const char *folder);

#endif
