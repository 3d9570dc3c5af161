/* SPDX-License-Identifier: Apache-2.0 */
/* net/wire.h - the data types of SSH packets, keys and agent messages (RFC 4251 §5). Pure; for net/
 * only. */
#ifndef MUSTER_NET_WIRE_H
#define MUSTER_NET_WIRE_H

#include "base/str.h"

/* Reading: after the first short or malformed item everything reads as 0 or empty and bad is set. */
struct wire {
	const unsigned char *p;
	size_t n;
	bool bad;
};

struct wire wire_of(struct str s);
uint8_t wire_u8(struct wire *w);
uint32_t wire_u32(struct wire *w);
struct str wire_string(struct wire *w);		 /* borrowed */
struct str wire_bytes(struct wire *w, size_t n); /* borrowed */

/* The first string of a public key blob: its type. Empty if malformed. */
struct str wire_key_type(struct str blob);

void wire_put_u32(struct buf *b, uint32_t v);
void wire_put_string(struct buf *b, struct str s);
/* A non-negative big-endian number as an mpint: no leading zeros, one if the top bit is set. */
void wire_put_mpint(struct buf *b, struct str big_endian);

#endif
