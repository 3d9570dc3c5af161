# SPDX-License-Identifier: Apache-2.0
# kill -9 at 13 named and 20 random moments of apply and destroy on local hosts.
if [ "$(id -u)" -ne 0 ]; then
	echo "1..0 # SKIP local hosts need root"
	exit 0
fi
echo 1..1
if sh "$TEST_TOP/tests/crash/local.sh" 33; then
	echo "ok 1 - every run after a kill converged, nothing is left"
else
	echo "not ok 1 - every run after a kill converged, nothing is left"
fi
