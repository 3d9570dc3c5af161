/* SPDX-License-Identifier: Apache-2.0 */
/* playbooks/facts.h - what a host is: read by a POSIX sh script, with the names and values that
 * Ansible's setup gives. */
#ifndef MUSTER_PLAYBOOKS_FACTS_H
#define MUSTER_PLAYBOOKS_FACTS_H

#include "base/base.h"

extern const char facts_script[]; /* read-only; writes "KEY VALUE" lines */
/* Names without ansible_: distribution, default_ipv4, ... What the host did not tell is absent. */
struct value *facts_parse(struct arena *a, struct str text);

#endif
