/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One struct holds the whole scheduler: the queue of ready tasks, a binary heap of timers, a table
 * indexed by fd of who waits for what, and epoll. A turn runs everything that is ready at its
 * start, then asks epoll, then fires timers, so a task that always yields cannot starve the
 * sockets. fds are armed one-shot: a wake-up costs one epoll_ctl and never a second, stale event.
 */
#include "base/sched.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"

enum { WAIT_READ = 1, WAIT_WRITE = 2, EVENTS_A_TURN = 256 };

struct fd_slot {
	struct task *reader, *writer;
	sched_watch_fn *watch;
	void *watch_arg;
};

struct task_queue {
	struct task **v;
	size_t n, cap;
};

static struct {
	bool running;
	struct sched_opts o;
	int epfd;
	struct task *all;
	size_t live;
	struct task_queue ready, batch;
	struct task_queue heap; /* by (at, seq) */
	uint64_t seq;
	struct fd_slot *fds;
	size_t fds_n;
	size_t fd_waits;
	size_t outside;
	uint64_t random;
} S;

static uint64_t loops; /* opened so far */
static __thread struct task *cur;
static __thread int no_yield;

struct task *sched_current(void)
{
	return cur;
}

bool sched_is_running(void)
{
	return S.running;
}

uint64_t sched_id(void)
{
	return S.running ? loops : 0;
}

void sched_no_yield(int delta)
{
	no_yield += delta;
	if (no_yield < 0)
		bug("no_yield_end without no_yield_begin");
}

/* ---- queues and the timer heap ---------------------------------------------------------------- */

static void queue_add(struct task_queue *q, struct task *t)
{
	if (q->n == q->cap) {
		q->cap = q->cap ? 2 * q->cap : 64;
		q->v = mem_realloc(q->v, q->cap * sizeof(struct task *));
	}
	q->v[q->n++] = t;
}

static bool timer_before(const struct task *a, const struct task *b)
{
	return a->at != b->at ? a->at < b->at : a->seq < b->seq;
}

static void heap_place(size_t i, struct task *t)
{
	S.heap.v[i] = t;
	t->heap_at = i + 1;
}

static void heap_up(size_t i)
{
	struct task *t = S.heap.v[i];

	for (; i > 0 && timer_before(t, S.heap.v[(i - 1) / 2]); i = (i - 1) / 2)
		heap_place(i, S.heap.v[(i - 1) / 2]);
	heap_place(i, t);
}

static void heap_down(size_t i)
{
	struct task *t = S.heap.v[i];

	for (;;) {
		size_t child = 2 * i + 1;

		if (child + 1 < S.heap.n && timer_before(S.heap.v[child + 1], S.heap.v[child]))
			child++;
		if (child >= S.heap.n || !timer_before(S.heap.v[child], t))
			break;
		heap_place(i, S.heap.v[child]);
		i = child;
	}
	heap_place(i, t);
}

static void timer_set(struct task *t, int64_t at)
{
	t->at = at;
	t->seq = ++S.seq;
	queue_add(&S.heap, t);
	heap_up(S.heap.n - 1);
}

static void timer_clear(struct task *t)
{
	size_t i = t->heap_at;

	if (i == 0)
		return;
	i--;
	t->heap_at = 0;
	struct task *last = S.heap.v[--S.heap.n];
	if (last == t)
		return;
	heap_place(i, last);
	heap_up(i);
	heap_down(last->heap_at - 1);
}

/* ---- tasks ------------------------------------------------------------------------------------ */

static void task_main(void *arg)
{
	struct task *t = arg;

	cur = t;
	t->fn(t->arg);
	if (no_yield != 0)
		bug("task %s ended inside no_yield_begin", t->name);
	if (t->end)
		t->end(t);
}

struct task *sched_spawn(const char *name, void (*fn)(void *), void *arg,
			 void (*end)(struct task *))
{
	if (!S.running)
		bug("task %s started without a loop", name);
	struct task *t = mem_alloc(sizeof *t);
	t->name = name;
	t->fn = fn;
	t->arg = arg;
	t->end = end;
	t->all_next = S.all;
	if (S.all)
		S.all->all_prev = t;
	S.all = t;
	S.live++;
	queue_add(&S.ready, t);
	return t;
}

static void task_free(struct task *t)
{
	if (t->all_prev)
		t->all_prev->all_next = t->all_next;
	else
		S.all = t->all_next;
	if (t->all_next)
		t->all_next->all_prev = t->all_prev;
	S.live--;
	co_free(t->co);
	mem_free(t);
}

static int64_t real_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void run_task(struct task *t)
{
	int64_t began = S.o.warn_ms ? real_ms() : 0;

	if (!t->co)
		t->co = co_new(task_main, t);
	cur = t;
	co_resume(t->co);
	cur = NULL;
	if (S.o.warn_ms) {
		int64_t held = real_ms() - began;

		if (held > S.o.warn_ms)
			log_warn("task %s held the loop for %lld ms", t->name, (long long)held);
	}
	if (co_is_done(t->co))
		task_free(t);
}

static void suspend(struct task *t)
{
	int saved = errno;

	if (no_yield != 0)
		bug("task %s waits inside no_yield_begin", t->name);
	co_suspend(t->co);
	errno = saved;
}

static struct task *current_or_bug(void)
{
	if (!cur)
		bug("a wait outside any task");
	if (no_yield != 0)
		bug("task %s waits inside no_yield_begin", cur->name);
	return cur;
}

enum wake sched_park(int64_t at)
{
	struct task *t = current_or_bug();

	if (sched_is_cancelled(t))
		return WAKE_CANCELLED;
	if (at != INT64_MAX) {
		if (at <= clock_now())
			return WAKE_TIMEOUT;
		timer_set(t, at);
	}
	t->parked = true;
	t->wake = WAKE_NONE;
	suspend(t);
	t->parked = false;
	return t->wake;
}

void sched_wake(struct task *t, enum wake why)
{
	if (!t->parked || t->wake != WAKE_NONE)
		return;
	t->wake = why;
	timer_clear(t);
	queue_add(&S.ready, t);
}

void sched_pass(void)
{
	struct task *t = current_or_bug();

	queue_add(&S.ready, t);
	suspend(t);
}

bool sched_is_cancelled(const struct task *t)
{
	return t->cancelled && t->shield == 0;
}

void sched_cancel(struct task *t)
{
	t->cancelled = true;
	if (t->shield == 0)
		sched_wake(t, WAKE_CANCELLED);
}

/* ---- file descriptors ------------------------------------------------------------------------- */

static struct fd_slot *slot_of(int fd)
{
	size_t want = (size_t)fd + 1;

	if (fd < 0)
		bug("waiting on fd %d", fd);
	if (want > S.fds_n) {
		size_t n = want < 64 ? 64 : want * 2;

		S.fds = mem_realloc(S.fds, n * sizeof *S.fds);
		memset(S.fds + S.fds_n, 0, (n - S.fds_n) * sizeof *S.fds);
		S.fds_n = n;
	}
	return &S.fds[fd];
}

/* A closed fd leaves epoll by itself, so what epoll knows is found out by asking. */
static int epoll_set(int fd, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.fd = fd };

	if (epoll_ctl(S.epfd, EPOLL_CTL_MOD, fd, &ev) == 0)
		return 0;
	if (errno == ENOENT && epoll_ctl(S.epfd, EPOLL_CTL_ADD, fd, &ev) == 0)
		return 0;
	return -1;
}

static int slot_arm(int fd)
{
	const struct fd_slot *s = &S.fds[fd];
	uint32_t events = (s->reader ? (uint32_t)EPOLLIN : 0) |
			  (s->writer ? (uint32_t)EPOLLOUT : 0);

	return events ? epoll_set(fd, events | EPOLLONESHOT) : 0;
}

static bool is_ready_now(int fd, int events)
{
	struct pollfd p = { .fd = fd };

	p.events = (short)((events & WAIT_READ ? POLLIN : 0) | (events & WAIT_WRITE ? POLLOUT : 0));
	return poll(&p, 1, 0) != 0;
}

enum wake sched_wait_fd(int fd, int events, int64_t at)
{
	struct task *t = current_or_bug();
	struct fd_slot *s = slot_of(fd);

	if (sched_is_cancelled(t))
		return WAKE_CANCELLED;
	if (at <= clock_now())
		return is_ready_now(fd, events) ? WAKE_DONE : WAKE_TIMEOUT;
	if ((events & WAIT_READ && s->reader) || (events & WAIT_WRITE && s->writer))
		bug("two tasks wait on fd %d: %s and %s", fd,
		    s->reader ? s->reader->name : s->writer->name, t->name);
	if (events & WAIT_READ)
		s->reader = t;
	if (events & WAIT_WRITE)
		s->writer = t;
	enum wake w = WAKE_DONE;
	if (slot_arm(fd) == 0) {
		S.fd_waits++;
		w = sched_park(at);
		S.fd_waits--;
	} /* else a file, which is always ready, or a bad fd, which the caller's read will report */
	s = slot_of(fd); /* the table may have moved */
	if (s->reader == t)
		s->reader = NULL;
	if (s->writer == t)
		s->writer = NULL;
	return w;
}

int sched_watch(int fd, sched_watch_fn *fn, void *arg, struct err *e)
{
	struct fd_slot *s = slot_of(fd);

	s->watch = fn;
	s->watch_arg = arg;
	if (epoll_set(fd, EPOLLIN) != 0)
		return err_sys(e, "epoll_ctl");
	return 0;
}

static void fd_event(const struct epoll_event *ev)
{
	int fd = ev->data.fd;
	struct fd_slot *s = slot_of(fd);
	const uint32_t broken = EPOLLHUP | EPOLLERR;

	if (s->watch) {
		s->watch(s->watch_arg);
		return;
	}
	struct task *reader = s->reader, *writer = s->writer;
	if (reader && ev->events & (EPOLLIN | broken)) {
		s->reader = NULL;
		sched_wake(reader, WAKE_DONE);
	}
	if (writer && ev->events & (EPOLLOUT | broken)) {
		s->writer = NULL;
		sched_wake(writer, WAKE_DONE);
	}
	slot_arm(fd);
}

void sched_outside_begin(void)
{
	S.outside++;
}

void sched_outside_end(void)
{
	S.outside--;
}

/* ---- the loop --------------------------------------------------------------------------------- */

static uint64_t next_random(void)
{
	uint64_t z = (S.random += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static void shuffle(struct task_queue *q)
{
	for (size_t i = q->n; i > 1; i--) {
		size_t j = (size_t)(next_random() % i);
		struct task *t = q->v[j];

		q->v[j] = q->v[i - 1];
		q->v[i - 1] = t;
	}
}

static bool run_ready(void)
{
	struct task_queue now = S.ready;

	S.ready = S.batch;
	S.ready.n = 0;
	S.batch = now;
	if (S.o.seed)
		shuffle(&S.batch);
	for (size_t i = 0; i < S.batch.n; i++)
		run_task(S.batch.v[i]);
	return S.batch.n != 0;
}

static void fire_timers(void)
{
	int64_t now = clock_now();

	while (S.heap.n && S.heap.v[0]->at <= now)
		sched_wake(S.heap.v[0], WAKE_TIMEOUT);
}

static no_return void deadlock(void)
{
	char names[256];
	size_t n = 0;

	for (struct task *t = S.all; t && n < sizeof names - 1; t = t->all_next)
		n += (size_t)snprintf(names + n, sizeof names - n, " %s", t->name);
	bug("every task waits for another:%s", names);
}

static int poll_timeout(void)
{
	if (S.ready.n)
		return 0;
	if (clock_is_virtual())
		return S.outside || (!S.heap.n && (S.fd_waits || S.o.may_idle)) ? -1 : 0;
	if (S.heap.n) {
		int64_t left = S.heap.v[0]->at - clock_now();

		return left <= 0 ? 0 : left > 60000 ? 60000 : (int)left;
	}
	return -1;
}

static void poll_events(void)
{
	struct epoll_event ev[EVENTS_A_TURN];

	if (!S.ready.n && !S.heap.n && !S.fd_waits && !S.outside && !S.o.may_idle)
		deadlock();
	int n = epoll_wait(S.epfd, ev, EVENTS_A_TURN, poll_timeout());
	for (int i = 0; i < n; i++)
		fd_event(&ev[i]);
	if (n <= 0 && clock_is_virtual() && !S.ready.n && !S.outside && S.heap.n) {
		int64_t ahead = S.heap.v[0]->at - clock_now();

		if (ahead > 0)
			clock_advance(ahead);
	}
}

int sched_open(const struct sched_opts *o, struct err *e)
{
	if (S.running)
		bug("a second loop");
	memset(&S, 0, sizeof S);
	S.epfd = epoll_create1(EPOLL_CLOEXEC);
	if (S.epfd < 0)
		return err_sys(e, "epoll_create1");
	if (o)
		S.o = *o;
	S.random = S.o.seed;
	S.running = true;
	loops++;
	return 0;
}

void sched_set_may_idle(bool on)
{
	S.o.may_idle = on;
}

void sched_run(void (*on_turn)(void))
{
	while (S.live) {
		if (run_ready() && on_turn)
			on_turn();
		if (!S.live)
			break;
		poll_events();
		fire_timers();
	}
}

void sched_close(void)
{
	close(S.epfd);
	mem_free(S.ready.v);
	mem_free(S.batch.v);
	mem_free(S.heap.v);
	mem_free(S.fds);
	memset(&S, 0, sizeof S);
	co_pool_free();
}
