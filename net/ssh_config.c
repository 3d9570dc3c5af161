/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file is read top to bottom; a Host or Match line switches the lines after it on or off; the
 * first value of a key counts, except IdentityFile, which adds up. A key that the spec has already
 * set is left alone: the spec comes first.
 */
#include "net/ssh_config.h"

#include <errno.h>
#include <glob.h>
#include <pwd.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/pattern.h"

#define FILE_MAX      ((size_t)1 << 20)
#define INCLUDE_DEPTH 16
#define JUMP_DEPTH    8

enum {
	SET_PORT = 1,
	SET_STRICT = 2,
	SET_ONLY = 4,
	SET_CONNECT = 8,
	SET_ALIVE = 16,
	SET_AGENT = 32,
	SET_KNOWN = 64,
	SET_GLOBAL = 128,
	SET_REVOKED = 256,
	SET_HASH = 512
};

struct reader {
	struct arena *a;
	struct ssh_target *t;
	const char *original; /* as typed */
	const char *localuser;
	const char *hostname;  /* HostName, unexpanded */
	const char *proxyjump; /* NULL: not said; "none" */
	bool keep_identities;  /* the spec named some */
	bool active;
	unsigned set;
	VEC(const char *) files; /* IdentityFile, unexpanded */
	VEC(const char *) user_known, global_known;
	int depth, jumps;
	const char *path; /* of the configuration, for jump hosts */
	bool guarded;	  /* reading the user's own file: nobody else may write it */
};

/* ---- words ------------------------------------------------------------------------------------ */

/* The next argument: blanks separate, double quotes hold together, one = may follow the key. */
static bool next_arg(struct reader *r, struct str *rest, const char **out, struct pos at,
		     struct err *e)
{
	struct str s = str_trim(*rest);
	size_t n = 0;

	*out = NULL;
	if (s.n == 0 || s.p[0] == '#') {
		*rest = STR_NONE;
		return true;
	}
	if (s.p[0] == '"') {
		size_t end = str_find_char(str_sub(s, 1, SIZE_MAX), '"');

		if (end == SIZE_MAX) {
			err_set(e, ERR_SPEC, "a quote is not closed");
			err_at(e, at);
			return false;
		}
		*out = str_cstr(r->a, str_sub(s, 1, 1 + end));
		*rest = str_sub(s, end + 2, SIZE_MAX);
		return true;
	}
	while (n < s.n && s.p[n] != ' ' && s.p[n] != '\t')
		n++;
	*out = str_cstr(r->a, str_sub(s, 0, n));
	*rest = str_sub(s, n, SIZE_MAX);
	return true;
}

/* "Key value", "Key=value", "Key = value". */
static struct str take_key(struct str *line)
{
	size_t n = 0;

	while (n < line->n && line->p[n] != ' ' && line->p[n] != '\t' && line->p[n] != '=')
		n++;
	struct str key = str_sub(*line, 0, n), rest = str_trim(str_sub(*line, n, SIZE_MAX));
	if (rest.n && rest.p[0] == '=')
		rest = str_trim(str_sub(rest, 1, SIZE_MAX));
	*line = rest;
	return key;
}

static const char *local_user(struct arena *a)
{
	struct passwd pw, *found = NULL;
	char buf[4096];

	if (getpwuid_r(getuid(), &pw, buf, sizeof buf, &found) == 0 && found)
		return arena_strdup(a, found->pw_name);
	return "root";
}

/* %h host, %n as typed, %p port, %r remote user, %u local user, %d home, %i uid, %%. HostName knows
 * %h as what was typed. */
static const char *expand(struct reader *r, const char *s, const char *host)
{
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, 4096);
	for (; *s; s++) {
		if (*s != '%' || !s[1]) {
			buf_addc(&b, *s);
			continue;
		}
		switch (*++s) {
		case 'h': buf_adds(&b, host); break;
		case 'n': buf_adds(&b, r->original); break;
		case 'p': buf_addf(&b, "%d", r->t->port ? r->t->port : 22); break;
		case 'r': buf_adds(&b, r->t->user ? r->t->user : r->localuser); break;
		case 'u': buf_adds(&b, r->localuser); break;
		case 'd': buf_adds(&b, env_get("HOME") ? env_get("HOME") : "/"); break;
		case 'i': buf_addf(&b, "%ld", (long)getuid()); break;
		case '%': buf_addc(&b, '%'); break;
		default: buf_addf(&b, "%%%c", *s);
		}
	}
	return buf_dup(&b, r->a);
}

static const char *expand_path(struct reader *r, const char *s)
{
	return fs_expand_home(r->a, expand(r, s, r->t->host));
}

/* ---- values ----------------------------------------------------------------------------------- */

static int bad_value(const char *key, const char *value, struct pos at, struct err *e)
{
	err_set(e, ERR_SPEC, "%s cannot be \"%s\"", key, value);
	return err_at(e, at);
}

static int parse_bool(const char *key, const char *v, struct pos at, bool *out, struct err *e)
{
	*out = strcmp(v, "yes") == 0 || strcmp(v, "true") == 0;
	if (!*out && strcmp(v, "no") != 0 && strcmp(v, "false") != 0)
		return bad_value(key, v, at, e);
	return 0;
}

/* Seconds, or 10m, 1h30m. */
static int parse_time(const char *key, const char *v, struct pos at, int64_t *ms, struct err *e)
{
	int64_t total = 0, n = 0;
	bool digits = false;

	for (const char *p = v; *p; p++) {
		if (*p >= '0' && *p <= '9') {
			n = n * 10 + (*p - '0');
			digits = true;
		} else {
			int64_t unit = strchr("sS", *p)	  ? 1
				       : strchr("mM", *p) ? 60
				       : strchr("hH", *p) ? 3600
				       : strchr("dD", *p) ? 86400
							  : 0;
			if (!unit || !digits)
				return bad_value(key, v, at, e);
			total += n * unit;
			n = 0;
			digits = false;
		}
		if (n > 100000000 || total > 100000000)
			return bad_value(key, v, at, e);
	}
	if (!*v)
		return bad_value(key, v, at, e);
	*ms = (total + n) * 1000;
	return 0;
}

static int set_port(struct reader *r, const char *v, struct pos at, struct err *e)
{
	int64_t port;

	if (!str_to_int(str_of(v), &port) || port < 1 || port > 65535)
		return bad_value("Port", v, at, e);
	if (!r->t->port)
		r->t->port = (int)port;
	return 0;
}

static int set_strict(struct reader *r, const char *v, struct pos at, struct err *e)
{
	enum ssh_strict s;

	if (strcmp(v, "yes") == 0 || strcmp(v, "true") == 0 || strcmp(v, "ask") == 0)
		s = SSH_STRICT_YES; /* nobody is there to be asked */
	else if (strcmp(v, "accept-new") == 0)
		s = SSH_STRICT_ACCEPT_NEW;
	else if (strcmp(v, "no") == 0 || strcmp(v, "off") == 0 || strcmp(v, "false") == 0)
		s = SSH_STRICT_NO;
	else
		return bad_value("StrictHostKeyChecking", v, at, e);
	if (!(r->set & SET_STRICT) && r->t->strict == SSH_STRICT_YES)
		r->t->strict = s;
	r->set |= SET_STRICT;
	return 0;
}

static int set_only(struct reader *r, const char *v, struct pos at, struct err *e)
{
	bool yes;

	if (parse_bool("IdentitiesOnly", v, at, &yes, e) != 0)
		return -1;
	if (!(r->set & SET_ONLY))
		r->t->identities_only |= yes;
	r->set |= SET_ONLY;
	return 0;
}

static int set_hash(struct reader *r, const char *v, struct pos at, struct err *e)
{
	bool yes;

	if (parse_bool("HashKnownHosts", v, at, &yes, e) != 0)
		return -1;
	if (!(r->set & SET_HASH))
		r->t->hash_known_hosts |= yes;
	r->set |= SET_HASH;
	return 0;
}

static int set_agent(struct reader *r, const char *v)
{
	if (!(r->set & SET_AGENT)) {
		if (strcmp(v, "none") == 0)
			r->t->no_agent = true;
		else if (!r->t->agent && strcmp(v, "SSH_AUTH_SOCK") != 0)
			r->t->agent = v[0] == '$' ? env_get(v + 1) : expand_path(r, v);
	}
	r->set |= SET_AGENT;
	return 0;
}

static int set_time(struct reader *r, unsigned bit, const char *v, struct pos at, struct err *e)
{
	int64_t *to = bit == SET_CONNECT ? &r->t->connect_ms : &r->t->keepalive_ms;
	int64_t ms = 0;

	if (parse_time(bit == SET_CONNECT ? "ConnectTimeout" : "ServerAliveInterval", v, at, &ms,
		       e) != 0)
		return -1;
	if (!(r->set & bit) && *to == 0)
		*to = ms;
	r->set |= bit;
	return 0;
}

static int set_known(struct reader *r, unsigned bit, const char *first, struct str rest,
		     struct pos at, struct err *e)
{
	const char *v = first;

	if (r->set & bit)
		return 0;
	r->set |= bit;
	while (v) {
		if (strcmp(v, "none") != 0) {
			if (bit == SET_KNOWN)
				VEC_ADD(r->a, &r->user_known) = v;
			else if (bit == SET_GLOBAL)
				VEC_ADD(r->a, &r->global_known) = v;
			else
				VEC_ADD(r->a, &r->t->revoked) = expand_path(r, v);
		}
		if (!next_arg(r, &rest, &v, at, e))
			return -1;
	}
	return 0;
}

static int set_proxy_command(struct reader *r, const char *v, struct pos at, struct err *e)
{
	if (strcmp(v, "none") == 0) {
		if (!r->proxyjump)
			r->proxyjump = "none";
		return 0;
	}
	if (r->proxyjump || r->t->jump)
		return 0; /* whichever comes first */
	err_set(e, ERR_SPEC, "ProxyCommand is not supported (host %s)", r->original);
	err_at(e, at);
	return err_hint(e, "use ProxyJump instead");
}

/* ---- lines ------------------------------------------------------------------------------------ */

static int read_file(struct reader *r, const char *path, struct err *e);

static int host_line(struct reader *r, const char *first, struct str rest, struct pos at,
		     struct err *e)
{
	bool hit = false;

	for (const char *v = first; v;) {
		bool negated = v[0] == '!';

		if (pattern_match(str_of(v + negated), str_of(r->original))) {
			if (negated) {
				r->active = false;
				return 0;
			}
			hit = true;
		}
		if (!next_arg(r, &rest, &v, at, e))
			return -1;
	}
	r->active = hit;
	return 0;
}

static int match_one(struct reader *r, const char *what, const char *list, struct pos at, bool *hit,
		     struct err *e)
{
	const char *host = r->hostname ? expand(r, r->hostname, r->t->host) : r->t->host;
	const char *value;

	if (strcmp(what, "host") == 0) {
		value = host;
	} else if (strcmp(what, "originalhost") == 0) {
		value = r->original;
	} else if (strcmp(what, "user") == 0) {
		value = r->t->user ? r->t->user : r->localuser;
	} else if (strcmp(what, "localuser") == 0) {
		value = r->localuser;
	} else {
		err_set(e, ERR_SPEC, "Match %s is not supported", what);
		err_at(e, at);
		return err_hint(e, "use Host, or Match host, originalhost, user, localuser or all");
	}
	*hit = pattern_list_match(str_of(list), ',', str_of(value)) == PATTERN_YES;
	return 0;
}

static int match_line(struct reader *r, const char *first, struct str rest, struct pos at,
		      struct err *e)
{
	bool all = true;

	for (const char *v = first; v;) {
		const char *list;
		bool negated = v[0] == '!', hit = true;
		const char *what = v + negated;

		if (strcmp(what, "all") != 0 && strcmp(what, "final") != 0 &&
		    strcmp(what, "canonical") != 0) {
			if (!next_arg(r, &rest, &list, at, e))
				return -1;
			if (!list && strcmp(what, "exec") != 0) {
				err_set(e, ERR_SPEC, "Match %s needs a pattern", what);
				return err_at(e, at);
			}
			if (match_one(r, what, list, at, &hit, e) != 0)
				return -1;
		} else if (strcmp(what, "all") != 0) {
			hit = false; /* there is no second pass here */
		}
		all &= hit != negated;
		if (!next_arg(r, &rest, &v, at, e))
			return -1;
	}
	r->active = all;
	return 0;
}

static int include_one(struct reader *r, const char *pattern, struct pos at, struct err *e)
{
	const char *home = arena_printf(r->a, "%s/.ssh", env_get("HOME") ? env_get("HOME") : "");
	const char *base = strcmp(r->path, "/etc/ssh/ssh_config") == 0 ? "/etc/ssh" : home;
	glob_t g;
	int rc = 0;

	if (r->depth >= INCLUDE_DEPTH) {
		err_set(e, ERR_SPEC, "Include goes deeper than %d", INCLUDE_DEPTH);
		return err_at(e, at);
	}
	if (glob(fs_join(r->a, base, fs_expand_home(r->a, pattern)), 0, NULL, &g) != 0)
		return 0; /* nothing matches: as OpenSSH, no error */
	r->depth++;
	for (size_t i = 0; i < g.gl_pathc && rc == 0; i++) {
		bool active = r->active;

		rc = read_file(r, arena_strdup(r->a, g.gl_pathv[i]), e);
		r->active = active; /* a Host inside ends with the file */
	}
	r->depth--;
	globfree(&g);
	return rc;
}

static int include_line(struct reader *r, const char *first, struct str rest, struct pos at,
			struct err *e)
{
	for (const char *v = first; v;) {
		if (include_one(r, v, at, e) != 0 || !next_arg(r, &rest, &v, at, e))
			return -1;
	}
	return 0;
}

enum key {
	K_IGNORED,
	K_HOST,
	K_MATCH,
	K_INCLUDE,
	K_HOSTNAME,
	K_USER,
	K_PORT,
	K_IDENTITY,
	K_ONLY,
	K_AGENT,
	K_JUMP,
	K_PROXY,
	K_KNOWN,
	K_GLOBAL,
	K_STRICT,
	K_ALIAS,
	K_CONNECT,
	K_ALIVE,
	K_REVOKED,
	K_HASH,
};

static enum key key_of(struct str word)
{
	static const struct {
		const char *name;
		enum key key;
	} keys[] = {
		{ "Host", K_HOST },
		{ "Match", K_MATCH },
		{ "Include", K_INCLUDE },
		{ "HostName", K_HOSTNAME },
		{ "User", K_USER },
		{ "Port", K_PORT },
		{ "IdentityFile", K_IDENTITY },
		{ "IdentitiesOnly", K_ONLY },
		{ "IdentityAgent", K_AGENT },
		{ "ProxyJump", K_JUMP },
		{ "ProxyCommand", K_PROXY },
		{ "UserKnownHostsFile", K_KNOWN },
		{ "GlobalKnownHostsFile", K_GLOBAL },
		{ "StrictHostKeyChecking", K_STRICT },
		{ "HostKeyAlias", K_ALIAS },
		{ "ConnectTimeout", K_CONNECT },
		{ "ServerAliveInterval", K_ALIVE },
		{ "RevokedHostKeys", K_REVOKED },
		{ "HashKnownHosts", K_HASH },
	};

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (str_eq_nocase(word, str_of(keys[i].name)))
			return keys[i].key;
	return K_IGNORED;
}

static int apply(struct reader *r, enum key key, const char *v, struct str rest, struct pos at,
		 struct err *e)
{
	switch (key) {
	case K_HOSTNAME:
		if (!r->hostname)
			r->hostname = v;
		return 0;
	case K_USER:
		if (!r->t->user)
			r->t->user = v;
		return 0;
	case K_PORT: return set_port(r, v, at, e);
	case K_IDENTITY:
		if (!r->keep_identities && strcmp(v, "none") != 0)
			VEC_ADD(r->a, &r->files) = v;
		return 0;
	case K_ONLY: return set_only(r, v, at, e);
	case K_AGENT: return set_agent(r, v);
	case K_JUMP:
		if (!r->proxyjump)
			r->proxyjump = v;
		return 0;
	case K_PROXY: return set_proxy_command(r, v, at, e);
	case K_KNOWN: return set_known(r, SET_KNOWN, v, rest, at, e);
	case K_GLOBAL: return set_known(r, SET_GLOBAL, v, rest, at, e);
	case K_STRICT: return set_strict(r, v, at, e);
	case K_ALIAS:
		if (!r->t->host_key_alias)
			r->t->host_key_alias = v;
		return 0;
	case K_CONNECT: return set_time(r, SET_CONNECT, v, at, e);
	case K_ALIVE: return set_time(r, SET_ALIVE, v, at, e);
	case K_REVOKED: return set_known(r, SET_REVOKED, v, rest, at, e);
	case K_HASH: return set_hash(r, v, at, e);
	default: return 0;
	}
}

static int read_line(struct reader *r, struct str line, struct pos at, struct err *e)
{
	struct str rest = str_trim(line);
	const char *v;

	if (rest.n == 0 || rest.p[0] == '#')
		return 0;
	struct str word = take_key(&rest);
	enum key key = key_of(word);
	if (key == K_IGNORED) {
		log_debug("%s:%d: " STR_FMT " ignored", at.file, at.line, STR_ARG(word));
		return 0;
	}
	if (!next_arg(r, &rest, &v, at, e))
		return -1;
	if (!v) {
		err_set(e, ERR_SPEC, STR_FMT " needs a value", STR_ARG(word));
		return err_at(e, at);
	}
	if (key == K_HOST)
		return host_line(r, v, rest, at, e);
	if (key == K_MATCH)
		return match_line(r, v, rest, at, e);
	if (!r->active)
		return 0;
	if (key == K_INCLUDE)
		return include_line(r, v, rest, at, e);
	return apply(r, key, v, rest, at, e);
}

/* Who can write this file decides where we log in and which host keys count. */
static int check_writers(const char *path, struct err *e)
{
	struct stat st;

	if (stat(path, &st) != 0 ||
	    ((st.st_uid == 0 || st.st_uid == getuid()) && !(st.st_mode & (S_IWGRP | S_IWOTH))))
		return 0;
	err_set(e, ERR_SPEC, "%s can be written by others", path);
	return err_hint(e, "make it yours alone: chmod 600 %.200s", path);
}

static int read_file(struct reader *r, const char *path, struct err *e)
{
	struct str text, line;
	struct err why;

	if (r->guarded && check_writers(path, e) != 0)
		return -1;
	if (fs_read(r->a, path, FILE_MAX, &text, &why) != 0) {
		if (why.kind == ERR_NOT_FOUND)
			return 0;
		*e = why;
		return -1;
	}
	for (int n = 1; str_next_line(&text, &line); n++)
		if (read_line(r, line, (struct pos){ path, n, 1 }, e) != 0)
			return -1;
	return 0;
}

static int read_top(struct reader *r, const char *path, struct err *e)
{
	r->path = path;
	r->active = true;
	return read_file(r, path, e);
}

/* ---- the end result --------------------------------------------------------------------------- */

static int resolve(struct arena *a, const char *path, struct ssh_target *t, int jumps,
		   struct err *e);

int ssh_hop_parse(struct arena *a, struct str hop, struct ssh_target *t, struct err *e)
{
	struct str host = str_trim(hop);
	int64_t port = 0;

	if (str_starts(host, "ssh://"))
		host = str_sub(host, 6, SIZE_MAX);
	size_t at = str_find_char(host, '@');
	if (at != SIZE_MAX) {
		t->user = str_cstr(a, str_sub(host, 0, at));
		host = str_sub(host, at + 1, SIZE_MAX);
	}
	struct str tail = STR_NONE;
	size_t close = host.n && host.p[0] == '[' ? str_find_char(host, ']') : SIZE_MAX;
	if (close != SIZE_MAX) {
		tail = str_sub(host, close + 1, SIZE_MAX);
		host = str_sub(host, 1, close);
	} else {
		size_t colon = str_find_char(host, ':');

		if (colon != SIZE_MAX &&
		    str_find_char(str_sub(host, colon + 1, SIZE_MAX), ':') == SIZE_MAX) {
			tail = str_sub(host, colon, SIZE_MAX);
			host = str_sub(host, 0, colon);
		}
	}
	if (tail.n && (tail.p[0] != ':' || !str_to_int(str_sub(tail, 1, SIZE_MAX), &port) ||
		       port < 1 || port > 65535))
		return err_set(e, ERR_SPEC, "ProxyJump: \"" STR_FMT "\" has a bad port",
			       STR_ARG(hop));
	if (host.n == 0)
		return err_set(e, ERR_SPEC, "ProxyJump: a host is missing in \"" STR_FMT "\"",
			       STR_ARG(hop));
	t->port = (int)port;
	t->host = str_cstr(a, host);
	return 0;
}

/* a,b,c: first a, from there b, from there c, from there the target. */
static int resolve_jumps(struct reader *r, struct err *e)
{
	struct str rest = str_of(r->proxyjump), hop;
	struct ssh_target *before = NULL;

	while (str_next(&rest, ',', &hop)) {
		struct ssh_target *j = arena_obj(r->a, struct ssh_target);

		if (++r->jumps > JUMP_DEPTH)
			return err_set(e, ERR_SPEC, "more than %d jump hosts on the way to %s",
				       JUMP_DEPTH, r->original);
		if (ssh_hop_parse(r->a, hop, j, e) != 0)
			return -1;
		if (strcmp(j->host, r->original) == 0)
			return 0; /* "Host *" catches the jump host too: it is reached directly */
		j->passphrase = r->t->passphrase;
		j->jump = before;
		if (resolve(r->a, r->path, j, r->jumps, e) != 0)
			return err_wrap(e, "jump host %s", j->host);
		before = j;
	}
	r->t->jump = before;
	return 0;
}

static void add_if_there(struct reader *r, const char *path)
{
	const char *full = fs_expand_home(r->a, path);

	if (fs_exists(full))
		VEC_ADD(r->a, &r->t->identities) = full;
}

static void fill_identities(struct reader *r)
{
	for (size_t i = 0; i < r->files.n; i++)
		VEC_ADD(r->a, &r->t->identities) = expand_path(r, r->files.v[i]);
	if (r->t->identities.n)
		return;
	add_if_there(r, "~/.ssh/id_ed25519");
	add_if_there(r, "~/.ssh/id_ecdsa");
	add_if_there(r, "~/.ssh/id_rsa");
}

static void fill_known(struct reader *r)
{
	static const char *const user[] = { "~/.ssh/known_hosts", "~/.ssh/known_hosts2" };
	static const char *const global[] = { "/etc/ssh/ssh_known_hosts",
					      "/etc/ssh/ssh_known_hosts2" };

	if (r->t->known_hosts.n)
		return;
	for (size_t i = 0; i < r->user_known.n; i++)
		VEC_ADD(r->a, &r->t->known_hosts) = expand_path(r, r->user_known.v[i]);
	for (size_t i = 0; i < ARRAY_LEN(user) && !(r->set & SET_KNOWN); i++)
		VEC_ADD(r->a, &r->t->known_hosts) = fs_expand_home(r->a, user[i]);
	for (size_t i = 0; i < r->global_known.n; i++)
		VEC_ADD(r->a, &r->t->known_hosts) = expand_path(r, r->global_known.v[i]);
	for (size_t i = 0; i < ARRAY_LEN(global) && !(r->set & SET_GLOBAL); i++)
		VEC_ADD(r->a, &r->t->known_hosts) = global[i];
}

static int read_config(struct reader *r, const char *path, struct err *e)
{
	if (path && strcmp(path, "none") == 0)
		return 0;
	if (path)
		return read_top(r, path, e);
	r->guarded = true;
	int rc = read_top(r, fs_expand_home(r->a, "~/.ssh/config"), e);
	r->guarded = false;
	if (rc != 0)
		return -1;
	return read_top(r, "/etc/ssh/ssh_config", e);
}

static int resolve(struct arena *a, const char *path, struct ssh_target *t, int jumps,
		   struct err *e)
{
	struct reader r = {
		.a = a, .t = t, .original = t->host, .localuser = local_user(a), .jumps = jumps
	};

	r.keep_identities = t->identities.n > 0;
	if (read_config(&r, path, e) != 0)
		return -1;
	r.path = path;
	if (r.hostname)
		t->host = expand(&r, r.hostname, r.original);
	if (!t->user)
		t->user = r.localuser;
	if (t->host_key_alias)
		t->host_key_alias = expand(&r, t->host_key_alias, t->host);
	if (!t->port)
		t->port = 22;
	fill_identities(&r);
	fill_known(&r);
	if (r.proxyjump && strcmp(r.proxyjump, "none") != 0 && !t->jump &&
	    resolve_jumps(&r, e) != 0)
		return -1;
	return 0;
}

int ssh_target_resolve(struct arena *a, const char *path, struct ssh_target *t, struct err *e)
{
	if (!t->host || !t->host[0])
		return err_set(e, ERR_SPEC, "a host without a name or address");
	return resolve(a, path, t, 0, e);
}

int ssh_jumps_resolve(struct arena *a, const char *path, const char *words, struct ssh_target *t,
		      struct err *e)
{
	struct reader r = { .a = a, .t = t, .original = t->host, .path = path, .proxyjump = words };

	return resolve_jumps(&r, e);
}
