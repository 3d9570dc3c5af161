/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/options.h"

int provider_options(struct arena *a, const struct provider_open *o, const struct field *rows,
		     void *obj, struct err *e)
{
	struct err_list errs = { 0 };
	const struct value *v = o->spec->options;
	if (!v || v->kind == V_NULL)
		v = value_map(a);
	const char *path = arena_printf(a, "providers." STR_FMT, STR_ARG(o->spec->name));
	int rc = field_decode(a, rows, v, path, obj, &errs);
	if (rc && errs.n)
		*e = errs.v[0];
	else if (rc)
		err_set(e, ERR_SPEC, "%s: wrong options", path);
	err_list_fini(&errs);
	return rc ? -1 : 0;
}
