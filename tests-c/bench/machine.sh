#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# machine.sh - prints one line about the measurement: CPU, kernel, versions of UCX, libfabric and libdat, date.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
ucx=$(ucx_info -v 2>/dev/null | sed -n 's/^# [A-Za-z ]*[Vv]ersion[ :=]*\([0-9.]*\).*/; UCX \1/p' | head -n 1)
fabric=$(fi_info --version 2>/dev/null | sed -n 's/^libfabric: \([0-9.]*\).*/; libfabric \1/p')
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
echo "${model:-$(uname -m)}, $(nproc) processors; Linux $(uname -r)$ucx$fabric; libdat $version; $(date -u +%F)"
