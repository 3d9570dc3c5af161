/* SPDX-License-Identifier: Apache-2.0 */
#include "net/wire.h"

struct wire wire_of(struct str s)
{
	return (struct wire){ (const unsigned char *)s.p, s.n, false };
}

struct str wire_bytes(struct wire *w, size_t n)
{
	struct str s = { (const char *)w->p, n };

	if (w->bad || n > w->n) {
		w->bad = true;
		return STR_NONE;
	}
	w->p += n;
	w->n -= n;
	return s;
}

uint8_t wire_u8(struct wire *w)
{
	struct str s = wire_bytes(w, 1);

	return s.n ? (uint8_t)s.p[0] : 0;
}

uint32_t wire_u32(struct wire *w)
{
	struct str s = wire_bytes(w, 4);
	const unsigned char *p = (const unsigned char *)s.p;

	return s.n ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3] : 0;
}

struct str wire_string(struct wire *w)
{
	uint32_t n = wire_u32(w);

	return w->bad ? STR_NONE : wire_bytes(w, n);
}

struct str wire_key_type(struct str blob)
{
	struct wire w = wire_of(blob);

	return wire_string(&w);
}

void wire_put_u32(struct buf *b, uint32_t v)
{
	const char be[4] = { (char)(v >> 24), (char)(v >> 16), (char)(v >> 8), (char)v };

	buf_add(b, be, sizeof be);
}

void wire_put_string(struct buf *b, struct str s)
{
	wire_put_u32(b, (uint32_t)s.n);
	buf_addstr(b, s);
}

void wire_put_mpint(struct buf *b, struct str v)
{
	while (v.n && v.p[0] == '\0')
		v = str_sub(v, 1, SIZE_MAX);
	bool pad = v.n && (v.p[0] & 0x80);

	wire_put_u32(b, (uint32_t)(v.n + pad));
	if (pad)
		buf_addc(b, '\0');
	buf_addstr(b, v);
}
