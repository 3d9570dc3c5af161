/* SPDX-License-Identifier: Apache-2.0 */
/* Any text is a template or a fault, and any text an expression or a fault; what does not compile
 * does not render; every evaluation ends. */
#include "templates/templates.h"
#include "tests/fuzz/fuzz.h"

/* One value of each kind, and what spreads: unknown, secret, a text with markup. */
static const char world[] =
	"{\"n\": 3, \"f\": 1.5, \"yes\": true, \"nil\": null, \"s\": \"text\", \"l\": [1, \"b\", [2]],"
	" \"m\": {\"k\": \"v\", \"l\": [3, 1, 2]}, \"lazy\": \"{{ n }}\", \"loop\": \"{{ loop }}\"}";

static struct value *vars_of(struct arena *a)
{
	struct value *v = NULL;
	struct err e;

	fuzz_must(json_parse(a, "world", STR(world), &v, &e) == 0, "the world is no JSON");
	value_set(v, "unknown", value_unknown(a));
	return v;
}

static void look_at(struct arena *a, const struct value *v)
{
	struct buf b;

	(void)a;
	buf_init(&b, BUF_MAX_DEFAULT);
	value_print(&b, v);
	buf_fini(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned flags[] = { 0, TEMPLATE_NATIVE | TEMPLATE_LAZY,
					  TEMPLATE_TRIM_BLOCKS | TEMPLATE_KEEP_NEWLINE |
						  TEMPLATE_LSTRIP_BLOCKS };
	struct arena *a = arena_new("fuzz");
	struct scope scope = { .vars = vars_of(a) };
	struct template t = { fuzz_text(data, size), { "f", 1, 1 } };
	struct err e = { 0 };
	bool compiles = template_check(t.text, t.where, &e) == 0;

	fuzz_must(compiles || e.msg[0], "refused without a word");
	for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
		const struct value *out = NULL;
		struct err why = { 0 };

		if (template_render(a, t, &scope, flags[i], &out, &why) == 0) {
			fuzz_must(compiles, "it renders and does not compile");
			look_at(a, out);
		} else {
			fuzz_must(why.msg[0], "failed without a word");
		}
		if (template_eval(a, t, &scope, flags[i], &out, &why) == 0)
			look_at(a, out);
	}
	arena_free(a);
	return 0;
}
