/* SPDX-License-Identifier: Apache-2.0 */
/* base/base.h - the front door of base/: everything, for the other rooms. Inside base/ include what
 * you use. */
#ifndef MUSTER_BASE_BASE_H
#define MUSTER_BASE_BASE_H

#include "base/arena.h"
#include "base/attr.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/err.h"
#include "base/fault.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/map.h"
#include "base/offload.h"
#include "base/proc.h"
#include "base/rand.h"
#include "base/str.h"
#include "base/task.h"
#include "base/value.h"
#include "base/vec.h"
#include "base/yaml.h"

#endif
