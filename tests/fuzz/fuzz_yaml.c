/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes are YAML or a positioned fault, in both dialects; what was read, written and read again
 * is equal.
 */
#include "base/yaml.h"
#include "tests/fuzz/fuzz.h"

/* NaN equals nothing, not even itself. */
static bool has_nan(const struct value *v)
{
	if (v->kind == V_FLOAT)
		return v->f != v->f;
	if (v->kind == V_LIST)
		for (size_t i = 0; i < v->list.n; i++)
			if (has_nan(v->list.v[i]))
				return true;
	if (v->kind == V_MAP)
		for (size_t i = 0; i < v->map.n; i++)
			if (has_nan(v->map.e[i].val))
				return true;
	return false;
}

static void write_and_read(struct arena *a, const struct value *v, enum yaml_dialect dialect)
{
	struct err_list faults = { 0 };
	struct value *back = NULL;
	struct buf b;

	if (has_nan(v))
		return;
	buf_init(&b, YAML_MAX_BYTES);
	yaml_write(&b, v, 0);
	if (!b.overflow) {
		fuzz_must(yaml_parse(a, "again", buf_str(&b), dialect, &back, &faults) == 0,
			  "what was written cannot be read");
		fuzz_must(value_equal(v, back), "what was written reads as something else");
	}
	buf_fini(&b);
	err_list_fini(&faults);
}

static void read_as(struct str text, enum yaml_dialect dialect)
{
	struct arena *a = arena_new("fuzz");
	struct err_list faults = { 0 };
	struct value *v = NULL;

	if (yaml_parse(a, "f", text, dialect, &v, &faults) == 0) {
		fuzz_must(v != NULL && faults.n == 0, "read, and yet not");
		write_and_read(a, v, dialect);
	} else {
		fuzz_must(faults.n > 0, "refused without a word");
		for (size_t i = 0; i < faults.n; i++)
			fuzz_must(faults.v[i].pos.line > 0 && faults.v[i].pos.col > 0 &&
					  faults.v[i].msg[0],
				  "a fault without a place");
	}
	err_list_fini(&faults);
	arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = fuzz_text(data, size);

	read_as(text, YAML_SPEC);
	read_as(text, YAML_ANSIBLE);
	return 0;
}
