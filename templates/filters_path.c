/* SPDX-License-Identifier: Apache-2.0 */
/* Filters on paths, of POSIX and of Windows. They look at the text alone, but for realpath. */
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "templates/filters.h"

/* a//b/./c/../d: as Python's normpath */
static struct str normal(struct arena *a, struct str s)
{
	scoped(buf_fini) struct buf b = { 0 };
	bool root = str_starts(s, "/"), two = str_starts(s, "//") && !str_starts(s, "///");
	struct str part;
	size_t base;

	buf_init(&b, OPS_MAX_TEXT);
	buf_adds(&b, two ? "//" : root ? "/" : "");
	base = b.n;
	while (str_next(&s, '/', &part)) {
		if (!part.n || str_eqc(part, "."))
			continue;
		size_t from = b.n;
		while (from > base && b.p[from - 1] != '/')
			from--;
		bool up = str_eqc(part, "..");
		if (up && b.n > base && !str_eqc(str_sub(buf_str(&b), from, b.n), "..")) {
			b.n = from > base ? from - 1 : base;
			continue;
		}
		if (up && root)
			continue;
		if (b.n > base)
			buf_addc(&b, '/');
		buf_addstr(&b, part);
	}
	return b.n ? (struct str){ arena_dup(a, b.p, b.n), b.n } : STR(".");
}

static const struct value *f_normpath(struct call *c)
{
	return value_str(c->a, normal(c->a, op_text(c->a, c->self)));
}

static struct str absolute(struct arena *a, struct str s)
{
	char here[PATH_MAX];

	if (str_starts(s, "/") || !getcwd(here, sizeof here))
		return normal(a, s);
	return normal(a, str_of(arena_printf(a, "%s/" STR_FMT, here, STR_ARG(s))));
}

static const struct value *f_realpath(struct call *c)
{
	struct str s = absolute(c->a, op_text(c->a, c->self));
	char real[PATH_MAX];

	return realpath(arena_dup(c->a, s.p, s.n), real) ? value_cstr(c->a, real)
							 : value_str(c->a, s);
}

static const struct value *f_relpath(struct call *c)
{
	struct str to = absolute(c->a, op_text(c->a, c->self)),
		   from = absolute(c->a, call_text(c, 0, "."));
	scoped(buf_fini) struct buf b = { 0 };
	struct str x = str_sub(to, 1, SIZE_MAX), y = str_sub(from, 1, SIZE_MAX), p, q;

	for (;;) {
		struct str rest_x = x, rest_y = y;
		bool more_x = x.n && str_next(&rest_x, '/', &p),
		     more_y = y.n && str_next(&rest_y, '/', &q);
		if (!more_x || !more_y || !str_eq(p, q))
			break;
		x = rest_x;
		y = rest_y;
	}
	buf_init(&b, OPS_MAX_TEXT);
	while (y.n && str_next(&y, '/', &q))
		buf_adds(&b, b.n ? "/.." : "..");
	if (x.n && b.n)
		buf_addc(&b, '/');
	buf_addstr(&b, x);
	return b.n ? value_str(c->a, buf_str(&b)) : value_cstr(c->a, ".");
}

static const struct value *f_expanduser(struct call *c)
{
	struct str s = op_text(c->a, c->self);

	return value_cstr(c->a, fs_expand_home(c->a, arena_dup(c->a, s.p, s.n)));
}

/* The parts joined; one that begins with "/" begins anew. */
static const struct value *f_path_join(struct call *c)
{
	scoped(buf_wipe) struct buf b = { 0 };
	const struct value *l = c->self->kind == V_STR ? NULL : call_list(c, c->self);

	if (c->self->kind == V_STR)
		return c->self;
	if (!l)
		return NULL;
	buf_init(&b, OPS_MAX_TEXT);
	for (size_t i = 0; i < l->list.n; i++) {
		struct str s = op_text(c->a, l->list.v[i]);
		if (l->list.v[i]->kind != V_STR)
			return call_fault(c, "path_join needs texts, not %s",
					  op_type_name(l->list.v[i]));
		if (str_starts(s, "/"))
			b.n = 0;
		else if (b.n && b.p[b.n - 1] != '/')
			buf_addc(&b, '/');
		buf_addstr(&b, s);
	}
	return buf_check(&b, c->e) < 0 ? NULL : value_str(c->a, buf_str(&b));
}

static const struct value *f_commonpath(struct call *c)
{
	const struct value *l = call_list(c, c->self);
	struct str common = STR_NONE;

	for (size_t i = 0; l && i < l->list.n; i++) {
		struct str s = op_text(c->a, l->list.v[i]);
		size_t n = 0, last = 0;
		if (!common.p) {
			common = s;
			continue;
		}
		while (n < common.n && n < s.n && common.p[n] == s.p[n]) {
			n++;
			if ((n == common.n || common.p[n] == '/') && (n == s.n || s.p[n] == '/'))
				last = n;
		}
		common = str_sub(common, 0, last ? last : str_starts(common, "/") ? 1 : 0);
	}
	while (common.n > 1 && common.p[common.n - 1] == '/')
		common.n--;
	return l ? value_str(c->a, common) : NULL;
}

/* ---- Windows -------------------------------------------------------------------------------- */

static bool is_win_slash(char ch)
{
	return ch == '/' || ch == '\\';
}

static size_t drive_length(struct str s)
{
	return s.n > 1 && s.p[1] == ':' && isalpha((unsigned char)s.p[0]) ? 2 : 0;
}

static const struct value *f_win_basename(struct call *c)
{
	struct str s = op_text(c->a, c->self);
	size_t i = s.n;

	while (i > drive_length(s) && !is_win_slash(s.p[i - 1]))
		i--;
	return value_str(c->a, str_sub(s, i, SIZE_MAX));
}

static const struct value *f_win_dirname(struct call *c)
{
	struct str s = op_text(c->a, c->self);
	size_t drive = drive_length(s), i = s.n, head;

	while (i > drive && !is_win_slash(s.p[i - 1]))
		i--;
	head = i;
	while (i > drive && is_win_slash(s.p[i - 1]))
		i--;
	return value_str(c->a, str_sub(s, 0, i > drive ? i : head));
}

static const struct value *f_win_splitdrive(struct call *c)
{
	struct str s = op_text(c->a, c->self);
	struct value *out = value_list(c->a);
	size_t drive = drive_length(s);

	out->tuple = true;
	value_add(c->a, out, value_str(c->a, str_sub(s, 0, drive)));
	value_add(c->a, out, value_str(c->a, str_sub(s, drive, SIZE_MAX)));
	return out;
}

const struct callable filters_path[] = {
	{ "normpath", f_normpath, "", 0 },
	{ "realpath", f_realpath, "", 0 },
	{ "relpath", f_relpath, "start", 0 },
	{ "expanduser", f_expanduser, "", 0 },
	{ "path_join", f_path_join, "", 0 },
	{ "commonpath", f_commonpath, "", 0 },
	{ "win_basename", f_win_basename, "", 0 },
	{ "win_dirname", f_win_dirname, "", 0 },
	{ "win_splitdrive", f_win_splitdrive, "", 0 },
	{ NULL, NULL, NULL, 0 },
};
