# SPDX-License-Identifier: Apache-2.0
"""`ykit ssh agent` for a virtual key in a real pcscd: other programs use the card between requests, the key is unplugged and
comes back; and what OpenSSH's clients ask of an agent: confirmation, destinations, prompts, a socket of systemd.

YKIT is the ykit to test.
"""

import json
import os
import shutil
import signal
import subprocess
import threading
import time

from lib.openssh import Agent, Client, Server
from lib.peer import REAL, ROOT, YKIT, beside_pcscd, expect, failures, note, skip, within
from lib.piv_bench import DEFAULT_KEY, Key, fails, path, read, run, script, works, write

beside_pcscd()

PIN = "123456"
YKMAN = shutil.which("ykman") or f"{ROOT}/.build-venv/bin/ykman"
CARD = ["--link", "pcsc"]


def ykit(name, *arguments, **more):
    return works(f"ykit: {name}", YKIT, *CARD, *arguments, **more)


def make_keys():
    for slot, kind in (("9a", "eccp256"), ("82", "ed25519")):
        ykit(f"{kind} in {slot}", "piv", "keys", "generate", slot, f"{slot}.pem", "--algorithm", kind)
    ykit("a PIN for FIDO2", "fido2", "pin", "set", "--new-pin-stdin", text=f"{PIN}\n")
    ykit("a credential", "ssh", "generate", "-o", "id_ed")
    for name in ("one", "two"):
        ykit(f"a resident credential for {name}", "ssh", "generate", "--resident", "--application", f"ssh:{name}", "--user", "bob",
             "-o", f"id_{name}")
    listed = ykit("the keys", "ssh", "keys", "--resident")
    write("piv.pub", next(line for line in listed.splitlines() if line.startswith("ecdsa-")).encode() + b"\n")
    os.mkdir(path("down"))
    ykit("download one of two", "ssh", "download", "ssh:two", "-o", "down", says="id_ed25519_sk_rk_two_bob")
    expect("and only that one", sorted(os.listdir(path("down"))), ["id_ed25519_sk_rk_two_bob", "id_ed25519_sk_rk_two_bob.pub"])
    fails("ykit: download what is not there", YKIT, *CARD, "ssh", "download", "ssh:three", "-o", "down", says="ssh:three")
    ykit("delete one", "ssh", "delete", "ssh:one", "--force")


def others_between():
    """Each program finds the card free, and the agent finds its PIN unverified and verifies it again."""
    with Agent("shared", *CARD, "--key", "id_ed", virtual=None) as agent:
        for _ in range(3):
            works("the agent signs with PIV", "ssh-add", "-T", "piv.pub")
            works("ykman uses PIV", YKMAN, "piv", "info", says="Slot 9A")
            works("the agent signs with FIDO", "ssh-add", "-T", "id_ed.pub")
            works("ykman uses OATH", YKMAN, "oath", "info", says="OATH")
            works("OpenSC uses PIV", "pkcs11-tool", "--module", "opensc-pkcs11.so", "-O", says="Discovery Object")
            ykit("another ykit uses the card", "piv", "info")
        bad, others = [], []

        def read_again():
            for _ in range(5):
                others.append(run(YKMAN, "piv", "info"))

        thread = threading.Thread(target=read_again)
        thread.start()
        count = 0
        while thread.is_alive() or count < 20:
            count += 1
            status, output = run("ssh-add", "-T", "piv.pub")
            if status != 0:
                bad.append(f"agent: {output}")
        thread.join()
        expect("20 signatures and more while ykman reads the card again and again", bad and (bad, agent.said), [])
        # When another program resets the card, which each of them does on closing it, ykman gives up and does not try again.
        expect("ykman reads it at least once", any(status == 0 for status, _ in others) or others)
        expect("the agent asked for nothing that fails", "failed" in agent.said, False)


def unplugged(key):
    with Agent("pulled", *CARD, "--key", "id_ed", virtual=None) as agent:
        works("the agent signs", "ssh-add", "-T", "piv.pub")
        offered = len(Client(agent).identities())
        key.__exit__()
        expect("without the key only what its file says is offered", within(10, lambda: len(Client(agent).identities()) == 1))
        fails("nothing is signed", "ssh-add", "-T", "piv.pub", says="agent")
        fails("with FIDO neither", "ssh-add", "-T", "id_ed.pub", says="agent")
        expect("and the agent says why", "no key" in agent.said or "no card" in agent.said or agent.said)
        other = Key("5.7.1", "other")
        other.__enter__()
        expect("another key has none of these keys", len(Client(agent).identities()), 1)
        fails("and does not sign for the first", "ssh-add", "-T", "piv.pub", says="agent")
        fails("nor with its credential", "ssh-add", "-T", "id_ed.pub", says="agent")
        other.__exit__()
        key.__enter__()
        expect("the key is back, and all its keys are", len(Client(agent).identities()), offered)
        works("the agent signs again", "ssh-add", "-T", "piv.pub")
        works("with FIDO as well", "ssh-add", "-T", "id_ed.pub")
    noted(agent)


def noted(agent):
    """Notes for tools/lab/conformance that the agent worked until ^C; tools/lab/noted does not wait for servers."""
    note("ykit", "pcscd", "0", "ssh", "agent")
    expect("^C ends it, and all before it was right", (agent.status in (0, 130), failures), (True, []))


def confirmation():
    answer = script("answer", f'echo "$SSH_ASKPASS_PROMPT: $1" >> {path("asked")}; exec test -e {path("yes")}')
    with Agent("confirms", *CARD, "--no-piv", virtual=None, SSH_ASKPASS=answer, SSH_ASKPASS_REQUIRE="force"):
        works("ssh-add -c", "ssh-add", "-c", "id_ed")
        fails("who says no gets no signature", "ssh-add", "-T", "id_ed.pub", says="agent")
        write("yes", b"")
        works("who says yes gets one", "ssh-add", "-T", "id_ed.pub")
    questions = read("asked").decode().splitlines()
    expect("asked as OpenSSH asks: a confirmation, for what, with which key", [
        line.startswith("confirm: a program here asks to sign") and "use your key ssh:" in line for line in questions], [True, True])


# A pinentry that answers as pinentry does, and keeps what it was sent.
PINENTRY = """echo OK Pleased to meet you
while read -r command rest; do
    printf '%s %s\\n' "$command" "$rest" >> "$KEPT"
    case $command in
        GETPIN) echo "D 1234%356"; echo OK ;;
        CONFIRM) test -e "$YES" && echo OK || echo ERR 83886179 Operation cancelled ;;
        BYE) echo OK; exit ;;
        *) echo OK ;;
    esac
done"""


def pinentry():
    os.makedirs(path("bin"), exist_ok=True)
    script("bin/pinentry", PINENTRY)
    names = dict(PATH=f"{path('bin')}:{os.environ['PATH']}", KEPT=path("kept"), YES=path("agreed"), YKIT_PIN=None,
                 SSH_ASKPASS=None, DISPLAY=None)
    with Agent("pinentry", *CARD, virtual=None, **names):
        works("the PIN comes from pinentry", "ssh-add", "-T", "piv.pub")
        shutil.copy(path("id_ed"), path("id_percent"))
        works("a comment with what Assuan escapes", "ssh-keygen", "-c", "-q", "-P", "", "-C", "100%41 grün", "-f", "id_percent")
        works("ssh-add -c", "ssh-add", "-c", "id_percent")
        fails("who cancels gets no signature", "ssh-add", "-T", "id_ed.pub", says="agent")
        write("agreed", b"")
        works("who confirms gets one", "ssh-add", "-T", "id_ed.pub")
    sent = read("kept").decode().splitlines()
    expect("it was told what for", any("SETDESC PIN of the key's PIV, to sign" in line for line in sent))
    expect("once, as the agent keeps the PIN", sum(line.startswith("GETPIN") for line in sent), 1)
    expect("and a comment goes there unchanged", any("SETDESC a program here asks to" in line and "100%2541 grün?" in line for line in sent) or sent)


def told():
    """The events that a command got; what it is writing is not read yet."""
    return [json.loads(line) for line in read("events").decode().splitlines(keepends=True) if line.endswith("\n")] \
        if os.path.exists(path("events")) else []


def notifications():
    """A touch that takes long is told to YKIT_NOTIFY with what it is for, and when it is over."""
    works("a virtual key", YKIT, "virtual", "new", "slow.json")
    works("a credential on it", YKIT, "--virtual", "slow.json", "ssh", "generate", "-o", "id_slow")
    with Agent("notifies", *CARD, "--no-piv", "--key", "id_slow", virtual="slow.json", YKIT_NOTIFY=f"cat >> {path('events')}",
               YKIT_FAULT="on 8010: delay 1500ms"):
        works("a slow touch", "ssh-keygen", "-Y", "sign", "-n", "lab", "-f", "id_slow.pub", "piv.pub")
        limit = time.monotonic() + 20
        while len(told()) < 2 and time.monotonic() < limit:
            time.sleep(0.05)
    events = told()
    expect("told at its begin and its end", [event["event"] for event in events], ["touch", "done"])
    expect("and what for", "sign a file for 'lab'" in events[0]["reason"] or events)


def destinations():
    """ssh-add -h with a real sshd whose host key is known, once plain and once certified."""
    if os.getuid() != 0 or not os.path.exists("/usr/sbin/sshd"):
        skip("log-ins at a real sshd", "needs root and openssh-server")
        return
    yes = script("yes-askpass", f'echo "$1" >> {path("far-asked")}')
    with Agent("hosts", *CARD, "--no-piv", virtual=None, SSH_ASKPASS=yes, SSH_ASKPASS_REQUIRE="force") as agent, Server() as server:
        write("authorized", read("id_ed.pub"))
        host = f"[127.0.0.1]:{server.port}"
        works("ssh-add -h", "ssh-add", "-h", host, "-H", "known", "id_ed")
        fails("such a key signs nothing else", "ssh-add", "-T", "id_ed.pub", says="agent")
        expect("it logs in there", "in\n" in server.login("id_ed.pub")[1])
        output = server.login("id_ed.pub", "-A", command="ssh-add -L")[1]
        expect("where it is not offered further", "sk-ssh-ed25519" in output, False)
        run("ssh-add", "-D")
        write("elsewhere", b"elsewhere " + read("piv.pub"))
        works("for another host", "ssh-add", "-h", "elsewhere", "-H", "elsewhere", "id_ed")
        expect("it does not log in here", "in\n" in server.login("id_ed.pub")[1], False)
        run("ssh-add", "-D")
        works("for another user", "ssh-add", "-h", f"nobody@{host}", "-H", "known", "id_ed")
        expect("it does not log in as this one", "in\n" in server.login("id_ed.pub")[1], False)
        run("ssh-add", "-D")
        works("for this host, and from it to itself", "ssh-add", "-h", host, "-h", f"{host}>{host}", "-H", "known", "id_ed")
        output = server.login("id_ed.pub", "-A", command="ssh-add -L")[1]
        expect("it is offered there", "sk-ssh-ed25519" in output)
        again = (f"ssh -F none -p {server.port} -o IdentitiesOnly=yes -i {path('id_ed.pub')} "
                 f"-o UserKnownHostsFile={path('known')} -o BatchMode=yes 127.0.0.1 echo far")
        expect("and logs in from there", "far\n" in server.login("id_ed.pub", "-A", command=again)[1])
        expect("which the agent says", "requested from the host SHA256:" in agent.said)
        expect("after one question", len(read("far-asked").splitlines()), 1)
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "ca")
    with Server(certified=True) as server, Agent("certified", *CARD, "--no-piv", "--key", "id_ed", virtual=None):
        write("known", b"@cert-authority * " + read("ca.pub"))
        status, output = server.login("id_ed.pub", "-o", "HostKeyAlgorithms=ssh-ed25519-cert-v01@openssh.com")
        expect("logs in at a host with a certificate", "in\n" in output or output)


def activation():
    if not shutil.which("systemd-socket-activate"):
        skip("systemd-socket-activate", "needs systemd")
        return
    at = path("systemd.sock")
    process = subprocess.Popen(
        ["systemd-socket-activate", "-l", at, *[f"-E{name}" for name in os.environ], REAL, *CARD, "ssh", "agent", "--no-upstream"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    expect("systemd listens", within(30, lambda: os.path.exists(at)))
    os.environ["SSH_AUTH_SOCK"] = at
    works("the first client starts the agent", "ssh-add", "-L", says="ecdsa-sha2-nistp256")
    works("which signs", "ssh-add", "-T", "piv.pub")
    os.environ.pop("SSH_AUTH_SOCK")
    process.send_signal(signal.SIGINT)
    process.wait(30)
    expect("and leaves the socket to systemd", os.path.exists(at))


def test_ssh_agent():
    for name in ("SSH_AUTH_SOCK", "SSH_ASKPASS", "DISPLAY", "WAYLAND_DISPLAY"):
        os.environ.pop(name, None)
    os.environ.update(YKIT_PIN=PIN, YKIT_MANAGEMENT_KEY=DEFAULT_KEY)
    with Key("5.7.1") as key:
        make_keys()
        others_between()
        confirmation()
        pinentry()
        destinations()
        activation()
        unplugged(key)
    notifications()
