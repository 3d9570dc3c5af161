/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PCRE2 reads Python's syntax but for a few corners. Matching has a limit on steps and heap:
 * patterns come from files that somebody else may have written, and a bad one must end in a fault
 * rather than in a hang.
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

struct regex *regex_new(struct arena *a, struct str pattern, unsigned flags, struct err *e)
{
	struct regex *r = arena_obj(a, struct regex);
	uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C |
			   PCRE2_MATCH_UNSET_BACKREF;
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

int regex_find(struct regex *r, struct str text, size_t from, struct regex_match *m, bool *found,
	       struct err *e)
{
	const char *p = text.p ? text.p : "";
	int n = pcre2_match(r->code, (PCRE2_SPTR)p, text.n, from, 0, r->data, r->context);

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

int regex_replace(struct regex *r, struct str text, struct regex_change *change, struct buf *out,
		  struct err *e)
{
	int64_t count = change->count;
	size_t done = 0, from = 0;
	bool found;

	for (change->done = 0; (count <= 0 || change->done < count) && from <= text.n;
	     change->done++) {
		struct regex_match m;
		if (regex_find(r, text, from, &m, &found, e) < 0)
			return -1;
		if (!found)
			break;
		buf_addstr(out, str_sub(text, done, m.begin));
		add_replacement(r, change->with, &m, out);
		done = m.end;
		from = m.end;
		if (m.end == m.begin) { /* an empty match: step over one character */
			from++;
			while (from < text.n && ((unsigned char)text.p[from] & 0xc0) == 0x80)
				from++;
		}
		if (out->overflow)
			break;
	}
	buf_addstr(out, str_sub(text, done, SIZE_MAX));
	return buf_check(out, e);
}
