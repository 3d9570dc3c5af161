/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/folded.h"

#include <stdio.h>

#include "cli/view.h"

/* ---- failures -------------------------------------------------------------------------------- */

struct failure {
	struct err err; /* of the first node */
	const char *general;
	VEC(const char *) names;
};

void failures_init(struct failures *f, struct arena *a)
{
	*f = (struct failures){ .a = a };
	map_init(&f->by_cause, a);
}

static bool part_of_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '_';
}

static size_t digits_at(const char *p)
{
	return strspn(p, "0123456789");
}

/* How many bytes at p name this address, with the port if it is told: "A", "A:22", "A port 22". */
static size_t names_address(const char *text, const char *p, const char *address)
{
	static const char port[] = " port ";
	size_t n = strlen(address);

	if (strncmp(p, address, n) != 0 || (p > text && (part_of_name(p[-1]) || p[-1] == '.')))
		return 0;
	if (part_of_name(p[n]) || (p[n] == '.' && part_of_name(p[n + 1])))
		return 0;
	if (p[n] == ':' && digits_at(p + n + 1))
		return n + 1 + digits_at(p + n + 1);
	if (strncmp(p + n, port, sizeof port - 1) == 0 && digits_at(p + n + sizeof port - 1))
		return n + sizeof port - 1 + digits_at(p + n + sizeof port - 1);
	return n;
}

static const char *without_address(struct arena *a, const char *text, const char *address)
{
	scoped(buf_fini) struct buf b = { 0 };

	if (!address || !address[0] || !strstr(text, address))
		return arena_strdup(a, text);
	buf_init(&b, 2 * strlen(text) + 64);
	for (const char *p = text; *p;) {
		size_t n = names_address(text, p, address);

		if (n)
			buf_adds(&b, "the node");
		else
			buf_addc(&b, *p);
		p += n ? n : 1;
	}
	return buf_dup(&b, a);
}

void failures_add(struct failures *f, const char *name, const char *address, const struct err *e)
{
	const char *general = without_address(f->a, e->msg, address);
	scoped(buf_fini) struct buf key = { 0 };

	buf_init(&key, sizeof e->msg * 3);
	buf_addf(&key, "%d %s", (int)e->kind, general);
	struct failure *c = map_get(&f->by_cause, buf_str(&key));
	if (!c) {
		c = arena_obj(f->a, struct failure);
		c->err = *e;
		c->general = general;
		map_put(&f->by_cause, buf_str(&key), c);
		VEC_ADD(f->a, &f->v) = c;
	}
	VEC_ADD(f->a, &c->names) = name;
	f->n++;
}

static void show_cause(struct cli *c, const struct failure *one)
{
	struct err e = one->err;
	const char *names = view_fold(c->a, one->names.v, one->names.n);
	bool fits = strlen(names) < sizeof e.node;

	if (one->names.n > 1) {
		snprintf(e.msg, sizeof e.msg, "%s", one->general);
		e.addr[0] = '\0';
		if (fits)
			snprintf(e.node, sizeof e.node, "%s", names);
		else
			snprintf(e.node, sizeof e.node, "%zu nodes", one->names.n);
	}
	view_error(c, &e);
	if (!fits)
		view_notef(c, "  nodes     %s\n", names);
}

void failures_show(struct cli *c, const struct failures *f)
{
	for (size_t i = 0; i < f->v.n; i++)
		show_cause(c, f->v.v[i]);
}

/* ---- answers ---------------------------------------------------------------------------------- */

void text_groups_init(struct text_groups *g, struct arena *a)
{
	g->a = a;
	map_init(&g->by_digest, a);
}

struct text_group *text_groups_find(struct text_groups *g, int status, bool cut, struct str out,
				    struct str err)
{
	char digest[2][SHA256_HEX], key[2 * SHA256_HEX + 32];

	sha256_hex(out, digest[0]);
	sha256_hex(err, digest[1]);
	snprintf(key, sizeof key, "%d %d %s %s", status, cut, digest[0], digest[1]);
	struct text_group *t = map_getc(&g->by_digest, key);
	if (!t) {
		t = arena_obj(g->a, struct text_group);
		t->status = status;
		t->cut = cut;
		t->out = str_dup(g->a, out);
		t->err = str_dup(g->a, err);
		map_put(&g->by_digest, str_of(key), t);
	}
	return t;
}
