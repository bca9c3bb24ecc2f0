/*
 * accept.h - which of a route's types suits a request's Accept header best (RFC 9110,
 * 12.5.1): the most specific range that matches a type gives its weight, and of equal
 * weights the type that the route names first is taken.
 *
 * Parameters of a range other than q are not looked at. What cannot be read as a range
 * matches nothing.
 */
#ifndef API_ACCEPT_H
#define API_ACCEPT_H

/* The place of the best among types (a blank between them, the preferred first), from 0.
 * accept NULL: there was no such header, and any will do; so where there are no types.
 * -1: none of them is accepted. */
int accept_choose(const char *types, const char *accept);

#endif
