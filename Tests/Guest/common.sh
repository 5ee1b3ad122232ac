# SPDX-License-Identifier: Apache-2.0
# Shared by the scripts in this folder: starts the guest, and counts the results there.
# shellcheck shell=bash

# note_in_guest: records the guest's runs for tools/lab/conformance, if recording is on. The folder of the notes is the only one
# in which the guest's writes persist.
NOTED=()
note_in_guest() {
    [ -n "${YKIT_NOTES-}" ] || return 0
    export YKIT_REAL=$YKIT YKIT=$ROOT/tools/lab/noted/ykit YKIT_NOTE_ROUTE=guest
    mkdir -p "$(dirname "$YKIT_NOTES")/guest"
    NOTED=(-w "$(dirname "$YKIT_NOTES")/guest" -e YKIT_REAL -e YKIT_NOTES -e YKIT_NOTE_TEST -e YKIT_NOTE_ROUTE)
    export YKIT_NOTES=${YKIT_NOTES%/*}/guest/notes
}

# in_guest MODULES [OPTION…]: runs the script again as root of a guest with these kernel modules; returns there. The limit is far
# beyond what any script takes, and only ends those that hang.
in_guest() {
    TESTS=$(cd "$(dirname "$0")" && pwd)
    ROOT=${TESTS%/Tests/Guest}
    if [ -z "${YKIT_IN_GUEST-}" ]; then
        export YKIT=${YKIT:-$ROOT/.build/debug/ykit} YKIT_IN_GUEST=yes
        note_in_guest
        exec "$ROOT/tools/lab/run-in-guest" -m "$1" "${@:2}" -t 1500 "${NOTED[@]}" -e YKIT -e YKIT_IN_GUEST -- "$TESTS/${0##*/}"
    fi
    in_memory
    WORK=$(mktemp -d)
    chmod 755 "$WORK"
    export HOME=$WORK
    PATH=$PATH:/usr/sbin:/sbin
    failed=0
    trap 'exit $((failed > 0))' EXIT
}

# in_memory: the guest runs the program from its own memory. Pages of a program on the shared file system are read when they
# are first used, which a busy machine may take too long for, and which fails if the file changes meanwhile. PROGRAM is for
# whoever cannot record notes: another user, and a process that has another environment.
in_memory() {
    PROGRAM=/run/program/ykit
    mkdir -p "${PROGRAM%/*}"
    cp "${YKIT_REAL:-$YKIT}" "$PROGRAM"
    if [ -n "${YKIT_REAL-}" ]; then export YKIT_REAL=$PROGRAM; else export YKIT=$PROGRAM; fi
}

# expect NAME WANTED GOT: checks that they are equal.
expect() {
    if [ "$2" = "$3" ]; then passes "$1"; else fails "$@"; fi
}

# passes NAME, fails NAME WANTED GOT: the outcome of a check, for the reader and for tools/lab/conformance.
passes() {
    echo "ok   $1"
    note_check ok
}
fails() {
    printf 'FAIL %s\n     wanted %s\n     got    %s\n' "$1" "$2" "$3"
    failed=$((failed + 1))
    note_check FAIL
}
note_check() { [ -z "${YKIT_NOTES-}" ] || printf 'check\t%s\t%s\n' "$YKIT_NOTE_TEST" "$1" >>"$YKIT_NOTES"; }

# holds NAME PART TEXT: checks that the text contains the part.
holds() {
    case $3 in
        *"$2"*) passes "$1" ;;
        *) fails "$1" "…$2…" "$3" ;;
    esac
}

# within SECONDS COMMAND…: waits until the command succeeds; fails if it does not in time. A long time is harmless, since it
# passes only if the test fails.
within() {
    local limit=$((SECONDS + $1))
    shift
    until "$@"; do
        [ "$SECONDS" -lt "$limit" ] || return 1
        read -rt 0.02 -u "$NEVER" _ || :
    done
}
exec {NEVER}<> <(:) # nothing ever comes from here: to start a program costs more than waiting for one

# ykit ARGUMENT…: sets STATUS and SAID, which is standard output followed by standard error.
ykit() {
    "${AS[@]}" "$YKIT" "$@" >"$WORK/out" 2>"$WORK/err" </dev/null
    STATUS=$?
    text SAID "$WORK/out"
    text COMPLAINED "$WORK/err"
    SAID+=${COMPLAINED:+${SAID:+$'\n'}$COMPLAINED}
}
AS=()

# text VARIABLE FILE: sets the variable to the content of the file without starting a program, which is slow here.
text() {
    IFS= read -rd '' "$1" <"$2"
    printf -v "$1" %s "${!1%$'\n'}"
}

# has FILE TEXT: whether the file contains the text, at the beginning of a line if the text begins with one; starts no program.
has() {
    local content
    IFS= read -rd '' content <"$1"
    [[ $'\n'$content == *"$2"* ]]
}

# judged NAME STATUS PART: checks the status and the output of the last run.
judged() {
    case $STATUS:$SAID in
        "$2":*"$3"*) passes "$1" ;;
        *) fails "$1" "$2: …$3…" "$STATUS: $SAID" ;;
    esac
}

# verb NAME STATUS PART ARGUMENT…: runs ykit and checks its status and output.
verb() {
    ykit "${@:4}"
    judged "$@"
}

# device [OPTION…]: plugs in a device (uhid-device.py); sets NODE, and DEVICE to the argument of `unplug`.
device() {
    local said=$WORK/device.$((++plugs))
    : >"$said"
    "$TESTS/uhid-device.py" "$@" >"$said" &
    DEVICE=$!
    within 120 test -s "$said" || { echo "FAIL no node for the device $*"; failed=1; exit; }
    NODE=$(cat "$said")
    PLACES[$NODE]=''
}

# plug WAY [OPTION…]: plugs in a virtual key (--usbip, --uhid); sets SERVER, NODE to its FIDO node, and LOG to the file with
# its server's output.
plug() {
    LOG=$WORK/said.$((++plugs))
    : >"$LOG"
    "$YKIT" virtual serve "$@" 2>"$LOG" &
    SERVER=$!
    within 120 has "$LOG" /dev/hidraw || { echo "FAIL no node: $(cat "$LOG")"; failed=1; exit; }
    NODE=$(node)
    PLACES[$NODE]=$(readlink -f "/sys/class/hidraw/${NODE##*/}/device/../..")
    case ${PLACES[$NODE]} in */usb*) ;; *) PLACES[$NODE]='' ;; esac
}
declare -A PLACES # by node: what else of it is gone when it is unplugged
plugs=0

# node: the current FIDO node of the key that was plugged in last.
node() { sed -n 's|.*the key is \(/dev/hidraw[0-9]*\).*|\1|p' "$LOG" | tail -1; }

# unplug PID [NODE]: unplugs a device or key, and waits until the kernel has removed it.
unplug() {
    local node=${2:-$NODE}
    kill "$1" 2>/dev/null
    wait "$1" 2>/dev/null
    within 60 gone "$node" "${PLACES[$node]-}"
}

# gone PATH…: whether none of them exists any more.
gone() {
    local path
    for path; do [ ! -e "$path" ] || return 1; done
}

# interface NUMBER [PORT]: the node of that interface of the virtual key in a USB port, or of the only key.
interface() {
    local sys
    for sys in /sys/class/hidraw/hidraw*; do
        case $(readlink -f "$sys") in */${2:-*}:1."$1"/*) echo "/dev/${sys##*/}" && return ;; esac
    done
    return 1
}
keyboard() { interface 0 "$@"; }

# ykman ARGUMENT…: runs ykman, loaded once for all runs (run-ykman.py); sets STATUS and SAID, its output.
ykman() {
    if [ -z "${YKMAN_PID-}" ]; then
        coproc YKMAN { exec "$TESTS/run-ykman.py" "$WORK/ykman"; }
        read -r _ <&"${YKMAN[0]}"
    fi
    printf '%q ' "$@" >&"${YKMAN[1]}"
    echo >&"${YKMAN[1]}"
    read -r STATUS <&"${YKMAN[0]}" || STATUS=255
    text SAID "$WORK/ykman"
}

# ykman_verb NAME STATUS PART ARGUMENT…: runs ykman and checks its status and output.
ykman_verb() {
    ykman "${@:4}"
    judged "$@"
}

# with_pcscd: starts pcscd and waits until ykit can use the key's card through it; sets PCSCD.
with_pcscd() {
    mkdir -p /run/pcscd
    pcscd --foreground --error >"$WORK/pcscd" 2>&1 &
    PCSCD=$!
    within 120 reads_card
}
reads_card() { "$YKIT" --link pcsc oath list >"$WORK/card" 2>&1; }

# may NODE: whether the seat's user, another user, and a member of the group plugdev may open it.
# opens NODE USER…: whether a user may.
SEAT=(setpriv --reuid 1000 --regid 1000 --clear-groups)
OTHER=(setpriv --reuid 1001 --regid 1001 --clear-groups)
PLUGDEV=(setpriv --reuid 1001 --regid 1001 --groups "$(getent group plugdev | cut -d: -f3)")
opens() { "${@:2}" bash -c ': <>"$1"' - "$1" 2>/dev/null && echo yes || echo no; }
may() { echo "$(opens "$1" "${SEAT[@]}") $(opens "$1" "${OTHER[@]}") $(opens "$1" "${PLUGDEV[@]}")"; }

# with_seat: opens a local session for user 1000, and starts the udev daemon.
with_seat() {
    mkdir -p /run/systemd/seats /etc/udev/rules.d
    printf 'IS_SEAT0=1\nCAN_MULTI_SESSION=1\nACTIVE_UID=1000\n' >/run/systemd/seats/seat0
    /lib/systemd/systemd-udevd --daemon
}

# without_seat: stops the udev daemon, and waits for its end.
without_seat() {
    udevadm control --exit --timeout 300
    within 120 no_daemon
}
no_daemon() { ! busybox pidof systemd-udevd >/dev/null; }
