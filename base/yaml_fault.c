/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libyaml's messages speak of tokens and indicators, and often point at the place where it gave up
 * instead of the one where the mistake is. The table says what each of them means to the person who
 * wrote the file.
 */
#include "base/yaml_fault.h"

enum where {
	AT_PROBLEM,
	AT_CONTEXT, /* where the thing began that never ended */
};

struct saying {
	const char *problem; /* libyaml's words, from the start */
	const char *context; /* and of the context; NULL: any */
	enum where where;
	const char *msg; /* "%d" is the line of the context */
	const char *hint;
};

static const struct saying sayings[] = {
	{ "found character that cannot start any token", NULL, AT_PROBLEM,
	  "this character cannot begin a value", "quote the text" },
	{ "found a tab character", NULL, AT_PROBLEM, "a tab is used for indentation",
	  "indent with blanks" },
	{ "mapping values are not allowed", NULL, AT_PROBLEM, "a ':' is not allowed here",
	  "quote the text if it holds ': ', see that the line above has its own ':', and indent keys alike" },
	{ "block sequence entries are not allowed", NULL, AT_PROBLEM,
	  "a list item '- ' is not allowed here", "start the list on a new line under its key" },
	{ "mapping keys are not allowed", NULL, AT_PROBLEM, "a key is not allowed here",
	  "put the key on a line of its own, indented like its neighbours" },
	{ "did not find expected key", NULL, AT_PROBLEM,
	  "expected a key of the map that begins in line %d",
	  "indent this line like the other keys of that map, or quote the text before it" },
	{ "did not find expected '-' indicator", NULL, AT_PROBLEM,
	  "expected '- ' and the next item of the list that begins in line %d",
	  "indent this line like the other items" },
	{ "could not find expected ':'", NULL, AT_CONTEXT, "expected ':' and a value after this",
	  "write 'key: value' with a blank after the colon, or quote the text" },
	{ "did not find expected ',' or ']'", NULL, AT_PROBLEM,
	  "the list that begins with '[' in line %d is not closed",
	  "put ',' between items and ']' at the end" },
	{ "did not find expected ',' or '}'", NULL, AT_PROBLEM,
	  "the map that begins with '{' in line %d is not closed",
	  "put ',' between entries and '}' at the end; quote a text that begins with '{'" },
	{ "found unexpected end of stream", "while scanning a quoted scalar", AT_CONTEXT,
	  "this quote is never closed", "put the same quote at the end of the text" },
	{ "found unexpected document indicator", NULL, AT_CONTEXT,
	  "this quote is not closed before the document ends",
	  "put the same quote at the end of the text" },
	{ "found unknown escape character", NULL, AT_PROBLEM,
	  "no such escape in a text in double quotes",
	  "write \\\\ for a backslash, or use single quotes" },
	{ "did not find expected hexdecimal number", NULL, AT_PROBLEM,
	  "the escape needs hexadecimal digits", "write \\xNN, \\uNNNN or \\UNNNNNNNN" },
	{ "did not find expected node content", NULL, AT_PROBLEM, "a value is missing here",
	  "write a value, or \"\" for an empty text" },
	{ "did not find expected <document start>", NULL, AT_PROBLEM,
	  "something is left over after the end of the document",
	  "indent this line like the lines that it belongs to" },
	{ "did not find expected alphabetic or numeric character", "while scanning an anchor",
	  AT_PROBLEM, "'&' begins an anchor and needs a name", "quote the text" },
	{ "did not find expected alphabetic or numeric character", "while scanning an alias",
	  AT_PROBLEM, "'*' begins an alias and needs a name", "quote the text: \"*\"" },
	{ "did not find expected comment or line break", NULL, AT_PROBLEM,
	  "nothing may follow here in the same line", "start the text in the next line" },
	{ "found undefined tag handle", NULL, AT_PROBLEM,
	  "'!' begins a tag, and this one is not known", "quote the text" },
	{ "found a tab", NULL, AT_PROBLEM, "a tab is used for indentation", "indent with blanks" },
	{ "did not find expected whitespace or line break", NULL, AT_PROBLEM,
	  "a blank is missing here", "quote the text, or add the blank" },
	{ "found incompatible YAML document", NULL, AT_PROBLEM, "this version of YAML is not known",
	  "remove the %YAML line" },
};

void yaml_text_init(struct yaml_text *t, struct arena *a, const char *file, struct str text)
{
	size_t n = 1;

	for (size_t i = 0; i < text.n; i++)
		n += text.p[i] == '\n' || text.p[i] == '\r';
	*t = (struct yaml_text){
		.file = file, .text = text, .line = arena_array(a, size_t, n), .lines = 1
	};
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '\r' && i + 1 < text.n && text.p[i + 1] == '\n')
			i++;
		else if (text.p[i] != '\n' && text.p[i] != '\r')
			continue;
		t->line[t->lines++] = i + 1;
	}
}

/* Characters to bytes. A whole file may be one line, so counting goes on from the last mark where
 * it can. */
struct pos yaml_text_pos(struct yaml_text *t, yaml_mark_t mark)
{
	size_t line = mark.line < t->lines ? mark.line : t->lines - 1;
	size_t start = t->line[line], at = start, col = 0;

	if (t->seen_line == line && t->seen_col <= mark.column && t->seen_byte >= start) {
		at = t->seen_byte;
		col = t->seen_col;
	}
	for (; col < mark.column && at < t->text.n; col++) {
		size_t len = str_utf8_len(str_sub(t->text, at, SIZE_MAX));
		at += len ? len : 1;
	}
	t->seen_line = line;
	t->seen_col = col;
	t->seen_byte = at;
	return (struct pos){ t->file, (int)line + 1, (int)(at - start) + 1 };
}

struct pos yaml_text_pos_at(const struct yaml_text *t, size_t offset)
{
	size_t low = 0, high = t->lines;

	while (high - low > 1) {
		size_t mid = (low + high) / 2;
		if (t->line[mid] <= offset)
			low = mid;
		else
			high = mid;
	}
	return (struct pos){ t->file, (int)low + 1, (int)(offset - t->line[low]) + 1 };
}

/* Controls, and the other line breaks of YAML 1.1, after which editors and libyaml would count
 * lines differently. */
static bool is_forbidden(struct str s, size_t len)
{
	unsigned char c = (unsigned char)s.p[0];

	if (len == 1)
		return (c < ' ' && c != '\t' && c != '\n' && c != '\r') || c == 0x7f;
	if (len == 2)
		return c == 0xc2 && (unsigned char)s.p[1] < 0xa0;
	if (len == 3)
		return memcmp(s.p, "\xe2\x80\xa8", 3) == 0 || memcmp(s.p, "\xe2\x80\xa9", 3) == 0 ||
		       memcmp(s.p, "\xef\xbb\xbf", 3) == 0 || memcmp(s.p, "\xef\xbf\xbe", 3) == 0 ||
		       memcmp(s.p, "\xef\xbf\xbf", 3) == 0;
	return false;
}

int yaml_text_check(const struct yaml_text *t, struct err *e)
{
	for (size_t i = 0; i < t->text.n;) {
		struct str rest = str_sub(t->text, i, SIZE_MAX);
		size_t len = str_utf8_len(rest);
		if (len && !is_forbidden(rest, len)) {
			i += len;
			continue;
		}
		if (len == 0) {
			err_set(e, ERR_SPEC, "byte 0x%02x is not UTF-8", (unsigned char)rest.p[0]);
			err_hint(e, "save the file as UTF-8");
		} else {
			err_set(e, ERR_SPEC, "a control character%s",
				len == 1 ? "" : " of Unicode");
			if (len == 1)
				err_set(e, ERR_SPEC, "a control character (0x%02x)",
					(unsigned char)rest.p[0]);
			err_hint(e, "remove it, or write it as an escape in double quotes");
		}
		return err_at(e, yaml_text_pos_at(t, i));
	}
	return 0;
}

static const struct saying *find_saying(const yaml_parser_t *p)
{
	struct str problem = str_of(p->problem), context = str_of(p->context);

	for (size_t i = 0; i < ARRAY_LEN(sayings); i++) {
		const struct saying *s = &sayings[i];
		if (str_starts(problem, s->problem) &&
		    (!s->context || str_starts(context, s->context)))
			return s;
	}
	return NULL;
}

static bool is_tab_at(const struct yaml_text *t, struct pos p)
{
	size_t at = t->line[p.line - 1] + (size_t)p.col - 1;

	return at < t->text.n && t->text.p[at] == '\t';
}

int yaml_fault(struct yaml_text *t, const yaml_parser_t *parser, struct err *e)
{
	const struct saying *s = find_saying(parser);
	struct pos problem = yaml_text_pos(t, parser->problem_mark);
	struct pos context = yaml_text_pos(t, parser->context_mark);
	struct str head;
	const char *number;

	if (parser->error == YAML_MEMORY_ERROR)
		mem_oom();
	if (is_tab_at(t, problem) &&
	    str_starts(str_of(parser->problem), "found character that cannot start")) {
		err_set(e, ERR_SPEC, "a tab is used for indentation");
		err_hint(e, "indent with blanks");
		return err_at(e, problem);
	}
	if (!s) {
		err_set(e, ERR_SPEC, "not valid YAML: %s",
			parser->problem ? parser->problem : "unreadable");
		return err_at(e, problem);
	}
	number = strstr(s->msg, "%d");
	head = str_sub(str_of(s->msg), 0, number ? (size_t)(number - s->msg) : SIZE_MAX);
	if (number)
		err_set(e, ERR_SPEC, STR_FMT "%d%s", STR_ARG(head), context.line, number + 2);
	else
		err_set(e, ERR_SPEC, "%s", s->msg);
	err_hint(e, "%s", s->hint);
	return err_at(e, s->where == AT_CONTEXT && parser->context ? context : problem);
}
