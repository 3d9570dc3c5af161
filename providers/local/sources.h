/* SPDX-License-Identifier: Apache-2.0 */
/*
 * providers/local/sources.h - where this machine gets Debian packages from, so that hosts get
 * theirs from the same place.
 *
 * Both formats of apt's configuration are read (one-line *.list, deb822 *.sources). Only the Debian
 * archive's own entries count.
 */
#ifndef MUSTER_PROVIDERS_LOCAL_SOURCES_H
#define MUSTER_PROVIDERS_LOCAL_SOURCES_H

#include "base/base.h"

struct source {
	const char *uri;	/* http://mirror/debian */
	const char *suite;	/* with the machine's code name, e.g. bookworm-updates */
	const char *components; /* "main contrib" */
	const char *signed_by;	/* file, or NULL */
	/* of the Debian archive; false: another's, whose host the proxy may reach too */
	bool debian;
};
struct sources {
	VEC(struct source) v;
};

/* dir: "/etc/apt" (tests: another). */
must_check int sources_read(struct arena *a, const char *dir, struct sources *out, struct err *e);
void sources_parse_list(struct arena *a, struct str text, struct sources *out);
void sources_parse_deb822(struct arena *a, struct str text, struct sources *out);

/* deb822 text for `suite`, from the archive entries of the machine whose own code name is `own`; or
 * from `mirrors` alone, if any. */
must_check int sources_for(struct arena *a, const struct sources *s, const char *own,
			   const char *suite, struct buf *out, struct err *e);
void sources_for_mirror(const char *mirror, const char *suite, struct buf *out);

/* VERSION_CODENAME of an os-release file; "" if it has none. */
const char *sources_codename(struct arena *a, const char *os_release);

/* "http://host:port/..." -> host and port (80, 443 by default); false for other schemes. */
bool url_split(struct str url, struct str *host, int *port);

#endif
