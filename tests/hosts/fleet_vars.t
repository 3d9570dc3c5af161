# SPDX-License-Identifier: Apache-2.0
# A file that lists the addresses of the whole fleet is right after the first apply, and after the fleet grew: configuring waits for
# the machines that are new.
. tests/cli/lib.sh

trap '"$MUSTER" -C "$TEST_TMP" destroy --yes -q >/dev/null 2>&1' EXIT
spec() {
	cat >muster.yaml <<YAML
cluster: vars
providers: {local: {}}
pools:
  a: {provider: local, count: $1, image: debian-12, playbooks: [site.yml]}
YAML
}
cat >site.yml <<'YAML'
- hosts: all
  tasks:
    - copy:
        dest: /etc/fleet
        content: "{% for h in groups['all'] %}{{ h }}={{ hostvars[h].ansible_host }} {% endfor %}"
YAML
spec 3
run apply --yes
is "three hosts" 0 "$status"
run exec a-0 -- cat /etc/fleet
has "each has its address" "$out" "a-2=10."
run plan --detailed-exitcode
is "nothing is left to do" 0 "$status"
spec 4
run apply --yes
is "a fourth" 0 "$status"
run exec @a -- cat /etc/fleet
has "all know it" "$out" "a-[0-3] (4)"
has "by its address" "$out" "a-3=10."
run plan --detailed-exitcode
is "nothing is left to do" 0 "$status"
finish
