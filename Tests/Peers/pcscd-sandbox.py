# SPDX-License-Identifier: Apache-2.0
"""The sandbox that the other tests use: its readers, what happens to its daemon, and complete cleanup."""

import contextlib
import os
import signal
import subprocess

from smartcard import scard

from lib.fake_card import FakeCard
from lib.peer import ROOT, expect, parts, within

SANDBOX = f"{ROOT}/tools/lab/pcscd-sandbox"
COMMAND, REPLY = [0x00, 0xA4, 0x04, 0x00, 0x02, 0xCA, 0xFE, 0x00], [0xBE, 0xEF, 0x90, 0x00]


@contextlib.contextmanager
def context():
    held = scard.SCardEstablishContext(scard.SCARD_SCOPE_USER)[1]
    try:
        yield held
    finally:
        scard.SCardReleaseContext(held)


def readers():
    with context() as held:
        return scard.SCardListReaders(held, [])[1]


def has_card(name):
    with context() as held:
        states = scard.SCardGetStatusChange(held, 0, [(name, scard.SCARD_STATE_UNAWARE)])[1]
        return bool(states[0][1] & scard.SCARD_STATE_PRESENT)


def exchange(name):
    with context() as held:
        result, handle, protocol = scard.SCardConnect(held, name, scard.SCARD_SHARE_SHARED, scard.SCARD_PROTOCOL_T1)
        return scard.SCardTransmit(handle, protocol, COMMAND)[1] if result == 0 else result


def control(verb):
    run = subprocess.run([os.environ["YKIT_TEST_PCSCD_CTL"], verb], capture_output=True, text=True)
    return int(run.stdout or -1)


def test_inside():
    if "YKIT_TEST_VPCD_PORTS" not in os.environ:
        sandbox = [SANDBOX, "--readers", "2", "--name", "Yubico YubiKey OTP+FIDO+CCID", "--name", "Another", "--apdu-log", "--"]
        return expect("what is inside", subprocess.run([*sandbox, *parts(__file__, "inside")]).returncode, 0)
    first, second = os.environ["YKIT_TEST_VPCD_PORTS"].split()
    names = ["Yubico YubiKey OTP+FIDO+CCID 00 00", "Another 01 00"]
    expect("readers by name, one slot each", readers(), names)
    expect("no card at first", has_card(names[1]), False)
    card = FakeCard(int(second), bytes(REPLY))
    expect("a card appears in its reader", card.is_inserted(lambda: has_card(names[1])))
    expect("and not in the other", has_card(names[0]), False)
    expect("and answers", exchange(names[1]), REPLY)
    hexadecimal = " ".join(f"{byte:02X}" for byte in COMMAND)
    with open(os.environ["YKIT_TEST_PCSCD_LOG"]) as log:
        expect("the APDU is in the log", hexadecimal in log.read())
    expect("ports are open to this machine only", listeners({int(first), int(second)}), {"0100007F"})
    card.unplug()
    expect("a card disappears", within(60, lambda: not has_card(names[1])))

    old = int(os.environ["YKIT_TEST_PCSCD_PID"])
    expect("kill", (control("kill"), os.path.exists(f"/proc/{old}")), (0, False))
    expect("no service then", scard.SCardEstablishContext(scard.SCARD_SCOPE_USER)[0] & 0xFFFFFFFF, 0x8010001D)
    expect("start", control("start") > 0 and readers() == names)
    card = FakeCard(int(first), bytes(REPLY))
    expect("cards at the same ports", card.is_inserted(lambda: has_card(names[0])))
    pid = control("freeze")
    with open(f"/proc/{pid}/stat") as stat:
        expect("freeze", stat.read().split()[2], "T")
    expect("thaw", control("thaw") == pid and exchange(names[0]) == REPLY)
    expect("restart", control("restart") not in (0, -1, pid))
    expect("an unknown verb", control("dance"), -1)


def listeners(ports):
    with open("/proc/net/tcp") as table:
        rows = [line.split()[1].split(":") for line in list(table)[1:]]
    return {address for address, port in rows if int(port, 16) in ports}


def test_outside():
    def status(*command):
        return subprocess.run([SANDBOX, "--", *command], stderr=subprocess.DEVNULL).returncode
    expect("the command's status", [status("sh", "-c", f"exit {n}") for n in (0, 7)], [0, 7])
    expect("a command ended by a signal", status("sh", "-c", "kill -9 $$"), 137)
    expect("no such command", status("/nonexistent"), 127)
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD, signal.SIGTERM])
    try:
        expect("signals that its parent blocks", status("sh", "-c", "kill -TERM $$"), 143)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)

    print_and_stay = 'echo "$YKIT_TEST_PCSCD_PID $YKIT_TEST_PCSCD_DIR $$"; trap "" TERM; sleep 1000 & wait; sleep 1000'
    for name, middle in [("the sandbox", []), ("its parent", ["sh", "-c", '"$@"; exit', "sh"])]:
        sandbox = subprocess.Popen([*middle, SANDBOX, "--", "sh", "-c", print_and_stay], stdout=subprocess.PIPE, text=True)
        daemon, folder, shell = sandbox.stdout.readline().split()
        sandbox.send_signal(signal.SIGKILL)
        places = [f"/proc/{daemon}", folder, f"/proc/{shell}"]
        expect(f"nothing left after {name} was killed", within(60, lambda: not any(map(os.path.exists, places))))
        sandbox.wait()
