/*
 * page_fixture.h - runs the commands that a reader of a page would type: its sh blocks,
 * in order, in one shell. The page's first block gives the address of the daemon that
 * the page starts; the test's own daemon takes its place. A page may show what its blocks
 * print, in text blocks.
 *
 * Failures of the machine end the test. Not for several threads.
 */
#ifndef TESTS_E2E_PAGE_FIXTURE_H
#define TESTS_E2E_PAGE_FIXTURE_H

/* Returns the sh blocks that follow the line heading, up to the next heading of its
 * level; those of the whole page if heading is NULL. The caller frees the text. */
char *page_session(const char *page, const char *heading);

/* Runs session in folder with `sh -eu` against the daemon at base, with its output in
 * folder/output. Returns its exit status. */
int page_run(const char *session, const char *folder, const char *base);

/* Returns the contents of folder/output; the caller frees them. */
char *page_output(const char *folder);

/* Asserts that folder/output holds the lines of the page's text blocks and no others,
 * blank lines aside. A number with a decimal point stands for any number, because noise
 * changes it; a line "..." stands for any lines. */
void page_assert_output(const char *page, const char *folder);

#endif
