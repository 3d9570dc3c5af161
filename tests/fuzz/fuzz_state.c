/* SPDX-License-Identifier: Apache-2.0 */
/* Any JSON is a state to import or a fault; what was imported is sound but for an edited history
 * and what the document itself lacks, and exported and imported again the same. */
#include "state/state.h"
#include "tests/fuzz/fuzz.h"

static struct state *fresh(const char *suffix)
{
	struct state *s = NULL;
	struct err e;

	fuzz_must(state_open(fuzz_no_file(suffix), NULL, STATE_CREATE, &s, &e) == 0 &&
			  lease_take(s, NULL, "import", &e) == 0,
		  "no empty state");
	return s;
}

static void check(struct state *s)
{
	struct err_list problems = { 0 };
	struct err e = { 0 };

	if (state_check(s, &problems, &e) != 0)
		bug("an imported state cannot be checked: %s", e.msg);
	/* What a sound file may hold too (unfinished steps, a network taken out by `state rm`) and
	 * an edited history are taken as they are, and told here. */
	for (size_t i = 0; i < problems.n; i++)
		if (problems.v[i].kind != ERR_CONFLICT &&
		    strncmp(problems.v[i].msg, "history: ", 9) != 0)
			bug("an imported state has a fault: %s", problems.v[i].msg);
	err_list_fini(&problems);
}

static void export_and_import(struct arena *a, struct state *s)
{
	struct state *other = fresh("-2.db");
	struct buf first, second;
	struct value *doc = NULL;
	struct err e = { 0 };

	buf_init(&first, SIZE_MAX);
	buf_init(&second, SIZE_MAX);
	fuzz_must(state_export(s, &first, &e) == 0, "what was imported cannot be exported");
	fuzz_must(json_parse(a, "again", buf_str(&first), &doc, &e) == 0, "an export is no JSON");
	if (state_import(other, a, doc, &e) != 0)
		bug("an export cannot be imported: %s", e.msg);
	fuzz_must(state_export(other, &second, &e) == 0 &&
			  str_eq(buf_str(&first), buf_str(&second)),
		  "import changes a state");
	buf_fini(&first);
	buf_fini(&second);
	state_close(other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new("fuzz");
	struct value *doc = NULL;
	struct err e = { 0 };

	if (json_parse(a, "f", fuzz_text(data, size), &doc, &e) == 0 && doc->kind == V_MAP) {
		struct state *s = fresh("-1.db");

		if (state_import(s, a, doc, &e) == 0) {
			check(s);
			export_and_import(a, s);
		} else {
			fuzz_must(e.msg[0], "refused without a word");
		}
		state_close(s);
	}
	arena_free(a);
	return 0;
}
