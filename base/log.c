/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scrubber keeps, for every secret, the forms in which it may turn up in a text: plain,
 * percent-encoded, escaped in JSON, and in base64. In base64 the same bytes look different at each
 * of three alignments, and the characters at both ends also depend on the neighbours; the characters
 * between are what is searched. Longest first, so that no form hides a part of a longer one.
 */
#include "base/log.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>

#include "base/hash.h"

#define MIN_SECRET   4
#define MIN_LINE     16 /* lines of a key file that are secrets of their own */
#define LOG_LINE_MAX ((size_t)64 << 10)

struct form {
	char *p;
	size_t n;
};

static struct {
	log_sink_fn *fn;
	void *arg;
	enum log_level max;
} sink;

static struct {
	pthread_mutex_t lock; /* pool threads scrub too */
	struct form *v;	      /* longest first */
	size_t n, cap;
	bool first[256]; /* bytes that some form starts with */
} secrets = { .lock = PTHREAD_MUTEX_INITIALIZER };

void log_set_sink(log_sink_fn *fn, void *arg, enum log_level max)
{
	sink.fn = fn;
	sink.arg = arg;
	sink.max = max;
}

bool log_enabled(enum log_level level)
{
	return sink.fn && level <= sink.max;
}

/* A line stays a line, and cannot steer a terminal. */
static void add_visible(struct buf *out, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];
		if (c == '\n')
			buf_adds(out, "\\n");
		else if ((c < ' ' && c != '\t') || c == 0x7f)
			buf_addf(out, "\\x%02x", c);
		else
			buf_addc(out, (char)c);
	}
}

void log_msg(enum log_level level, const char *fmt, ...)
{
	struct buf raw, clean, line;
	va_list ap;

	if (!log_enabled(level))
		return;
	buf_init(&raw, BUF_MAX_DEFAULT);
	buf_init(&clean, BUF_MAX_DEFAULT);
	buf_init(&line, LOG_LINE_MAX);
	va_start(ap, fmt);
	buf_addv(&raw, fmt, ap);
	va_end(ap);
	scrub(&clean, buf_str(&raw));
	add_visible(&line, buf_str(&clean));
	sink.fn(sink.arg, level, buf_str(&line).p);
	buf_fini(&line);
	buf_fini(&clean);
	buf_wipe(&raw);
}

static void add_form(struct str s)
{
	size_t at = 0;

	if (s.n < MIN_SECRET)
		return;
	while (at < secrets.n && secrets.v[at].n >= s.n) {
		if (secrets.v[at].n == s.n && memcmp(secrets.v[at].p, s.p, s.n) == 0)
			return;
		at++;
	}
	if (secrets.n == secrets.cap) {
		secrets.cap = secrets.cap ? secrets.cap * 2 : 16;
		secrets.v = mem_realloc(secrets.v, secrets.cap * sizeof(*secrets.v));
	}
	memmove(secrets.v + at + 1, secrets.v + at, (secrets.n - at) * sizeof(*secrets.v));
	secrets.v[at] = (struct form){ mem_alloc(s.n), s.n };
	memcpy(secrets.v[at].p, s.p, s.n);
	secrets.n++;
	secrets.first[(unsigned char)s.p[0]] = true;
}

static void add_base64(struct str secret)
{
	for (size_t shift = 0; shift < 3; shift++) {
		struct buf padded, text;
		struct str mid;
		buf_init(&padded, secret.n + 3);
		buf_init(&text, 2 * secret.n + 16);
		buf_addn(&padded, '\0', shift);
		buf_addstr(&padded, secret);
		base64_encode(&text, buf_str(&padded));
		mid = str_sub(buf_str(&text), (shift * 8 + 5) / 6, (shift + secret.n) * 8 / 6);
		add_form(mid);
		for (size_t i = 0; i < text.n; i++) /* the alphabet for URLs */
			text.p[i] = text.p[i] == '+' ? '-' : text.p[i] == '/' ? '_' : text.p[i];
		add_form(mid);
		buf_wipe(&text);
		buf_wipe(&padded);
	}
}

static void add_percent(struct str secret, const char *digits, bool form_blank)
{
	struct buf b;

	buf_init(&b, secret.n * 3 + 1);
	for (size_t i = 0; i < secret.n; i++) {
		unsigned char c = (unsigned char)secret.p[i];
		char three[3] = { '%', digits[c >> 4], digits[c & 15] };
		if ((c < 0x80 && isalnum(c)) || (c && strchr("-._~", c)))
			buf_addc(&b, (char)c);
		else if (c == ' ' && form_blank)
			buf_addc(&b, '+');
		else
			buf_add(&b, three, 3);
	}
	add_form(buf_str(&b));
	buf_wipe(&b);
}

/* As it looks inside a JSON string or a quoted log field. */
static void add_escaped(struct str secret)
{
	struct buf b;

	buf_init(&b, secret.n * 6 + 1);
	for (size_t i = 0; i < secret.n; i++) {
		char c = secret.p[i];
		if (c == '\n')
			buf_adds(&b, "\\n");
		else if (c == '\t')
			buf_adds(&b, "\\t");
		else if (c == '\r')
			buf_adds(&b, "\\r");
		else if (c == '"' || c == '\\')
			buf_addf(&b, "\\%c", c);
		else
			buf_addc(&b, c);
	}
	add_form(buf_str(&b));
	buf_wipe(&b);
}

/* A private key is shown line by line as often as whole. Its BEGIN and END lines are no secret. */
static void add_lines(struct str secret)
{
	struct str line;

	if (str_find_char(secret, '\n') == SIZE_MAX)
		return;
	while (str_next_line(&secret, &line))
		if (line.n >= MIN_LINE && !str_starts(line, "-----"))
			add_form(line);
}

void scrub_register(struct str secret)
{
	if (secret.n < MIN_SECRET)
		return;
	pthread_mutex_lock(&secrets.lock);
	add_form(secret);
	add_form(str_trim(secret)); /* a file's last newline is rarely printed with it */
	add_lines(secret);
	add_base64(secret);
	add_percent(secret, "0123456789ABCDEF", false);
	add_percent(secret, "0123456789abcdef", false);
	add_percent(secret, "0123456789ABCDEF", true);
	add_escaped(secret);
	pthread_mutex_unlock(&secrets.lock);
}

static size_t match_at(struct str text, size_t at)
{
	if (!secrets.first[(unsigned char)text.p[at]])
		return 0;
	for (size_t i = 0; i < secrets.n; i++)
		if (secrets.v[i].n <= text.n - at &&
		    memcmp(secrets.v[i].p, text.p + at, secrets.v[i].n) == 0)
			return secrets.v[i].n;
	return 0;
}

void scrub(struct buf *out, struct str text)
{
	size_t start = 0, at = 0;

	pthread_mutex_lock(&secrets.lock);
	while (secrets.n && at < text.n) {
		size_t n = match_at(text, at);
		if (n == 0) {
			at++;
			continue;
		}
		buf_add(out, text.p + start, at - start);
		buf_adds(out, "(sensitive)");
		start = at += n;
	}
	buf_addstr(out, str_sub(text, start, SIZE_MAX));
	pthread_mutex_unlock(&secrets.lock);
}

void scrub_reset(void)
{
	pthread_mutex_lock(&secrets.lock);
	for (size_t i = 0; i < secrets.n; i++) {
		explicit_bzero(secrets.v[i].p, secrets.v[i].n);
		mem_free(secrets.v[i].p);
	}
	mem_free(secrets.v);
	secrets.v = NULL;
	secrets.n = secrets.cap = 0;
	memset(secrets.first, 0, sizeof(secrets.first));
	pthread_mutex_unlock(&secrets.lock);
}
