# SPDX-License-Identifier: Apache-2.0
# What somebody removes under running hosts - their keeper, their whole network namespace - is found, and one apply mends it.
. tests/cli/lib.sh

trap '"$MUSTER" -C "$TEST_TMP" destroy --yes -q >/dev/null 2>&1' EXIT
cat >muster.yaml <<'YAML'
cluster: lost
providers: {local: {}}
pools: {n: {provider: local, count: 2, image: debian-12}}
YAML
run apply --yes
is "two hosts" 0 "$status"
run exec n -- 'echo kept >/srv/kept'
run state show local.network.default
netns=$(printf '%s\n' "$out" | sed -n 's/^  netns: .*\///p')
ip netns del "$netns"
ok "their namespace is removed" $?
run drift
is "which is found" 3 "$status"
has "of the hosts too" "$out" "2 nodes n-[0-1]"
run apply --yes
is "one apply mends it" 0 "$status"
run plan --detailed-exitcode
is "nothing is left to do" 0 "$status"
run exec n -- cat /srv/kept
has "both answer, with their disks" "$out" "== n-[0-1] (2)
kept"
run exec n-0 -- 'bash -c "exec 3<>/dev/tcp/10.77.0.1/3142"'
is "the proxy listens where they are" 0 "$status"
run destroy --yes
is "destroy" 0 "$status"
[ ! -e "/run/netns/$netns" ]
ok "leaves nothing" $?
finish
