/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan in a file: JSON with a digest over its canonical form, so that an edited or cut file is
 * refused. What is applied later comes from the spec, not from the file (the plan's own digests say
 * that both are still the same), so secrets are not in it, only "(sensitive)".
 */
#include "engine/plan_doc.h"

#define PLAN_FORMAT   1
#define PLAN_MAX_FILE ((size_t)1 << 30)

static void digest_of(const struct value *plan, char out[SHA256_HEX])
{
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, PLAN_MAX_FILE);
	json_write(&b, plan, JSON_SORT);
	sha256_hex(buf_str(&b), out);
}

int plan_save(const struct plan *p, const char *path, struct err *e)
{
	scoped(arena_freep) struct arena *a = arena_new("plan file");
	scoped(buf_fini) struct buf b = { 0 };
	char hex[SHA256_HEX];
	struct value *plan = plan_value(a, p), *doc = value_map(a);

	/* The digest is taken over what will be read back, where a secret has become its text
	 * "(sensitive)". */
	digest_of(plan, hex);
	value_set(doc, "format", value_int(a, PLAN_FORMAT));
	value_set(doc, "sha256", value_cstr(a, hex));
	value_set(doc, "plan", plan);
	buf_init(&b, PLAN_MAX_FILE);
	json_write(&b, doc, JSON_PRETTY);
	if (buf_check(&b, e))
		return err_wrap(e, "writing the plan");
	return fs_write_atomic(path, buf_str(&b), 0600, e);
}

static int refuse(struct err *e, const char *path)
{
	err_wrap(e, "%s is no plan that muster can apply", path);
	return err_hint(e, "make a new one with `muster plan --out %s`", path);
}

int plan_load(struct arena *a, const char *path, struct plan **out, struct err *e)
{
	struct value *doc = NULL;
	struct str text;
	char hex[SHA256_HEX];

	if (fs_read(a, path, PLAN_MAX_FILE, &text, e))
		return err_wrap(e, "reading the plan");
	if (json_parse(a, path, text, &doc, e))
		return refuse(e, path);
	const struct value *plan = value_get(doc, "plan");
	if (value_get_int(doc, "format", 0) != PLAN_FORMAT || !plan) {
		err_set(e, ERR_CONFLICT, "its format is not %d", PLAN_FORMAT);
		return refuse(e, path);
	}
	digest_of(plan, hex);
	if (!str_eqc(value_get_str(doc, "sha256", ""), hex)) {
		err_set(e, ERR_CONFLICT, "it was changed after it was written");
		return refuse(e, path);
	}
	return plan_read(a, plan, out, e) ? refuse(e, path) : 0;
}
