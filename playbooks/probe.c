/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The script's answer is text with one section a kind ("#kind" before it, "#end" at the very end,
 * so that a cut answer is noticed). What a request's answer was is kept as the bytes that the host
 * wrote, so a guard's digest can be computed here: the guard asks the same requests again, sorts
 * the lines (programs choose their own order) and digests them.
 */
#include "playbooks/probe.h"

#include <inttypes.h>
#include <stdlib.h>

#define BATCH 256 /* requests of one kind in one command: bounds its argument list */

/* ---- requests ---- */

static struct str identity(struct arena *a, const struct probe_req *r)
{
	struct buf b;
	struct str out;

	buf_init(&b, BUF_MAX_DEFAULT);
	buf_addf(&b, "%d %" PRIu64 " ", (int)r->kind, r->number);
	buf_addstr(&b, r->extra);
	buf_addc(&b, ' ');
	buf_addstr(&b, r->key);
	out = str_dup(a, buf_str(&b));
	buf_fini(&b);
	return out;
}

void probe_init(struct probe *p, struct arena *a)
{
	memset(p, 0, sizeof(*p));
	p->a = a;
	map_init(&p->index, a);
}

void probe_add(struct probe *p, const struct probe_req *req)
{
	struct str id = identity(p->a, req);
	struct probe_req *r;

	if (map_has(&p->index, id))
		return;
	r = arena_obj(p->a, struct probe_req);
	*r = *req;
	r->key = str_dup(p->a, req->key);
	r->extra = str_dup(p->a, req->extra);
	map_put(&p->index, id, r);
	VEC_ADD(p->a, &p->reqs[r->kind]) = r;
	p->n++;
}

void probe_ask(struct probe *p, enum probe_kind kind, const char *key)
{
	probe_add(p, &(struct probe_req){ .kind = kind, .key = str_of(key) });
}

void probe_merge(struct probe *p, const struct probe *other)
{
	for (size_t i = 0; i < other->index.n; i++)
		probe_add(p, other->index.e[i].val);
}

static struct probe_req content_req(const char *path, const char *known_sha)
{
	return (struct probe_req){ PROBE_CONTENT, str_of(path), PATH_CONTENT_MAX,
				   str_of(known_sha) };
}

void probe_path(struct probe *p, const char *path, unsigned want)
{
	probe_ask(p, want & PATH_FOLLOW ? PROBE_STATL : PROBE_STAT, path);
	if (want & PATH_LINK)
		probe_ask(p, PROBE_LINK, path);
	if (want & PATH_SHA256)
		probe_ask(p, PROBE_SHA256, path);
	if (want & PATH_CONTENT)
		probe_content_unless(p, path, NULL);
}

void probe_content_unless(struct probe *p, const char *path, const char *known_sha)
{
	struct probe_req r = content_req(path, known_sha);

	probe_add(p, &r);
}

/* ---- the script ---- */

static const char setup[] =
	"LC_ALL=C; export LC_ALL; PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin; export PATH\n"
	"nl='\n'\n";

static void emit_all(struct buf *b, const struct probe *p, bool marks)
{
	for (int k = 0; k < PROBE_KINDS; k++) {
		size_t n = p->reqs[k].n;
		if (n && marks)
			buf_addf(b, "echo '#%s'\n", probe_kinds[k].name);
		for (size_t i = 0; i < n; i += BATCH)
			probe_kinds[k].emit(b, p->reqs[k].v + i, n - i < BATCH ? n - i : BATCH, i);
	}
}

void probe_functions_into(struct buf *b)
{
	buf_adds(b, setup);
	buf_adds(b, probe_functions);
}

void probe_script(struct buf *b, const struct probe *p)
{
	probe_functions_into(b);
	emit_all(b, p, true);
	buf_adds(b, "echo '#end'\n");
}

/* ---- the answer ---- */

void answers_init(struct answers *an, struct arena *a)
{
	an->a = a;
	map_init(&an->by_id, a);
}

void answers_put(struct answers *an, const struct probe_req *req, struct str payload)
{
	struct str *s = arena_obj(an->a, struct str);

	*s = str_dup(an->a, payload);
	map_put(&an->by_id, identity(an->a, req), s);
}

/* One section being read: requests of one kind by key. */
struct section {
	const struct probe *p;
	enum probe_kind kind;
	struct map by_key;    /* named */
	struct str *payloads; /* one a request */
};

static void section_open(struct section *s, struct arena *a, const struct probe *p,
			 enum probe_kind kind)
{
	s->p = p;
	s->kind = kind;
	s->payloads = arena_array(a, struct str, p->reqs[kind].n);
	map_init(&s->by_key, a);
	if (probe_kinds[kind].shape == SHAPE_NAMED)
		for (size_t i = 0; i < p->reqs[kind].n; i++)
			map_put(&s->by_key, p->reqs[kind].v[i]->key, &s->payloads[i]);
}

static void append_line(struct arena *a, struct str *to, struct str line)
{
	struct buf b;

	if (!to->n) {
		*to = str_dup(a, line);
		return;
	}
	buf_init(&b, BUF_MAX_DEFAULT);
	buf_addstr(&b, *to);
	buf_addc(&b, '\n');
	buf_addstr(&b, line);
	*to = str_dup(a, buf_str(&b));
	buf_fini(&b);
}

static void read_named(struct section *s, struct arena *a, struct str line)
{
	struct str key = STR_NONE, also = STR_NONE, *to;

	probe_kinds[s->kind].keys(a, line, &key, &also);
	to = map_get(&s->by_key, key);
	if (to)
		append_line(a, to, line);
	to = also.n ? map_get(&s->by_key, also) : NULL;
	if (to)
		append_line(a, to, line);
}

static int read_index(const struct section *s, struct str text, size_t *out, struct err *e)
{
	uint64_t i;

	if (!str_to_uint(text, 10, &i) || i >= s->p->reqs[s->kind].n)
		return err_set(e, ERR_REMOTE, "the probe's answer is garbled in section %s",
			       probe_kinds[s->kind].name);
	*out = (size_t)i;
	return 0;
}

static int read_line(struct section *s, struct arena *a, struct str line, struct err *e)
{
	size_t blank = str_find_char(line, ' '), i;

	if (read_index(s, str_sub(line, 0, blank == SIZE_MAX ? line.n : blank), &i, e))
		return -1;
	s->payloads[i] = str_dup(a,
				 blank == SIZE_MAX ? STR_NONE : str_sub(line, blank + 1, SIZE_MAX));
	return 0;
}

static int read_block(struct section *s, struct arena *a, struct str line, struct str *rest,
		      struct err *e)
{
	struct buf b scoped(buf_wipe) = { 0 }, decoded scoped(buf_wipe) = { 0 };
	size_t i;

	buf_init(&b, BUF_MAX_DEFAULT);
	buf_init(&decoded, BUF_MAX_DEFAULT);
	if (!str_starts(line, "=") || read_index(s, str_sub(line, 1, SIZE_MAX), &i, e))
		return err_set(e, ERR_REMOTE, "the probe's answer is garbled in section %s",
			       probe_kinds[s->kind].name);
	while (str_next_line(rest, &line)) {
		if (str_eqc(line, ".")) {
			if (base64_decode(&decoded, buf_str(&b), e))
				return err_wrap(e, "the probe's answer is garbled");
			/* "+" tells an empty file from no file. */
			buf_clear(&b);
			buf_addc(&b, '+');
			buf_addstr(&b, buf_str(&decoded));
			s->payloads[i] = str_dup(a, buf_str(&b));
			return 0;
		}
		buf_addstr(&b, line);
	}
	return err_set(e, ERR_REMOTE, "the probe's answer was cut short");
}

static void section_close(struct section *s, struct answers *an)
{
	for (size_t i = 0; s->payloads && i < s->p->reqs[s->kind].n; i++)
		answers_put(an, s->p->reqs[s->kind].v[i], s->payloads[i]);
	s->payloads = NULL;
}

static int kind_of(struct str name)
{
	for (int k = 0; k < PROBE_KINDS; k++)
		if (str_eqc(name, probe_kinds[k].name))
			return k;
	return -1;
}

static int read_in_section(struct section *s, struct arena *a, struct str line, struct str *rest,
			   struct err *e)
{
	if (!s->payloads)
		return err_set(e, ERR_REMOTE, "the probe's answer does not begin as it should");
	switch (probe_kinds[s->kind].shape) {
	case SHAPE_NAMED: read_named(s, a, line); return 0;
	case SHAPE_LINES: return read_line(s, a, line, e);
	case SHAPE_BLOCKS: return read_block(s, a, line, rest, e);
	}
	return 0;
}

/* A host that leaves out what was asked must not be a bug of ours later. */
static int all_answered(const struct answers *an, const struct probe *p, struct err *e)
{
	for (size_t i = 0; i < p->index.n; i++)
		if (!map_has(&an->by_id, p->index.e[i].key))
			return err_set(e, ERR_REMOTE, "the probe's answer leaves out a section");
	return 0;
}

int answers_parse(struct answers *an, const struct probe *p, struct str out, struct err *e)
{
	struct arena *a scoped(arena_freep) = arena_new("answers_parse");
	struct section s = { 0 };
	struct str line;

	while (str_next_line(&out, &line)) {
		if (str_starts(line, "#")) {
			int kind = kind_of(str_sub(line, 1, SIZE_MAX));
			section_close(&s, an);
			if (str_eqc(line, "#end"))
				return all_answered(an, p, e);
			if (kind < 0)
				return err_set(e, ERR_REMOTE,
					       "the probe's answer has an unknown section");
			section_open(&s, a, p, (enum probe_kind)kind);
		} else if (read_in_section(&s, a, line, &out, e)) {
			return -1;
		}
	}
	return err_set(e, ERR_REMOTE, "the probe's answer was cut short");
}

/* What the host would say to "its content, unless its digest is this": nothing, if the digest is
 * known to be this. */
static bool follows(struct answers *an, const struct probe_req *r)
{
	struct probe_req sum = { .kind = PROBE_SHA256, .key = r->key };
	const struct str *s;

	if (r->kind != PROBE_CONTENT || !r->extra.n)
		return false;
	s = map_get(&an->by_id, identity(an->a, &sum));
	if (!s || !str_eq(str_sub(*s, 0, r->extra.n), r->extra))
		return false;
	answers_put(an, r, STR_NONE);
	return true;
}

bool answers_have(struct answers *an, const struct probe *p)
{
	for (size_t i = 0; i < p->index.n; i++)
		if (!map_has(&an->by_id, p->index.e[i].key) && !follows(an, p->index.e[i].val))
			return false;
	return true;
}

struct str answers_req(const struct answers *an, const struct probe_req *req)
{
	const struct str *s = map_get(&an->by_id, identity(an->a, req));

	if (!s)
		bug("a module reads what its probe did not ask: %s " STR_FMT,
		    probe_kinds[req->kind].name, STR_ARG(req->key));
	return *s;
}

struct str answers_get(const struct answers *an, enum probe_kind kind, const char *key)
{
	return answers_req(an, &(struct probe_req){ .kind = kind, .key = str_of(key) });
}

/* ---- paths ---- */

const char *path_type_name(enum path_type t)
{
	static const char *const names[] = { "absent", "file",	"directory", "link",
					     "char",   "block", "fifo",	     "socket" };

	return names[t];
}

static enum path_type type_of_mode(unsigned raw)
{
	switch (raw & 0170000) {
	case 0100000: return PATH_FILE;
	case 0040000: return PATH_DIR;
	case 0120000: return PATH_SYMLINK;
	case 0020000: return PATH_CHAR;
	case 0060000: return PATH_BLOCK;
	case 0010000: return PATH_FIFO;
	default: return PATH_SOCKET;
	}
}

/* "81a4 0 0 123 root root /path" */
static void read_stat(struct str s, struct path_info *out)
{
	struct str f[6] = { { NULL, 0 } };
	uint64_t raw = 0, n;

	if (!s.n)
		return;
	for (size_t i = 0; i < ARRAY_LEN(f); i++)
		if (!str_next(&s, ' ', &f[i]))
			return;
	if (!str_to_uint(f[0], 16, &raw))
		return;
	out->type = type_of_mode((unsigned)raw);
	out->mode = (unsigned)raw & 07777;
	out->uid = str_to_uint(f[1], 10, &n) ? (int64_t)n : -1;
	out->gid = str_to_uint(f[2], 10, &n) ? (int64_t)n : -1;
	out->size = str_to_uint(f[3], 10, &n) ? (int64_t)n : -1;
	out->owner = f[4];
	out->group = f[5];
}

bool answers_content_unless(const struct answers *an, const char *path, const char *known_sha,
			    struct str *out, bool *too_large)
{
	struct probe_req r = content_req(path, known_sha);
	struct str s = answers_req(an, &r);

	*out = STR_NONE;
	*too_large = s.n > PATH_CONTENT_MAX + 1;
	if (!s.n)
		return false;
	if (!*too_large)
		*out = str_sub(s, 1, SIZE_MAX);
	return true;
}

void answers_path(const struct answers *an, const char *path, unsigned want, struct path_info *out)
{
	memset(out, 0, sizeof(*out));
	read_stat(answers_get(an, want & PATH_FOLLOW ? PROBE_STATL : PROBE_STAT, path), out);
	if (want & PATH_LINK)
		out->link = answers_get(an, PROBE_LINK, path);
	if (want & PATH_SHA256) {
		struct str s = answers_get(an, PROBE_SHA256, path);
		if (str_starts(s, "\\"))
			s = str_sub(s, 1, SIZE_MAX);
		out->sha256 = str_sub(s, 0, 64);
	}
	if (want & PATH_CONTENT)
		out->has_content = answers_content_unless(an, path, NULL, &out->content,
							  &out->too_large);
}

/* "/proc/sys/a/b:VALUE"; of a value of several lines, the first. */
struct str answers_sysctl(const struct answers *an, const char *key)
{
	struct str s = answers_get(an, PROBE_SYSCTL, key), line;
	size_t colon;

	if (!str_next_line(&s, &line))
		return STR_NONE;
	colon = str_find_char(line, ':');
	return colon == SIZE_MAX ? STR_NONE : str_sub(line, colon + 1, SIZE_MAX);
}

void answers_command(const struct answers *an, const char *script, struct command_answer *out)
{
	struct str s = answers_get(an, PROBE_COMMAND, script), status;
	int64_t n = -1;

	s = str_sub(s, 1, SIZE_MAX);
	if (str_next(&s, '\n', &status))
		str_to_int(status, &n);
	out->status = (int)n;
	out->out = str_sub(s, 0, s.n && s.p[s.n - 1] == '\n' ? s.n - 1 : s.n);
}

/* ---- guards ---- */

void probe_guard(struct buf *b, const struct probe *p)
{
	buf_adds(b, "{\n");
	emit_all(b, p, false);
	buf_adds(b, "} | sort | sha256sum");
}

struct lines {
	VEC(struct str) v;
};

static void add_lines(struct arena *a, struct lines *l, struct str text)
{
	struct str line;

	while (str_next_line(&text, &line))
		VEC_ADD(a, &l->v) = line;
}

/* As base64(1) writes it: 76 characters a line. */
static void add_block(struct arena *a, struct lines *l, size_t index, struct str payload)
{
	struct buf b;
	struct str s;

	if (!payload.n)
		return;
	buf_init(&b, BUF_MAX_DEFAULT);
	base64_encode(&b, str_sub(payload, 1, SIZE_MAX));
	s = str_dup(a, buf_str(&b));
	buf_wipe(&b);
	VEC_ADD(a, &l->v) = str_of(arena_printf(a, "=%zu", index));
	for (; s.n; s = str_sub(s, 76, SIZE_MAX))
		VEC_ADD(a, &l->v) = str_sub(s, 0, 76);
	VEC_ADD(a, &l->v) = STR(".");
}

static int by_bytes(const void *x, const void *y)
{
	const struct str *a = x, *b = y;

	return str_cmp(*a, *b);
}

void answers_digest(const struct answers *an, const struct probe *p, char hex[SHA256_HEX])
{
	struct arena *a scoped(arena_freep) = arena_new("answers_digest");
	struct buf b scoped(buf_wipe) = { 0 };
	struct lines l = { { 0 } };

	buf_init(&b, BUF_MAX_DEFAULT);
	for (int k = 0; k < PROBE_KINDS; k++)
		for (size_t i = 0; i < p->reqs[k].n; i++) {
			struct str s = answers_req(an, p->reqs[k].v[i]);
			if (!s.n)
				continue;
			if (probe_kinds[k].shape == SHAPE_NAMED)
				add_lines(a, &l, s);
			else if (probe_kinds[k].shape == SHAPE_LINES)
				VEC_ADD(a, &l.v) =
					str_of(arena_printf(a, "%zu " STR_FMT, i, STR_ARG(s)));
			else
				add_block(a, &l, i, s);
		}
	if (l.v.n)
		qsort(l.v.v, l.v.n, sizeof(*l.v.v), by_bytes);
	for (size_t i = 0; i < l.v.n; i++) {
		buf_addstr(&b, l.v.v[i]);
		buf_addc(&b, '\n');
	}
	sha256_hex(buf_str(&b), hex);
}
