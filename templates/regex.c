/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PCRE2 reads Python's syntax but for a few corners, which are written anew. Matching has a limit
 * on steps and heap: patterns come from files that somebody else may have written, and a bad one
 * must end in a fault rather than in a hang.
 */
#include "templates/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <ctype.h>
#include <pcre2.h>

#define MATCH_LIMIT 2000000

struct regex {
	struct arena *a; /* its own, and of the groups it finds */
	pcre2_code *code;
	pcre2_match_data *data;
	pcre2_match_context *context;
};

static void free_regex(void *arg)
{
	struct regex *r = arg;

	pcre2_match_context_free(r->context);
	pcre2_match_data_free(r->data);
	pcre2_code_free(r->code);
}

/* ---- Python's corners ----------------------------------------------------------------------- */

struct rewriting {
	struct str in;
	struct buf out;
	bool in_class;
	struct err *e;
};

/* \u20ac, \U0001f600 */
static bool add_unicode_escape(struct rewriting *w, size_t digits)
{
	struct str hex = str_sub(w->in, 2, 2 + digits);
	uint64_t c;

	if (hex.n != digits || !str_to_uint(hex, 16, &c))
		return false;
	buf_addf(&w->out, "\\x{%llx}", (unsigned long long)c);
	w->in = str_sub(w->in, 2 + digits, SIZE_MAX);
	return true;
}

static int add_escape(struct rewriting *w)
{
	static const char more_space[] = "\\x1c-\\x1f";
	char c = w->in.n > 1 ? w->in.p[1] : '\0';

	if ((c == 'u' && add_unicode_escape(w, 4)) || (c == 'U' && add_unicode_escape(w, 8)))
		return 0;
	if (c == 'Z')
		buf_adds(&w->out, "\\z");
	else if (c == 's')
		buf_addf(&w->out, w->in_class ? "\\s%s" : "[\\s%s]", more_space);
	else if (c == 'S' && !w->in_class)
		buf_addf(&w->out, "[^\\s%s]", more_space);
	else if (isalpha((unsigned char)c) && !strchr("AbBdDsSwWafnrtvx", c))
		return err_set(w->e, ERR_SPEC, "the pattern has a bad escape \\%c", c);
	else
		buf_addstr(&w->out, str_sub(w->in, 0, 2));
	w->in = str_sub(w->in, 2, SIZE_MAX);
	return 0;
}

/* "{,3}" means from none on. */
static bool is_open_count(struct str s)
{
	size_t n = 2;

	if (!str_starts(s, "{,"))
		return false;
	while (n < s.n && isdigit((unsigned char)s.p[n]))
		n++;
	return n > 2 && n < s.n && s.p[n] == '}';
}

static void begin_class(struct rewriting *w)
{
	size_t n = 1;

	n += n < w->in.n && w->in.p[n] == '^';
	n += n < w->in.n && w->in.p[n] == ']'; /* the first is a letter of the class */
	buf_addstr(&w->out, str_sub(w->in, 0, n));
	w->in = str_sub(w->in, n, SIZE_MAX);
	w->in_class = true;
}

static int rewrite(struct rewriting *w)
{
	while (w->in.n) {
		char c = w->in.p[0];
		if (c == '\\') {
			if (add_escape(w) < 0)
				return -1;
			continue;
		}
		if (c == '[' && !w->in_class) {
			begin_class(w);
			continue;
		}
		if (c == ']')
			w->in_class = false;
		if (c == '[') /* no [:alpha:] in Python */
			buf_adds(&w->out, "\\[");
		else if (!w->in_class && is_open_count(w->in))
			buf_adds(&w->out, "{0");
		else
			buf_addc(&w->out, c);
		w->in = str_sub(w->in, 1, SIZE_MAX);
	}
	return buf_check(&w->out, w->e);
}

/* ---- compiling and matching ----------------------------------------------------------------- */

static struct regex *compile(struct arena *a, struct str pattern, unsigned flags, struct err *e);

struct regex *regex_new(struct arena *a, struct str pattern, unsigned flags, struct err *e)
{
	struct rewriting w = { .in = pattern, .e = e };
	struct regex *r = NULL;

	buf_init(&w.out, 65536);
	if (rewrite(&w) == 0)
		r = compile(a, buf_str(&w.out), flags, e);
	buf_fini(&w.out);
	return r;
}

static struct regex *compile(struct arena *a, struct str pattern, unsigned flags, struct err *e)
{
	struct regex *r = arena_obj(a, struct regex);
	uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C;
	unsigned char words[200];
	int code;
	PCRE2_SIZE at;

	options |= flags & REGEX_IGNORECASE ? PCRE2_CASELESS : 0;
	options |= flags & REGEX_MULTILINE ? PCRE2_MULTILINE : 0;
	options |= flags & REGEX_ANCHORED ? PCRE2_ANCHORED : 0;
	options |= flags & REGEX_DOTALL ? PCRE2_DOTALL : 0;
	if (pattern.n > 32768) {
		err_set(e, ERR_SPEC, "the pattern is longer than 32 KiB");
		return NULL;
	}
	r->a = a;
	r->code = pcre2_compile((PCRE2_SPTR)(pattern.p ? pattern.p : ""), pattern.n, options, &code,
				&at, NULL);
	if (!r->code) {
		pcre2_get_error_message(code, words, sizeof words);
		err_set(e, ERR_SPEC, "the pattern \"" STR_FMT "\" is wrong at character %zu: %s",
			STR_ARG(str_sub(pattern, 0, 200)), at + 1, (const char *)words);
		return NULL;
	}
	r->data = pcre2_match_data_create_from_pattern(r->code, NULL);
	r->context = pcre2_match_context_create(NULL);
	pcre2_set_match_limit(r->context, MATCH_LIMIT);
	pcre2_set_heap_limit(r->context, 20000);
	arena_on_free(a, free_regex, r);
	return r;
}

/* n: what pcre2_match said. */
static int take_match(struct regex *r, struct str text, int n, struct regex_match *m, bool *found,
		      struct err *e)
{
	const char *p = text.p ? text.p : "";

	*found = n > 0;
	if (n == PCRE2_ERROR_NOMATCH)
		return 0;
	if (n <= PCRE2_ERROR_UTF8_ERR1 && n >= PCRE2_ERROR_UTF8_ERR21)
		return err_set(e, ERR_SPEC, "the text to match is not UTF-8");
	if (n <= 0)
		return err_set(e, ERR_SPEC, "matching the pattern takes too long");
	const PCRE2_SIZE *v = pcre2_get_ovector_pointer(r->data);
	/* Groups after the last one that took part count too. */
	m->n = pcre2_get_ovector_count(r->data);
	m->group = arena_array(r->a, struct str, m->n);
	for (size_t i = 0; i < m->n; i++)
		if (i < (size_t)n && v[2 * i] != PCRE2_UNSET)
			m->group[i] = (struct str){ p + v[2 * i], v[2 * i + 1] - v[2 * i] };
	m->begin = v[0];
	m->end = v[1] > v[0] ? v[1] : v[0];
	return 0;
}

static int match(struct regex *r, struct str text, size_t from, uint32_t options)
{
	return pcre2_match(r->code, (PCRE2_SPTR)(text.p ? text.p : ""), text.n, from, options,
			   r->data, r->context);
}

int regex_find(struct regex *r, struct str text, size_t from, struct regex_match *m, bool *found,
	       struct err *e)
{
	return take_match(r, text, match(r, text, from, 0), m, found, e);
}

int regex_find_next(struct regex *r, struct str text, struct regex_match *m, bool *found,
		    struct err *e)
{
	uint32_t options = m->end == m->begin ? PCRE2_NOTEMPTY_ATSTART : 0;

	return take_match(r, text, match(r, text, m->end, options), m, found, e);
}

int regex_group(const struct regex *r, struct str name)
{
	int n = pcre2_substring_number_from_name(r->code, (PCRE2_SPTR)str_cstr(r->a, name));

	return n > 0 ? n : -1;
}

/* After a backslash in the replacement: \1, \g<name>, \n, \\. Gives the bytes used. */
static size_t add_reference(struct regex *r, struct str with, const struct regex_match *m,
			    struct buf *out)
{
	char c = with.n ? with.p[0] : '\\';
	int64_t number = -1;
	size_t used = 1;

	if (isdigit((unsigned char)c)) {
		used = with.n > 1 && isdigit((unsigned char)with.p[1]) ? 2 : 1;
		if (!str_to_int(str_sub(with, 0, used), &number))
			return used;
	} else if (c == 'g' && with.n > 2 && with.p[1] == '<' &&
		   str_find_char(with, '>') != SIZE_MAX) {
		struct str name = str_sub(with, 2, str_find_char(with, '>'));
		used = name.n + 3;
		if (!str_to_int(name, &number))
			number = regex_group(r, name);
	} else {
		static const char from[] = "ntrabfv\\", to[] = "\n\t\r\a\b\f\v\\";
		const char *known = with.n ? memchr(from, c, sizeof from - 1) : NULL;
		if (!known)
			buf_addc(out, '\\');
		if (with.n)
			buf_addc(out, known ? to[known - from] : c);
		return used;
	}
	if (number >= 0 && (size_t)number < m->n)
		buf_addstr(out, m->group[number]);
	return used;
}

static void add_replacement(struct regex *r, struct str with, const struct regex_match *m,
			    struct buf *out)
{
	while (with.n) {
		size_t slash = str_find_char(with, '\\');
		buf_addstr(out, str_sub(with, 0, slash));
		if (slash == SIZE_MAX)
			return;
		with = str_sub(with, slash + 1, SIZE_MAX);
		with = str_sub(with, add_reference(r, with, m, out), SIZE_MAX);
	}
}

/* The group that "g<name>" at s names, or that of "1" or "12"; -1: none is there. */
static int64_t referenced(const struct regex *r, struct str s)
{
	int64_t n = -1;

	if (s.p[0] != 'g')
		return str_to_int(str_sub(s, 0, s.n > 1 && isdigit((unsigned char)s.p[1]) ? 2 : 1),
				  &n)
			       ? n
			       : -1;
	struct str name = str_starts(s, "g<") ? str_sub(s, 2, str_find_char(s, '>')) : STR_NONE;
	return name.n && str_to_int(name, &n) ? n : name.n ? regex_group(r, name) : -1;
}

/* Python refuses a replacement that it does not understand. */
static int check_replacement(const struct regex *r, struct str with, struct err *e)
{
	int64_t groups = (int64_t)pcre2_get_ovector_count(r->data);

	for (size_t i = 0; i + 1 < with.n; i++) {
		struct str rest = str_sub(with, i + 1, SIZE_MAX);
		char c = rest.p[0];
		if (with.p[i] != '\\')
			continue;
		i++;
		if (c == '0' || (isalpha((unsigned char)c) && strchr("ntrabfv", c)))
			continue;
		if (c == 'g' || isdigit((unsigned char)c)) {
			int64_t n = referenced(r, rest);
			if (n < 0 || n >= groups)
				return err_set(
					e, ERR_SPEC,
					"the replacement names a group that the pattern does not have");
		} else if (isalpha((unsigned char)c)) {
			return err_set(e, ERR_SPEC, "the replacement has a bad escape \\%c", c);
		}
	}
	return 0;
}

int regex_replace(struct regex *r, struct str text, struct regex_change *change, struct buf *out,
		  struct err *e)
{
	int64_t count = change->count;
	struct regex_match m;
	bool found = false;
	size_t done = 0;
	int rc = check_replacement(r, change->with, e);

	if (rc == 0 && count >= 0)
		rc = regex_find(r, text, 0, &m, &found, e);

	change->done = 0;
	while (rc == 0 && found && !out->overflow) {
		buf_addstr(out, str_sub(text, done, m.begin));
		add_replacement(r, change->with, &m, out);
		done = m.end;
		if (++change->done == count)
			break;
		rc = regex_find_next(r, text, &m, &found, e);
	}
	if (rc < 0)
		return -1;
	buf_addstr(out, str_sub(text, done, SIZE_MAX));
	return buf_check(out, e);
}
