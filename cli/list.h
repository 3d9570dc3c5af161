/* SPDX-License-Identifier: Apache-2.0 */
/* cli/list.h - every command, one row each, in the order that help shows them. A row X(name) stands
 * for `command_name` in some cmd_*.c. */
#ifndef MUSTER_CLI_LIST_H
#define MUSTER_CLI_LIST_H

#define COMMAND_LIST(X) \
	X(init)         \
	X(validate)     \
	X(plan)         \
	X(apply)        \
	X(drift)        \
	X(destroy)      \
	X(status)       \
	X(state)        \
	X(history)      \
	X(revert)       \
	X(recover)      \
	X(gc)           \
	X(lock)         \
	X(run)          \
	X(render)       \
	X(eval)         \
	X(exec)         \
	X(ssh)          \
	X(copy)         \
	X(schema)       \
	X(completion)   \
	X(version)      \
	X(help)         \
	X(docs_table)   \
	X(internal)

#endif
