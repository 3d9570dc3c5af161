/* SPDX-License-Identifier: Apache-2.0 */
#include "base/attr.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Uses a fixed buffer and write(2): whatever is broken, this still speaks. */
void bug(const char *fmt, ...)
{
	static const char head[] = "muster: bug: ";
	char line[512];
	size_t n = sizeof(head) - 1;
	va_list ap;
	int more;

	memcpy(line, head, n);
	va_start(ap, fmt);
	more = vsnprintf(line + n, sizeof(line) - n - 1, fmt, ap);
	va_end(ap);
	if (more > 0)
		n += (size_t)more < sizeof(line) - n - 1 ? (size_t)more : sizeof(line) - n - 2;
	line[n++] = '\n';
	if (write(STDERR_FILENO, line, n) < 0)
		abort();
	abort();
}
