#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/bench/exec.sh - one command on 100 loopback targets (BENCH_TARGETS) served by one sshd: muster exec against pdsh and clush, by CPU
# of the client. Needs root (a network namespace of its own).
# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"
TARGETS=${BENCH_TARGETS:-100}
ns=mubench$$
needs_root
needs pdsh clush

cleanup_part() {
	if [ -s "$work/sshd.pid" ]; then kill "$(cat "$work/sshd.pid")" 2>/dev/null; fi
	ip netns del "$ns" 2>/dev/null
}

echo "== one command on $TARGETS loopback targets"
ip netns add $ns && ip -n $ns link set lo up || exit 1
mkdir -p "$work/sshd" /run/sshd
ssh-keygen -q -t ed25519 -N '' -f "$work/sshd/host" && ssh-keygen -q -t ed25519 -N '' -f "$work/sshd/user" || exit 1
cp "$work/sshd/user.pub" "$work/sshd/authorized_keys"
cat >"$work/sshd/config" <<CFG
HostKey $work/sshd/host
AuthorizedKeysFile $work/sshd/authorized_keys
StrictModes no
UsePAM no
UseDNS no
PermitRootLogin yes
MaxStartups 2000
PidFile $work/sshd.pid
CFG
nsenter --net=/run/netns/$ns /usr/sbin/sshd -f "$work/sshd/config" -p 2222 -o ListenAddress=0.0.0.0
sleep 0.5
for i in $(seq "$TARGETS"); do echo "127.1.0.$i"; done >"$work/targets"
awk -v k="$(cut -d' ' -f1,2 "$work/sshd/host.pub")" '{ print "[" $1 "]:2222 " k }' "$work/targets" >"$work/sshd/known_hosts"
awk -v w="$work" 'BEGIN { print "[all]" } { print } END { print "[all:vars]"; print "ansible_port=2222"; print "ansible_user=root"
	print "ansible_ssh_private_key_file=" w "/sshd/user"; print "ansible_ssh_common_args=\"-o UserKnownHostsFile=" w "/sshd/known_hosts\"" }' "$work/targets" >"$work/targets.ini"
opts="-p 2222 -i $work/sshd/user -o UserKnownHostsFile=$work/sshd/known_hosts -o IdentitiesOnly=yes"
inside=(nsenter --net="/run/netns/$ns" env -u SSH_AUTH_SOCK)
timed muster-exec "${inside[@]}" "$MUSTER" --ssh-config none exec -i "$work/targets.ini" all -p 32 -- uname -r
muster_cpu=$cpu
timed pdsh "${inside[@]}" env PDSH_SSH_ARGS_APPEND="$opts" pdsh -R ssh -l root -f 32 -w "^$work/targets" uname -r
pdsh_cpu=$cpu
timed clush "${inside[@]}" clush -l root -f 32 -o "$opts" --hostfile "$work/targets" -b uname -r
wants "CPU: pdsh / muster exec" "$(ratio "$pdsh_cpu" "$muster_cpu")" 3
wants "CPU: clush / muster exec" "$(ratio "$cpu" "$muster_cpu")" 3
exit $failed
