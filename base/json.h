/* SPDX-License-Identifier: Apache-2.0 */
/* base/json.h - the door to JSON (jansson inside). Bounded: depth 64, size max_bytes. Positions are
 * line:col of errors only. */
#ifndef MUSTER_BASE_JSON_H
#define MUSTER_BASE_JSON_H

#include "base/value.h"

enum json_flags {
	JSON_PRETTY = 1, /* two-space indent, newline at the end */
	JSON_SORT = 2,	 /* keys in byte order: canonical, for digests */
	JSON_REVEAL = 4, /* secrets in clear: only for what is sent to a provider or node */
};

#define JSON_MAX_DEFAULT ((size_t)64 << 20)

/* name: for positions in messages. Refused: duplicate keys, integers of over 64 bits, bad UTF-8. */
must_check int json_parse(struct arena *a, const char *name, struct str text, struct value **out,
			  struct err *e);
/* unknown is written as null */
void json_write(struct buf *b, const struct value *v, unsigned flags);
/* quoted and escaped; invalid UTF-8 becomes U+FFFD */
void json_write_string(struct buf *b, struct str s);

/* What a key that is no text is written as: value_key, as Python's json does. */
struct str json_key(struct str key);

#endif
