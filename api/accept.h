/*
 * accept.h - which of a route's types suits a request's Accept header best (RFC 9110,
 * 12.5.1): the most specific range that matches a type gives its weight, and of equal
 * weights the type that the route names first is taken.
 *
 * Parameters of a range other than q are not looked at. What cannot be read as a range
 * matches nothing. An Accept-Encoding header is read in the same way, with codings in the
 * place of types.
 */
#ifndef API_ACCEPT_H
#define API_ACCEPT_H

/* Answers the place, from 0, of the best among types, which have a blank between them
 * and the preferred first; -1 if none of them is accepted. Where accept is NULL there
 * was no such header, and any will do; the same holds where there are no types. */
int accept_choose(const char *types, const char *accept);

#endif
