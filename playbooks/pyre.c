/* SPDX-License-Identifier: Apache-2.0 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "playbooks/pyre.h"

#include <pcre2.h>

struct pyre {
	pcre2_code *code;
	pcre2_match_data *data;
	pcre2_match_context *limits;
};

static void release(void *arg)
{
	struct pyre *r = arg;

	pcre2_match_context_free(r->limits);
	pcre2_match_data_free(r->data);
	pcre2_code_free(r->code);
}

int pyre_compile(struct arena *a, struct str pattern, bool multiline, struct pyre **out,
		 struct err *e)
{
	struct pyre *r = arena_obj(a, struct pyre);
	uint32_t flags = PCRE2_NEVER_BACKSLASH_C | (multiline ? PCRE2_MULTILINE : 0);
	PCRE2_UCHAR msg[128];
	PCRE2_SIZE at;
	int code;

	if (str_is_utf8(pattern))
		flags |= PCRE2_UTF | PCRE2_MATCH_INVALID_UTF;
	r->code = pcre2_compile((PCRE2_SPTR)pattern.p, pattern.n, flags, &code, &at, NULL);
	if (!r->code) {
		pcre2_get_error_message(code, msg, sizeof(msg));
		return err_set(e, ERR_SPEC,
			       "bad regular expression '" STR_FMT "': %s at column %zu",
			       STR_ARG(pattern), (char *)msg, (size_t)at + 1);
	}
	r->data = pcre2_match_data_create(PYRE_GROUPS, NULL);
	r->limits = pcre2_match_context_create(NULL);
	if (!r->data || !r->limits)
		mem_oom();
	pcre2_set_match_limit(r->limits, 1000000);
	arena_on_free(a, release, r);
	*out = r;
	return 0;
}

bool pyre_search(const struct pyre *r, struct str subject, size_t from, struct pyre_match *m)
{
	int n = pcre2_match(r->code, (PCRE2_SPTR)(subject.p ? subject.p : ""), subject.n, from, 0,
			    r->data, r->limits);
	PCRE2_SIZE *v;

	if (n < 0)
		return false;
	if (!m)
		return true;
	v = pcre2_get_ovector_pointer(r->data);
	m->n = n ? (size_t)n : PYRE_GROUPS;
	m->start = v[0];
	m->end = v[1];
	for (size_t i = 0; i < PYRE_GROUPS; i++) {
		m->group[i] = STR_NONE;
		if (i < m->n && v[2 * i] != PCRE2_UNSET)
			m->group[i] = str_sub(subject, v[2 * i], v[2 * i + 1]);
	}
	return true;
}

static void add_group(struct buf *b, const struct pyre *r, const struct pyre_match *m,
		      struct str name)
{
	uint64_t n;

	if (!str_to_uint(name, 10, &n)) {
		char key[64];
		int k;
		if (name.n >= sizeof(key))
			return;
		memcpy(key, name.p, name.n);
		key[name.n] = '\0';
		k = pcre2_substring_number_from_name(r->code, (PCRE2_SPTR)key);
		if (k < 0)
			return;
		n = (uint64_t)k;
	}
	if (n < m->n)
		buf_addstr(b, m->group[n]);
}

/* The escape at s (after the backslash); returns how many bytes it took. */
static size_t expand_one(struct buf *b, const struct pyre *r, const struct pyre_match *m,
			 struct str s)
{
	size_t end;

	if (s.p[0] >= '0' && s.p[0] <= '9') {
		end = s.n > 1 && s.p[1] >= '0' && s.p[1] <= '9' ? 2 : 1;
		add_group(b, r, m, str_sub(s, 0, end));
		return end;
	}
	end = str_find_char(s, '>');
	if (s.n > 2 && s.p[0] == 'g' && s.p[1] == '<' && end != SIZE_MAX) {
		add_group(b, r, m, str_sub(s, 2, end));
		return end + 1;
	}
	switch (s.p[0]) {
	case 'n': buf_addc(b, '\n'); break;
	case 't': buf_addc(b, '\t'); break;
	case 'r': buf_addc(b, '\r'); break;
	case '\\': buf_addc(b, '\\'); break;
	default: buf_addc(b, '\\'); buf_addc(b, s.p[0]);
	}
	return 1;
}

void pyre_expand(struct buf *b, const struct pyre *r, const struct pyre_match *m, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '\\' && i + 1 < text.n)
			i += expand_one(b, r, m, str_sub(text, i + 1, SIZE_MAX));
		else
			buf_addc(b, text.p[i]);
	}
}
