/* SPDX-License-Identifier: Apache-2.0 */
#include "templates/object.h"

/* ---- cycler --------------------------------------------------------------------------------- */

struct cycler {
	struct object o; /* first */
	const struct value *items;
	size_t at;
};

static const struct value *cycler_get(struct eval *ev unused_arg, struct object *o, struct str name)
{
	struct cycler *c = (struct cycler *)o;

	return str_eqc(name, "current") ? c->items->list.v[c->at] : NULL;
}

static const struct value *cycler_call(struct eval *ev, struct object *o, struct str method,
				       struct call *call unused_arg)
{
	struct cycler *c = (struct cycler *)o;
	const struct value *v = c->items->list.v[c->at];

	if (str_eqc(method, "reset")) {
		c->at = 0;
		return value_null(ev->a);
	}
	if (!str_eqc(method, "next"))
		return NULL;
	c->at = (c->at + 1) % c->items->list.n;
	return v;
}

static const struct object_type cycler_type = { "a cycler", cycler_get, cycler_call };

const struct value *object_cycler(struct eval *ev, const struct value *args)
{
	struct cycler *c = arena_obj(ev->a, struct cycler);

	c->items = args;
	if (args->list.n)
		return object_value(ev, &c->o, &cycler_type, "<cycler>");
	err_set(ev->e, ERR_SPEC, "cycler takes at least one item");
	return NULL;
}

/* ---- joiner --------------------------------------------------------------------------------- */

struct joiner {
	struct object o; /* first */
	const struct value *separator;
	bool used;
};

static const struct value *joiner_call(struct eval *ev, struct object *o, struct str method,
				       struct call *call unused_arg)
{
	struct joiner *j = (struct joiner *)o;

	if (method.p)
		return NULL;
	if (j->used)
		return j->separator;
	j->used = true;
	return value_cstr(ev->a, "");
}

static const struct object_type joiner_type = { "a joiner", NULL, joiner_call };

const struct value *object_joiner(struct eval *ev, const struct value *args)
{
	struct joiner *j = arena_obj(ev->a, struct joiner);

	j->separator = args->list.n ? args->list.v[0] : value_cstr(ev->a, ", ");
	return object_value(ev, &j->o, &joiner_type, "<joiner>");
}
