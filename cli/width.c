/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of our own, because wcwidth() asks the locale, and a run under LC_ALL=C on a UTF-8
 * terminal would then be cut at the wrong place.
 */
#include "cli/width.h"

struct range {
	uint32_t from, to;
};

static const struct range none[] = {
	{ 0x0300, 0x036F },   { 0x0483, 0x0489 }, { 0x0591, 0x05BD }, { 0x0610, 0x061A },
	{ 0x064B, 0x065F },   { 0x06D6, 0x06DC }, { 0x06DF, 0x06E4 }, { 0x0711, 0x0711 },
	{ 0x0730, 0x074A },   { 0x0900, 0x0902 }, { 0x093C, 0x093C }, { 0x0941, 0x0948 },
	{ 0x094D, 0x094D },   { 0x0E31, 0x0E31 }, { 0x0E34, 0x0E3A }, { 0x0E47, 0x0E4E },
	{ 0x1160, 0x11FF },   { 0x1AB0, 0x1AFF }, { 0x1DC0, 0x1DFF }, { 0x200B, 0x200F },
	{ 0x202A, 0x202E },   { 0x2060, 0x206F }, { 0x20D0, 0x20FF }, { 0x302A, 0x302D },
	{ 0x3099, 0x309A },   { 0xFE00, 0xFE0F }, { 0xFE20, 0xFE2F }, { 0xFEFF, 0xFEFF },
	{ 0xE0100, 0xE01EF },
};

static const struct range two[] = {
	{ 0x1100, 0x115F },   { 0x231A, 0x231B },   { 0x2329, 0x232A },	  { 0x23E9, 0x23EC },
	{ 0x23F0, 0x23F0 },   { 0x23F3, 0x23F3 },   { 0x25FD, 0x25FE },	  { 0x2614, 0x2615 },
	{ 0x2648, 0x2653 },   { 0x267F, 0x267F },   { 0x2693, 0x2693 },	  { 0x26A1, 0x26A1 },
	{ 0x26AA, 0x26AB },   { 0x26BD, 0x26BE },   { 0x26C4, 0x26C5 },	  { 0x26CE, 0x26CE },
	{ 0x26D4, 0x26D4 },   { 0x26EA, 0x26EA },   { 0x26F2, 0x26F5 },	  { 0x26FA, 0x26FA },
	{ 0x26FD, 0x26FD },   { 0x2705, 0x2705 },   { 0x270A, 0x270B },	  { 0x2728, 0x2728 },
	{ 0x274C, 0x274C },   { 0x274E, 0x274E },   { 0x2753, 0x2755 },	  { 0x2757, 0x2757 },
	{ 0x2795, 0x2797 },   { 0x27B0, 0x27B0 },   { 0x2B1B, 0x2B1C },	  { 0x2B50, 0x2B50 },
	{ 0x2E80, 0x303E },   { 0x3041, 0x4DBF },   { 0x4E00, 0xA4CF },	  { 0xA960, 0xA97F },
	{ 0xAC00, 0xD7A3 },   { 0xF900, 0xFAFF },   { 0xFE30, 0xFE6F },	  { 0xFF00, 0xFF60 },
	{ 0xFFE0, 0xFFE6 },   { 0x1F004, 0x1F004 }, { 0x1F18E, 0x1F19A }, { 0x1F200, 0x1F64F },
	{ 0x1F680, 0x1F6FF }, { 0x1F7E0, 0x1F7EB }, { 0x1F90C, 0x1F9FF }, { 0x1FA70, 0x1FAFF },
	{ 0x20000, 0x3FFFD },
};

static bool within(const struct range *r, size_t n, uint32_t c)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (c > r[mid].to)
			lo = mid + 1;
		else if (c < r[mid].from)
			hi = mid;
		else
			return true;
	}
	return false;
}

/* The first character's bytes and columns. */
static size_t first_char(struct str s, size_t *columns)
{
	static const unsigned char mask[] = { 0, 0x7F, 0x1F, 0x0F, 0x07 };
	size_t len = str_utf8_len(s);
	uint32_t c = 0;

	*columns = 1;
	if (len < 2)
		return 1;
	for (size_t i = 0; i < len; i++) {
		unsigned char byte = (unsigned char)s.p[i];

		c = i ? c << 6 | (byte & 0x3F) : byte & mask[len];
	}
	if (within(none, ARRAY_LEN(none), c))
		*columns = 0;
	else if (within(two, ARRAY_LEN(two), c))
		*columns = 2;
	return len;
}

/* Bytes of the longest part of the text that takes at most `columns`. */
static size_t fitting(struct str text, size_t columns, size_t *taken)
{
	size_t at = 0, width;

	*taken = 0;
	while (at < text.n) {
		size_t len = first_char(str_sub(text, at, SIZE_MAX), &width);

		if (*taken + width > columns)
			break;
		*taken += width;
		at += len;
	}
	return at;
}

size_t text_width(struct str text)
{
	size_t taken;

	fitting(text, SIZE_MAX, &taken);
	return taken;
}

void text_cut(struct buf *b, struct str text, size_t columns)
{
	size_t taken, n = fitting(text, columns, &taken);

	if (n == text.n) {
		buf_addstr(b, text);
	} else if (columns > 0) {
		buf_addstr(b, str_sub(text, 0, fitting(text, columns - 1, &taken)));
		buf_adds(b, "…");
	}
}
