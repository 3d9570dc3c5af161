/* SPDX-License-Identifier: Apache-2.0 */
#include "templates/call.h"

const struct value *call_fault(struct call *c, const char *fmt, ...)
{
	scoped(buf_fini) struct buf b = { 0 };
	va_list ap;

	buf_init(&b, 800);
	va_start(ap, fmt);
	buf_addv(&b, fmt, ap);
	va_end(ap);
	err_set(c->e, ERR_SPEC, "%s", b.p);
	return NULL;
}

struct str call_plain_name(struct str name)
{
	for (size_t i = name.n; i > 0; i--)
		if (name.p[i - 1] == '.')
			return str_sub(name, i, SIZE_MAX);
	return name;
}

/* The i-th parameter's name and whether it is required; false past the last. */
static bool parameter(const struct callable *f, int i, struct str *name, bool *required)
{
	struct str rest = f->params ? str_of(f->params) : STR_NONE;

	for (int at = 0; rest.n && str_next(&rest, ',', name); at++) {
		if (at < i)
			continue;
		*required = str_ends(*name, "!");
		if (*required)
			name->n--;
		return true;
	}
	return false;
}

static int bind_named(const struct callable *f, struct call *c)
{
	struct str name;
	bool required;

	for (size_t k = 0; k < c->kwargs->map.n; k++) {
		struct str key = c->kwargs->map.e[k].key;
		int i = 0;
		while (parameter(f, i, &name, &required) && !str_eq(name, key))
			i++;
		if (!parameter(f, i, &name, &required)) {
			if (f->flags & CALL_VARARGS)
				continue;
			err_set(c->e, ERR_SPEC, "%s has no parameter \"" STR_FMT "\"", f->name,
				STR_ARG(key));
			return f->params && *f->params
				       ? err_hint(c->e, "its parameters: %s", f->params)
				       : -1;
		}
		if (c->arg[i])
			return err_set(c->e, ERR_SPEC, "%s was given \"" STR_FMT "\" twice",
				       f->name, STR_ARG(key));
		c->arg[i] = c->kwargs->map.e[k].val;
	}
	return 0;
}

static int bind_slow(const struct callable *f, struct call *c, int n)
{
	struct str name;
	bool required;

	if (c->args->list.n > (size_t)n && !(f->flags & CALL_VARARGS))
		return err_set(c->e, ERR_SPEC, "%s takes at most %d argument%s, not %zu", f->name,
			       n, n == 1 ? "" : "s", c->args->list.n);
	if (bind_named(f, c) < 0)
		return -1;
	for (int i = 0; i < n; i++)
		if (parameter(f, i, &name, &required) && required && !c->arg[i])
			return err_set(c->e, ERR_SPEC, "%s needs \"" STR_FMT "\"", f->name,
				       STR_ARG(name));
	return 0;
}

int call_bind(const struct callable *f, struct call *c)
{
	const char *p = f->params ? f->params : "";
	size_t given = c->args->list.n, n = 0;
	bool complete = true;

	c->name = f->name;
	/* One pass over "a!,b,c": most calls give what is required by place and nothing by name. */
	for (; *p && n < CALL_MAX_PARAMS; n++) {
		if (n < given)
			c->arg[n] = c->args->list.v[n];
		for (; *p && *p != ','; p++)
			complete = complete && (*p != '!' || n < given);
		p += *p == ',';
	}
	if (complete && !c->kwargs->map.n && given <= n)
		return 0;
	return bind_slow(f, c, (int)n);
}

struct str call_text(struct call *c, int i, const char *fallback)
{
	if (!c->arg[i] || c->arg[i]->kind == V_NULL)
		return str_of(fallback);
	return op_text(c->a, c->arg[i]);
}

bool call_flag(struct call *c, int i, bool fallback)
{
	return c->arg[i] ? value_is_truthy(c->arg[i]) : fallback;
}

int call_int(struct call *c, int i, int64_t fallback, int64_t *out)
{
	const struct value *v = c->arg[i];

	*out = fallback;
	if (!v || v->kind == V_NULL)
		return 0;
	if (v->kind != V_INT && v->kind != V_BOOL)
		return err_set(c->e, ERR_SPEC, "expected a whole number, not %s", op_type_name(v));
	*out = op_to_int(v);
	return 0;
}

const struct value *call_list(struct call *c, const struct value *v)
{
	return op_iterate(c->a, v, c->e);
}
