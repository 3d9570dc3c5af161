/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pending patches as one script. Each is a function, run under set -e with its output kept; what
 * comes behind a patch is guarded: the script asks again what the decision rested on and stops
 * there if the answer's digest is another one. The script tells how far it came, and the run goes
 * on from the state before the first thing that did not hold.
 */
#include "playbooks/run.h"

#define TASK_MS 600000

/* ---- environment ---- */

int flush_environment_of(struct run *r, const struct step *step, const struct scope *sc,
			 const struct value **out, struct err *e)
{
	const struct value *all = NULL, *one;

	for (const struct step *p = step; p; p = scope_outer(p)) {
		if (!p->environment)
			continue;
		if (template_render_value(r->a, p->environment, sc, RENDER_NATIVE, &one, e))
			return err_at(e, p->environment->pos);
		if (one->kind == V_MAP)
			all = value_merge(r->a, one, all, false);
	}
	*out = all;
	return 0;
}

static bool is_env_name(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!((s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= 'A' && s.p[i] <= 'Z') ||
		      s.p[i] == '_' || (i && s.p[i] >= '0' && s.p[i] <= '9')))
			return false;
	return s.n > 0;
}

void flush_environment(struct buf *b, const struct value *environment)
{
	struct buf text scoped(buf_wipe) = { 0 };

	buf_init(&text, BUF_MAX_DEFAULT);
	for (size_t i = 0; environment && i < environment->map.n; i++) {
		const struct map_entry *me = &environment->map.e[i];
		if (!is_env_name(me->key))
			continue;
		buf_clear(&text);
		value_reveal(&text, me->val);
		buf_addf(b, "export " STR_FMT "=", STR_ARG(me->key));
		proc_quote(b, buf_str(&text));
		buf_addc(b, '\n');
	}
}

/* ---- scripts ---- */

static int64_t task_ms(const struct run *r)
{
	return r->o->task_timeout_ms ? r->o->task_timeout_ms : TASK_MS;
}

int flush_script(struct run *r, struct lane *lane, struct str script, int64_t more_ms,
		 struct script_result *out, struct err *e)
{
	int64_t ms = task_ms(r) + more_ms;
	struct script_opts o = { .become = lane->user ? &lane->become : NULL,
				 .max_output = (size_t)32 << 20,
				 .deadline = deadline_in(ms) };

	if (host_script(r->h->conn, r->a, script, &o, out, e)) {
		r->out->unreachable = e->kind != ERR_CANCELLED;
		return err_on(e, NULL, r->h->name);
	}
	return 0;
}

static void add_guard(struct buf *b, const struct entry *en, size_t i)
{
	buf_adds(b, "g=$(");
	probe_guard(b, &en->probe);
	buf_addf(b, ")\n[ \"${g%%%% *}\" = %s ] || { echo '@%zu guard'; exit 0; }\n", en->digest,
		 i);
}

static void add_patch(struct buf *b, const struct entry *en, size_t i)
{
	buf_addf(b, "p%zu() {\nset -e\n%s", i, en->action ? "unset LC_ALL\n" : "");
	flush_environment(b, en->environment);
	buf_adds(b, en->patch);
	if (en->action)
		buf_addf(
			b,
			"}\nt=$(mktemp) || exit 1; o=$(p%zu 2>\"$t\" </dev/null); c=$?; x=$(cat \"$t\"); rm -f \"$t\"; "
			"done_ %zu $c \"$x\"\n",
			i, i);
	else
		buf_addf(b, "}\no=$(p%zu 2>&1 </dev/null); c=$?; done_ %zu $c ''\n", i, i);
}

/* What each patch tells: "@INDEX STATUS", its output and (of a command) its stderr in base64, each
 * ended by a dot. */
static const char frame_functions[] =
	"umask 022\n"
	"b64() { [ -z \"$1\" ] || printf '%s\\n' \"$1\" | tail -c 1048576 | base64; echo .; }\n"
	"done_() { printf '@%s %s\\n' \"$1\" \"$2\"; b64 \"$o\"; b64 \"$3\"; [ \"$2\" = 0 ] || exit 0; }\n";

static void build(struct buf *b, const struct run *r, size_t from, size_t to, bool patched)
{
	probe_functions_into(b);
	patch_prelude(b);
	buf_adds(b, frame_functions);
	for (size_t i = from; i < to; i++) {
		const struct entry *en = r->pending.v[i];
		if (patched && en->probe.n)
			add_guard(b, en, i);
		if (en->patch) {
			add_patch(b, en, i);
			patched = patched || !en->harmless;
		}
	}
	buf_adds(b, "echo @end\n");
}

/* ---- what came of it ---- */

struct verdict {
	size_t at;  /* first entry that did not hold; to: all did */
	bool guard; /* its guard stopped it, else its patch failed */
	int status;
	struct str output, error;
};

static int read_output(struct run *r, struct str *rest, struct str *out, struct err *e)
{
	struct buf b scoped(buf_wipe) = { 0 }, text scoped(buf_wipe) = { 0 };
	struct str line;

	buf_init(&b, BUF_MAX_DEFAULT);
	buf_init(&text, BUF_MAX_DEFAULT);
	while (str_next_line(rest, &line) && !str_eqc(line, "."))
		buf_addstr(&b, line);
	if (base64_decode(&text, buf_str(&b), e))
		return -1;
	*out = str_dup(r->a, buf_str(&text));
	return 0;
}

/* A command's output into the result that register holds already. */
static void finish_action(struct run *r, struct entry *en, const struct verdict *v)
{
	struct script_result res = { .status = v->status, .out = v->output, .err = v->error };
	struct changes ch = { .a = r->a, .result = en->oc.result };
	struct err ignored = { 0 };

	if (!en->action || !en->oc.result)
		return;
	if (en->action->module->finish(en->action, &res, &ch, &ignored))
		ch.msg = ignored.msg;
	en->ch->msg = arena_strdup(r->a, ch.msg);
	en->ch->result = en->oc.result;
}

static int read_verdict(struct run *r, struct str out, size_t to, struct verdict *v, struct err *e)
{
	struct str line, index;
	uint64_t n;

	while (str_next_line(&out, &line)) {
		int64_t status;
		if (str_eqc(line, "@end")) {
			v->at = to;
			return 0;
		}
		if (!str_starts(line, "@"))
			continue;
		line = str_sub(line, 1, SIZE_MAX);
		if (!str_next(&line, ' ', &index) || !str_to_uint(index, 10, &n) || n >= to)
			break;
		v->at = (size_t)n;
		v->guard = str_eqc(line, "guard");
		if (v->guard)
			return 0;
		if (!str_to_int(line, &status) || read_output(r, &out, &v->output, e) ||
		    read_output(r, &out, &v->error, e))
			break;
		v->status = (int)status;
		finish_action(r, r->pending.v[n], v);
		if (status)
			return 0;
	}
	return err_set(e, ERR_REMOTE, "the answer to a patch script was cut short");
}

/* What stays unknown after the patch is not told at all. */
static void strip_unknown(struct value *m)
{
	for (size_t i = m->map.n; i > 0; i--)
		if (((const struct value *)m->map.e[i - 1].val)->kind == V_UNKNOWN)
			map_del(&m->map, m->map.e[i - 1].key);
}

static void commit(struct run *r, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		struct entry *en = r->pending.v[i];
		if (en->oc.result)
			strip_unknown(en->oc.result);
		if (en->oc.result && !en->oc.quiet)
			report(r, en);
	}
}

/* A patch that failed is a failed task, decided as any other. */
static int fail_entry(struct run *r, struct state *s, const struct verdict *v, struct err *e)
{
	struct entry *en = r->pending.v[v->at];
	struct outcome oc = item_outcome(r, TASK_FAILED);
	struct scopes scopes;
	struct str msg = str_trim(v->output);
	const struct scope *sc;
	int rc;

	*s = en->before;
	r->pending.n = 0;
	sc = scope_build(r, s, en->step, item_vars(r, s), &scopes);
	for (size_t i = 0; en->ch && i < en->ch->result->map.n; i++)
		value_sets(oc.result, en->ch->result->map.e[i].key, en->ch->result->map.e[i].val);
	strip_unknown(oc.result);
	oc.ch = en->ch;
	oc.acted = en->action && !en->harmless;
	value_set(oc.result, "rc", value_int(r->w, v->status));
	if (en->action)
		msg = str_of(en->ch->msg ? en->ch->msg : "");
	if (!msg.n)
		msg = str_of(arena_printf(r->w, "the change ended with status %d", v->status));
	item_fail(r, &oc, str_cstr(r->w, msg));
	rc = item_done(r, s, sc, &oc, e);
	return rc < 0 ? -1 : 0;
}

static int send_group(struct run *r, size_t from, size_t to, bool patched, struct verdict *v,
		      struct err *e)
{
	struct buf b scoped(buf_wipe) = { 0 };
	struct script_result res = { 0 };
	struct lane *lane = NULL;
	int64_t more_ms = 0;
	size_t n = 0;

	for (size_t i = from; i < to; i++) {
		const struct entry *en = r->pending.v[i];
		lane = lane ? lane : en->lane;
		if (en->patch) /* each as long as if it went alone */
			more_ms += (n++ ? task_ms(r) : 0) + en->ch->takes_ms;
	}
	buf_init(&b, 2 * PATCH_MAX);
	build(&b, r, from, to, patched);
	if (buf_check(&b, e))
		return -1;
	r->out->patch_trips++;
	if (flush_script(r, lane, buf_str(&b), more_ms, &res, e))
		return -1;
	if (read_verdict(r, res.out, to, v, e)) {
		if (res.err.n)
			log_debug("%s: " STR_FMT, r->h->name, STR_ARG(res.err));
		return err_on(e, NULL, r->h->name);
	}
	return 0;
}

/* Entries of one user that follow each other; those without a host's part belong to any. */
static size_t group_end(const struct run *r, size_t from)
{
	const struct lane *lane = NULL;
	size_t i;

	for (i = from; i < r->pending.n; i++) {
		const struct lane *l = r->pending.v[i]->lane;
		if (l && lane && l != lane)
			break;
		lane = l ? l : lane;
	}
	return i;
}

int flush_pending(struct run *r, struct state *s, struct err *e)
{
	size_t from = 0, n = r->pending.n, to;
	struct verdict v = { 0 };
	bool patched = false, asked = false;

	for (size_t i = 0; i < n; i++)
		asked = asked || (r->pending.v[i]->patch && !r->pending.v[i]->harmless);
	for (; from < n; from = to) {
		to = group_end(r, from);
		if (send_group(r, from, to, patched, &v, e))
			return -1;
		commit(r, from, v.at < to ? v.at : to);
		if (v.at < to)
			break;
		patched = asked;
	}
	patched = asked;
	if (from < n)
		log_debug("%s: %s at '%s'", r->h->name,
			  v.guard ? "the window ends" : "a change failed",
			  r->pending.v[v.at]->step->name ? r->pending.v[v.at]->step->name
							 : "(no name)");
	if (patched)
		call_forget(r);
	r->pending_bytes = 0;
	if (from < n && !v.guard)
		return fail_entry(r, s, &v, e);
	if (from < n)
		*s = r->pending.v[v.at]->before;
	r->pending.n = 0;
	return 0;
}
