# SPDX-License-Identifier: Apache-2.0
# The live region, on a pretended terminal that keeps what a person would see: see live.py.
command -v python3 >/dev/null || {
	echo "1..0 # SKIP no python3"
	exit 0
}
export MUSTER_SHARE="$TEST_TOP/playbooks" PYTHONDONTWRITEBYTECODE=1
exec python3 "$TEST_TOP/tests/cli/live.py"
