/* SPDX-License-Identifier: Apache-2.0 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "templates/unicode.h"

#include <ctype.h>
#include <locale.h>
#include <pcre2.h>
#include <wctype.h>

#define BROKEN 0xdc00u

uint32_t unicode_take(struct str *s)
{
	const unsigned char *p = (const unsigned char *)s->p;
	size_t n = p[0] < 0x80 ? 1 : p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : p[0] >= 0xc0 ? 2 : 0;
	uint32_t c = n == 1 ? p[0] : n == 2 ? p[0] & 0x1f : n == 3 ? p[0] & 0x0f : p[0] & 0x07;

	for (size_t i = 1; n && i < n; i++) {
		if (i >= s->n || (p[i] & 0xc0) != 0x80)
			n = 0;
		else
			c = c << 6 | (p[i] & 0x3f);
	}
	if (!n) {
		c = BROKEN | p[0];
		n = 1;
	}
	*s = str_sub(*s, n, SIZE_MAX);
	return c;
}

void unicode_add(struct buf *b, uint32_t c)
{
	if (c < 0x80) {
		buf_addc(b, (char)c);
	} else if (c >= BROKEN + 0x80 && c <= BROKEN + 0xff) {
		buf_addc(b, (char)(c & 0xff));
	} else if (c < 0x800) {
		buf_addc(b, (char)(0xc0 | c >> 6));
		buf_addc(b, (char)(0x80 | (c & 0x3f)));
	} else if (c < 0x10000) {
		buf_addc(b, (char)(0xe0 | c >> 12));
		buf_addc(b, (char)(0x80 | (c >> 6 & 0x3f)));
		buf_addc(b, (char)(0x80 | (c & 0x3f)));
	} else {
		buf_addc(b, (char)(0xf0 | c >> 18));
		buf_addc(b, (char)(0x80 | (c >> 12 & 0x3f)));
		buf_addc(b, (char)(0x80 | (c >> 6 & 0x3f)));
		buf_addc(b, (char)(0x80 | (c & 0x3f)));
	}
}

/* ---- kinds ---------------------------------------------------------------------------------- */

static const char *const patterns[UNICODE_CLASSES] = {
	[UNICODE_ALPHA] = "^\\p{L}$",
	[UNICODE_DECIMAL] = "^\\p{Nd}$",
	[UNICODE_DIGIT] =
		"^[\\p{Nd}\\x{b2}\\x{b3}\\x{b9}\\x{1369}-\\x{1371}\\x{19da}\\x{2070}\\x{2074}-\\x{2079}"
		"\\x{2080}-\\x{2089}\\x{2460}-\\x{2468}\\x{2474}-\\x{247c}\\x{2488}-\\x{2490}\\x{24ea}"
		"\\x{24f5}-\\x{24fd}\\x{24ff}\\x{2776}-\\x{277e}\\x{2780}-\\x{2788}\\x{278a}-\\x{2792}]$",
	[UNICODE_NUMERIC] = "^\\p{N}$",
	[UNICODE_SPACE] = "^[\\p{Z}\\x{09}-\\x{0d}\\x{1c}-\\x{1f}\\x{85}]$",
	[UNICODE_UPPER] =
		"^[\\p{Lu}\\x{2160}-\\x{216f}\\x{24b6}-\\x{24cf}\\x{1f130}-\\x{1f149}\\x{1f150}-\\x{1f169}"
		"\\x{1f170}-\\x{1f189}]$",
	[UNICODE_LOWER] =
		"^[\\p{Ll}\\x{aa}\\x{ba}\\x{2b0}-\\x{2b8}\\x{2c0}\\x{2c1}\\x{2e0}-\\x{2e4}\\x{345}\\x{37a}"
		"\\x{1d2c}-\\x{1d6a}\\x{1d78}\\x{1d9b}-\\x{1dbf}\\x{2071}\\x{207f}\\x{2090}-\\x{209c}"
		"\\x{2170}-\\x{217f}\\x{24d0}-\\x{24e9}\\x{2c7c}\\x{2c7d}\\x{a69c}\\x{a69d}\\x{a770}\\x{a7f8}"
		"\\x{a7f9}\\x{ab5c}-\\x{ab5f}]$",
	[UNICODE_TITLE] = "^\\p{Lt}$",
	[UNICODE_PRINTABLE] = "^(?: |[^\\p{C}\\p{Z}])$",
};

/* Compiled at the first use; they last as long as the program. */
static pcre2_code *compiled(enum unicode_class class)
{
	static pcre2_code *codes[UNICODE_CLASSES];
	PCRE2_SIZE at;
	int error;

	if (!codes[class])
		codes[class] = pcre2_compile((PCRE2_SPTR)patterns[class], PCRE2_ZERO_TERMINATED,
					     PCRE2_UTF | PCRE2_DOLLAR_ENDONLY, &error, &at, NULL);
	if (!codes[class])
		bug("the pattern of a class of letters");
	return codes[class];
}

static bool is_ascii(int c, enum unicode_class class)
{
	switch (class) {
	case UNICODE_ALPHA: return isalpha(c);
	case UNICODE_DECIMAL:
	case UNICODE_DIGIT:
	case UNICODE_NUMERIC: return isdigit(c);
	case UNICODE_SPACE: return isspace(c) || (c >= 0x1c && c <= 0x1f);
	case UNICODE_UPPER: return isupper(c);
	case UNICODE_LOWER: return islower(c);
	case UNICODE_PRINTABLE: return c >= ' ' && c < 0x7f;
	default: return false;
	}
}

bool unicode_is(uint32_t c, enum unicode_class class)
{
	struct buf b = { 0 };
	pcre2_match_data *md;
	bool r;

	if (c < 0x80)
		return is_ascii((int)c, class);
	if (c >= 0xd800 && c < 0xe000)
		return false;
	buf_init(&b, 8);
	unicode_add(&b, c);
	md = pcre2_match_data_create(1, NULL);
	r = md && pcre2_match(compiled(class), (PCRE2_SPTR)b.p, b.n, 0, 0, md, NULL) > 0;
	pcre2_match_data_free(md);
	buf_fini(&b);
	return r;
}

/* ---- case ----------------------------------------------------------------------------------- */

/* The locale's tables do not depend on the environment. */
static locale_t utf8(void)
{
	static locale_t l;

	if (!l)
		l = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	return l;
}

static const struct unicode_special *special(uint32_t c)
{
	for (const struct unicode_special *s = unicode_special; s->c; s++)
		if (s->c == c)
			return s;
	return NULL;
}

void unicode_add_cased(struct buf *b, uint32_t c, enum unicode_case to)
{
	const struct unicode_special *s = c >= 0x80 && to != UNICODE_TO_LOWER ? special(c) : NULL;
	bool lower = to == UNICODE_TO_LOWER || to == UNICODE_FOLD;

	if (s) {
		buf_adds(b, to == UNICODE_TO_UPPER ? s->upper
			    : to == UNICODE_FOLD   ? s->fold
						   : s->title);
	} else if (c < 0x80) {
		buf_addc(b, (char)(lower ? tolower((int)c) : toupper((int)c)));
	} else if (c == 0x130 && lower) {
		buf_adds(b, "i\u0307");
	} else if (utf8() && !(c >= 0xd800 && c < 0xe000)) {
		unicode_add(b, (uint32_t)(lower ? towlower_l((wint_t)c, utf8())
						: towupper_l((wint_t)c, utf8())));
	} else {
		unicode_add(b, c);
	}
}
