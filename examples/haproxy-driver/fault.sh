#!/bin/sh
# fault.sh on|off: HAProxy hangs, or goes on. What a stopped process does to the driver is the worst case:
# its sockets accept connections and never respond. The kit calls it; the folder is that of --dir.
set -eu
master=$(cat "${HAPROXY_DIR:?}/haproxy.pid")
case "$1" in
  on) signal=STOP ;;
  off) signal=CONT ;;
  *) echo "usage: fault.sh on|off" >&2; exit 2 ;;
esac
# The master and its workers.
# shellcheck disable=SC2046 # numbers
kill -"$signal" "$master" $(cat "/proc/$master/task/$master/children")
