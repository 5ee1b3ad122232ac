# SPDX-License-Identifier: Apache-2.0
# Shared by the guard's tests: a bus with a stand-in for logind, the two parts, and the person who is asked.
# shellcheck shell=bash

cd "$WORK" || exit
unset SSH_AUTH_SOCK SSH_ASKPASS DISPLAY SUDO_USER DBUS_SESSION_BUS_ADDRESS
export XDG_STATE_HOME=$WORK/state
mkdir "$XDG_STATE_HOME"
chown 1000 "$XDG_STATE_HOME"
echo 'lab:x:1000:1000::/:/bin/sh' >>/etc/passwd
mkdir -p /etc/udev/rules.d
ln -sf /dev/null /etc/udev/rules.d/80-drivers.rules
cp "$ROOT/tools/build/bridge/69-ykit-bridge.rules" "$ROOT/udev/70-ykit.rules" /etc/udev/rules.d/
with_seat
# A bus of the system with a stand-in for logind.
export DBUS_SYSTEM_BUS_ADDRESS=unix:path=$WORK/bus
cat >"$WORK/bus.conf" <<CONF
<busconfig><type>system</type><listen>$DBUS_SYSTEM_BUS_ADDRESS</listen><auth>EXTERNAL</auth>
<policy context="default"><allow user="*"/><allow own="*"/><allow send_type="*"/><allow eavesdrop="true"/>
<allow send_destination="*"/><allow receive_sender="*"/></policy></busconfig>
CONF
dbus-daemon --config-file="$WORK/bus.conf" --fork
mkfifo "$WORK/login"
python3 "$TESTS/logind.py" "$WORK/login" >"$WORK/logind" 2>&1 &
LOGIND=$!
exec {SESSION}>"$WORK/login"
within 120 has "$WORK/logind" ready || { echo "FAIL no stand-in for logind: $(cat "$WORK/logind")"; failed=1; exit; }
login() { echo "$1" >&"$SESSION"; }

# system [OPTION…]: starts the system part; SYSTEM is its process.
system() {
    SLOG=$WORK/system.$((++plugs))
    : >"$SLOG"
    "$PROGRAM" guard --system --owner lab "$@" 2>"$SLOG" >/dev/null </dev/null &
    SYSTEM=$!
    within 120 has "$SLOG" "waiting for 'ykit guard'" || { echo "FAIL no system part: $(cat "$SLOG")"; failed=1; exit; }
}

# person [LINE…]: how its questions are answered from now on.
person() { printf '%s\n' "$@" >"$WORK/person"; }

# guard [OPTION…]: starts the user's part on a terminal; USER_PART is its process, SERVER its terminal's. Sets NODE.
guard() {
    LOG=$WORK/said.$((++plugs))
    : >"$LOG"
    presented
    "$TESTS/guard-person.py" "$WORK/person" "${SEAT[@]}" "$PROGRAM" guard "$@" >"$LOG" </dev/null &
    SERVER=$!
    again_presented
    USER_PART=$(sed -n "s|.*'ykit guard' is process \([0-9]*\).*|\1|p" "$SLOG" | tail -1)
    udevadm settle --timeout 300
}
# presented: notes how often the guard was shown to programs; again_presented: waits until it is once more, and sets NODE.
presented() { shown=$(grep -c 'programs find' "$SLOG"); }
more() { [ "$(grep -c 'programs find' "$SLOG")" -gt "$shown" ]; }
again_presented() {
    within 240 more || { echo "FAIL no guard: $(cat "$SLOG" "$LOG")"; failed=1; exit; }
    find_guard
}
find_guard() { NODE=$(sed -n 's|.*programs find the guard at \(/dev/hidraw[0-9]*\).*|\1|p' "$SLOG" | tail -1); }
# wakes PROCESS…: how often their threads were woken so far.
wakes() {
    local process
    for process; do cat /proc/"$process"/task/*/status; done | awk '/^voluntary_ctxt_switches/ { n += $2 } END { print n }'
}
# memory PROCESS: its share of the memory in KiB.
memory() { awk '/^Pss:/ { print $2 }' "/proc/$1/smaps_rollup"; }
said() { tr -s '\n ' '  ' <"$LOG"; }

# free NAME: checks that the key is back within a second of SINCE, and the device gone.
now() { read -r SINCE _ </proc/uptime; }
back() { [ -c "$KEY" ]; }
free() {
    local then
    within 60 back
    read -r then _ </proc/uptime
    expect "$1: the key is given back within a second" yes "$(awk "BEGIN { print $then - $SINCE <= 1 ? \"yes\" : $then - $SINCE }")"
    within 60 gone "$NODE"
    expect "... and the guard's device is gone" no "$([ -e "$NODE" ] && echo yes || echo no)"
}

# mine COMMAND…: runs ykit as the user of the seat.
mine() { "${SEAT[@]}" "$PROGRAM" "$@"; }

# typed LINE: types a line of the article on the guard as that user; a line that the article has not is a failure.
ARTICLE=$ROOT/Sources/ykit/ykit.docc/Guard.md
typed() {
    grep -qxF -- "$1" "$ARTICLE" || fails "the article has the line" "$1" "none"
    "${SEAT[@]}" env PATH="${PROGRAM%/*}:$PATH" sh -c "$1"
}

# ends: stops both parts, and waits until the key is back.
ends() {
    kill "$SERVER" "$SYSTEM"
    wait "$SERVER" "$SYSTEM"
    within 60 back
}
