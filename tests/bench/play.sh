#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/bench/play.sh - the forty-task play (play/site.yml) on 8 local hosts (BENCH_HOSTS), cold and converged: muster run against
# ansible-playbook (50 forks, pipelining), by wall and by CPU of the controller; the final files must be the same. Needs root.
# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"
HOSTS=${BENCH_HOSTS:-8}
needs_root
needs ansible-playbook

cleanup_part() { [ ! -d "$work/fleet" ] || "$MUSTER" -C "$work/fleet" destroy --yes-destroy=$((2 * HOSTS)) -q >/dev/null 2>&1; }

mkdir -p "$work/fleet"
cat >"$work/fleet/muster.yaml" <<YAML
cluster: bench
providers:
  local: {packages: [python3, python3-apt, cron]}
pools:
  mine: {provider: local, count: $HOSTS, image: debian-12}
  theirs: {provider: local, count: $HOSTS, image: debian-12}
YAML
echo "== $((2 * HOSTS)) local hosts"
timed up "$MUSTER" -C "$work/fleet" apply --yes -q
[ $failed = 0 ] || exit 1

# The same hosts as Ansible sees them, from muster's own record.
python3 - "$MUSTER" "$work" "$HOSTS" <<'PY'
import json, subprocess, sys
muster, work, hosts = sys.argv[1], sys.argv[2], int(sys.argv[3])
def show(addr):
    return json.loads(subprocess.check_output([muster, "-C", work + "/fleet", "--json", "state", "show", addr]))
known = []
for pool in ("mine", "theirs"):
    with open(f"{work}/{pool}.ini", "w") as f:
        f.write("[nodes]\n")
        for i in range(hosts):
            a = show(f"node.{pool}[{i}]")["attributes"]
            f.write(f"{pool}-{i} ansible_host={a['address']}\n")
            known.append(f"{a['address']} {a['host_key_public']}\n")
            netns = a["netns"]
        f.write("[nodes:vars]\nansible_user=root\n"
                f"ansible_ssh_private_key_file={work}/fleet/.muster/ssh/id_ed25519\n")
open(f"{work}/known_hosts", "w").writelines(known)
open(f"{work}/netns", "w").write(netns)
PY
netns=$(cat "$work/netns")
cat >"$work/ansible.cfg" <<CFG
[defaults]
forks = 50
interpreter_python = /usr/bin/python3
retry_files_enabled = False
[ssh_connection]
pipelining = True
ssh_args = -o ControlMaster=auto -o ControlPersist=60s -o UserKnownHostsFile=$work/known_hosts -o StrictHostKeyChecking=yes
control_path_dir = $work/cp
CFG
cp -R "$top/tests/bench/play" "$work/play"
theirs=(nsenter --net="$netns" env ANSIBLE_CONFIG="$work/ansible.cfg" ansible-playbook -i "$work/theirs.ini" "$work/play/site.yml")
mine=("$MUSTER" -C "$work/fleet" run "$work/play/site.yml" --limit @mine -q --json)

echo "== forty tasks on $HOSTS hosts"
timed muster-cold "${mine[@]}"
muster_cold=$wall
timed ansible-cold "${theirs[@]}"
ansible_cold=$wall
timed muster-converged "${mine[@]}"
muster_wall=$wall muster_cpu=$cpu
grep -h '"type":"host_result"' "$work/muster-converged.log" |
	python3 -c 'import json,sys
for l in sys.stdin:
    d = json.loads(l)
    assert d["changed"] == 0 and d["probe_trips"] <= 2 and d["patch_trips"] == 0, d' || { echo "  converged hosts were not left alone"; failed=1; }
timed ansible-converged "${theirs[@]}"
grep -q 'changed=[1-9]' "$work/ansible-converged.log" && { echo "  ansible-playbook still changes something"; failed=1; }
wants "converged, wall: ansible / muster" "$(ratio "$wall" "$muster_wall")" 30
wants "cold, wall: ansible / muster" "$(ratio "$ansible_cold" "$muster_cold")" 8
wants "converged, controller CPU: ansible / muster" "$(ratio "$cpu" "$muster_cpu")" 50

# Same final files, names and modes; what names the host itself is made equal first.
picture='cd /etc && find node security/limits.conf ssh/sshd_config profile hosts sysctl.d/90-node.conf systemd/system/node-agent.service -printf "%y %m %u %g %p %l\n" | sort; find node -type f | sort | xargs sha256sum; sha256sum security/limits.conf ssh/sshd_config profile sysctl.d/90-node.conf; getent passwd runner monitor; getent group gpu batch; cat /home/runner/.ssh/authorized_keys; systemctl is-active node-agent cron; systemctl is-enabled node-agent cron' # lint-names: ok
for pool in mine theirs; do
	"$MUSTER" -C "$work/fleet" exec "$pool-0" -- "sed -i s/$pool-0/host/ /etc/node/conf.d/t?.conf /etc/node/keys/id; $picture" | tail -n +2 >"$work/$pool.picture"
done
if diff "$work/mine.picture" "$work/theirs.picture" >"$work/picture.diff" && [ -s "$work/mine.picture" ]; then
	echo "  the final files are the same                 ok"
else
	echo "  the final files differ:"
	cat "$work/picture.diff"
	failed=1
fi
exit $failed
