/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { FILES = 2 };

static char paths[FILES][80];

static void remove_all(const char *path)
{
	char more[100];

	unlink(path);
	snprintf(more, sizeof more, "%s-wal", path);
	unlink(more);
	snprintf(more, sizeof more, "%s-shm", path);
	unlink(more);
}

static void remove_files(void)
{
	for (int i = 0; i < FILES; i++)
		if (paths[i][0])
			remove_all(paths[i]);
}

static const char *path_for(const char *suffix)
{
	char want[80];
	int i = 0;

	snprintf(want, sizeof want, "%s/muster-fuzz-%d%s",
		 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (int)getpid(), suffix);
	while (i < FILES && paths[i][0] && strcmp(paths[i], want) != 0)
		i++;
	if (i == FILES)
		bug("more than %d files", FILES);
	if (i == 0 && !paths[0][0])
		atexit(remove_files);
	memcpy(paths[i], want, sizeof want);
	return paths[i];
}

const char *fuzz_file(const char *suffix, struct str text)
{
	const char *path = path_for(suffix);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, text.p, text.n) != (ssize_t)text.n)
		abort();
	close(fd);
	return path;
}

const char *fuzz_no_file(const char *suffix)
{
	const char *path = path_for(suffix);

	remove_all(path);
	return path;
}

void fuzz_must(bool so, const char *what)
{
	if (!so)
		bug("%s", what);
}
