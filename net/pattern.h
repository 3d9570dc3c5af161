/* SPDX-License-Identifier: Apache-2.0 */
/* net/pattern.h - the host patterns of ssh_config and known_hosts: * and ?, lists, and ! which
 * forbids. Pure; for net/ only. */
#ifndef MUSTER_NET_PATTERN_H
#define MUSTER_NET_PATTERN_H

#include "base/base.h"

bool pattern_match(struct str pattern, struct str s); /* ASCII case is ignored */

enum pattern_hit { PATTERN_NO, PATTERN_YES, PATTERN_FORBIDDEN };
/* list: patterns between `sep`. A matching !pattern wins over everything. */
enum pattern_hit pattern_list_match(struct str list, char sep, struct str s);

#endif
