/* SPDX-License-Identifier: Apache-2.0 */
/* templates/unicode.h - letters as Python's str sees them: case, kinds. Source: Unicode 14, by
 * PCRE2's properties and the C.UTF-8 locale. */
#ifndef MUSTER_TEMPLATES_UNICODE_H
#define MUSTER_TEMPLATES_UNICODE_H

#include "base/base.h"

enum unicode_class {
	UNICODE_ALPHA,
	UNICODE_DECIMAL,
	UNICODE_DIGIT,
	UNICODE_NUMERIC,
	UNICODE_SPACE,
	UNICODE_UPPER,
	UNICODE_LOWER,
	UNICODE_TITLE,
	UNICODE_PRINTABLE,
	UNICODE_CLASSES
};

enum unicode_case { UNICODE_TO_UPPER, UNICODE_TO_LOWER, UNICODE_TO_TITLE, UNICODE_FOLD };

struct unicode_special {
	uint32_t c;
	const char *upper, *title, *fold;
};
extern const struct unicode_special unicode_special[]; /* by c; ended by 0 */

/* Takes the first letter off; a broken byte is a letter of its own (0xdc80 and up, as Python has
 * it). s must not be empty. */
uint32_t unicode_take(struct str *s);
bool unicode_is(uint32_t c, enum unicode_class class);
void unicode_add(struct buf *b, uint32_t c);
void unicode_add_cased(struct buf *b, uint32_t c, enum unicode_case to);

#endif
