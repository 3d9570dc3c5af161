/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/out.h"

#include <errno.h>
#include <unistd.h>

static int lost;     /* errno of the first write to stdout that failed */
static bool written; /* something went to stdout */
static void (*err_sink)(struct str text);

void out_write(int fd, struct str text)
{
	written |= fd == STDOUT_FILENO;
	while (text.n) {
		ssize_t n = write(fd, text.p, text.n);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			if (fd == STDOUT_FILENO && !lost)
				lost = n < 0 ? errno : EIO;
			return;
		}
		text = str_sub(text, (size_t)n, SIZE_MAX);
	}
}

void out_err_to(void (*sink)(struct str text))
{
	err_sink = sink;
}

void out_err(struct str text)
{
	scoped(buf_fini) struct buf clean = { 0 };

	buf_init(&clean, SIZE_MAX);
	scrub(&clean, text);
	if (err_sink)
		err_sink(buf_str(&clean));
	else
		out_write(STDERR_FILENO, buf_str(&clean));
}

int out_lost_errno(void)
{
	return lost;
}

int out_lost(struct err *e)
{
	if (!lost || lost == EPIPE)
		return 0;
	errno = lost;
	err_sys(e, "writing the output");
	return err_hint(e, "what was to be done is done; only the output is incomplete");
}

bool out_written(void)
{
	return written;
}
