/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever an agent answers to the request for its keys and for a signature, it is understood or a
 * fault, at once. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "net/agent.h"
#include "tests/fuzz/fuzz.h"

enum { SAID_MAX = 64 << 10 };

static struct {
	int listener;
	char path[80];
	pthread_mutex_t lock; /* of the answer: it is sent while the next may be made */
	uint8_t data[SAID_MAX];
	size_t size;
} A = { .listener = -1, .lock = PTHREAD_MUTEX_INITIALIZER };

/* An agent that reads what is asked and says what it was given, once a connection. */
static void *serve(void *arg)
{
	char request[4096];

	(void)arg;
	for (;;) {
		int fd = accept(A.listener, NULL, NULL);

		if (fd < 0)
			continue;
		if (read(fd, request, sizeof request) > 0) {
			pthread_mutex_lock(&A.lock);
			if (send(fd, A.data, A.size, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
				shutdown(fd, SHUT_WR);
			pthread_mutex_unlock(&A.lock);
		}
		close(fd);
	}
	return NULL;
}

static void start(void)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	pthread_t t;

	snprintf(A.path, sizeof A.path, "%s", fuzz_no_file(".agent"));
	snprintf(un.sun_path, sizeof un.sun_path, "%s", A.path);
	A.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (A.listener < 0 || bind(A.listener, (struct sockaddr *)&un, sizeof un) != 0 ||
	    listen(A.listener, 16) != 0 || pthread_create(&t, NULL, serve, NULL) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new("fuzz");
	struct agent_keys keys = { 0 };
	struct err e = { 0 };
	struct buf sig;

	if (A.listener < 0)
		start();
	pthread_mutex_lock(&A.lock);
	A.size = size < SAID_MAX ? size : SAID_MAX;
	if (A.size)
		memcpy(A.data, data, A.size);
	pthread_mutex_unlock(&A.lock);
	if (agent_list(a, A.path, deadline_in(5000), &keys, &e) != 0)
		fuzz_must(e.kind != ERR_TIMEOUT && e.msg[0], "an answer that ends, and yet no end");
	const struct agent_request r = { A.path, STR("blob"), STR("data"), 0, deadline_in(5000) };
	buf_init(&sig, 64 << 10);
	if (agent_sign(&r, &sig, &e) != 0)
		fuzz_must(e.kind != ERR_TIMEOUT && e.msg[0], "an answer that ends, and yet no end");
	buf_fini(&sig);
	arena_free(a);
	return 0;
}
