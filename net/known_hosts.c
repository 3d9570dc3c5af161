/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fleet of ten thousand has a known_hosts of ten thousand lines, and reading it anew for each
 * login would cost a hundred million lines. So a file is read once, kept for the process with its
 * plain names indexed, and read again only when the file has changed; lines that we append
 * ourselves are added to what is kept.
 */
#include "net/known_hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/evp.h>

#include "net/pattern.h"
#include "net/wire.h"

#define FILE_MAX     ((size_t)16 << 20)
#define NAME_MAX_LEN 300

void key_fingerprint(struct str blob, char out[FINGERPRINT_LEN])
{
	unsigned char digest[32];
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, 128);
	EVP_Digest(blob.p, blob.n, digest, NULL, EVP_sha256(), NULL);
	base64_encode(&b, (struct str){ (const char *)digest, sizeof digest });
	struct str text = str_trim_end(buf_str(&b), '=');
	snprintf(out, FINGERPRINT_LEN, "SHA256:" STR_FMT, STR_ARG(text));
}

/* ---- reading ---------------------------------------------------------------------------------- */

static struct str next_word(struct str *rest)
{
	struct str s = str_trim(*rest);
	size_t n = 0;

	while (n < s.n && s.p[n] != ' ' && s.p[n] != '\t')
		n++;
	*rest = str_sub(s, n, SIZE_MAX);
	return str_sub(s, 0, n);
}

static bool decode_key(struct arena *a, struct str type, struct str base64, struct str *blob)
{
	scoped(buf_fini) struct buf b = { 0 };
	struct err ignored;

	buf_init(&b, 64 << 10);
	if (type.n == 0 || base64.n == 0 || base64_decode(&b, base64, &ignored) != 0 || b.overflow)
		return false;
	*blob = str_dup(a, buf_str(&b));
	return str_eq(wire_key_type(*blob), type);
}

static bool parse_marker(struct str word, enum known_marker *marker)
{
	if (str_eqc(word, "@cert-authority"))
		*marker = KNOWN_CA;
	else if (str_eqc(word, "@revoked"))
		*marker = KNOWN_REVOKE;
	else
		return false;
	return true;
}

static bool parse_line(struct arena *a, struct str line, struct known_entry *out)
{
	struct str word = next_word(&line);

	*out = (struct known_entry){ .marker = KNOWN_PLAIN };
	if (word.n && word.p[0] == '@') {
		if (!parse_marker(word, &out->marker))
			return false;
		word = next_word(&line);
	}
	struct str type = next_word(&line);
	if (!decode_key(a, type, next_word(&line), &out->blob))
		return false;
	out->hosts = str_dup(a, word);
	out->type = str_dup(a, type);
	return true;
}

void known_hosts_parse(struct arena *a, const char *file, struct str text, struct known_hosts *kh)
{
	struct known_entry entry;
	struct str line;

	for (int n = 1; str_next_line(&text, &line); n++) {
		line = str_trim(line);
		if (line.n == 0 || line.p[0] == '#')
			continue;
		if (!parse_line(a, line, &entry)) {
			log_info("%s:%d: not a known_hosts line, ignored", file, n);
			continue;
		}
		entry.pos = (struct pos){ file, n, 1 };
		VEC_ADD(a, &kh->entries) = entry;
	}
}

/* ---- files, kept --------------------------------------------------------------------------- */

struct named {
	const struct known_entry *k;
	struct named *next;
};

struct name_list {
	struct named *first, *last;
};

struct known_file {
	struct arena *a;
	char *path;
	struct stat st;
	int refs;
	int lines;			       /* of the file */
	size_t n;			       /* of them entries */
	struct map by_name;		       /* plain name, lower case -> struct name_list */
	VEC(const struct known_entry *) other; /* hashed, patterns, markers: each is looked at */
	struct known_file *next;
};

static struct known_file *kept; /* the loop's thread only */

static void file_release(void *arg)
{
	struct known_file *f = arg;

	if (--f->refs == 0)
		arena_free(f->a);
}

static void index_name(struct known_file *f, struct str name, const struct known_entry *k)
{
	struct named *n = arena_obj(f->a, struct named);
	char low[NAME_MAX_LEN];
	size_t len = name.n < sizeof low ? name.n : sizeof low - 1;

	for (size_t i = 0; i < len; i++)
		low[i] = name.p[i] >= 'A' && name.p[i] <= 'Z' ? (char)(name.p[i] - 'A' + 'a')
							      : name.p[i];
	struct name_list *l = map_get(&f->by_name, (struct str){ low, len });
	if (!l) {
		l = arena_obj(f->a, struct name_list);
		map_put(&f->by_name, (struct str){ low, len }, l);
	}
	n->k = k;
	if (l->last)
		l->last->next = n;
	else
		l->first = n;
	l->last = n;
}

static bool has_plain_names(const struct known_entry *k)
{
	if (k->marker != KNOWN_PLAIN)
		return false;
	for (size_t i = 0; i < k->hosts.n; i++)
		if (strchr("*?!|", k->hosts.p[i]))
			return false;
	return true;
}

static void file_add(struct known_file *f, const struct known_entry *k)
{
	struct str rest = k->hosts, name;

	f->n++;
	if (!has_plain_names(k)) {
		VEC_ADD(f->a, &f->other) = k;
		return;
	}
	while (str_next(&rest, ',', &name))
		if (str_trim(name).n)
			index_name(f, str_trim(name), k);
}

static bool same_file(const struct stat *x, const struct stat *y)
{
	return x->st_dev == y->st_dev && x->st_ino == y->st_ino && x->st_size == y->st_size &&
	       x->st_mtim.tv_sec == y->st_mtim.tv_sec && x->st_mtim.tv_nsec == y->st_mtim.tv_nsec;
}

static struct known_file **kept_for(const char *path)
{
	struct known_file **at = &kept;

	while (*at && strcmp((*at)->path, path) != 0)
		at = &(*at)->next;
	return at;
}

static void forget(struct known_file **at)
{
	struct known_file *f = *at;

	*at = f->next;
	file_release(f);
}

static int file_read(const char *path, const struct stat *st, struct known_file **out,
		     struct err *e)
{
	struct arena *a = arena_new("known hosts");
	struct known_hosts lines = { 0 };
	struct str text, line;

	if (fs_read(a, path, FILE_MAX, &text, e) != 0) {
		arena_free(a);
		return -1;
	}
	struct known_file *f = arena_obj(a, struct known_file);
	f->a = a;
	f->path = arena_strdup(a, path);
	f->st = *st;
	f->refs = 1; /* of the list of kept ones */
	map_init(&f->by_name, a);
	known_hosts_parse(a, f->path, text, &lines);
	for (size_t i = 0; i < lines.entries.n; i++)
		file_add(f, &lines.entries.v[i]);
	while (str_next_line(&text, &line))
		f->lines++;
	f->next = kept;
	kept = f;
	*out = f;
	return 0;
}

int known_hosts_load(struct arena *a, const char *path, struct known_hosts *kh, struct err *e)
{
	struct known_file **at = kept_for(path), *f = *at;
	struct err why;
	struct stat st = { 0 };

	/* Before it is read: what is written meanwhile makes the kept one old. */
	if (stat(path, &st) == 0 && f && same_file(&st, &f->st)) {
		why.kind = ERR_NONE;
	} else {
		if (f)
			forget(at);
		if (file_read(path, &st, &f, &why) != 0) {
			if (why.kind == ERR_NOT_FOUND)
				return 0;
			*e = why;
			return -1;
		}
	}
	f->refs++;
	arena_on_free(a, file_release, f);
	VEC_ADD(a, &kh->files) = f;
	return 0;
}

void known_hosts_forget(void)
{
	while (kept)
		forget(&kept);
}

size_t known_hosts_count(const struct known_hosts *kh)
{
	size_t n = kh->entries.n;

	for (size_t i = 0; i < kh->files.n; i++)
		n += kh->files.v[i]->n;
	return n;
}

int known_hosts_revoke(struct arena *a, const char *path, struct known_hosts *kh, struct err *e)
{
	struct known_entry entry = { .marker = KNOWN_REVOKE, .hosts = STR("*") };
	struct str text, line;

	if (fs_read(a, path, FILE_MAX, &text, e) != 0) {
		e->kind = ERR_AUTH;
		return err_hint(e, "put the file back, or take RevokedHostKeys out of ssh_config");
	}
	for (int n = 1; str_next_line(&text, &line); n++) {
		line = str_trim(line);
		if (line.n == 0 || line.p[0] == '#')
			continue;
		entry.type = str_dup(a, next_word(&line));
		if (!decode_key(a, entry.type, next_word(&line), &entry.blob)) {
			err_set(e, ERR_AUTH, "%s:%d: not a public key, so nobody is trusted", path,
				n);
			return err_hint(e, "write the revoked host keys one a line, as in "
					   "ssh_host_ed25519_key.pub; a binary KRL is not read");
		}
		entry.pos = (struct pos){ arena_strdup(a, path), n, 1 };
		VEC_ADD(a, &kh->entries) = entry;
	}
	return 0;
}

int known_hosts_pin(struct arena *a, const char *line, struct known_hosts *kh, struct err *e)
{
	struct known_entry entry = { .hosts = STR("*"), .pos = { "pinned host key", 0, 0 } };
	struct str rest = str_of(line);
	struct str type = next_word(&rest);

	if (!decode_key(a, type, next_word(&rest), &entry.blob)) {
		err_set(e, ERR_SPEC, "not a public host key: \"%.60s\"", line);
		return err_hint(
			e, "write it as in /etc/ssh/ssh_host_ed25519_key.pub: type and base64");
	}
	entry.type = str_dup(a, type);
	VEC_ADD(a, &kh->entries) = entry;
	return 0;
}

/* ---- matching --------------------------------------------------------------------------------- */

static void looked_up_name(const char *name, int port, char *out, size_t cap)
{
	if (port == 0 || port == 22)
		snprintf(out, cap, "%s", name);
	else
		snprintf(out, cap, "[%s]:%d", name, port);
	for (char *p = out; *p; p++)
		if (*p >= 'A' && *p <= 'Z')
			*p = (char)(*p - 'A' + 'a');
}

static bool hashed_match(struct str hosts, const char *name)
{
	scoped(buf_fini) struct buf salt = { 0 };
	scoped(buf_fini) struct buf want = { 0 };
	struct str rest = str_sub(hosts, 3, SIZE_MAX), part; /* after |1| */
	uint8_t got[20];
	struct err ignored;

	buf_init(&salt, 256);
	buf_init(&want, 256);
	if (!str_next(&rest, '|', &part) || base64_decode(&salt, part, &ignored) != 0 ||
	    base64_decode(&want, rest, &ignored) != 0 || want.n != sizeof got)
		return false;
	hmac_sha1(buf_str(&salt), str_of(name), got);
	return memcmp(got, want.p, sizeof got) == 0;
}

static bool entry_matches(const struct known_entry *k, const char *name)
{
	if (str_starts(k->hosts, "|1|"))
		return hashed_match(k->hosts, name);
	return pattern_list_match(k->hosts, ',', str_of(name)) == PATTERN_YES;
}

/* Calls fn for each entry that may be about `name`; whether it is, fn finds out when it must. */
typedef void visit_fn(void *arg, const struct known_entry *k);

static void each_candidate(const struct known_hosts *kh, const char *name, visit_fn *fn, void *arg)
{
	for (size_t i = 0; i < kh->entries.n; i++)
		fn(arg, &kh->entries.v[i]);
	for (size_t i = 0; i < kh->files.n; i++) {
		const struct known_file *f = kh->files.v[i];
		const struct name_list *l = map_getc(&f->by_name, name);

		for (const struct named *n = l ? l->first : NULL; n; n = n->next)
			fn(arg, n->k);
		for (size_t k = 0; k < f->other.n; k++)
			fn(arg, f->other.v[k]);
	}
}

struct judge {
	const char *name;
	struct str blob, type;
	enum known_verdict v;
	const struct known_entry *which;
};

static void judge_one(void *arg, const struct known_entry *k)
{
	struct judge *j = arg;
	bool same = str_eq(k->blob, j->blob);

	if (j->v == KNOWN_REVOKED || (k->marker == KNOWN_REVOKE && !same) ||
	    !entry_matches(k, j->name))
		return;
	if (k->marker == KNOWN_REVOKE) {
		j->v = KNOWN_REVOKED;
	} else if (k->marker == KNOWN_CA) {
		if (j->v != KNOWN_UNKNOWN)
			return;
		j->v = KNOWN_CA_ONLY;
	} else if (same) {
		j->v = KNOWN_OK;
	} else if (j->v != KNOWN_OK &&
		   (j->v != KNOWN_CHANGED ||
		    (!str_eq(j->which->type, j->type) && str_eq(k->type, j->type)))) {
		j->v = KNOWN_CHANGED; /* of several, name the one with the same type */
	} else {
		return;
	}
	j->which = k;
}

static enum known_verdict check_name(const struct known_hosts *kh, const char *name,
				     struct str blob, const struct known_entry **which)
{
	struct judge j = { name, blob, wire_key_type(blob), KNOWN_UNKNOWN, NULL };

	each_candidate(kh, name, judge_one, &j);
	*which = j.which;
	return j.v;
}

enum known_verdict known_hosts_check(const struct known_hosts *kh, const char *name, int port,
				     struct str blob, const struct known_entry **which)
{
	char full[NAME_MAX_LEN], plain[NAME_MAX_LEN];
	const struct known_entry *entry = NULL, *other = NULL;

	looked_up_name(name, port, full, sizeof full);
	looked_up_name(name, 0, plain, sizeof plain);
	enum known_verdict v = check_name(kh, full, blob, &entry);
	/* As OpenSSH: a key that is known for the host vouches for its other ports; a revoked one
	 * never. */
	if (strcmp(full, plain) != 0) {
		enum known_verdict p = check_name(kh, plain, blob, &other);

		if (p == KNOWN_REVOKED || (p == KNOWN_OK && v == KNOWN_UNKNOWN)) {
			v = p;
			entry = other;
		}
	}
	if (which)
		*which = entry;
	return v;
}

struct seek {
	const char *name, *type;
	bool found;
};

static void seek_one(void *arg, const struct known_entry *k)
{
	struct seek *s = arg;

	if (!s->found && k->marker == KNOWN_PLAIN && str_eqc(k->type, s->type))
		s->found = entry_matches(k, s->name);
}

bool known_hosts_has_type(const struct known_hosts *kh, const char *name, int port,
			  const char *type)
{
	char full[NAME_MAX_LEN], plain[NAME_MAX_LEN];

	looked_up_name(name, port, full, sizeof full);
	looked_up_name(name, 0, plain, sizeof plain);
	struct seek s = { full, type, false };
	each_candidate(kh, full, seek_one, &s);
	if (!s.found && strcmp(full, plain) != 0) {
		s.name = plain;
		each_candidate(kh, plain, seek_one, &s);
	}
	return s.found;
}

/* ---- writing ---------------------------------------------------------------------------------- */

static void add_hashed_name(struct buf *b, const char *name)
{
	char salt[20];
	uint8_t digest[20];

	rand_bytes(salt, sizeof salt);
	hmac_sha1((struct str){ salt, sizeof salt }, str_of(name), digest);
	buf_adds(b, "|1|");
	base64_encode(b, (struct str){ salt, sizeof salt });
	buf_addc(b, '|');
	base64_encode(b, (struct str){ (const char *)digest, sizeof digest });
}

/* Another program may hold the file's lock for long, so it is waited for on a pool thread. */
struct append {
	char *path;
	struct buf line;
	struct stat before, after;
};

static void append_free(void *arg)
{
	struct append *p = arg;

	buf_fini(&p->line);
	mem_free(p->path);
	mem_free(p);
}

static int make_folder(const char *path, struct err *e)
{
	struct arena *a = arena_new("known_hosts");
	int rc = fs_mkdirs(fs_dirname(a, path), 0700, e);

	arena_free(a);
	return rc;
}

static int append_run(void *arg, struct err *e)
{
	struct append *p = arg;

	if (make_folder(p->path, e) != 0)
		return -1;
	scoped(close_fd) int fd = open(p->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0 || flock(fd, LOCK_EX) != 0 || fstat(fd, &p->before) != 0)
		return err_sys(e, "%s", p->path);
	off_t end = p->before.st_size;
	char last = '\n';
	if (end > 0 && pread(fd, &last, 1, end - 1) == 1 && last != '\n' && write(fd, "\n", 1) != 1)
		return err_sys(e, "%s", p->path);
	if (write(fd, p->line.p, p->line.n) != (ssize_t)p->line.n || fstat(fd, &p->after) != 0)
		return err_sys(e, "%s", p->path);
	return 0;
}

/* The file as we kept it, and our line: so it need not be read again. */
static void keep_appended(const struct append *p)
{
	struct known_file *f = *kept_for(p->path);

	if (!f || !same_file(&f->st, &p->before))
		return;
	struct known_entry *k = arena_obj(f->a, struct known_entry);
	if (!parse_line(f->a, str_trim(buf_str(&p->line)), k))
		return;
	k->pos = (struct pos){ f->path, ++f->lines, 1 };
	file_add(f, k);
	f->st = p->after;
}

/* One at a time, so that each finds the file as the one before left it. */
static struct task_sem appending = { .free = 1 };

static int append_locked(struct append *p, struct deadline d, struct err *e)
{
	int rc = task_offload((struct offload_call){ append_run, p, append_free }, d, e);

	if (rc != 0 && (e->kind == ERR_TIMEOUT || e->kind == ERR_CANCELLED)) {
		if (e->kind == ERR_TIMEOUT)
			err_set(e, ERR_TIMEOUT, "known hosts: the file is locked for too long");
		return -1; /* it is the pool's now */
	}
	if (rc == 0)
		keep_appended(p);
	append_free(p);
	return rc;
}

int known_hosts_append(const char *path, const struct known_new *k, struct deadline d,
		       struct err *e)
{
	bool inside = task_is_running();
	char name[NAME_MAX_LEN];

	if (inside && task_sem_take(&appending, d, e) != 0)
		return -1;
	struct append *p = mem_alloc(sizeof *p);
	size_t n = strlen(path) + 1;
	p->path = mem_alloc(n);
	memcpy(p->path, path, n);
	buf_init(&p->line, 64 << 10);
	looked_up_name(k->name, k->port, name, sizeof name);
	if (k->hashed)
		add_hashed_name(&p->line, name);
	else
		buf_adds(&p->line, name);
	buf_addf(&p->line, " " STR_FMT " ", STR_ARG(wire_key_type(k->blob)));
	base64_encode(&p->line, k->blob);
	buf_addc(&p->line, '\n');
	int rc = append_locked(p, d, e);
	if (inside)
		task_sem_give(&appending);
	return rc;
}
