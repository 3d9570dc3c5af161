/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/events.h"

#include <ctype.h>

/* clang-format off */
const struct event_field event_common[] = {
	{ "@timestamp", EV_TIME, true, "when, UTC, with milliseconds" },
	{ "type", EV_STR, true, "which of the types below" },
	{ "elapsed_ms", EV_INT, true, "milliseconds since the command began" },
	{ "run", EV_STR, false, "the run's id, as in muster history; absent before it has one" },
	{ 0 },
};

#define ADDRESS { "address", EV_STR, true, "the resource's address" }
#define NODE { "node", EV_STR, false, "the node's name, where the resource is a node" }
#define ACTION { "action", EV_STR, true, "create, update, delete, forget or configure" }
#define DONE { "done", EV_INT, true, "steps that have ended" }
#define TOTAL { "total", EV_INT, true, "steps of the plan" }
#define TOOK { "took_ms", EV_INT, true, "how long the step ran, milliseconds" }
#define ERROR(always) \
	{ "error", EV_MAP, always, "why, with the fields of a diagnostic" }

const struct event_type event_types[] = {
	{ "start", "the first line of a stream",
	  "{\"format_version\":\"1.0\",\"muster\":\"0.1.0\",\"command\":\"apply\",\"pid\":4711}", {
		{ "format_version", EV_STR, true, "of this stream: a new minor number adds types or fields, a new major number changes them" },
		{ "muster", EV_STR, true, "version of the program" },
		{ "command", EV_STR, true, "the command's name" },
		{ "pid", EV_INT, true, "process id of the run" },
	} },
	{ "observe", "something was asked what is there, before the plan",
	  "{\"text\":\"compared\",\"address\":\"node.gpu[3]\",\"node\":\"gpu-3\"}", {
		{ "text", EV_STR, true, "what was done, for people" },
		{ "address", EV_STR, false, "the resource's address" }, NODE, ERROR(false),
	} },
	{ "planned", "the plan, before its first step; the same document as muster plan --json",
	  "{\"format_version\":\"1.0\",\"cluster\":\"ai\",\"changes\":[],\"drift\":[],\"summary\":{\"add\":0,\"change\":0,\"destroy\":0},\"diagnostics\":[]}", {
		{ "format_version", EV_STR, true, "of the document" },
		{ "cluster", EV_STR, false, "the cluster's name" },
		{ "digest", EV_STR, false, "the plan's digest, as in muster history" },
		{ "changes", EV_LIST, true, "one map a change: address, action, before, after, reason, effects" },
		{ "drift", EV_LIST, true, "the changes that were made outside" },
		{ "summary", EV_MAP, true, "counts: add, change, destroy" },
		{ "diagnostics", EV_LIST, true, "nodes that could not be asked" },
		{ "outputs", EV_MAP, false, "the spec's outputs, where they are known before" },
	} },
	{ "step_start", "a step of the plan begins",
	  "{\"address\":\"node.gpu[3]\",\"node\":\"gpu-3\",\"action\":\"create\",\"done\":1,\"total\":12}", {
		ADDRESS, NODE, ACTION, DONE, TOTAL,
	} },
	{ "step_done", "a step has succeeded, and is recorded",
	  "{\"address\":\"node.gpu[3]\",\"node\":\"gpu-3\",\"action\":\"create\",\"text\":\"created\",\"done\":2,\"total\":12,\"took_ms\":41250}", {
		ADDRESS, NODE, ACTION, DONE, TOTAL, TOOK,
		{ "text", EV_STR, true, "what was done, one word" },
	} },
	{ "step_failed", "a step has failed for good",
	  "{\"address\":\"node.gpu[3]\",\"node\":\"gpu-3\",\"action\":\"create\",\"text\":\"no capacity\",\"error\":{\"severity\":\"error\",\"kind\":\"capacity\",\"message\":\"no capacity\"},\"done\":2,\"total\":12,\"took_ms\":912}", {
		ADDRESS, NODE, ACTION, TOOK, ERROR(true),
		{ "done", EV_INT, false, "steps that have ended; absent for a deletion that the provider's lists deny at the end" },
		{ "total", EV_INT, false, "steps of the plan; absent as done is" },
		{ "text", EV_STR, true, "the error's message" },
	} },
	{ "step_progress", "what a step that runs is waiting for has changed",
	  "{\"address\":\"node.gpu[3]\",\"node\":\"gpu-3\",\"action\":\"create\",\"text\":\"building\"}", {
		ADDRESS, NODE, { "action", EV_STR, false, "as in step_start" },
		{ "text", EV_STR, true, "for people" },
	} },
	{ "wave", "the rolling of a pool begins, goes on after its canaries, or ends",
	  "{\"pool\":\"gpu\",\"phase\":\"canary\",\"nodes\":2,\"at_a_time\":4,\"text\":\"pool gpu: gpu-[0-1] first, then 30 nodes, 4 at a time\"}", {
		{ "pool", EV_STR, false, "the pool's name" },
		{ "phase", EV_STR, true, "canary: these nodes go first; soak: they are done and watched; rest: the others follow; stopped: they don't; no_room: nodes that are not asked for, since the provider has no room" },
		{ "nodes", EV_INT, true, "how many nodes it is about" },
		{ "at_a_time", EV_INT, false, "nodes in service that may be down at a time; 0: any number" },
		{ "text", EV_STR, true, "for people" },
	} },
	{ "rate", "a provider's endpoint refused requests, and is asked at half the rate; or it has recovered",
	  "{\"endpoint\":\"cloud create\",\"state\":\"halved\",\"per_second\":2.5,\"calls\":120,\"refused\":4,\"text\":\"cloud create is asked too often: halved to 2.5/s\"}", {
		{ "endpoint", EV_STR, true, "the provider's name and what it is asked for" },
		{ "state", EV_STR, true, "halved or recovered" },
		{ "per_second", EV_NUMBER, true, "requests a second from now on" },
		{ "calls", EV_INT, true, "requests so far" },
		{ "refused", EV_INT, true, "of these, how many were refused" },
		{ "text", EV_STR, true, "for people" },
	} },
	{ "waiting", "something does not answer yet, or another run holds the lease: it is asked again",
	  "{\"address\":\"node.gpu[3]\",\"node\":\"gpu-3\",\"text\":\"waiting for SSH\"}", {
		{ "address", EV_STR, false, "the resource's address" }, NODE,
		{ "action", EV_STR, false, "as in step_start" },
		{ "text", EV_STR, true, "what is waited for, for people" },
		ERROR(false),
	} },
	{ "retry", "a request was refused or got lost, and is made again",
	  "{\"address\":\"node.gpu[3]\",\"text\":\"too many requests\",\"error\":{\"severity\":\"error\",\"kind\":\"busy\",\"message\":\"too many requests\"}}", {
		{ "address", EV_STR, false, "the resource's address; absent for a list" }, NODE,
		{ "action", EV_STR, false, "as in step_start" },
		{ "text", EV_STR, true, "for people" },
		ERROR(true),
	} },
	{ "task", "a task of a playbook has ended on a node; apply tells only those that changed something or failed",
	  "{\"node\":\"gpu-3\",\"task\":\"the message of the day\",\"module\":\"copy\",\"status\":\"changed\",\"changes\":[]}", {
		{ "address", EV_STR, false, "the resource's address" },
		{ "node", EV_STR, true, "the node's name" },
		{ "task", EV_STR, true, "the task's name, or its module's" },
		{ "module", EV_STR, true, "the module's name" },
		{ "status", EV_STR, true, "ok, changed, skipped, failed, failed (ignored) or unreachable" },
		{ "item", EV_STR, false, "of a loop" },
		{ "message", EV_STR, false, "what the module said" },
		{ "changes", EV_LIST, false, "run: one map a change: what, before, after" },
		{ "text", EV_STR, false, "apply: all of it in a line, for people" },
	} },
	{ "settled", "a step that a killed run had left unfinished was looked into",
	  "{\"address\":\"node.gpu[3]\",\"action\":\"create\",\"text\":\"made: recorded as vm-7\",\"outcome\":\"recorded\",\"reason\":\"the provider has an object with its token\",\"id\":\"vm-7\"}", {
		ADDRESS, ACTION,
		{ "text", EV_STR, true, "what was decided" },
		{ "outcome", EV_STR, true, "recorded, tainted, dropped, gone, leftover, interrupted or unknown" },
		{ "reason", EV_STR, false, "on what ground" },
		{ "id", EV_STR, false, "the object's id at the provider" },
	} },
	{ "progress", "every 30 s (--heartbeat) while something runs, also when nothing has ended since",
	  "{\"done\":310,\"total\":1024,\"at_work\":32,\"failed\":0,\"left_ms\":91000,\"slowest\":[{\"name\":\"gpu-17\",\"action\":\"create\",\"took_ms\":250000,\"text\":\"building\"}]}", {
		{ "done", EV_INT, true, "steps that have ended (exec, run: nodes)" },
		{ "total", EV_INT, true, "of how many; 0: not known yet" },
		{ "at_work", EV_INT, true, "that run now" },
		{ "failed", EV_INT, true, "that have failed" },
		{ "left_ms", EV_INT, false, "a guess, milliseconds" },
		{ "slowest", EV_LIST, true, "up to four that run longest: name, action, took_ms, and text where something is known" },
	} },
	{ "exec_result", "a node has answered, or could not be asked",
	  "{\"node\":\"gpu-3\",\"status\":0,\"stdout\":\"up 3 days\\n\",\"stderr\":\"\"}", {
		{ "node", EV_STR, true, "the node's name" },
		{ "status", EV_INT, false, "the command's exit status" },
		{ "stdout", EV_STR, false, "its output" },
		{ "stderr", EV_STR, false, "its errors" },
		{ "truncated", EV_BOOL, false, "true: the output was cut" },
		{ "error", EV_MAP, false, "instead of these: why there is no answer" },
	} },
	{ "host_result", "run: what the playbook did on a node, after its last task",
	  "{\"node\":\"gpu-3\",\"ok\":4,\"changed\":1,\"failed\":0,\"skipped\":2,\"unreachable\":false,\"probe_trips\":1,\"patch_trips\":1}", {
		{ "node", EV_STR, true, "the node's name" },
		{ "ok", EV_INT, true, "tasks that found all as it should be" },
		{ "changed", EV_INT, true, "tasks that changed something" },
		{ "failed", EV_INT, true, "tasks that failed" },
		{ "skipped", EV_INT, true, "tasks whose condition did not hold" },
		{ "unreachable", EV_BOOL, true, "true: the node could not be reached, or was lost" },
		{ "probe_trips", EV_INT, true, "scripts sent to look" },
		{ "patch_trips", EV_INT, true, "scripts sent to change" },
	} },
	{ "leftover", "gc: an object that bears our mark and that no record knows",
	  "{\"provider\":\"cloud\",\"kind\":\"machine\",\"id\":\"vm-9\",\"name\":\"gpu-9\",\"created\":null,\"quota\":\"machines\",\"scarcity\":1,\"owner\":null,\"deleted\":false}", {
		{ "provider", EV_STR, true, "the provider's name in the spec" },
		{ "kind", EV_STR, true, "machine, volume, ..." },
		{ "id", EV_STR, true, "the provider's id" },
		{ "name", EV_ANY, true, "as the provider keeps it, or null" },
		{ "created", EV_ANY, true, "when, or null where the provider doesn't tell" },
		{ "quota", EV_ANY, true, "what it uses up, or null" },
		{ "scarcity", EV_INT, true, "how scarce that is; higher is scarcer" },
		{ "owner", EV_ANY, true, "an unfinished step that may own it, or null" },
		{ "deleted", EV_BOOL, true, "true: it was deleted, and a list after that shows it no more" },
		ERROR(false),
	} },
	{ "stopping", "a signal stops the run, or the reader of stdout went away",
	  "{\"signal\":\"INT\",\"at_once\":false}", {
		{ "signal", EV_STR, true, "INT, TERM, HUP or PIPE" },
		{ "at_once", EV_BOOL, true, "false: running steps finish; true, after a second signal: they are given up and settled by the next run" },
	} },
	{ "diagnostic", "an error, as it is told to people at the end",
	  "{\"severity\":\"error\",\"kind\":\"spec\",\"message\":\"unknown key\",\"file\":\"muster.yaml\",\"line\":3,\"column\":5,\"hint\":\"did you mean pools?\"}", {
		{ "severity", EV_STR, true, "error" },
		{ "kind", EV_STR, true, "what can be done about it: usage, spec, auth, not_found, conflict, lease, quota, capacity, busy, timeout, remote, io, cancelled or bug" },
		{ "message", EV_STR, true, "what failed" },
		{ "file", EV_STR, false, "where in the spec" },
		{ "line", EV_INT, false, "from 1" },
		{ "column", EV_INT, false, "from 1, in bytes" },
		{ "address", EV_STR, false, "the resource's address" },
		{ "node", EV_STR, false, "the node, or a folded set of nodes with the same error" },
		{ "request", EV_STR, false, "the provider's request id" },
		{ "hint", EV_STR, false, "what to do" },
	} },
	{ "result", "the last line of a stream that was not killed",
	  "{\"command\":\"apply\",\"exit_code\":0,\"outcome\":\"done\",\"created\":12,\"updated\":0,\"destroyed\":0,\"configured\":12,\"failed\":0,\"skipped\":0,\"probe_trips\":12,\"patch_trips\":12,\"failures\":[],\"causes\":[],\"held\":[]}", {
		{ "command", EV_STR, true, "the command's name" },
		{ "exit_code", EV_INT, true, "as in muster help exit-codes" },
		{ "outcome", EV_STR, true, "done, changes, drift, partial, leased, refused, usage, stopped or failed" },
		{ "created", EV_INT, false, "apply, destroy: resources made" },
		{ "updated", EV_INT, false, "resources updated in place" },
		{ "destroyed", EV_INT, false, "resources deleted" },
		{ "configured", EV_INT, false, "nodes configured" },
		{ "failed", EV_INT, false, "steps that failed (exec, run: nodes)" },
		{ "skipped", EV_INT, false, "steps not begun" },
		{ "nodes", EV_INT, false, "exec, run: how many were to be asked" },
		{ "probe_trips", EV_INT, false, "scripts sent to nodes to look" },
		{ "patch_trips", EV_INT, false, "scripts sent to nodes to change" },
		{ "failures", EV_LIST, false, "the failed steps' errors, each with the fields of a diagnostic" },
		{ "causes", EV_LIST, false, "why, once for all nodes that failed alike, most nodes first: kind, action, message (the node as NODE, other words that differ as an asterisk), count, nodes (a set), pools (how many of each), examples (diagnostics, where the messages differ)" },
		{ "held", EV_LIST, false, "nodes that nothing was done to because of others: pool, nodes (how many), reason" },
		{ "outputs", EV_MAP, false, "the spec's outputs" },
	} },
	{ 0 },
};
/* clang-format on */

static const char *const kind_words[] = {
	[EV_STR] = "string",  [EV_TIME] = "string (RFC 3339)",
	[EV_INT] = "integer", [EV_BOOL] = "bool",
	[EV_LIST] = "list",   [EV_MAP] = "map",
	[EV_ANY] = "any",
};

/* ---- does an event keep to it? ---- */

static const struct event_field *field_find(const struct event_field *f, struct str name)
{
	for (; f->name; f++) {
		if (str_eqc(name, f->name))
			return f;
	}
	return NULL;
}

static bool fits(enum event_kind kind, const struct value *v)
{
	switch (kind) {
	case EV_STR:
	case EV_TIME: return v->kind == V_STR;
	case EV_INT: return v->kind == V_INT;
	case EV_NUMBER: return v->kind == V_INT || v->kind == V_FLOAT;
	case EV_BOOL: return v->kind == V_BOOL;
	case EV_LIST: return v->kind == V_LIST;
	case EV_MAP: return v->kind == V_MAP;
	case EV_ANY: break;
	}
	return true;
}

static const struct event_type *type_find(const char *name)
{
	for (const struct event_type *t = event_types; t->name; t++) {
		if (strcmp(t->name, name) == 0)
			return t;
	}
	return NULL;
}

const char *event_fault(struct arena *a, const char *type, const struct value *fields)
{
	const struct event_type *t = type_find(type);

	if (!t)
		return arena_printf(a, "the type %s is not in the table", type);
	for (size_t i = 0; fields && i < fields->map.n; i++) {
		const struct map_entry *en = &fields->map.e[i];
		const struct event_field *f = field_find(t->fields, en->key);

		if (!f)
			f = field_find(event_common, en->key);
		if (!f)
			return arena_printf(
				a, "%s has the field " STR_FMT ", which is not in the table", type,
				STR_ARG(en->key));
		if (!fits(f->kind, en->val))
			return arena_printf(a, "%s.%s is no %s", type, f->name,
					    kind_words[f->kind]);
	}
	for (const struct event_field *f = t->fields; f->name; f++) {
		if (f->always && !(fields && value_get(fields, f->name)))
			return arena_printf(a, "%s lacks %s", type, f->name);
	}
	return NULL;
}

/* ---- for people ---- */

static void manual_fields(struct buf *b, const struct event_field *f)
{
	for (; f->name; f++)
		buf_addf(b, "*%s*, %s%s\n\t%c%s.\n\n", f->name, kind_words[f->kind],
			 f->always ? "" : ", may be absent", toupper((unsigned char)f->doc[0]),
			 f->doc + 1);
}

/* scdoc takes these for markup. */
static void manual_words(struct buf *b, const char *text)
{
	for (; *text; text++) {
		if (strchr("_*\\", *text))
			buf_addc(b, '\\');
		buf_addc(b, *text);
	}
}

void event_manual(struct buf *b)
{
	buf_adds(b, "## all events\n\n");
	manual_fields(b, event_common);
	for (const struct event_type *t = event_types; t->name; t++) {
		buf_adds(b, "## ");
		buf_adds(b, t->name);
		buf_adds(b, "\n\n");
		buf_addc(b, (char)toupper((unsigned char)t->doc[0]));
		manual_words(b, t->doc + 1);
		buf_adds(b, ".\n\n");
		manual_fields(b, t->fields);
	}
}

static void markdown_fields(struct buf *b, const struct event_field *f)
{
	buf_adds(b, "| field | type | |\n|---|---|---|\n");
	for (; f->name; f++)
		buf_addf(b, "| `%s` | %s%s | %s |\n", f->name, kind_words[f->kind],
			 f->always ? "" : ", may be absent", f->doc);
}

void event_markdown(struct buf *b)
{
	buf_adds(b, "### All events\n\n");
	markdown_fields(b, event_common);
	for (const struct event_type *t = event_types; t->name; t++) {
		buf_addf(b, "\n### `%s`\n\n%c%s.\n\n", t->name, toupper((unsigned char)t->doc[0]),
			 t->doc + 1);
		markdown_fields(b, t->fields);
		buf_addf(b, "\n```json\n%s\n```\n", t->example);
	}
}
