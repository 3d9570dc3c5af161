/* SPDX-License-Identifier: Apache-2.0 */
#include "state/self.h"

#include <pwd.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

void self_user(char *to, size_t size)
{
	struct passwd pw, *found = NULL;
	char text[4096];

	if (!getpwuid_r(geteuid(), &pw, text, sizeof text, &found) && found)
		snprintf(to, size, "%s", pw.pw_name);
	else
		snprintf(to, size, "%ld", (long)geteuid());
}

void self_host(char *to, size_t size)
{
	struct utsname u = { 0 };

	uname(&u);
	snprintf(to, size, "%s", u.nodename);
}
