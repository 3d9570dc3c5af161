/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers, sizes, times and passwords. */
#include <crypt.h>
#include <ctype.h>
#include <math.h>
#include <time.h>

#include "base/clock.h"
#include "base/rand.h"
#include "templates/filters.h"

static int number(struct call *c, const struct value *v, double *out)
{
	if (v && op_is_number(v)) {
		*out = op_to_double(v);
		return 0;
	}
	call_fault(c, "%s needs a number, not %s", c->name, v ? op_type_name(v) : "nothing");
	return -1;
}

static const struct value *f_log(struct call *c)
{
	double x, base = M_E;

	if (number(c, c->self, &x) < 0 || (c->arg[0] && number(c, c->arg[0], &base) < 0))
		return NULL;
	if (x <= 0 || base <= 0 || base == 1)
		return call_fault(c, "log of what is not above 0");
	return value_float(c->a, base == 10 ? log10(x) : base == M_E ? log(x) : log(x) / log(base));
}

static const struct value *f_pow(struct call *c)
{
	double x, y;

	if (number(c, c->self, &x) < 0 || number(c, c->arg[0], &y) < 0)
		return NULL;
	return value_float(c->a, pow(x, y));
}

static const struct value *f_root(struct call *c)
{
	double x, base = 2;

	if (number(c, c->self, &x) < 0 || (c->arg[0] && number(c, c->arg[0], &base) < 0))
		return NULL;
	if (base == 0 || x < 0)
		return call_fault(c, "root: the number must not be below 0, nor the base 0");
	return value_float(c->a, base == 2 ? sqrt(x) : pow(x, 1 / base));
}

/* ---- sizes ---------------------------------------------------------------------------------- */

static const char size_letters[] = "YZEPTGMK";

static double size_of(char letter)
{
	const char *at = letter ? strchr(size_letters, letter) : NULL;

	return at ? pow(1024, (double)(8 - (at - size_letters))) : 1;
}

static const struct value *f_human_readable(struct call *c)
{
	bool bits = call_flag(c, 0, false);
	struct str unit = call_text(c, 1, "");
	char letter = 0;
	double n;

	if (number(c, c->self, &n) < 0)
		return NULL;
	if (unit.n)
		letter = (char)toupper((unsigned char)unit.p[0]);
	for (const char *l = size_letters; !unit.n && *l && !letter; l++)
		letter = n >= size_of(*l) ? *l : 0;
	if (letter && letter != 'B' && !strchr(size_letters, letter))
		return call_fault(c, "human_readable: unknown unit \"" STR_FMT "\"", STR_ARG(unit));
	if (!letter || letter == 'B')
		return value_strf(c->a, "%.2f %s", n, bits ? "bits" : "Bytes");
	return value_strf(c->a, "%.2f %c%s", n / size_of(letter), letter, bits ? "b" : "B");
}

/* "10G", "1.5 MB", "8Kb" with isbits */
static const struct value *f_human_to_bytes(struct call *c)
{
	struct str s = str_trim(op_text(c->a, c->self)), unit = call_text(c, 0, "");
	bool bits = call_flag(c, 1, false);
	size_t n = 0;
	double value;

	while (n < s.n && (isdigit((unsigned char)s.p[n]) || s.p[n] == '.'))
		n++;
	struct str rest = str_trim(str_sub(s, n, SIZE_MAX));
	if (rest.n)
		unit = rest;
	if (!n || !str_to_double(str_sub(s, 0, n), &value))
		return call_fault(c, "human_to_bytes: \"" STR_FMT "\" is no size", STR_ARG(s));
	char letter = unit.n ? (char)toupper((unsigned char)unit.p[0]) : 'B';
	struct str tail = str_sub(unit, 1, SIZE_MAX);
	bool known = letter == 'B' || strchr(size_letters, letter);
	if (!known || (tail.n && letter != 'B' && !str_eqc(tail, bits ? "b" : "B") &&
		       !str_eq_nocase(tail, bits ? STR("bit") : STR("byte"))))
		return call_fault(c, "human_to_bytes: \"" STR_FMT "\" is no unit", STR_ARG(unit));
	return value_int(c->a, (int64_t)rint(value * (letter == 'B' ? 1 : size_of(letter))));
}

/* ---- times ---------------------------------------------------------------------------------- */

/* '%Y-%m-%d'|strftime(seconds, utc) */
static const struct value *f_strftime(struct call *c)
{
	struct str format = op_text(c->a, c->self);
	double seconds = (double)clock_wall() / 1000;
	char out[1024];
	struct tm tm;
	time_t t;

	if (c->arg[0] && c->arg[0]->kind == V_STR && str_to_double(c->arg[0]->s, &seconds))
		;
	else if (c->arg[0] && c->arg[0]->kind != V_NULL && number(c, c->arg[0], &seconds) < 0)
		return NULL;
	t = (time_t)floor(seconds);
	if (!(call_flag(c, 1, false) ? gmtime_r(&t, &tm) : localtime_r(&t, &tm)))
		return call_fault(c, "strftime: no such time");
	if (!format.n)
		return value_cstr(c->a, "");
	/* The format is the user's own, of which strftime can overrun nothing. */
	size_t (*const format_time)(char *, size_t, const char *, const struct tm *) = strftime;
	size_t n = format_time(out, sizeof out, arena_dup(c->a, format.p, format.n), &tm);
	return n ? value_str(c->a, (struct str){ out, n })
		 : call_fault(c, "strftime: the result is too long");
}

/* ---- passwords ------------------------------------------------------------------------------ */

static const struct scheme {
	const char *name, *prefix;
	size_t salt;
	int64_t rounds; /* Ansible's; 0: it has none */
} schemes[] = {
	{ "sha512", "$6$", 16, 656000 }, { "sha256", "$5$", 16, 535000 }, { "md5", "$1$", 8, 0 },
	{ "bcrypt", "$2b$", 22, 12 },	 { "blowfish", "$2b$", 22, 12 },
};

static const char salt_letters[] =
	"./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

static const char *new_salt(struct arena *a, size_t n)
{
	char *s = arena_alloc(a, n + 1);
	unsigned char r;

	for (size_t i = 0; i < n; i++) {
		rand_bytes(&r, 1);
		s[i] = salt_letters[r % 64];
	}
	/* bcrypt's last letter carries four bits only. */
	if (n == 22)
		s[n - 1] = ".Oeu"[r % 4];
	s[n] = '\0';
	return s;
}

static const struct value *f_password_hash(struct call *c)
{
	struct str name = call_text(c, 0, "sha512"), salt = call_text(c, 1, NULL),
		   password = op_text(c->a, c->self);
	const struct scheme *sc = NULL;
	struct crypt_data *data = arena_obj(c->a, struct crypt_data);
	const char *setting, *out;
	int64_t rounds;

	for (size_t i = 0; i < ARRAY_LEN(schemes); i++)
		if (str_eqc(name, schemes[i].name))
			sc = &schemes[i];
	if (!sc)
		return call_fault(c,
				  "password_hash: no scheme \"" STR_FMT
				  "\": sha512, sha256, bcrypt or md5",
				  STR_ARG(name));
	if (call_int(c, 3, sc->rounds, &rounds) < 0)
		return NULL;
	if (rounds > 5000000)
		return call_fault(c, "password_hash: at most 5000000 rounds");
	const char *s = salt.p ? arena_dup(c->a, salt.p, salt.n) : new_salt(c->a, sc->salt);
	for (const char *p = s; *p; p++)
		if (!strchr(salt_letters, *p))
			return call_fault(
				c,
				"password_hash: a salt is made of letters, digits, \".\" and \"/\"");
	struct str ident = call_text(c, 4, "2b");
	if (sc->salt == 22)
		setting = arena_printf(c->a, "$" STR_FMT "$%02d$%s", STR_ARG(ident), (int)rounds,
				       s);
	else if (!sc->rounds || (c->arg[3] && rounds == 5000))
		setting = arena_printf(c->a, "%s%s", sc->prefix, s);
	else
		setting = arena_printf(c->a, "%srounds=%lld$%s", sc->prefix, (long long)rounds, s);
	out = crypt_rn(arena_dup(c->a, password.p, password.n), setting, data, sizeof *data);
	return out && *out != '*'
		       ? value_cstr(c->a, out)
		       : call_fault(c, "password_hash: the salt or the rounds are refused");
}

const struct callable filters_number[] = {
	{ "log", f_log, "base", 0 },
	{ "pow", f_pow, "exponent!", 0 },
	{ "root", f_root, "base", 0 },
	{ "human_readable", f_human_readable, "isbits,unit", 0 },
	{ "human_to_bytes", f_human_to_bytes, "default_unit,isbits", 0 },
	{ "strftime", f_strftime, "second,utc", 0 },
	{ "password_hash", f_password_hash, "hashtype,salt,salt_size,rounds,ident", 0 },
	{ NULL, NULL, NULL, 0 },
};
