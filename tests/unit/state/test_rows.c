/* SPDX-License-Identifier: Apache-2.0 */
/* Resources, facts, runs, events, meta, secrets, snapshots. */
#include "fixture.h"

static void resource_comes_back_as_put(void **data)
{
	struct state *s = open_leased();
	struct state_resource *r = sample("node.a[0]"), *got;

	(void)data;
	r->config_digest = "cafe";
	r->status = RES_TAINTED;
	r->created_ms = 123456;
	VEC_ADD(arena, &r->deps) = "b";
	OK(state_resource_put(s, r, &err));
	OK(state_resource_find(s, arena, "node.a[0]", &got, &err));
	assert_non_null(got);
	assert_string_equal(got->addr, r->addr);
	assert_string_equal(got->kind, r->kind);
	assert_string_equal(got->provider, r->provider);
	assert_string_equal(got->provider_type, r->provider_type);
	assert_string_equal(got->id, r->id);
	assert_string_equal(got->token, r->token);
	assert_string_equal(got->pool, r->pool);
	assert_string_equal(got->config_digest, "cafe");
	assert_int_equal(got->status, RES_TAINTED);
	assert_true(value_equal(got->want, r->want));
	assert_true(value_equal(got->attrs, r->attrs));
	assert_int_equal(got->deps.n, 2);
	assert_string_equal(got->deps.v[0], "here.network.main");
	assert_string_equal(got->deps.v[1], "b");
	assert_int_equal(got->created_ms, 123456);
	assert_true(got->updated_ms > 1600000000000);
	/* What the provider told may hold "{{"; what the spec asked for has been evaluated. */
	assert_true(value_get(got->attrs, "text")->unsafe);
	assert_false(value_get(got->want, "text")->unsafe);
	OK(state_resource_find(s, arena, "node.a[1]", &got, &err));
	assert_null(got);
	state_close(s);
}

static void put_replaces_and_keeps_creation(void **data)
{
	struct state *s = open_leased();
	struct state_resource *r = sample("node.a[0]"), *got;

	(void)data;
	r->created_ms = 5;
	OK(state_resource_put(s, r, &err));
	r->id = r->token = r->pool = NULL;
	r->want = r->attrs = NULL;
	r->created_ms = 9;
	r->deps.n = 0;
	OK(state_resource_put(s, r, &err));
	OK(state_resource_find(s, arena, "node.a[0]", &got, &err));
	assert_null(got->id);
	assert_null(got->token);
	assert_null(got->pool);
	assert_null(got->want);
	assert_null(got->attrs);
	assert_int_equal(got->deps.n, 0);
	assert_int_equal(got->created_ms, 5);
	state_close(s);
	assert_int_equal(raw_int(db, "SELECT count(*) FROM resources"), 1);
	assert_int_equal(raw_int(db, "SELECT count(*) FROM deps"), 0);
}

static void all_are_sorted_with_their_deps(void **data)
{
	static const char *const names[] = { "z", "a", "m", "node.a[10]", "node.a[2]" };
	struct state *s = open_leased();
	struct state_resources all;

	(void)data;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct state_resource *r = sample(names[i]);
		r->deps.n = 0;
		for (size_t k = 0; k < i; k++)
			VEC_ADD(arena, &r->deps) = names[k];
		OK(state_resource_put(s, r, &err));
	}
	OK(state_resources(s, arena, &all, &err));
	assert_int_equal(all.v.n, ARRAY_LEN(names));
	for (size_t i = 0; i < all.v.n; i++) {
		size_t which = 0;
		while (strcmp(names[which], all.v.v[i]->addr) != 0)
			which++;
		if (i)
			assert_true(strcmp(all.v.v[i - 1]->addr, all.v.v[i]->addr) < 0);
		assert_int_equal(all.v.v[i]->deps.n, which);
		for (size_t k = 0; k < which; k++)
			assert_string_equal(all.v.v[i]->deps.v[k], names[k]);
	}
	state_close(s);
}

static void delete_and_move(void **data)
{
	struct state *s = open_leased();
	struct state_resource *got;
	const struct value *facts;

	(void)data;
	OK(state_resource_put(s, sample("a"), &err));
	OK(state_resource_put(s, sample("here.network.main"), &err));
	OK(state_facts_put(s, "here.network.main", sample_value(7, "f"), &err));
	FAILS(state_resource_move(s, "none", "x", &err), ERR_NOT_FOUND, "no resource 'none'");
	FAILS(state_resource_move(s, "a", "here.network.main", &err), ERR_CONFLICT,
	      "exists already");
	OK(state_resource_move(s, "here.network.main", "net.b", &err));
	OK(state_resource_find(s, arena, "here.network.main", &got, &err));
	assert_null(got);
	OK(state_facts_get(s, arena, "net.b", &facts, &err));
	assert_int_equal(value_get_int(facts, "n", 0), 7);
	OK(state_resource_find(s, arena, "a", &got, &err));
	assert_string_equal(got->deps.v[0], "net.b");
	/* It depended on itself by its old name. */
	OK(state_resource_find(s, arena, "net.b", &got, &err));
	assert_string_equal(got->deps.v[0], "net.b");
	OK(state_resource_del(s, "net.b", &err));
	OK(state_facts_get(s, arena, "net.b", &facts, &err));
	assert_null(facts);
	FAILS(state_resource_del(s, "net.b", &err), ERR_NOT_FOUND, "no resource 'net.b'");
	state_close(s);
	assert_int_equal(raw_int(db, "SELECT count(*) FROM facts"), 0);
}

static void facts_need_a_resource(void **data)
{
	struct state *s = open_leased();
	const struct value *f;

	(void)data;
	FAILS(state_facts_put(s, "a", sample_value(1, "x"), &err), ERR_NOT_FOUND,
	      "no resource 'a'");
	OK(state_resource_put(s, sample("a"), &err));
	OK(state_facts_get(s, arena, "a", &f, &err));
	assert_null(f);
	OK(state_facts_put(s, "a", sample_value(1, "{{ evil }}"), &err));
	OK(state_facts_put(s, "a", sample_value(2, "{{ evil }}"), &err));
	OK(state_facts_get(s, arena, "a", &f, &err));
	assert_int_equal(value_get_int(f, "n", 0), 2);
	assert_true(value_get(f, "text")->unsafe);
	state_close(s);
}

/* Bound, never pasted: text that would end a statement is only text. */
static void hostile_text_is_only_text(void **data)
{
	static const char *const texts[] = {
		"'; DROP TABLE resources; --", "\"", "?1", "%s%n", "\\", "x\ny",
		"\xc3\xa9\xf0\x9f\x9a\x80",    ""
	};
	struct state *s = open_leased();
	struct state_resource *got;
	const char *meta;

	(void)data;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct state_resource *r = sample(texts[i]);
		r->kind = r->provider = r->id = r->token = r->pool = texts[i];
		r->attrs = value_cstr(arena, texts[i]);
		OK(state_resource_put(s, r, &err));
		OK(state_facts_put(s, texts[i], r->attrs, &err));
		OK(state_meta_put(s, texts[i], texts[i], &err));
		OK(state_event_add(s, texts[i], texts[i], texts[i], r->attrs, &err));
		OK(state_resource_find(s, arena, texts[i], &got, &err));
		assert_string_equal(got->id, texts[i]);
		assert_string_equal(got->attrs->s.p, texts[i]);
		OK(state_meta_get(s, arena, texts[i], &meta, &err));
		assert_string_equal(meta, texts[i]);
	}
	assert_int_equal(problems_of(s),
			 ARRAY_LEN(texts)); /* each depends on a network that is not there */
	state_close(s);
}

static void json_is_canonical(void **data)
{
	struct state *s = open_leased();
	struct state_resource *r = sample("a");
	struct value *v = value_map(arena);

	(void)data;
	value_set(v, "b", value_int(arena, 1));
	value_set(v, "a", value_float(arena, 0.1));
	r->want = v;
	OK(state_resource_put(s, r, &err));
	state_close(s);
	assert_int_equal(
		raw_int(db, "SELECT count(*) FROM resources WHERE want = '{\"a\":0.1,\"b\":1}'"),
		1);
}

static void runs_and_their_end(void **data)
{
	struct state *s = open_leased();
	struct state_runs runs;
	struct state_run *run;
	const char *id, *other;

	(void)data;
	OK(state_run_begin(s, arena, &(struct state_run){ .command = "apply", .plan_digest = "d" },
			   &id, &err));
	assert_string_equal(id, "run1");
	OK(state_run_begin(
		s, arena,
		&(struct state_run){
			.id = "run2", .command = "destroy", .who = "me@x", .started_ms = 9 },
		&other, &err));
	FAILS(state_run_begin(s, arena, &(struct state_run){ .id = "run2", .command = "x" }, &other,
			      &err),
	      ERR_CONFLICT, "run2");
	OK(state_runs(s, arena, 0, &runs, &err));
	assert_int_equal(runs.v.n, 2);
	assert_string_equal(runs.v.v[0]->id, "run1"); /* newest first */
	assert_null(runs.v.v[0]->result);
	assert_non_null(strchr(runs.v.v[0]->who, '@'));
	OK(state_run_end(s, "run1", "partial", sample_value(3, "done"), &err));
	FAILS(state_run_end(s, "run9", "ok", NULL, &err), ERR_NOT_FOUND, "run9");
	OK(state_run_find(s, arena, "run1", &run, &err));
	assert_string_equal(run->result, "partial");
	assert_string_equal(run->plan_digest, "d");
	assert_int_equal(value_get_int(run->summary, "n", 0), 3);
	assert_true(run->ended_ms >= run->started_ms);
	OK(state_run_find(s, arena, "run9", &run, &err));
	assert_null(run);
	OK(state_runs(s, arena, 1, &runs, &err));
	assert_int_equal(runs.v.n, 1);
	state_close(s);
}

static void run_ids_sort_by_time(void **data)
{
	char a[RUN_ID_LEN], b[RUN_ID_LEN];

	(void)data;
	state_run_id(a);
	int64_t from = clock_wall();
	while (clock_wall() < from + 2)
		;
	state_run_id(b);
	assert_int_equal(strlen(a), 26);
	assert_true(strcmp(a, b) < 0);
}

/* What a run was is in the chain too: an edit or removal of its row is found. */
static void runs_are_sealed(void **data)
{
	static const char *const edits[] = {
		"UPDATE runs SET result = 'ok' WHERE id = 'run1'",
		"UPDATE runs SET who = 'x' WHERE id = 'run1'",
		"UPDATE runs SET ended_ms = ended_ms + 1 WHERE id = 'run1'",
		"UPDATE runs SET source = NULL WHERE id = 'run1'",
		"UPDATE runs SET args = 'muster plan' WHERE id = 'run1'",
		"UPDATE runs SET result = 'ok' WHERE id = 'killed'",
		"UPDATE runs SET plan_digest = NULL WHERE id = 'killed'",
		"DELETE FROM runs WHERE id = 'run1'",
		"DELETE FROM runs",
	};
	struct err_list l = { 0 };

	(void)data;
	for (size_t i = 0; i < ARRAY_LEN(edits); i++) {
		struct state *s = open_leased();
		struct state_run r = { .command = "apply",
				       .plan_digest = "d",
				       .args = "muster apply --yes",
				       .source = sample_value(1, "c0ffee") };
		struct state_run *back;
		const char *id;

		OK(state_run_begin(s, arena, &r, &id, &err));
		OK(state_run_end(s, id, "failed", sample_value(2, "counts"), &err));
		r.id = "killed";
		OK(state_run_begin(s, arena, &r, &id, &err));
		OK(state_run_find(s, arena, "run1", &back, &err));
		assert_string_equal(back->args, "muster apply --yes");
		assert_true(value_equal(back->source, r.source));
		OK(state_check(s, &l, &err));
		assert_int_equal(l.n, 0);
		raw_sql(db, edits[i]);
		OK(state_check(s, &l, &err));
		if (!l.n || !strstr(l.v[0].msg, "history: run "))
			fail_msg("not found: %s", edits[i]);
		err_list_fini(&l);
		state_close(s);
		OK(fs_remove_tree(fs_dirname(arena, db), &err));
	}
}

static void runs_by_prefix(void **data)
{
	static const char *const ids[] = { "01aa", "01ab", "01abc", "02" };
	struct state *s = open_leased();
	struct state_run *r;
	const char *id;

	(void)data;
	for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
		struct state_run row = { .id = ids[i], .command = "apply" };
		OK(state_run_begin(s, arena, &row, &id, &err));
	}
	OK(state_run_by_prefix(s, arena, "01aa", &r, &err));
	assert_string_equal(r->id, "01aa");
	FAILS(state_run_by_prefix(s, arena, "0", &r, &err), ERR_USAGE, "several runs begin");
	assert_non_null(strstr(err.hint, "01aa, 01ab"));
	OK(state_run_by_prefix(s, arena, "01ab", &r, &err)); /* whole: no other is meant */
	assert_string_equal(r->id, "01ab");
	OK(state_run_by_prefix(s, arena, "02", &r, &err));
	assert_string_equal(r->id, "02");
	OK(state_run_by_prefix(s, arena, "03", &r, &err));
	assert_null(r);
	state_close(s);
}

static void events_are_chained(void **data)
{
	struct state *s = open_leased();
	struct state_events ev;

	(void)data;
	for (int i = 0; i < 5; i++)
		OK(state_event_add(s, i % 2 ? "other" : NULL, "node.a[0]", "created",
				   sample_value(i, "x"), &err));
	OK(state_events(s, arena, NULL, &ev, &err));
	assert_int_equal(ev.v.n, 5);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(ev.v.v[i]->seq, i + 1);
		assert_int_equal(value_get_int(ev.v.v[i]->data, "n", -1), i);
	}
	OK(state_events(s, arena, "other", &ev, &err));
	assert_int_equal(ev.v.n, 2);
	assert_int_equal(problems_of(s), 0);
	state_close(s);
}

static void meddled_history_is_found(void **data)
{
	static const char *const meddling[] = {
		"UPDATE events SET what = 'nothing' WHERE seq = 3",
		"UPDATE events SET at_ms = at_ms + 1 WHERE seq = 5",
		"UPDATE events SET addr = NULL WHERE seq = 1",
		"UPDATE events SET data = '{}' WHERE seq = 2",
		"DELETE FROM events WHERE seq = 1",
		"DELETE FROM events WHERE seq = 3",
		"DELETE FROM events WHERE seq = 5",
		"DELETE FROM events",
		"UPDATE events SET hash = 'x' WHERE seq = 5",
	};

	(void)data;
	for (size_t m = 0; m < ARRAY_LEN(meddling); m++) {
		struct state *s = open_leased();
		for (int i = 0; i < 5; i++)
			OK(state_event_add(s, NULL, "n", "created", NULL, &err));
		assert_int_equal(problems_of(s), 0);
		state_close(s);
		raw_sql(db, meddling[m]);
		OK(state_open(db, NULL, 0, &s, &err));
		if (problems_of(s) != 1)
			fail_msg("not found: %s", meddling[m]);
		state_close(s);
		OK(fs_remove_tree(fs_dirname(arena, db), &err));
	}
}

static void secrets_do_not_arrive(void **data)
{
	struct state *s = open_leased();
	struct value *v = sample_value(1, "open"), *other = sample_value(1, "open");
	const struct value *a, *b;
	struct state_resource *r = sample("a");
	struct str key;
	char path[700];

	(void)data;
	value_set(v, "pw", value_secret(arena, value_cstr(arena, "hunter2hunter2")));
	value_set(other, "pw", value_secret(arena, value_cstr(arena, "hunter3hunter3")));
	r->want = v;
	FAILS(state_resource_put(s, r, &err), ERR_BUG, "secret");
	OK(state_seal(s, arena, v, &a, &err));
	OK(state_seal(s, arena, v, &b, &err));
	assert_true(value_equal(a, b));
	struct str digest = value_get_str(value_get(a, "pw"), "__secret__", "");
	assert_true(str_starts(digest, "hmac-sha256:"));
	assert_int_equal(digest.n, 12 + 64);
	assert_string_equal(value_get_str(a, "text", "").p, "open");
	OK(state_seal(s, arena, other, &b, &err));
	assert_false(value_equal(a, b));
	r->want = a;
	OK(state_resource_put(s, r, &err));
	/* The number 1 and the text "1" are different secrets; no secret, no copy. */
	OK(state_seal(s, arena, value_secret(arena, value_int(arena, 1)), &a, &err));
	OK(state_seal(s, arena, value_secret(arena, value_cstr(arena, "1")), &b, &err));
	assert_false(value_equal(a, b));
	OK(state_seal(s, arena, r->attrs, &a, &err));
	assert_ptr_equal(a, r->attrs);
	state_close(s);

	snprintf(path, sizeof path, "%s/.muster/seal.key", dir);
	OK(fs_read(arena, path, 1024, &key, &err));
	key = str_trim(key);
	struct str bytes;
	OK(fs_read(arena, db, 64 << 20, &bytes, &err));
	assert_int_equal(str_find(bytes, key), SIZE_MAX);
	assert_int_equal(str_find(bytes, STR("hunter2")), SIZE_MAX);
	assert_int_not_equal(str_find(bytes, STR("hmac-sha256:")), SIZE_MAX);

	OK(fs_write_atomic(path, STR("short"), 0600, &err));
	OK(state_open(db, NULL, 0, &s, &err));
	FAILS(state_seal(s, arena, v, &b, &err), ERR_IO, "is not a seal key");
	state_close(s);
}

static void signatures_are_of_key_purpose_and_bytes(void **data)
{
	char one[SHA256_HEX], two[SHA256_HEX], path[700];

	(void)data;
	snprintf(path, sizeof path, "%s/.muster/seal.key", dir);
	FAILS(state_verify(db, "plan", STR("text"), "", &err), ERR_CONFLICT, "nothing was signed");
	assert_false(fs_exists(path));
	OK(state_sign(db, "plan", STR("text"), one, &err)); /* makes folder and key, no state */
	assert_true(fs_exists(path) && !fs_exists(db));
	OK(state_sign(db, "plan", STR("text"), two, &err));
	assert_string_equal(one, two);
	OK(state_verify(db, "plan", STR("text"), one, &err));
	FAILS(state_verify(db, "plan", STR("texts"), one, &err), ERR_CONFLICT, "not signed with");
	FAILS(state_verify(db, "other", STR("text"), one, &err), ERR_CONFLICT, "not signed with");
	FAILS(state_verify(db, "plan", STR("text"), "", &err), ERR_CONFLICT, "not signed with");
	FAILS(state_verify(db, "plan", STR("text"), one + 1, &err), ERR_CONFLICT, "not signed");
	one[5] ^= 1;
	FAILS(state_verify(db, "plan", STR("text"), one, &err), ERR_CONFLICT, "not signed with");
	one[5] ^= 1;
	assert_int_equal(remove(path), 0);
	OK(state_sign(db, "plan", STR("text"), two, &err));
	assert_string_not_equal(one, two);
	FAILS(state_verify(db, "plan", STR("text"), one, &err), ERR_CONFLICT, "not signed with");
	OK(fs_write_atomic(path, STR("short"), 0600, &err));
	FAILS(state_sign(db, "plan", STR("text"), two, &err), ERR_IO, "is not a seal key");
}

static void serial_counts_changes(void **data)
{
	struct state *s = open_leased();
	int64_t a, b, seq;
	const char *id;

	(void)data;
	OK(state_serial(s, &a, &err));
	OK(state_resource_put(s, sample("a"), &err));
	OK(state_serial(s, &b, &err));
	assert_int_equal(b, a + 1);
	/* A group counts once, whatever is in it. */
	OK(journal_intent(s, &(struct journal_row){ .addr = "a", .action = "update" }, &seq, &err));
	OK(state_resource_put(s, sample("b"), &err));
	OK(journal_flush(s, &err));
	OK(state_serial(s, &a, &err));
	assert_int_equal(a, b + 1);
	/* These do not make a plan stale. */
	OK(lease_beat(s, &err));
	OK(state_event_add(s, NULL, NULL, "noted", NULL, &err));
	OK(state_meta_put(s, "k", "v", &err));
	OK(state_run_begin(s, arena, &(struct state_run){ .command = "apply" }, &id, &err));
	OK(state_serial(s, &b, &err));
	assert_int_equal(a, b);
	/* One that failed does not count. */
	FAILS(state_resource_del(s, "none", &err), ERR_NOT_FOUND, "none");
	OK(state_serial(s, &b, &err));
	assert_int_equal(a, b);
	state_close(s);
}

static void snapshot_is_one_picture(void **data)
{
	struct state *w = open_leased(), *r;
	struct state_resource *got;
	struct state_resources all;

	(void)data;
	OK(state_open(db, NULL, STATE_READONLY, &r, &err));
	OK(state_snapshot_begin(r, &err));
	OK(state_resource_put(w, sample("a"), &err));
	OK(state_snapshot_begin(r, &err));
	OK(state_resources(r, arena, &all, &err));
	assert_int_equal(all.v.n, 0);
	state_snapshot_end(r);
	OK(state_resource_find(r, arena, "a", &got, &err));
	assert_null(got);
	state_snapshot_end(r);
	OK(state_resource_find(r, arena, "a", &got, &err));
	assert_non_null(got);
	state_close(r);
	OK(state_snapshot_begin(w, &err));
	FAILS(state_resource_put(w, sample("b"), &err), ERR_BUG, "inside a snapshot");
	state_snapshot_end(w);
	OK(state_resource_put(w, sample("b"), &err));
	state_close(w);
}

static void huge_value_is_refused_whole(void **data)
{
	struct state *s = open_leased();
	struct state_resource *r = sample("a"), *got;
	size_t n = (size_t)17 << 20;
	char *text = arena_alloc(arena, n + 1);

	(void)data;
	memset(text, 'x', n);
	r->attrs = value_cstr(arena, text);
	err = (struct err){ 0 };
	assert_int_equal(state_resource_put(s, r, &err), -1);
	assert_int_equal(err.kind, ERR_IO);
	OK(state_resource_find(s, arena, "a", &got, &err));
	assert_null(got);
	OK(state_resource_put(s, sample("a"), &err));
	state_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STATE_TEST(resource_comes_back_as_put),
		STATE_TEST(put_replaces_and_keeps_creation),
		STATE_TEST(all_are_sorted_with_their_deps),
		STATE_TEST(delete_and_move),
		STATE_TEST(facts_need_a_resource),
		STATE_TEST(hostile_text_is_only_text),
		STATE_TEST(json_is_canonical),
		STATE_TEST(runs_and_their_end),
		STATE_TEST(run_ids_sort_by_time),
		STATE_TEST(events_are_chained),
		STATE_TEST(runs_are_sealed),
		STATE_TEST(signatures_are_of_key_purpose_and_bytes),
		STATE_TEST(runs_by_prefix),
		STATE_TEST(meddled_history_is_found),
		STATE_TEST(secrets_do_not_arrive),
		STATE_TEST(serial_counts_changes),
		STATE_TEST(snapshot_is_one_picture),
		STATE_TEST(huge_value_is_refused_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
