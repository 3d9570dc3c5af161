/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The script reads /proc, /sys and /etc with the shell itself and starts a dozen processes; it
 * leaves all interpretation to facts_parse, so that what a value means is decided (and tested)
 * here. The environment is told in parts only: tokens live in it, and facts are kept.
 */
#include "playbooks/facts.h"

#include <inttypes.h>

const char facts_script[] =
	"LC_ALL=C; export LC_ALL\n"
	"f() { [ -r \"$2\" ] && IFS= read -r v <\"$2\" 2>/dev/null; [ -n \"$v\" ] && printf '%s %s\\n' \"$1\" \"$v\"; v=; }\n"
	"k=/proc/sys/kernel\n"
	"f kernel $k/osrelease; f kernel_version $k/version; f system $k/ostype; f nodename $k/hostname\n"
	"printf 'machine %s\\n' \"$(uname -m)\"\n"
	"[ -r /etc/os-release ] && while IFS= read -r v; do printf 'os %s\\n' \"$v\"; done </etc/os-release; v=\n"
	"f debian_version /etc/debian_version; f init /proc/1/comm; f machine_id /etc/machine-id\n"
	"f boot_id $k/random/boot_id; f uptime /proc/uptime; f cmdline /proc/cmdline; f loadavg /proc/loadavg\n"
	"[ -d /run/systemd/system ] && echo 'systemd yes'\n"
	"[ -d /sys/fs/selinux ] && [ -e /sys/fs/selinux/enforce ] && f selinux /sys/fs/selinux/enforce\n"
	"for p in apt-get dnf5 dnf yum zypper pacman apk; do [ -x /usr/bin/$p ] || [ -x /sbin/$p ] && printf 'pkg %s\\n' $p; done\n"
	"for p in bios_date bios_vendor bios_version board_name board_vendor board_serial board_version chassis_vendor "
	"product_name product_serial product_uuid product_version sys_vendor; do f \"dmi $p\" /sys/class/dmi/id/$p; done\n"
	"while read -r a b c; do case $a in MemTotal:|MemFree:|MemAvailable:|SwapTotal:|SwapFree:|Cached:|Buffers:) "
	"printf 'mem %s %s\\n' $a $b ;; esac; done </proc/meminfo\n"
	"grep -E '^(processor|physical id|core id|cpu cores|siblings|model name|vendor_id)' /proc/cpuinfo | "
	"sed 's/^\\(processor\\).*/\\1/; s/[[:blank:]]*:/:/' | sort | uniq -c | sed 's/^/cpu /'\n"
	"printf 'nproc %s\\n' \"$(nproc 2>/dev/null)\"\n"
	"printf 'id %s\\n' \"$(id)\"\n"
	"getent passwd \"$(id -u)\" | sed 's/^/passwd /'\n"
	"printf 'date %s\\n' \"$(date '+%s %Y-%m-%d %H:%M:%S %Z %z %A %w %W')\"\n"
	"printf 'utc %s\\n' \"$(date -u '+%Y-%m-%dT%H:%M:%SZ')\"\n"
	"printf 'fqdn %s\\n' \"$(timeout 2 hostname -f 2>/dev/null)\"\n"
	"printf 'virt %s\\n' \"$(systemd-detect-virt 2>/dev/null)\"\n"
	"if command -v ip >/dev/null; then ip -o link | sed 's/^/link /'; ip -o addr | sed 's/^/addr /'\n"
	"ip -4 route show default | sed 's/^/route4 /'; ip -6 route show default | sed 's/^/route6 /'; fi\n"
	"while read -r a; do case $a in nameserver*|search*|domain*) printf 'dns %s\\n' \"$a\" ;; esac; done </etc/resolv.conf\n"
	"df -PT -B1024 2>/dev/null | sed 's/^/df /'\n"
	"while read -r a; do case $a in /dev/*|*:/*) printf 'mount %s\\n' \"$a\" ;; esac; done </proc/mounts\n"
	"for p in /etc/ssh/ssh_host_*_key.pub; do f hostkey \"$p\"; done\n"
	"for p in HOME USER LOGNAME SHELL PATH LANG PWD TERM; do eval \"v=\\${$p-}\"; "
	"[ -n \"$v\" ] && printf 'env %s=%s\\n' $p \"$v\"; done\n"
	"exit 0\n";

struct reading {
	struct arena *a;
	struct value *facts;
	struct value *os; /* /etc/os-release */
	struct value *raw;
	struct value *interfaces, *ipv4, *ipv6;
	struct value *dns;
	struct value *mounts;
	struct map sizes; /* mount point -> "kB used available" */
	int64_t cpus, cores, sockets, siblings;
};

static void set(struct reading *r, const char *key, struct str s)
{
	value_set(r->facts, key, value_str(r->a, s));
}

static void setc(struct reading *r, const char *key, const char *s)
{
	set(r, key, str_of(s));
}

static void set_int(struct reading *r, const char *key, int64_t i)
{
	value_set(r->facts, key, value_int(r->a, i));
}

static struct str word(struct str *s)
{
	struct str w = STR_NONE;

	*s = str_trim(*s);
	if (s->n)
		str_next(s, ' ', &w);
	return w;
}

static struct str unquoted(struct str s)
{
	if (s.n >= 2 && (s.p[0] == '"' || s.p[0] == '\'') && s.p[s.n - 1] == s.p[0])
		return str_sub(s, 1, s.n - 1);
	return s;
}

/* ---- which system ---- */

struct distro {
	const char *id, *name, *family;
};

static const struct distro distros[] = {
	{ "debian", "Debian", "Debian" },
	{ "ubuntu", "Ubuntu", "Debian" },
	{ "linuxmint", "Linux Mint", "Debian" },
	{ "raspbian", "Debian", "Debian" },
	{ "rhel", "RedHat", "RedHat" },
	{ "centos", "CentOS", "RedHat" },
	{ "rocky", "Rocky", "RedHat" },
	{ "almalinux", "AlmaLinux", "RedHat" },
	{ "fedora", "Fedora", "RedHat" },
	{ "ol", "OracleLinux", "RedHat" },
	{ "amzn", "Amazon", "RedHat" },
	{ "sles", "SLES", "Suse" },
	{ "opensuse-leap", "openSUSE Leap", "Suse" },
	{ "opensuse-tumbleweed", "openSUSE Tumbleweed", "Suse" },
	{ "alpine", "Alpine", "Alpine" },
	{ "arch", "Archlinux", "Archlinux" },
};

static void set_distribution(struct reading *r)
{
	struct str id = value_get_str(r->os, "ID", "linux"),
		   version = value_get_str(r->os, "VERSION_ID", "NA");
	struct str codename = value_get_str(r->os, "VERSION_CODENAME", "NA"),
		   like = value_get_str(r->os, "ID_LIKE", "");
	const char *name = NULL, *family = NULL;
	struct value *lsb = value_map(r->a);

	for (size_t i = 0; i < ARRAY_LEN(distros); i++)
		if (str_eqc(id, distros[i].id)) {
			name = distros[i].name;
			family = distros[i].family;
		}
	for (size_t i = 0; i < ARRAY_LEN(distros) && !family; i++)
		if (str_find(like, str_of(distros[i].id)) != SIZE_MAX)
			family = distros[i].family;
	if (str_eqc(id, "debian"))
		version = value_get_str(r->raw, "debian_version", version.p);
	set(r, "distribution", name ? str_of(name) : value_get_str(r->os, "NAME", "Linux"));
	set(r, "distribution_version", version);
	set(r, "distribution_release", codename);
	set(r, "distribution_major_version", str_sub(version, 0, str_find_char(version, '.')));
	if (str_find_char(version, '.') != SIZE_MAX)
		set(r, "distribution_minor_version",
		    str_sub(version, str_find_char(version, '.') + 1, SIZE_MAX));
	set(r, "os_family", family ? str_of(family) : value_get_str(r->os, "NAME", "Linux"));
	value_set(lsb, "id", value_get(r->facts, "distribution"));
	value_set(lsb, "codename", value_str(r->a, codename));
	value_set(lsb, "release", value_str(r->a, value_get_str(r->os, "VERSION_ID", "NA")));
	value_set(lsb, "major_release", value_get(r->facts, "distribution_major_version"));
	value_set(lsb, "description", value_str(r->a, value_get_str(r->os, "PRETTY_NAME", "")));
	value_set(r->facts, "lsb", lsb);
}

static void set_managers(struct reading *r)
{
	static const char *const pkgs[][2] = { { "apt-get", "apt" },   { "dnf5", "dnf5" },
					       { "dnf", "dnf" },       { "yum", "yum" },
					       { "zypper", "zypper" }, { "pacman", "pacman" },
					       { "apk", "apk" } };
	struct str pkg = value_get_str(r->raw, "pkg", "unknown"),
		   init = value_get_str(r->raw, "init", "");

	for (size_t i = 0; i < ARRAY_LEN(pkgs); i++)
		if (str_eqc(pkg, pkgs[i][0]))
			pkg = str_of(pkgs[i][1]);
	set(r, "pkg_mgr", pkg);
	if (str_eqc(init, "systemd") || value_get(r->raw, "systemd"))
		setc(r, "service_mgr", "systemd");
	else
		setc(r, "service_mgr", str_eqc(init, "openrc-init") ? "openrc" : "sysvinit");
}

static void set_names(struct reading *r)
{
	struct str node = value_get_str(r->raw, "nodename", ""),
		   fqdn = value_get_str(r->raw, "fqdn", "");
	size_t dot;

	/* localhost is no name for a host that has one. */
	if (!fqdn.n || str_starts(fqdn, "localhost"))
		fqdn = node;
	dot = str_find_char(fqdn, '.');
	set(r, "nodename", node);
	set(r, "hostname", str_sub(node, 0, str_find_char(node, '.')));
	set(r, "fqdn", fqdn);
	set(r, "domain", dot == SIZE_MAX ? STR("") : str_sub(fqdn, dot + 1, SIZE_MAX));
}

static void set_machine(struct reading *r)
{
	struct str m = value_get_str(r->raw, "machine", ""),
		   uptime = value_get_str(r->raw, "uptime", "");
	int64_t n;

	set(r, "architecture", m);
	set(r, "machine", m);
	set(r, "userspace_architecture", m);
	setc(r, "userspace_bits", str_find(m, STR("64")) != SIZE_MAX ? "64" : "32");
	set(r, "system", value_get_str(r->raw, "system", "Linux"));
	set(r, "kernel", value_get_str(r->raw, "kernel", ""));
	set(r, "kernel_version", value_get_str(r->raw, "kernel_version", ""));
	set(r, "machine_id", value_get_str(r->raw, "machine_id", ""));
	if (str_to_int(str_sub(uptime, 0, str_find_char(uptime, '.')), &n))
		set_int(r, "uptime_seconds", n);
}

static void set_selinux(struct reading *r)
{
	struct value *m = value_map(r->a);
	const struct value *on = value_get(r->raw, "selinux");

	value_set(m, "status", value_cstr(r->a, on ? "enabled" : "disabled"));
	if (on)
		value_set(m, "mode",
			  value_cstr(r->a, str_eqc(on->s, "1") ? "enforcing" : "permissive"));
	value_set(r->facts, "selinux", m);
}

static void set_virtualization(struct reading *r)
{
	static const char *const containers[] = { "systemd-nspawn", "lxc", "lxc-libvirt", "docker",
						  "podman",	    "rkt", "wsl" };
	struct str v = value_get_str(r->raw, "virt", "none");
	bool container = false;

	for (size_t i = 0; i < ARRAY_LEN(containers); i++)
		container = container || str_eqc(v, containers[i]);
	if (!v.n || str_eqc(v, "none")) {
		setc(r, "virtualization_type", "NA");
		setc(r, "virtualization_role", "NA");
		return;
	}
	set(r, "virtualization_type",
	    str_eqc(v, "oracle")	   ? STR("virtualbox")
	    : str_eqc(v, "systemd-nspawn") ? STR("container")
					   : v);
	setc(r, "virtualization_role", "guest");
	if (container)
		setc(r, "container", "yes");
}

/* ---- processors and memory ---- */

/* "  8 cpu cores: 4" after uniq -c */
static void read_cpu(struct reading *r, struct str line)
{
	struct str count = word(&line), key, value = STR_NONE;
	size_t colon = str_find_char(line, ':');
	int64_t n = 0, v = 0;

	key = str_trim(str_sub(line, 0, colon));
	if (colon != SIZE_MAX)
		value = str_trim(str_sub(line, colon + 1, SIZE_MAX));
	str_to_int(count, &n);
	str_to_int(value, &v);
	if (str_eqc(key, "processor"))
		r->cpus = n;
	else if (str_eqc(key, "physical id"))
		r->sockets++;
	else if (str_eqc(key, "cpu cores"))
		r->cores = v;
	else if (str_eqc(key, "siblings"))
		r->siblings = v;
	else if (str_eqc(key, "model name"))
		set(r, "processor_model", value);
}

static void set_processors(struct reading *r)
{
	int64_t sockets = r->sockets ? r->sockets : 1, cores = r->cores ? r->cores : 1, nproc;
	int64_t threads = r->cores && r->siblings ? r->siblings / r->cores : 1;

	set_int(r, "processor_count", r->sockets ? sockets : r->cpus);
	set_int(r, "processor_cores", cores);
	set_int(r, "processor_threads_per_core", threads);
	set_int(r, "processor_vcpus", r->sockets ? sockets * cores * threads : r->cpus);
	if (str_to_int(value_get_str(r->raw, "nproc", ""), &nproc))
		set_int(r, "processor_nproc", nproc);
}

static void read_mem(struct reading *r, struct str line)
{
	static const char *const names[][2] = {
		{ "MemTotal:", "memtotal_mb" },
		{ "MemFree:", "memfree_mb" },
		{ "SwapTotal:", "swaptotal_mb" },
		{ "SwapFree:", "swapfree_mb" },
	};
	struct str key = word(&line);
	int64_t kb;

	for (size_t i = 0; i < ARRAY_LEN(names) && str_to_int(str_trim(line), &kb); i++)
		if (str_eqc(key, names[i][0]))
			set_int(r, names[i][1], kb / 1024);
}

/* ---- network ---- */

static struct value *interface_of(struct reading *r, struct str name)
{
	struct value *list = value_get(r->facts, "interfaces"), *v;
	struct buf key scoped(buf_fini) = { 0 };

	name = str_sub(name, 0, str_find_char(name, '@'));
	buf_init(&key, 256);
	for (size_t i = 0; i < name.n; i++) /* as Ansible names the fact */
		buf_addc(&key, name.p[i] == '-' || name.p[i] == ':' || name.p[i] == '.'
				       ? '_'
				       : name.p[i]);
	v = value_get(r->facts, key.p);
	if (v && v->kind == V_MAP)
		return v;
	v = value_map(r->a);
	value_set(v, "device", value_str(r->a, name));
	value_set(r->facts, key.p, v);
	value_add(r->a, list, value_str(r->a, name));
	return v;
}

/* "2: eth0@if3: <BROADCAST,UP> mtu 1500 ... link/ether 52:54:.. brd .." */
static void read_link(struct reading *r, struct str line)
{
	struct value *v;
	struct str w;
	int64_t mtu;

	word(&line);
	w = word(&line);
	v = interface_of(r, str_trim_end(w, ':'));
	w = word(&line);
	value_set(v, "active", value_bool(r->a, str_find(w, STR("UP")) != SIZE_MAX));
	while ((w = word(&line)).n) {
		if (str_eqc(w, "mtu") && str_to_int(word(&line), &mtu)) {
			value_set(v, "mtu", value_int(r->a, mtu));
		} else if (str_starts(w, "link/")) {
			bool lo = str_eqc(w, "link/loopback");
			value_set(v, "type",
				  value_cstr(r->a, lo			      ? "loopback"
						   : str_eqc(w, "link/ether") ? "ether"
									      : "unknown"));
			if (!lo)
				value_set(v, "macaddress", value_str(r->a, word(&line)));
			return;
		}
	}
}

static struct str netmask(struct arena *a, int64_t prefix)
{
	uint32_t m = prefix <= 0 ? 0 : prefix >= 32 ? 0xffffffffu : 0xffffffffu << (32 - prefix);

	return str_of(
		arena_printf(a, "%u.%u.%u.%u", m >> 24, m >> 16 & 255, m >> 8 & 255, m & 255));
}

static struct str network_of(struct arena *a, struct str address, int64_t prefix)
{
	uint32_t ip = 0, m = prefix <= 0    ? 0
			     : prefix >= 32 ? 0xffffffffu
					    : 0xffffffffu << (32 - prefix);
	struct str part;
	uint64_t n;

	while (str_next(&address, '.', &part) && str_to_uint(part, 10, &n))
		ip = ip << 8 | (uint32_t)(n & 255);
	ip &= m;
	return str_of(
		arena_printf(a, "%u.%u.%u.%u", ip >> 24, ip >> 16 & 255, ip >> 8 & 255, ip & 255));
}

static void add_ipv4(struct reading *r, struct value *v, struct str cidr, struct str rest)
{
	size_t slash = str_find_char(cidr, '/');
	struct str ip = str_sub(cidr, 0, slash), w;
	struct value *m = value_map(r->a);
	int64_t prefix = 32;

	if (slash != SIZE_MAX)
		str_to_int(str_sub(cidr, slash + 1, SIZE_MAX), &prefix);
	value_set(m, "address", value_str(r->a, ip));
	while ((w = word(&rest)).n)
		if (str_eqc(w, "brd"))
			value_set(m, "broadcast", value_str(r->a, word(&rest)));
	value_set(m, "netmask", value_str(r->a, netmask(r->a, prefix)));
	value_set(m, "network", value_str(r->a, network_of(r->a, ip, prefix)));
	value_set(m, "prefix", value_strf(r->a, "%" PRId64, prefix));
	if (!value_get(v, "ipv4"))
		value_set(v, "ipv4", m);
	if (!str_starts(ip, "127."))
		value_add(r->a, r->ipv4, value_str(r->a, ip));
}

/* "2: eth0    inet 10.0.0.5/24 brd 10.0.0.255 scope global eth0" */
static void read_addr(struct reading *r, struct str line)
{
	struct value *v;
	struct str family, cidr;

	word(&line);
	v = interface_of(r, word(&line));
	family = word(&line);
	cidr = word(&line);
	if (str_eqc(family, "inet")) {
		add_ipv4(r, v, cidr, line);
	} else if (str_eqc(family, "inet6")) {
		struct value *list = value_get(v, "ipv6"), *m = value_map(r->a);
		struct str ip = str_sub(cidr, 0, str_find_char(cidr, '/'));
		size_t slash = str_find_char(cidr, '/');
		if (!list)
			value_set(v, "ipv6", list = value_list(r->a));
		value_set(m, "address", value_str(r->a, ip));
		value_set(m, "prefix",
			  value_str(r->a, slash == SIZE_MAX ? STR("128")
							    : str_sub(cidr, slash + 1, SIZE_MAX)));
		word(&line);
		value_set(m, "scope", value_str(r->a, word(&line)));
		value_add(r->a, list, m);
		if (!str_eqc(ip, "::1"))
			value_add(r->a, r->ipv6, value_str(r->a, ip));
	}
}

/* "default via 10.0.0.1 dev eth0 src 10.0.0.5": default_ipv4 is that interface's first address. */
static void read_route(struct reading *r, const char *fact, struct str line)
{
	struct value *m = value_get(r->facts, fact), *dev, *ip;
	struct str w, gateway = STR_NONE, name = STR_NONE;

	if (m->map.n)
		return; /* the first default route counts */
	while ((w = word(&line)).n) {
		if (str_eqc(w, "via"))
			gateway = word(&line);
		else if (str_eqc(w, "dev"))
			name = word(&line);
	}
	if (!name.n)
		return;
	dev = interface_of(r, name);
	ip = value_get(dev, "ipv4");
	if (strcmp(fact, "default_ipv4") != 0) {
		ip = value_get(dev, "ipv6");
		ip = ip && ip->list.n ? ip->list.v[0] : NULL;
	}
	for (size_t i = 0; ip && i < ip->map.n; i++)
		value_sets(m, ip->map.e[i].key, ip->map.e[i].val);
	value_set(m, "interface", value_str(r->a, name));
	value_set(m, "alias", value_str(r->a, name));
	if (gateway.n)
		value_set(m, "gateway", value_str(r->a, gateway));
	for (size_t i = 0; i < 3; i++) {
		static const char *const keys[] = { "macaddress", "mtu", "type" };
		const struct value *v = value_get(dev, keys[i]);
		if (v)
			value_set(m, keys[i], v);
	}
}

static void read_dns(struct reading *r, struct str line)
{
	struct str key = word(&line), w;
	const char *name = str_eqc(key, "nameserver") ? "nameservers"
			   : str_eqc(key, "search")   ? "search"
						      : "domain";
	struct value *list = value_get(r->dns, name);

	if (strcmp(name, "domain") == 0) {
		value_set(r->dns, name, value_str(r->a, word(&line)));
		return;
	}
	if (!list)
		value_set(r->dns, name, list = value_list(r->a));
	while ((w = word(&line)).n)
		value_add(r->a, list, value_str(r->a, w));
}

/* ---- the rest ---- */

/* "uid=0(root) gid=0(root) groups=..." */
static void read_id(struct reading *r, struct str line)
{
	struct str uid = word(&line), gid = word(&line);
	size_t open = str_find_char(uid, '(');
	int64_t n;

	set(r, "user_id",
	    str_trim_end(str_sub(uid, open == SIZE_MAX ? uid.n : open + 1, SIZE_MAX), ')'));
	if (str_to_int(str_sub(uid, 4, open), &n)) {
		set_int(r, "user_uid", n);
		set_int(r, "effective_user_id", n);
		set_int(r, "real_user_id", n);
	}
	if (str_to_int(str_sub(gid, 4, str_find_char(gid, '(')), &n)) {
		set_int(r, "user_gid", n);
		set_int(r, "effective_group_id", n);
		set_int(r, "real_group_id", n);
	}
}

static void read_passwd(struct reading *r, struct str line)
{
	static const char *const names[] = { NULL,	   NULL,       NULL,	    NULL,
					     "user_gecos", "user_dir", "user_shell" };
	struct str field;

	for (size_t i = 0; i < ARRAY_LEN(names) && str_next(&line, ':', &field); i++)
		if (names[i])
			set(r, names[i], field);
}

static void read_date(struct reading *r, struct str line)
{
	static const char *const names[] = {
		"epoch",     "date",	"time",		  "tz",
		"tz_offset", "weekday", "weekday_number", "weeknumber"
	};
	static const char *const parts[] = { "year", "month", "day" }, *const clock[] = {
		"hour", "minute", "second"
	};
	struct value *m = value_map(r->a);
	struct str rest, part;

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		value_set(m, names[i], value_str(r->a, word(&line)));
	rest = value_get_str(m, "date", "");
	for (size_t i = 0; i < 3 && str_next(&rest, '-', &part); i++)
		value_set(m, parts[i], value_str(r->a, part));
	rest = value_get_str(m, "time", "");
	for (size_t i = 0; i < 3 && str_next(&rest, ':', &part); i++)
		value_set(m, clock[i], value_str(r->a, part));
	value_set(m, "epoch_int", value_get(m, "epoch"));
	value_set(r->facts, "date_time", m);
}

static void read_pair(struct reading *r, struct value *m, struct str line)
{
	size_t eq = str_find_char(line, '=');

	if (eq != SIZE_MAX)
		value_sets(m, str_sub(line, 0, eq),
			   value_str(r->a, unquoted(str_sub(line, eq + 1, SIZE_MAX))));
}

static void read_df(struct reading *r, struct str line)
{
	struct str size, used, free;

	word(&line);
	word(&line);
	size = word(&line);
	used = word(&line);
	free = word(&line);
	word(&line);
	map_put(&r->sizes, str_trim(line),
		arena_printf(r->a, STR_FMT " " STR_FMT " " STR_FMT, STR_ARG(size), STR_ARG(used),
			     STR_ARG(free)));
}

static void read_mount(struct reading *r, struct str line)
{
	struct value *m = value_map(r->a);
	struct str device = word(&line), point = word(&line), type = word(&line),
		   options = word(&line), s;
	int64_t kb;

	value_set(m, "device", value_str(r->a, device));
	value_set(m, "mount", value_str(r->a, point));
	value_set(m, "fstype", value_str(r->a, type));
	value_set(m, "options", value_str(r->a, options));
	s = str_of(map_get(&r->sizes, point));
	if (str_to_int(word(&s), &kb))
		value_set(m, "size_total", value_int(r->a, kb * 1024));
	word(&s);
	if (str_to_int(word(&s), &kb))
		value_set(m, "size_available", value_int(r->a, kb * 1024));
	value_add(r->a, r->mounts, m);
}

/* "ssh-ed25519 AAAA... comment" */
static void read_hostkey(struct reading *r, struct str line)
{
	struct str type = word(&line), key = word(&line), name = STR("rsa");

	if (str_find(type, STR("ed25519")) != SIZE_MAX)
		name = STR("ed25519");
	else if (str_find(type, STR("ecdsa")) != SIZE_MAX)
		name = STR("ecdsa");
	else if (str_find(type, STR("dss")) != SIZE_MAX)
		name = STR("dsa");
	set(r, arena_printf(r->a, "ssh_host_key_" STR_FMT "_public", STR_ARG(name)), key);
	set(r, arena_printf(r->a, "ssh_host_key_" STR_FMT "_public_keytype", STR_ARG(name)), type);
}

static void read_cmdline(struct reading *r, struct str line)
{
	struct value *m = value_map(r->a);
	struct str w;

	while ((w = word(&line)).n) {
		size_t eq = str_find_char(w, '=');
		value_sets(m, str_sub(w, 0, eq),
			   eq == SIZE_MAX ? value_bool(r->a, true)
					  : value_str(r->a, str_sub(w, eq + 1, SIZE_MAX)));
	}
	value_set(r->facts, "cmdline", m);
}

static void read_dmi(struct reading *r, struct str line)
{
	struct str name = word(&line);

	set(r, str_eqc(name, "sys_vendor") ? "system_vendor" : str_cstr(r->a, name), line);
}

static void read_line(struct reading *r, struct str key, struct str rest)
{
	if (str_eqc(key, "os"))
		read_pair(r, r->os, rest);
	else if (str_eqc(key, "env"))
		read_pair(r, value_get(r->facts, "env"), rest);
	else if (str_eqc(key, "cpu"))
		read_cpu(r, rest);
	else if (str_eqc(key, "mem"))
		read_mem(r, rest);
	else if (str_eqc(key, "link"))
		read_link(r, rest);
	else if (str_eqc(key, "addr"))
		read_addr(r, rest);
	else if (str_eqc(key, "route4"))
		read_route(r, "default_ipv4", rest);
	else if (str_eqc(key, "route6"))
		read_route(r, "default_ipv6", rest);
	else if (str_eqc(key, "dns"))
		read_dns(r, rest);
	else if (str_eqc(key, "id"))
		read_id(r, rest);
	else if (str_eqc(key, "passwd"))
		read_passwd(r, rest);
	else if (str_eqc(key, "date"))
		read_date(r, rest);
	else if (str_eqc(key, "df"))
		read_df(r, rest);
	else if (str_eqc(key, "mount"))
		read_mount(r, rest);
	else if (str_eqc(key, "hostkey"))
		read_hostkey(r, rest);
	else if (str_eqc(key, "cmdline"))
		read_cmdline(r, rest);
	else if (str_eqc(key, "dmi"))
		read_dmi(r, rest);
	else if (!value_gets(r->raw, key)) /* pkg: the first found counts */
		value_sets(r->raw, key, value_str(r->a, rest));
}

/* "NA" where the machine doesn't tell. */
static const char *const dmi_names[] = {
	"bios_date",	"bios_vendor",	   "bios_version",   "board_name",   "board_serial",
	"board_vendor", "board_version",   "chassis_vendor", "product_name", "product_serial",
	"product_uuid", "product_version", "system_vendor",
};

static void open_reading(struct reading *r, struct arena *a)
{
	memset(r, 0, sizeof(*r));
	r->a = a;
	r->facts = value_map(a);
	r->os = value_map(a);
	r->raw = value_map(a);
	map_init(&r->sizes, a);
	value_set(r->facts, "interfaces", r->interfaces = value_list(a));
	value_set(r->facts, "all_ipv4_addresses", r->ipv4 = value_list(a));
	value_set(r->facts, "all_ipv6_addresses", r->ipv6 = value_list(a));
	value_set(r->facts, "default_ipv4", value_map(a));
	value_set(r->facts, "default_ipv6", value_map(a));
	value_set(r->facts, "dns", r->dns = value_map(a));
	value_set(r->facts, "mounts", r->mounts = value_list(a));
	value_set(r->facts, "env", value_map(a));
}

struct value *facts_parse(struct arena *a, struct str text)
{
	struct reading r;
	struct str line;

	open_reading(&r, a);
	for (size_t i = 0; i < ARRAY_LEN(dmi_names); i++)
		setc(&r, dmi_names[i], "NA");
	while (str_next_line(&text, &line)) {
		size_t blank = str_find_char(line, ' ');
		if (blank != SIZE_MAX)
			read_line(&r, str_sub(line, 0, blank), str_sub(line, blank + 1, SIZE_MAX));
	}
	set_distribution(&r);
	set_managers(&r);
	set_names(&r);
	set_machine(&r);
	set_processors(&r);
	set_selinux(&r);
	set_virtualization(&r);
	value_set(r.facts, "gather_subset", value_list(a));
	value_add(a, value_get(r.facts, "gather_subset"), value_cstr(a, "all"));
	if (value_get(r.facts, "date_time") && value_get(r.raw, "utc"))
		value_set(value_get(r.facts, "date_time"), "iso8601", value_get(r.raw, "utc"));
	return r.facts;
}
