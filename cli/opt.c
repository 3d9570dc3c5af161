/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/opt.h"

#include <ctype.h>

#include "inventory/inventory.h"

struct parser {
	struct arena *a;
	const struct opt_line *line;
	size_t i; /* of the next argument */
};

static bool alias_matches(const char *aliases, struct str name)
{
	struct str rest = str_of(aliases), part;

	while (str_next(&rest, ',', &part)) {
		if (str_eq(part, name))
			return true;
	}
	return false;
}

static const struct opt *find_long(const struct parser *p, struct str name, void **into)
{
	for (size_t s = 0; s < p->line->n_sets; s++) {
		for (const struct opt *o = p->line->sets[s].rows; o && o->name; o++) {
			if (str_eqc(name, o->name) ||
			    (o->aliases && alias_matches(o->aliases, name))) {
				*into = p->line->sets[s].into;
				return o;
			}
		}
	}
	return NULL;
}

static const struct opt *find_letter(const struct parser *p, char letter, void **into)
{
	for (size_t s = 0; s < p->line->n_sets; s++) {
		for (const struct opt *o = p->line->sets[s].rows; o && o->name; o++) {
			if (o->letter == letter) {
				*into = p->line->sets[s].into;
				return o;
			}
		}
	}
	return NULL;
}

static bool enum_allows(const char *choices, const char *value)
{
	struct str rest = str_of(choices), part;

	while (str_next(&rest, '|', &part)) {
		if (str_eqc(part, value))
			return true;
	}
	return false;
}

/* What is wrong with a quantity on the command line is wrong use, not a fault of a file. */
static int quantity(int rc, const struct opt *o, struct err *e)
{
	if (rc == 0)
		return 0;
	e->kind = ERR_USAGE;
	return err_wrap(e, "--%s", o->name);
}

static bool takes_value(const struct opt *o)
{
	return o->type != OPT_FLAG && o->type != OPT_COUNT;
}

/* What a variable is set to may be a secret, and is never kept. */
static const char *shown_value(struct arena *a, const struct opt *o, const char *value)
{
	size_t eq = str_find_char(str_of(value), '=');

	if (strcmp(o->name, "var") != 0 || value[0] == '@')
		return value;
	return value[0] == '{' || eq == SIZE_MAX ? "..."
						 : arena_printf(a, "%.*s=...", (int)eq, value);
}

static void say(struct arena *a, struct opt_said *said, const struct opt *o, const char *value)
{
	scoped(buf_fini) struct buf b = { 0 };

	if (!said)
		return;
	buf_init(&b, SIZE_MAX);
	buf_addf(&b, "--%s", o->name);
	if (value) {
		buf_addc(&b, '=');
		proc_quote(&b, str_of(shown_value(a, o, value)));
	}
	VEC_ADD(a, &said->v) = buf_dup(&b, a);
}

static int store(struct arena *a, const struct opt *o, void *into, const char *value, struct err *e)
{
	void *at = (char *)into + o->offset;

	switch (o->type) {
	case OPT_FLAG:
		if (value && !enum_allows("true|false", value))
			return err_set(e, ERR_USAGE, "--%s takes true or false, not \"%s\"",
				       o->name, value);
		*(bool *)at = !value || strcmp(value, "true") == 0;
		return 0;
	case OPT_COUNT: *(int *)at += 1; return 0;
	case OPT_STR: *(const char **)at = value; return 0;
	case OPT_INT: {
		int64_t n;
		if (!str_to_int(str_of(value), &n) || n < 0)
			return err_set(e, ERR_USAGE, "--%s takes a number, not \"%s\"", o->name,
				       value);
		*(int64_t *)at = n;
		return 0;
	}
	case OPT_SHARE: return quantity(quantity_count(str_of(value), at, e), o, e);
	case OPT_MS: return quantity(quantity_duration(str_of(value), at, e), o, e);
	case OPT_ENUM:
		if (!enum_allows(o->arg, value))
			return err_set(e, ERR_USAGE, "--%s takes %s, not \"%s\"", o->name, o->arg,
				       value);
		*(const char **)at = value;
		return 0;
	case OPT_LIST: VEC_ADD(a, &((struct opt_list *)at)->v) = value; return 0;
	}
	bug("option type %d", (int)o->type);
}

static int unknown_option(const struct parser *p, struct str name, const char *dashes,
			  struct err *e)
{
	const char *known[256];
	size_t n = 0;

	for (size_t s = 0; s < p->line->n_sets; s++) {
		for (const struct opt *o = p->line->sets[s].rows;
		     o && o->name && n < ARRAY_LEN(known); o++)
			known[n++] = o->name;
	}
	const char *near = str_suggest(name, known, n);

	err_set(e, ERR_USAGE, "unknown option %s" STR_FMT, dashes, STR_ARG(name));
	return near ? err_hint(e, "did you mean --%s?", near) : err_hint(e, "see muster help");
}

static int parse_long(struct parser *p, struct str body, const char *dashes, struct err *e)
{
	size_t eq = str_find_char(body, '=');
	struct str name = eq == SIZE_MAX ? body : str_sub(body, 0, eq);
	const char *value = eq == SIZE_MAX ? NULL : body.p + eq + 1;
	void *into = NULL;
	const struct opt *o = find_long(p, name, &into);

	if (!o)
		return unknown_option(p, name, dashes, e);
	if (takes_value(o) && !value) {
		if (p->i >= p->line->n)
			return err_set(e, ERR_USAGE, "--%s needs a value (%s)", o->name, o->arg);
		value = p->line->argv[p->i++];
	}
	if (o->type == OPT_COUNT && value)
		return err_set(e, ERR_USAGE, "--%s takes no value", o->name);
	say(p->a, p->line->said, o, value);
	return store(p->a, o, into, value, e);
}

static int parse_letters(struct parser *p, const char *letters, struct err *e)
{
	for (const char *c = letters; *c; c++) {
		void *into = NULL;
		const struct opt *o = find_letter(p, *c, &into);

		if (!o)
			return unknown_option(p, (struct str){ c, 1 }, "-", e);
		if (!takes_value(o)) {
			say(p->a, p->line->said, o, NULL);
			if (store(p->a, o, into, NULL, e) < 0)
				return -1;
			continue;
		}
		const char *value = c[1] ? c + 1 : NULL;

		if (!value) {
			if (p->i >= p->line->n)
				return err_set(e, ERR_USAGE, "-%c needs a value (%s)", *c, o->arg);
			value = p->line->argv[p->i++];
		}
		say(p->a, p->line->said, o, value);
		return store(p->a, o, into, value, e);
	}
	return 0;
}

/* "-auto-approve", "-out=x": one dash before a long name that we know. */
static bool is_terraform_spelling(const struct parser *p, const char *arg)
{
	struct str body = str_of(arg + 1);
	size_t eq = str_find_char(body, '=');
	struct str name = eq == SIZE_MAX ? body : str_sub(body, 0, eq);
	void *into;

	return name.n > 1 && find_long(p, name, &into) != NULL;
}

static int parse_one(struct parser *p, const char *arg, struct err *e)
{
	if (arg[1] == '-')
		return parse_long(p, str_of(arg + 2), "--", e);
	if (is_terraform_spelling(p, arg))
		return parse_long(p, str_of(arg + 1), "-", e);
	return parse_letters(p, arg + 1, e);
}

int opt_parse(struct arena *a, const struct opt_line *line, struct opt_args *args, struct err *e)
{
	struct parser p = { .a = a, .line = line };

	args->after_dashes = SIZE_MAX;
	while (p.i < line->n) {
		const char *arg = line->argv[p.i++];

		if (strcmp(arg, "--") == 0 && args->after_dashes == SIZE_MAX) {
			args->after_dashes = args->v.n;
			while (p.i < line->n)
				VEC_ADD(a, &args->v) = line->argv[p.i++];
		} else if (arg[0] != '-' || !arg[1]) {
			VEC_ADD(a, &args->v) = arg;
			while (line->stop_at_argument && p.i < line->n)
				VEC_ADD(a, &args->v) = line->argv[p.i++];
		} else if (parse_one(&p, arg, e) < 0) {
			return -1;
		}
	}
	return 0;
}

static bool is_unset(const struct opt *o, const void *into)
{
	const void *at = (const char *)into + o->offset;

	switch (o->type) {
	case OPT_FLAG: return !*(const bool *)at;
	case OPT_COUNT: return *(const int *)at == 0;
	case OPT_STR:
	case OPT_ENUM: return *(const char *const *)at == NULL;
	case OPT_INT:
	case OPT_MS: return *(const int64_t *)at == 0;
	case OPT_SHARE: return ((const struct count *)at)->n == 0;
	case OPT_LIST: return false;
	}
	return false;
}

int opt_from_env(struct arena *a, const struct opt_set *set, struct opt_said *said, struct err *e)
{
	for (const struct opt *o = set->rows; o && o->name; o++) {
		char *name = arena_printf(a, "MUSTER_%s", o->name);

		for (char *c = name; *c; c++)
			*c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
		const char *value = env_get(name);

		if (!value || !value[0] || !is_unset(o, set->into))
			continue;
		if (o->type == OPT_FLAG && strcmp(value, "1") == 0)
			value = "true";
		if (o->type == OPT_FLAG && strcmp(value, "0") == 0)
			value = "false";
		say(a, said, o, value);
		if (store(a, o, set->into, value, e) < 0)
			return err_wrap(e, "environment variable %s", name);
	}
	return 0;
}

static void spelling(struct buf *b, const struct opt *o)
{
	if (o->letter)
		buf_addf(b, "-%c, ", o->letter);
	else
		buf_adds(b, "    ");
	buf_addf(b, "--%s", o->name);
	if (takes_value(o))
		buf_addf(b, " %s", o->arg);
}

void opt_help(struct buf *b, const struct opt *rows)
{
	for (const struct opt *o = rows; o && o->name; o++) {
		size_t start = b->n;

		buf_adds(b, "  ");
		spelling(b, o);
		buf_addn(b, ' ', b->n - start < 30 ? 30 - (b->n - start) : 1);
		buf_addf(b, " %s\n", o->doc);
	}
}

void opt_manual(struct buf *b, const struct opt *rows)
{
	for (const struct opt *o = rows; o && o->name; o++) {
		if (o->letter)
			buf_addf(b, "*-%c*, ", o->letter);
		buf_addf(b, "*--%s*", o->name);
		if (takes_value(o))
			buf_addf(b, " _%s_", o->arg);
		buf_addf(b, "\n\t%c%s.", toupper((unsigned char)o->doc[0]), o->doc + 1);
		if (o->aliases)
			buf_addf(b, " Also spelt: %s.", o->aliases);
		buf_adds(b, "\n\n");
	}
}
