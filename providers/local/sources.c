/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apt itself can list its sources (apt-get indextargets), but says nothing while its lists are
 * empty, as in a fresh container. So the files are read. A third party's archive that happens to
 * use Debian's suite names is told apart by its key: Debian's entries have none of their own or the
 * archive keyring.
 */
#include "providers/local/sources.h"

#define SOURCE_MAX   ((size_t)1 << 20)
#define KEYRING	     "/usr/share/keyrings/debian-archive-keyring.gpg"
#define KEYRING_NAME "debian-archive"

static bool is_archive(const struct source *s)
{
	static const char *const tails[] = { "",	   "-updates",		"-security",
					     "-backports", "-proposed-updates", "/updates" };
	static const char *const names[] = { "bullseye", "bookworm", "trixie",	 "forky",    "sid",
					     "stable",	 "testing",  "unstable", "oldstable" };
	struct str suite = str_of(s->suite);
	if (s->signed_by && str_find(str_of(s->signed_by), STR(KEYRING_NAME)) == SIZE_MAX)
		return false;
	struct str parts = str_of(s->components), part;
	bool has_main = false;
	while (str_next(&parts, ' ', &part))
		has_main = has_main || str_eqc(part, "main");
	for (size_t i = 0; has_main && i < ARRAY_LEN(names); i++)
		for (size_t k = 0; k < ARRAY_LEN(tails); k++)
			if (str_starts(suite, names[i]) &&
			    str_eqc(str_sub(suite, strlen(names[i]), SIZE_MAX), tails[k]))
				return true;
	return false;
}

static void add(struct arena *a, struct sources *out, struct source s)
{
	if (!str_starts(str_of(s.uri), "http://") && !str_starts(str_of(s.uri), "https://"))
		return;
	s.debian = is_archive(&s);
	VEC_ADD(a, &out->v) = s;
}

/* The next blank-separated word; empty at the end. */
static struct str word(struct str *rest)
{
	*rest = str_trim(*rest);
	size_t n = 0;
	while (n < rest->n && rest->p[n] != ' ' && rest->p[n] != '\t' && rest->p[n] != '\n')
		n++;
	struct str w = str_sub(*rest, 0, n);
	*rest = str_sub(*rest, n, SIZE_MAX);
	return w;
}

static const char *option_signed_by(struct arena *a, struct str options)
{
	struct str w;
	while ((w = word(&options)).n)
		if (str_starts(w, "signed-by="))
			return str_cstr(a, str_sub(w, strlen("signed-by="), SIZE_MAX));
	return NULL;
}

/* deb [options] uri suite component... */
static void parse_line(struct arena *a, struct str line, struct sources *out)
{
	struct source s = { 0 };
	struct str rest = str_trim(str_sub(line, 0, str_find_char(line, '#')));
	if (!str_eqc(word(&rest), "deb"))
		return;
	rest = str_trim(rest);
	size_t close = str_find_char(rest, ']');
	if (str_starts(rest, "[") && close != SIZE_MAX) {
		s.signed_by = option_signed_by(a, str_sub(rest, 1, close));
		rest = str_sub(rest, close + 1, SIZE_MAX);
	}
	s.uri = str_cstr(a, word(&rest));
	s.suite = str_cstr(a, word(&rest));
	s.components = str_cstr(a, str_trim(rest));
	add(a, out, s);
}

void sources_parse_list(struct arena *a, struct str text, struct sources *out)
{
	struct str line;
	while (str_next_line(&text, &line))
		parse_line(a, line, out);
}

struct stanza {
	struct str types, uris, suites, components, signed_by, enabled;
};

static void end_stanza(struct arena *a, const struct stanza *st, struct sources *out)
{
	struct str types = st->types, t, uris = st->uris, u;
	bool deb = false;
	while ((t = word(&types)).n)
		deb = deb || str_eqc(t, "deb");
	if (!deb || str_eq_nocase(str_trim(st->enabled), STR("no")))
		return;
	struct str keys = str_trim(st->signed_by);
	while ((u = word(&uris)).n) {
		struct str suites = st->suites, suite;
		while ((suite = word(&suites)).n)
			add(a, out,
			    (struct source){ .uri = str_cstr(a, u),
					     .suite = str_cstr(a, suite),
					     .components = str_cstr(a, str_trim(st->components)),
					     .signed_by = keys.n ? str_cstr(a, keys) : NULL });
	}
}

static struct str *member(struct stanza *st, struct str key)
{
	const struct {
		const char *name;
		struct str *to;
	} rows[] = { { "Types", &st->types },	      { "URIs", &st->uris },
		     { "Suites", &st->suites },	      { "Components", &st->components },
		     { "Signed-By", &st->signed_by }, { "Enabled", &st->enabled } };
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (str_eq_nocase(key, str_of(rows[i].name)))
			return rows[i].to;
	return NULL;
}

void sources_parse_deb822(struct arena *a, struct str text, struct sources *out)
{
	struct stanza st = { 0 };
	struct str line, *last = NULL;
	while (str_next_line(&text, &line)) {
		size_t colon = str_find_char(line, ':');
		if (str_starts(line, "#"))
			continue;
		if (!str_trim(line).n) {
			end_stanza(a, &st, out);
			st = (struct stanza){ 0 };
			last = NULL;
		} else if (line.p[0] == ' ' || line.p[0] == '\t') {
			/* A continuation: the value goes on in the same text. */
			if (last && last->n)
				last->n = (size_t)(line.p + line.n - last->p);
			else if (last)
				*last = line;
		} else if (colon != SIZE_MAX) {
			last = member(&st, str_trim(str_sub(line, 0, colon)));
			if (last)
				*last = str_trim(str_sub(line, colon + 1, SIZE_MAX));
		}
	}
	end_stanza(a, &st, out);
}

static int read_file(struct arena *a, const char *path, struct sources *out, struct err *e)
{
	struct str text;
	if (!fs_exists(path))
		return 0;
	if (fs_read(a, path, SOURCE_MAX, &text, e))
		return -1;
	if (str_ends(str_of(path), ".sources"))
		sources_parse_deb822(a, text, out);
	else
		sources_parse_list(a, text, out);
	return 0;
}

int sources_read(struct arena *a, const char *dir, struct sources *out, struct err *e)
{
	struct fs_names names = { 0 };
	const char *parts = fs_join(a, dir, "sources.list.d");
	if (read_file(a, fs_join(a, dir, "sources.list"), out, e))
		return -1;
	if (fs_is_dir(parts) && fs_list(a, parts, &names, e))
		return -1;
	for (size_t i = 0; i < names.names.n; i++) {
		struct str n = str_of(names.names.v[i]);
		if ((str_ends(n, ".list") || str_ends(n, ".sources")) &&
		    read_file(a, fs_join(a, parts, names.names.v[i]), out, e))
			return -1;
	}
	return 0;
}

static void stanza_write(struct buf *out, const char *uri, const char *suite, const char *tail,
			 const char *components)
{
	if (out->n)
		buf_addc(out, '\n');
	buf_addf(out, "Types: deb\nURIs: %s\nSuites: %s%s\nComponents: %s\n", uri, suite, tail,
		 components);
	if (fs_exists(KEYRING))
		buf_adds(out, "Signed-By: " KEYRING "\n");
}

/* What follows the code name: "-updates", "-security"; NULL: another release's, or one that images
 * don't take. */
static const char *tail_of(const char *suite, const char *own)
{
	const char *const bases[] = { own, "stable", "oldstable", "testing" };
	static const char *const tails[] = { "", "-updates", "-security" };
	for (size_t i = 0; i < ARRAY_LEN(bases); i++)
		for (size_t k = 0; bases[i][0] && k < ARRAY_LEN(tails); k++)
			if (str_starts(str_of(suite), bases[i]) &&
			    !strcmp(suite + strlen(bases[i]), tails[k]))
				return tails[k];
	return NULL;
}

int sources_for(struct arena *a unused_arg, const struct sources *s, const char *own,
		const char *suite, struct buf *out, struct err *e)
{
	bool base = false;
	for (size_t i = 0; i < s->v.n; i++) {
		const struct source *src = &s->v.v[i];
		const char *tail = src->debian ? tail_of(src->suite, own) : NULL;
		if (!tail)
			continue;
		base = base || !tail[0];
		stanza_write(out, src->uri, suite, tail, "main");
	}
	if (base)
		return 0;
	err_set(e, ERR_NOT_FOUND,
		"this machine's apt has no Debian archive configured, so there is nowhere to build hosts from");
	return err_hint(e, "set `mirror: [URL]` of the local provider to a Debian mirror");
}

void sources_for_mirror(const char *mirror, const char *suite, struct buf *out)
{
	stanza_write(out, mirror, suite, "", "main");
}

const char *sources_codename(struct arena *a, const char *os_release)
{
	struct str text, line;
	struct err ignored = { 0 };
	if (fs_read(a, os_release, 1 << 16, &text, &ignored))
		return "";
	while (str_next_line(&text, &line)) {
		if (!str_starts(line, "VERSION_CODENAME="))
			continue;
		struct str v = str_sub(line, strlen("VERSION_CODENAME="), SIZE_MAX);
		if (v.n >= 2 && v.p[0] == '"')
			v = str_sub(v, 1, v.n - 1);
		return str_cstr(a, v);
	}
	return "";
}

bool url_split(struct str url, struct str *host, int *port)
{
	int64_t n;
	bool tls = str_starts(url, "https://");
	if (!tls && !str_starts(url, "http://"))
		return false;
	struct str rest = str_sub(url, tls ? 8 : 7, SIZE_MAX);
	rest = str_sub(rest, 0, str_find_char(rest, '/'));
	size_t at = str_find_char(rest, '@');
	if (at != SIZE_MAX)
		rest = str_sub(rest, at + 1, SIZE_MAX);
	size_t close = str_find_char(rest, ']');
	size_t from = close == SIZE_MAX ? 0 : close;
	size_t colon = str_find_char(str_sub(rest, from, SIZE_MAX), ':');
	*port = tls ? 443 : 80;
	*host = colon == SIZE_MAX ? rest : str_sub(rest, 0, from + colon);
	if (colon != SIZE_MAX) {
		if (!str_to_int(str_sub(rest, from + colon + 1, SIZE_MAX), &n) || n < 1 ||
		    n > 65535)
			return false;
		*port = (int)n;
	}
	if (close != SIZE_MAX && str_starts(*host, "["))
		*host = str_sub(*host, 1, close);
	return host->n > 0;
}
