/* SPDX-License-Identifier: Apache-2.0 */
#include "playbooks/args.h"

#include <inttypes.h>

static bool words_have(const char *words, struct str name)
{
	struct str rest = str_of(words), word;

	while (str_next(&rest, '|', &word))
		if (str_eq(word, name))
			return words != NULL;
	return false;
}

static const struct module_arg *find_row(const struct module_arg *rows, struct str name)
{
	for (const struct module_arg *r = rows; r && r->name; r++)
		if (str_eqc(name, r->name) || (r->aliases && words_have(r->aliases, name)))
			return r;
	return NULL;
}

bool value_is_omit(const struct value *v)
{
	return v && v->kind == V_STR && str_eqc(v->s, ARG_OMIT);
}

int value_to_bool(const struct value *v, bool *out)
{
	static const char *const yes[] = { "yes", "on", "true", "t", "y", "1" };
	static const char *const no[] = { "no", "off", "false", "f", "n", "0" };

	if (v->kind == V_BOOL) {
		*out = v->b;
		return 0;
	}
	if ((v->kind == V_INT && (v->i == 0 || v->i == 1)) || v->kind == V_FLOAT) {
		*out = v->kind == V_INT ? v->i == 1 : v->f > 0;
		return 0;
	}
	if (v->kind != V_STR)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(yes); i++)
		if (str_eq_nocase(v->s, str_of(yes[i])) || str_eq_nocase(v->s, str_of(no[i]))) {
			*out = str_eq_nocase(v->s, str_of(yes[i]));
			return 0;
		}
	return -1;
}

/* ---- one value ---- */

static struct value *as_text(struct arena *a, const struct value *v)
{
	struct value *out;
	struct buf b;

	buf_init(&b, BUF_MAX_DEFAULT);
	value_reveal(&b, v);
	out = value_str(a, buf_str(&b));
	out->pos = v->pos;
	out->secret = v->secret;
	out->unsafe = v->unsafe;
	buf_wipe(&b);
	return out;
}

static int wrong(const struct module_arg *r, const struct value *v, const char *wanted,
		 struct err *e)
{
	err_set(e, ERR_SPEC, "'%s' must be %s, not %s", r->name, wanted, value_kind_name(v->kind));
	return err_at(e, v->pos);
}

static int decode_list(struct arena *a, const struct module_arg *r, const struct value *v,
		       const struct value **out, struct err *e)
{
	struct value *list = value_list(a);

	list->pos = v->pos;
	if (v->kind == V_LIST) {
		for (size_t i = 0; i < v->list.n; i++) {
			const struct value *item = v->list.v[i];
			if (item->kind == V_LIST || item->kind == V_MAP || item->kind == V_NULL)
				return wrong(r, item, "a list of strings", e);
			if (!value_is_omit(item))
				value_add(a, list, item->kind == V_STR ? item : as_text(a, item));
		}
	} else if (v->kind == V_MAP) {
		return wrong(r, v, "a list", e);
	} else {
		const struct value *text = as_text(a, v);
		struct str rest = text->s, part;
		while (rest.n && str_next(&rest, ',', &part)) {
			struct value *item = value_str(a, str_trim(part));
			item->secret = v->secret;
			item->pos = v->pos;
			value_add(a, list, item);
		}
	}
	*out = list;
	return 0;
}

static int decode_int(struct arena *a, const struct module_arg *r, const struct value *v,
		      const struct value **out, struct err *e)
{
	struct value *n;
	int64_t i;

	if (v->kind == V_INT) {
		*out = v;
		return 0;
	}
	if (v->kind == V_FLOAT && v->f >= -9e15 && v->f <= 9e15 &&
	    !((double)(int64_t)v->f < v->f) && !((double)(int64_t)v->f > v->f))
		i = (int64_t)v->f;
	else if (v->kind != V_STR || !str_to_int(str_trim(v->s), &i))
		return wrong(r, v, "an integer", e);
	n = value_int(a, i);
	n->pos = v->pos;
	*out = n;
	return 0;
}

static int check_choice(const struct module_arg *r, const struct value *v, struct err *e)
{
	if (!r->choices || v->kind != V_STR || words_have(r->choices, v->s))
		return 0;
	err_set(e, ERR_SPEC, "'%s' must be one of %s, not '" STR_FMT "'", r->name, r->choices,
		STR_ARG(v->s));
	return err_at(e, v->pos);
}

static int decode_one(struct arena *a, const struct module_arg *r, const struct value *v,
		      const struct value **out, struct err *e)
{
	struct value *made;
	bool b;

	*out = v;
	switch (r->type) {
	case ARG_STR:
	case ARG_PATH:
		if (v->kind == V_LIST || v->kind == V_MAP)
			return wrong(r, v, "a string", e);
		/* YAML turns a choice such as `on` or `no` into a boolean; its spelling is lost,
		 * Ansible's is kept. */
		if (v->kind != V_STR)
			*out = as_text(a, v);
		if (r->type == ARG_PATH && str_find_char((*out)->s, '\n') != SIZE_MAX)
			return err_at(e, (err_set(e, ERR_SPEC, "'%s' has a line break", r->name),
					  v->pos));
		return check_choice(r, *out, e);
	case ARG_BOOL:
		if (value_to_bool(v, &b))
			return wrong(r, v, "true or false", e);
		made = value_bool(a, b);
		made->pos = v->pos;
		*out = made;
		return 0;
	case ARG_INT: return decode_int(a, r, v, out, e);
	case ARG_MODE:
		if (v->kind != V_STR && v->kind != V_INT)
			return wrong(r, v, "a mode such as \"0644\" or \"u=rw,g=r\"", e);
		return 0;
	case ARG_LIST: return decode_list(a, r, v, out, e);
	case ARG_DICT: return v->kind == V_MAP ? 0 : wrong(r, v, "a map", e);
	case ARG_RAW: return 0;
	}
	bug("argument type %d", (int)r->type);
}

/* ---- a call ---- */

static const char *suggest(const struct module_arg *rows, struct str word)
{
	const char *names[96];
	size_t n = 0;

	for (const struct module_arg *r = rows; r && r->name && n < ARRAY_LEN(names); r++)
		names[n++] = r->name;
	return str_suggest(word, names, n);
}

static int unknown(const char *module, const struct module_arg *rows, const struct map_entry *me,
		   struct err *e)
{
	const char *near = suggest(rows, me->key);

	err_set(e, ERR_SPEC, "module %s has no argument '" STR_FMT "'", module, STR_ARG(me->key));
	if (near)
		err_hint(e, "did you mean '%s'?", near);
	return err_at(e, me->pos);
}

static int refuse(const char *module, const struct module_arg *r, const struct map_entry *me,
		  struct err *e)
{
	err_set(e, ERR_SPEC, "argument '%s' of module %s is not supported yet (%s)", r->name,
		module, r->doc);
	err_hint(e, "leave '%s' out", r->name);
	return err_at(e, me->pos);
}

static const struct module_arg *missing(const struct module_arg *rows, const struct value *args)
{
	for (const struct module_arg *r = rows; r && r->name; r++)
		if ((r->flags & ARG_REQUIRED) && !value_get(args, r->name))
			return r;
	return NULL;
}

static bool is_late(const struct value *v)
{
	if (v->kind == V_STR)
		return str_find(v->s, STR("{{")) != SIZE_MAX ||
		       str_find(v->s, STR("{%")) != SIZE_MAX;
	if (v->kind == V_LIST)
		for (size_t i = 0; i < v->list.n; i++)
			if (is_late(v->list.v[i]))
				return true;
	if (v->kind == V_MAP)
		for (size_t i = 0; i < v->map.n; i++)
			if (is_late(v->map.e[i].val))
				return true;
	return false;
}

static void check_entry(struct arena *a, const char *module, const struct module_arg *rows,
			const struct map_entry *me, struct err_list *errs)
{
	const struct module_arg *r = find_row(rows, me->key);
	const struct value *v = me->val, *out;
	struct err e = { 0 };
	int rc = 0;

	if (!r)
		rc = unknown(module, rows, me, &e);
	else if ((r->flags & ARG_NOT_YET) && v->kind != V_NULL && !value_is_omit(v))
		rc = refuse(module, r, me, &e);
	else if (v->kind != V_NULL && !is_late(v))
		rc = decode_one(a, r, v, &out, &e);
	if (rc) {
		err_at(&e, me->pos);
		err_list_add(errs, &e);
	}
}

void args_check(const char *module, const struct module_arg *rows, const struct value *raw,
		struct pos pos, struct err_list *errs)
{
	struct arena *a scoped(arena_freep) = arena_new("args_check");
	struct value *seen = value_map(a);
	const struct module_arg *r;

	for (size_t i = 0; raw && i < raw->map.n; i++) {
		check_entry(a, module, rows, &raw->map.e[i], errs);
		r = find_row(rows, raw->map.e[i].key);
		if (r)
			value_set(seen, r->name, raw->map.e[i].val);
	}
	for (r = rows; r && r->name; r++)
		if ((r->flags & ARG_REQUIRED) && !value_get(seen, r->name))
			err_list_addf(errs, pos, NULL, "module %s needs the argument '%s' (%s)",
				      module, r->name, r->doc);
}

static int decode_entry(struct arena *a, const char *module, const struct module_arg *rows,
			const struct map_entry *me, struct value *args, struct err *e)
{
	const struct module_arg *r = find_row(rows, me->key);
	const struct value *v = me->val, *out;

	if (!r)
		return unknown(module, rows, me, e);
	if (v->kind == V_NULL || value_is_omit(v))
		return 0;
	if (r->flags & ARG_NOT_YET)
		return refuse(module, r, me, e);
	if (decode_one(a, r, v, &out, e)) {
		err_at(e, me->pos);
		return err_wrap(e, "module %s", module);
	}
	if ((r->flags & ARG_SECRET) && !out->secret)
		out = value_secret(a, out);
	value_set(args, r->name, out);
	return 0;
}

int args_decode(struct arena *a, const char *module, const struct module_arg *rows,
		const struct value *raw, const struct value **out, struct err *e)
{
	struct value *args = value_map(a);
	const struct module_arg *r;

	for (size_t i = 0; raw && i < raw->map.n; i++)
		if (decode_entry(a, module, rows, &raw->map.e[i], args, e))
			return -1;
	r = missing(rows, args);
	if (r)
		return err_set(e, ERR_SPEC, "module %s needs the argument '%s' (%s)", module,
			       r->name, r->doc);
	for (r = rows; r && r->name; r++) {
		const struct value *v;
		if (!r->fallback || value_get(args, r->name))
			continue;
		if (decode_one(a, r, value_cstr(a, r->fallback), &v, e))
			bug("fallback of %s.%s", module, r->name);
		value_set(args, r->name, v);
	}
	*out = args;
	return 0;
}

/* ---- k=v ---- */

/* End of the word at s: blanks inside quotes and {{ }} belong to it. SIZE_MAX: a quote is left
 * open. */
static size_t word_end(struct str s)
{
	char quote = 0;
	int depth = 0;
	size_t i;

	for (i = 0; i < s.n; i++) {
		char c = s.p[i];
		if (c == '\\' && i + 1 < s.n && quote != '\'') {
			i++;
		} else if (quote) {
			if (c == quote)
				quote = 0;
		} else if (c == '"' || c == '\'') {
			quote = c;
		} else if (c == '{' && i + 1 < s.n && (s.p[i + 1] == '{' || s.p[i + 1] == '%')) {
			depth++;
			i++;
		} else if ((c == '}' || c == '%') && i + 1 < s.n && s.p[i + 1] == '}' && depth) {
			depth--;
			i++;
		} else if (!depth && (c == ' ' || c == '\t' || c == '\n')) {
			break;
		}
	}
	return quote ? SIZE_MAX : i;
}

static bool is_key(struct str s)
{
	if (!s.n)
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!((s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= 'A' && s.p[i] <= 'Z') ||
		      s.p[i] == '_' || (i && s.p[i] >= '0' && s.p[i] <= '9')))
			return false;
	return true;
}

static struct str unquote(struct arena *a, struct str s)
{
	if (s.n >= 2 && (s.p[0] == '"' || s.p[0] == '\'') && s.p[s.n - 1] == s.p[0])
		s = str_sub(s, 1, s.n - 1);
	return str_dup(a, s);
}

int args_parse_kv(struct arena *a, const struct module_arg *rows, const struct value *text,
		  struct value **out, struct str *rest, struct err *e)
{
	struct value *map = value_map(a);
	struct str s = str_trim(text->s);
	struct buf words scoped(buf_fini) = { 0 };

	buf_init(&words, BUF_MAX_DEFAULT);
	map->pos = text->pos;
	while (s.n) {
		size_t end = word_end(s), eq;
		struct str word;
		if (end == SIZE_MAX)
			return err_at(e,
				      (err_set(e, ERR_SPEC, "a quote is not closed"), text->pos));
		word = str_sub(s, 0, end);
		eq = str_find_char(word, '=');
		if (eq != SIZE_MAX && is_key(str_sub(word, 0, eq)) &&
		    (!rest || find_row(rows, str_sub(word, 0, eq)))) {
			struct value *v = value_str(a, unquote(a, str_sub(word, eq + 1, SIZE_MAX)));
			v->pos = text->pos;
			value_sets(map, str_sub(word, 0, eq), v);
			map_find(&map->map, str_sub(word, 0, eq))->pos = text->pos;
			s = str_trim(str_sub(s, end, SIZE_MAX));
			continue;
		}
		if (!rest)
			return err_at(e, (err_set(e, ERR_SPEC, "'" STR_FMT "' is not key=value",
						  STR_ARG(word)),
					  text->pos));
		/* The command keeps its own blanks and quotes. */
		buf_addstr(&words, word);
		s = str_sub(s, end, SIZE_MAX);
		end = 0;
		while (end < s.n && (s.p[end] == ' ' || s.p[end] == '\t' || s.p[end] == '\n'))
			end++;
		buf_addstr(&words, str_sub(s, 0, end));
		s = str_sub(s, end, SIZE_MAX);
	}
	if (rest)
		*rest = str_dup(a, str_trim(buf_str(&words)));
	*out = map;
	return 0;
}

/* ---- decoded arguments ---- */

bool arg_has(const struct value *args, const char *name)
{
	return value_get(args, name) != NULL;
}

struct str arg_str(const struct value *args, const char *name)
{
	return value_get_str(args, name, "");
}

const char *arg_cstr(const struct value *args, const char *name)
{
	const struct value *v = value_get(args, name);

	return v && v->kind == V_STR ? v->s.p : NULL;
}

bool arg_bool(const struct value *args, const char *name)
{
	return value_get_bool(args, name, false);
}

int64_t arg_int(const struct value *args, const char *name, int64_t fallback)
{
	return value_get_int(args, name, fallback);
}

const struct value *arg_list(const struct value *args, const char *name)
{
	const struct value *v = value_get(args, name);

	return v && v->kind == V_LIST ? v : NULL;
}

/* ---- modes ---- */

struct clause {
	unsigned who; /* bits of u, g, o: 4 2 1 */
	unsigned special;
	unsigned bits; /* rwx of one class */
};

static int add_perm(struct clause *c, char p, bool is_dir, unsigned now)
{
	switch (p) {
	case 'r': c->bits |= 4; return 0;
	case 'w': c->bits |= 2; return 0;
	case 'x': c->bits |= 1; return 0;
	case 'X':
		if (is_dir || (now & 0111))
			c->bits |= 1;
		return 0;
	case 's': c->special |= (c->who & 4 ? 04000u : 0) | (c->who & 2 ? 02000u : 0); return 0;
	case 't': c->special |= 01000; return 0;
	case 'u': c->bits |= now >> 6 & 7; return 0;
	case 'g': c->bits |= now >> 3 & 7; return 0;
	case 'o': c->bits |= now & 7; return 0;
	default: return -1;
	}
}

static unsigned apply_clause(const struct clause *c, char op, unsigned now)
{
	unsigned mask = 0, bits = 0;

	for (unsigned shift = 0; shift <= 6; shift += 3) {
		if (!(c->who & 1u << shift / 3))
			continue;
		mask |= 7u << shift;
		bits |= c->bits << shift;
	}
	if (op == '=') {
		unsigned keep = ~mask;
		if (c->who & 4)
			keep &= ~04000u;
		if (c->who & 2)
			keep &= ~02000u;
		if (c->who & 1)
			keep &= ~01000u;
		return (now & keep) | bits | c->special;
	}
	return op == '+' ? now | bits | c->special : now & ~(bits | c->special);
}

/* One part of "u=rwX,g+r,o-": who, then one or more of operator and permissions. */
static int symbolic_part(struct str part, bool is_dir, unsigned *mode)
{
	struct clause c = { 0 };
	size_t i = 0;

	for (; i < part.n && memchr("ugoa", part.p[i], 4); i++)
		c.who |= part.p[i] == 'u' ? 4 : part.p[i] == 'g' ? 2 : part.p[i] == 'o' ? 1 : 7;
	if (!c.who)
		c.who = 7;
	if (i == part.n)
		return -1;
	while (i < part.n) {
		char op = part.p[i++];
		if (op != '=' && op != '+' && op != '-')
			return -1;
		c.bits = c.special = 0;
		for (; i < part.n && !memchr("=+-", part.p[i], 3); i++)
			if (add_perm(&c, part.p[i], is_dir, *mode))
				return -1;
		*mode = apply_clause(&c, op, *mode);
	}
	return 0;
}

int mode_parse(const struct value *mode, bool is_dir, unsigned now, unsigned *out, struct err *e)
{
	struct str rest, part;
	uint64_t n;

	if (mode->kind == V_INT) {
		if (mode->i < 0 || mode->i > 07777)
			return err_at(e, (err_set(e, ERR_SPEC, "mode %" PRId64 " is out of range",
						  mode->i),
					  mode->pos));
		*out = (unsigned)mode->i;
		return 0;
	}
	rest = str_trim(mode->s);
	if (str_to_uint(rest, 8, &n)) {
		if (n > 07777)
			return err_at(e, (err_set(e, ERR_SPEC, "mode " STR_FMT " is out of range",
						  STR_ARG(rest)),
					  mode->pos));
		*out = (unsigned)n;
		return 0;
	}
	*out = now;
	while (str_next(&rest, ',', &part))
		if (symbolic_part(str_trim(part), is_dir, out)) {
			err_set(e, ERR_SPEC, "'" STR_FMT "' is no mode", STR_ARG(mode->s));
			err_hint(e, "write it as \"0644\" or \"u=rw,g=r,o=r\"");
			return err_at(e, mode->pos);
		}
	return 0;
}
