/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything of a running host hangs on this one process: the overlay is mounted in its mount
 * namespace, the host's end of the network cable lies in its network namespace, its processes are
 * in a process namespace that the kernel ends with it. So there is no clean-up that a crash could
 * skip. It uses no tasks: it waits for one child and three signals.
 */
#include "providers/local/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "providers/local/cgroup.h"
#include "providers/local/keeper.h"
#include "providers/local/netns.h"
#include "providers/local/record.h"

#define REBOOT_STATUS 133 /* systemd-nspawn: the host asked for a reboot */
#define FAST_BOOTS    5	  /* in a row, each shorter than FAST_MS: it will never come up */
#define FAST_MS	      300
#define LINK	      "host0"

struct supervisor {
	struct arena *a;
	const char *dir;
	const struct value *rec;
	const char *id, *root, *netns, *link;
	sigset_t waits;
	int64_t boots;
	pid_t child;
	int alive; /* held open for as long as we live */
};

static const char *field_of(const struct supervisor *s, const char *key)
{
	return str_cstr(s->a, value_get_str(s->rec, key, ""));
}

static int load(struct supervisor *s, struct err *e)
{
	struct value *rec;
	if (keeper_hold(fs_join(s->a, s->dir, SUPERVISOR_LOCK), e))
		return -1;
	/* After the lock: whoever removes the host marks the record first and then looks at the
	 * lock. */
	if (record_read(s->a, s->dir, &rec, e))
		return -1;
	if (!rec || str_eqc(value_get_str(rec, "status", ""), "deleting"))
		return err_set(e, ERR_NOT_FOUND, "%s: the host is being removed", s->dir);
	s->rec = rec;
	s->id = field_of(s, "unit");
	s->netns = field_of(s, "netns");
	s->link = field_of(s, "link");
	s->root = fs_join(s->a, s->dir, "root");
	return 0;
}

/* "volatile" leaves a mark that refuses the next mount, since after a crash of the machine writes
 * may be missing. These hosts are thrown away; `durable: true` is for those who mind. */
static int mount_root(struct supervisor *s, struct err *e)
{
	bool durable = value_get_bool(s->rec, "durable", false);
	const char *work = fs_join(s->a, s->dir, "work");
	if (fs_remove_tree(arena_printf(s->a, "%s/work/incompat", work), e) ||
	    fs_mkdirs(s->root, 0755, e) || fs_mkdirs(work, 0755, e))
		return -1;
	const char *options = arena_printf(s->a, "lowerdir=%s,upperdir=%s/upper,workdir=%s%s",
					   field_of(s, "base"), s->dir, work,
					   durable ? "" : ",volatile");
	if (mount("overlay", s->root, "overlay", 0, options) == 0)
		return 0;
	err_sys(e, "mounting the overlay of %s", s->id);
	return err_hint(e, "set `dir` of the local provider to a folder on ext4, xfs or btrfs");
}

static int own_world(struct supervisor *s, struct err *e)
{
	size_t hosts = cgroup_hosts();
	if (limits_raise(hosts + 1, e))
		return -1;
	if (unshare(CLONE_NEWNS | CLONE_NEWNET) < 0)
		return err_sys(e, "own namespaces");
	if (mount("", "/", "", MS_REC | MS_PRIVATE, NULL) < 0)
		return err_sys(e, "private mounts");
	if (cgroup_mount_v2(e) || cgroup_enter(s->id, "keeper", e))
		return -1;
	return mount_root(s, e);
}

/* The cable: one end here, the other on the network's bridge. A predecessor's end vanishes a moment
 * after its death. */
static int plug_in(struct supervisor *s, struct err *e)
{
	const char *make = arena_printf(
		s->a, "link set lo up\nlink add " LINK " type veth peer name %s netns %s\n",
		s->link, s->netns);
	const char *join = arena_printf(s->a, "link set dev %s master br0 up\n", s->link);
	struct err first = { 0 };
	for (int i = 0;; i++) {
		if (netns_ip(NULL, make, &first) == 0)
			break;
		if (i == 40) {
			*e = first;
			return -1;
		}
		struct err ignored = { 0 };
		if (netns_has_link(s->netns, s->link) &&
		    netns_ip(s->netns, arena_printf(s->a, "link del dev %s\n", s->link), &ignored))
			log_debug("%s", ignored.msg);
		usleep(50000);
	}
	return netns_ip(s->netns, join, e);
}

/* Before each start: a host may have changed its own address. */
static int configure_link(struct supervisor *s, struct err *e)
{
	return netns_ip(NULL,
			arena_printf(s->a,
				     "addr flush dev " LINK "\naddr add %s/%lld dev " LINK
				     "\nlink set dev " LINK " up\nroute replace default via %s\n",
				     field_of(s, "address"),
				     (long long)value_get_int(s->rec, "prefix", 16),
				     field_of(s, "gateway")),
			e);
}

static void count_boot(struct supervisor *s)
{
	struct err ignored = { 0 };
	char text[24];
	snprintf(text, sizeof text, "%lld\n", (long long)++s->boots);
	if (fs_write_atomic(fs_join(s->a, s->dir, "boots"), str_of(text), 0644, &ignored))
		log_debug("%s", ignored.msg);
}

static void read_boots(struct supervisor *s)
{
	struct str text;
	struct err ignored = { 0 };
	if (fs_read(s->a, fs_join(s->a, s->dir, "boots"), 32, &text, &ignored) ||
	    !str_to_int(str_trim(text), &s->boots))
		s->boots = 0;
}

static const char **nspawn_argv(struct supervisor *s)
{
	const char *argv[] = {
		"systemd-nspawn",
		"--quiet",
		"--boot",
		"--register=no",
		"--keep-unit",
		"--link-journal=no",
		"--resolv-conf=off",
		"--timezone=off",
		"--console=read-only",
		"--capability=CAP_NET_ADMIN,CAP_SYS_RESOURCE",
		"--network-namespace-path=/proc/self/ns/net", /* the keeper's, which it inherits */
		arena_printf(s->a, "--machine=%s", s->id),
		arena_printf(s->a, "--hostname=%s", field_of(s, "name")),
		arena_printf(s->a, "--directory=%s", s->root),
	};
	const char **copy = arena_array(s->a, const char *, ARRAY_LEN(argv) + 1);
	memcpy(copy, argv, sizeof argv);
	return copy;
}

static no_return void nspawn_main(const char **argv)
{
	static const char *const env[] = {
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8",
		/* /proc/sys of the shared kernel stays read-only, but for net, which is the host's
		   own. */
		"SYSTEMD_NSPAWN_API_VFS_WRITABLE=network", NULL
	};
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvpe(argv[0], (char *const *)argv, (char *const *)env);
	dprintf(STDERR_FILENO, "muster: %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

/*
 * The first process of a process namespace: when it goes, the kernel ends everything in there.
 * nspawn alone is not enough, since the host's own first process outlives a killed nspawn. It ends
 * with the keeper, and as nspawn ends.
 */
static no_return void box_main(struct supervisor *s, const char **argv, int alive)
{
	struct err e = { 0 };
	char byte;
	int status;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The keeper's end of this pipe is closed if it died before the line above. */
	struct pollfd end = { .fd = alive, .events = POLLIN };
	if (poll(&end, 1, 0) != 0 && read(alive, &byte, 1) == 0)
		_exit(127);
	if (cgroup_enter(s->id, "box", &e) ||
	    mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0) {
		dprintf(STDERR_FILENO, "muster: %s\n", e.msg[0] ? e.msg : "mounting /proc");
		_exit(127);
	}
	pid_t pid = fork();
	if (pid == 0)
		nspawn_main(argv);
	for (;;) {
		pid_t gone = waitpid(-1, &status, 0);
		if (gone == pid)
			_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
		if (gone < 0 && errno != EINTR)
			_exit(127);
	}
}

/* fork, into new process and mount namespaces. */
static pid_t fork_box(void)
{
	return (pid_t)syscall(SYS_clone, CLONE_NEWPID | CLONE_NEWNS | SIGCHLD, NULL, NULL, NULL, 0);
}

static int boot(struct supervisor *s, struct err *e)
{
	const char **argv = nspawn_argv(s);
	int alive[2];
	if (configure_link(s, e))
		return -1;
	if (pipe2(alive, O_CLOEXEC) < 0)
		return err_sys(e, "pipe");
	s->child = fork_box();
	if (s->child == 0) {
		close(alive[1]);
		box_main(s, argv, alive[0]);
	}
	close(alive[0]);
	if (s->alive > 0)
		close(s->alive);
	s->alive = alive[1];
	if (s->child < 0)
		return err_sys(e, "a process namespace");
	count_boot(s);
	return 0;
}

/* A power cut: everything inside goes at once, then nspawn ends by itself. */
static void cut_power(struct supervisor *s)
{
	for (int i = 0; i < 500 && !cgroup_kill(s->id, "box"); i++)
		usleep(10000);
}

enum next { NEXT_BOOT, NEXT_END };

/* Waits for what happens to the host. */
static enum next wait_for_end(struct supervisor *s, bool *cut)
{
	int status, signo;
	for (;;) {
		if (sigwait(&s->waits, &signo) != 0)
			continue;
		if (signo == SIGTERM || signo == SIGINT || signo == SIGHUP) {
			cut_power(s);
			while (waitpid(s->child, &status, 0) < 0 && errno == EINTR)
				;
			*cut = true;
			return signo == SIGHUP ? NEXT_BOOT : NEXT_END;
		}
		if (waitpid(s->child, &status, WNOHANG) != s->child)
			continue;
		/* Whoever kills the host's first process sees it as a crash of nspawn; what is left
		 * of it goes too. */
		cut_power(s);
		return WIFEXITED(status) && WEXITSTATUS(status) == REBOOT_STATUS ? NEXT_BOOT
										 : NEXT_END;
	}
}

static int run(struct supervisor *s, struct err *e)
{
	int fast = 0;
	if (load(s, e) || own_world(s, e) || plug_in(s, e))
		return -1;
	read_boots(s);
	for (;;) {
		int64_t since = clock_now();
		bool cut = false;
		if (boot(s, e))
			return -1;
		if (wait_for_end(s, &cut) == NEXT_END)
			return 0;
		fast = !cut && clock_now() - since < FAST_MS ? fast + 1 : 0;
		if (fast >= FAST_BOOTS)
			return err_set(e, ERR_REMOTE, "the host reboots at once, %d times in a row",
				       fast);
	}
}

static void clean_up(struct supervisor *s)
{
	if (!s->id)
		return;
	cut_power(s);
	/* Out of the group that is to be removed. */
	struct err ignored = { 0 };
	char path[64];
	const char *root = cgroup_root();
	if (root && snprintf(path, sizeof path, "%s/cgroup.procs", root) > 0) {
		scoped(close_fd) int fd = open(path, O_WRONLY | O_CLOEXEC);
		if (fd < 0 || write(fd, "0", 1) != 1)
			err_sys(&ignored, "%s", path);
	}
	if (cgroup_remove(s->id))
		limits_restore();
}

static void block_signals(struct supervisor *s)
{
	sigemptyset(&s->waits);
	sigaddset(&s->waits, SIGCHLD);
	sigaddset(&s->waits, SIGTERM);
	sigaddset(&s->waits, SIGINT);
	sigaddset(&s->waits, SIGHUP);
	sigprocmask(SIG_SETMASK, &s->waits, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
}

int local_host_main(int argc, char **argv)
{
	struct supervisor s = { 0 };
	struct err e = { 0 };
	if (argc != 3 || strcmp(argv[1], "--dir")) {
		dprintf(STDERR_FILENO, "usage: local-host --dir DIR\n");
		return 64;
	}
	s.a = arena_new("supervisor");
	s.dir = argv[2];
	block_signals(&s);
	int rc = run(&s, &e);
	if (rc)
		dprintf(STDERR_FILENO, "muster: %s%s%s\n", e.msg, e.hint[0] ? "; " : "", e.hint);
	clean_up(&s);
	arena_free(s.a);
	return rc ? 1 : 0;
}
