/* SPDX-License-Identifier: Apache-2.0 */
/* What the facts' script told, and which facts are made of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "playbooks/facts.h"

static const char told[] =
	"kernel 6.1.0-18-amd64\n"
	"nodename gpu-1.example.org\n"
	"machine x86_64\n"
	"os ID=debian\n"
	"os VERSION_ID=\"12\"\n"
	"os VERSION_CODENAME=bookworm\n"
	"debian_version 12.5\n"
	"init systemd\n"
	"uptime 3600.51 7000.00\n"
	"pkg apt-get\n"
	"dmi sys_vendor Example Inc.\n"
	"mem MemTotal: 16384000\n"
	"cpu       8 processor\n"
	"cpu       8 physical id: 0\n"
	"cpu       8 cpu cores: 4\n"
	"cpu       8 siblings: 8\n"
	"nproc 8\n"
	"id uid=0(root) gid=0(root) groups=0(root)\n"
	"fqdn gpu-1.example.org\n"
	"virt kvm\n"
	"link 1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue\\    link/loopback 00:00\n"
	"link 2: br-lan@if3: <BROADCAST,UP> mtu 9000 qdisc x\\    link/ether 52:54:00:12:34:56 brd f\n"
	"addr 1: lo    inet 127.0.0.1/8 scope host lo\n"
	"addr 2: br-lan    inet 192.0.2.20/25 brd 192.0.2.127 scope global br-lan\n"
	"addr 2: br-lan    inet6 2001:db8::20/64 scope global \n"
	"route4 default via 192.0.2.1 dev br-lan proto dhcp\n"
	"mount /dev/sda1 / ext4 rw,relatime 0 0\n"
	"env HOME=/root\n";

static void expect(const struct value *facts, const char *path, const char *wanted)
{
	struct buf b scoped(buf_fini) = { 0 };
	const struct value *v = value_path(facts, path);

	buf_init(&b, BUF_MAX_DEFAULT);
	if (v)
		value_print(&b, v);
	else
		buf_adds(&b, "(absent)");
	if (!str_eqc(buf_str(&b), wanted))
		fail_msg("%s is %s, not %s", path, b.p, wanted);
}

static void facts(void **state)
{
	static const char *const rows[][2] = {
		{ "kernel", "6.1.0-18-amd64" },
		{ "architecture", "x86_64" },
		{ "distribution", "Debian" },
		{ "distribution_version", "12.5" },
		{ "distribution_major_version", "12" },
		{ "distribution_minor_version", "5" },
		{ "distribution_release", "bookworm" },
		{ "os_family", "Debian" },
		{ "pkg_mgr", "apt" },
		{ "service_mgr", "systemd" },
		{ "hostname", "gpu-1" },
		{ "nodename", "gpu-1.example.org" },
		{ "fqdn", "gpu-1.example.org" },
		{ "domain", "example.org" },
		{ "memtotal_mb", "16000" },
		{ "processor_count", "1" },
		{ "processor_cores", "4" },
		{ "processor_threads_per_core", "2" },
		{ "processor_vcpus", "8" },
		{ "user_id", "root" },
		{ "uptime_seconds", "3600" },
		{ "virtualization_type", "kvm" },
		{ "virtualization_role", "guest" },
		{ "system_vendor", "Example Inc." },
		{ "product_name", "NA" },
		{ "interfaces", "['lo', 'br-lan']" },
		{ "br_lan.mtu", "9000" },
		{ "br_lan.macaddress", "52:54:00:12:34:56" },
		{ "br_lan.ipv4.network", "192.0.2.0" },
		{ "br_lan.ipv4.netmask", "255.255.255.128" },
		{ "default_ipv4.address", "192.0.2.20" },
		{ "default_ipv4.gateway", "192.0.2.1" },
		{ "default_ipv4.interface", "br-lan" },
		{ "default_ipv6", "{}" },
		{ "all_ipv4_addresses", "['192.0.2.20']" },
		{ "all_ipv6_addresses", "['2001:db8::20']" },
		{ "mounts.0.fstype", "ext4" },
		{ "selinux.status", "disabled" },
		{ "env.HOME", "/root" },
	};
	struct arena *a scoped(arena_freep) = arena_new("facts");
	const struct value *v = facts_parse(a, str_of(told));

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		expect(v, rows[i][0], rows[i][1]);
}

/* Any part of the text, cut anywhere, is read without harm. */
static void cut_anywhere(void **state)
{
	(void)state;
	for (size_t n = 0; n < sizeof(told); n++) {
		struct arena *a scoped(arena_freep) = arena_new("facts");
		assert_non_null(value_get(facts_parse(a, (struct str){ told, n }), "distribution"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(facts),
		cmocka_unit_test(cut_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
