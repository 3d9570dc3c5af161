/* SPDX-License-Identifier: Apache-2.0 */
/*
 * providers/local/supervisor.h - the keeper of one host: `muster internal local-host --dir DIR`, a
 * hidden command.
 *
 * Outside any task. SIGTERM: ends the host (a power cut) and itself. SIGHUP: power off and on. A
 * reboot inside the host starts it again; a shutdown ends the keeper. DIR/boots counts the starts.
 */
#ifndef MUSTER_PROVIDERS_LOCAL_SUPERVISOR_H
#define MUSTER_PROVIDERS_LOCAL_SUPERVISOR_H

/* argv[0] is "local-host". The exit status; what went wrong is on stderr, which is the host's
 * console log. */
int local_host_main(int argc, char **argv);

#define SUPERVISOR_LOCK "lock"

#endif
