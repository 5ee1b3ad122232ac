# SPDX-License-Identifier: Apache-2.0
"""`ykit ssh agent` among clients on other machines, other agents that are hostile or hang, prompts that fail, and the jobs of a
shell. OpenSSH's ssh-agent judges where the behaviour is its own.

YKIT is the ykit to test, with its own virtual key. cryptography signs for the hosts.
"""

import base64
import json
import os
import re
import shutil
import socket
import stat
import subprocess
import threading
import time

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from lib import terminal
from lib.memory import copies
from lib.openssh import HOSTS, Agent, Client, OpenSSHAgent, Server, addition, binding, file_data, host_key, login, public, restricted_to, string, strings
from lib.peer import REAL, YKIT, expect, skip, within
from lib.piv_bench import DEFAULT_KEY, FOLDER, path, read, run, script, works, write

PIN = "123456"
for name in ("SSH_AUTH_SOCK", "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE", "DISPLAY", "WAYLAND_DISPLAY", "YKIT_PIN"):
    os.environ.pop(name, None)
os.environ["YKIT_MANAGEMENT_KEY"] = DEFAULT_KEY
FAILURE, SUCCESS, SIGNATURE, EXTENSION_FAILURE = 5, 6, 14, 28
WEB_LOGIN = b'{"type":"webauthn.get","challenge":"AAAA","origin":"https://bank.example","crossOrigin":false}'


def bound(agent, forwards, session=b"S" * 32):
    client = Client(agent)
    expect(f"a session is bound, {'forwarded' if forwards else 'to log in'}", client.ask(binding(session, forwards)), bytes([SUCCESS]))
    return client


def test_keys():
    works("a virtual key", YKIT, "virtual", "new", "key.json")
    key = [YKIT, "--virtual", "key.json"]
    works("a key in 9a", *key, "piv", "keys", "generate", "9a", "9a.pem")
    write("piv.pub", works("its line", *key, "ssh", "keys").encode())
    works("a PIN for FIDO2", *key, "fido2", "pin", "set", "--new-pin-stdin", text=f"{PIN}\n")
    works("a credential for SSH", *key, "ssh", "generate", "-o", "id_sk", "-a", "ecdsa", "--no-touch-required")
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path("usual"))


def web_credential():
    """A credential of a website, as one that knows its identifier and public key writes it in a key file's place."""
    made = works("a credential of a website", YKIT, "--virtual", "key.json", "--json", "fido2", "register", "--rp", "bank.example",
                 "--user", "victim", "--pin-stdin", text=f"{PIN}\n")
    answer = json.loads(next(line for line in made.splitlines() if line.startswith("{")))
    answer = answer.get("credential", answer)["response"]["attestationObject"]
    data = base64.urlsafe_b64decode(answer + "==")
    data = data[data.index(b"authData") + 8:]
    data = data[2 if data[0] == 0x58 else 3:]
    size = int.from_bytes(data[53:55], "big")
    handle, cose = data[55:55 + size], data[55 + size:]
    point = b"\4" + cose[cose.index(b"\x21\x58\x20") + 3:][:32] + cose[cose.index(b"\x22\x58\x20") + 3:][:32]
    blob = string(b"sk-ecdsa-sha2-nistp256@openssh.com") + string(b"nistp256") + string(point) + string(b"bank.example")
    provider = b"\xff" + string(b"sk-provider@openssh.com") + string(b"internal")
    return blob, b"\x19" + blob + b"\1" + string(handle) + string(b"") + string(b"innocent name") + provider


def test_websites():
    """A credential of a website signs data of SSH only, and nothing for a client on another machine."""
    blob, add = web_credential()
    with Agent("web", "--no-piv", "--no-upstream") as agent, OpenSSHAgent("judge.sock") as judge:
        for name, one in (("ssh-agent", judge), ("ykit", agent)):
            client = Client(one)
            expect(f"{name}: the credential is added", client.ask(add), bytes([SUCCESS]))
            for kind, data in (("a log-in at its website", WEB_LOGIN), ("data of no kind", b"hello"),
                               ("a log-in with another key", login(b"S" * 32, public("id_sk"))), ("half a file", file_data()[:-1])):
                expect(f"{name}: {kind} is not signed", client.sign(blob, data), bytes([FAILURE]))
        client = Client(agent)
        for kind, data in (("a file", file_data()), ("a log-in", login(b"S" * 32, blob))):
            expect(f"ykit: {kind} of SSH is signed", client.sign(blob, data)[0], SIGNATURE)
        client = bound(agent, True)
        expect("a client on another machine may add it", client.ask(add), bytes([SUCCESS]))
        for kind, data in (("the log-in at its website", WEB_LOGIN), ("a file", file_data()), ("a log-in", login(b"S" * 32, blob))):
            expect(f"but gets no signature: {kind}", client.sign(blob, data), bytes([FAILURE]))
        expect("the agent says why", agent.said.count("not signed: the credential is not for SSH"), 7)


def test_websafe():
    """The applications whose credentials sign anything, as patterns. Debian's ssh-agent (9.2) has no such option yet."""
    blob, add = web_credential()
    for patterns, signs in (("ssh:*,bank.example", True), ("*.exampl?", True), ("*,!bank.*", False), ("bank", False)):
        with Agent("websafe", "--no-piv", "--no-upstream", f"--websafe-allow={patterns}") as agent:
            client = Client(agent)
            client.ask(add)
            expect(f"--websafe-allow '{patterns}'", client.sign(blob, WEB_LOGIN)[0] == SIGNATURE, signs)
            expect("data of SSH it signs in any case", client.sign(blob, file_data())[0], SIGNATURE)


def test_forwarded_questions():
    """A client on another machine is asked about, with the host and the hops; five questions without a yes end that for its host."""
    blob = public("id_sk")
    answer = script("forwarded", f'echo "$1" >> {path("asked")}; exec test -e {path("yes")}')
    nearest, behind = (run("ssh-keygen", "-lf", one)[1].split()[1] for one in (
        write_host("one.pub", HOSTS[0]), write_host("two.pub", HOSTS[1])))
    asks = {"SSH_ASKPASS": answer, "SSH_ASKPASS_REQUIRE": "force"}
    with Agent("asks", "--no-piv", "--no-upstream", "--key", "id_sk", **asks) as agent:
        client = bound(agent, True)
        expect("a second hop is bound", client.ask(binding(b"T" * 32, True, HOSTS[1])), bytes([SUCCESS]))
        expect("no is no", client.sign(blob, file_data()), bytes([FAILURE]))
        write("yes", b"")
        expect("yes is yes", client.sign(blob, file_data())[0], SIGNATURE)
        expect("asked for whom, through which hosts", read("asked").decode().splitlines(), [
            f"a program at the host {behind} through the host {nearest} asks to sign a file for 'file': use your key ssh:?"] * 2)
        expect("a client here is not asked about", (Client(agent).sign(blob, file_data())[0], len(read("asked").splitlines())), (SIGNATURE, 2))
        os.remove(path("yes"))
        answers = [client.sign(blob, file_data()) for _ in range(7)]
        expect("seven times no, five questions", (answers, len(read("asked").splitlines())), ([bytes([FAILURE])] * 7, 7))
        expect("the agent says why", agent.said.count("too many questions not answered with yes"), 2)
        write("yes", b"")
        other = Client(agent)
        other.ask(binding(b"U" * 32, True, HOSTS[1]))
        expect("another host is asked for", other.sign(blob, file_data())[0], SIGNATURE)
    os.remove(path("asked"))
    with Agent("knows", "--no-piv", "--no-upstream", "--key", "id_sk", "--allow-host", nearest, **asks) as agent:
        client = bound(agent, True)
        expect("a host that is named signs without a question", client.sign(blob, file_data())[0], SIGNATURE)
        expect("and nobody was asked", os.path.exists(path("asked")), False)
        client.ask(binding(b"T" * 32, True, HOSTS[1]))
        expect("one behind it is asked about", (client.sign(blob, file_data())[0], len(read("asked").splitlines())), (SIGNATURE, 1))
    slow = script("slow", "exec sleep 60")
    with Agent("slow", "--no-piv", "--no-upstream", "--key", "id_sk", "--wait", "1", SSH_ASKPASS=slow, SSH_ASKPASS_REQUIRE="force") as agent:
        begin = time.monotonic()
        expect("silence is no", bound(agent, True).sign(blob, file_data()), bytes([FAILURE]))
        expect("after a second", 0.5 < time.monotonic() - begin < 10)
    with Agent("nobody", "--no-piv", "--no-upstream", "--key", "id_sk") as agent:
        expect("with nobody to ask, no", bound(agent, True).sign(blob, file_data()), bytes([FAILURE]))


def write_host(name, host):
    write(name, b"ssh-ed25519 " + base64.b64encode(host_key(host)) + b"\n")
    return path(name)


def test_other_agent():
    """What holds for the agent's own keys holds for those of the other agent, ssh-agent."""
    blob = public("usual")
    with OpenSSHAgent("other.sock") as other:
        run("env", f"SSH_AUTH_SOCK={other.socket}", "ssh-add", path("usual"))
        with Agent("closed", "--upstream", other.socket, "--no-piv", "--no-forwarding") as agent:
            client = bound(agent, True)
            expect("--no-forwarding: listed", [one for one, _ in client.identities()], [blob])
            expect("and not signed", client.sign(blob, login(b"S" * 32, blob)), bytes([FAILURE]))
            expect("the agent says why", "--no-forwarding" in agent.said)
            expect("here it is signed", Client(agent).sign(blob, login(b"S" * 32, blob))[0], SIGNATURE)
        with Agent("front", "--upstream", other.socket, "--no-piv") as agent:
            client = bound(agent, False)
            expect("the log-in of the session is signed", client.sign(blob, login(b"S" * 32, blob))[0], SIGNATURE)
            expect("that of another session is not", client.sign(blob, login(b"T" * 32, blob)), bytes([FAILURE]))
            # ssh-agent refuses a constrained key to the wrong session only if it knows the session.
            run("ssh-add", "-D")
            write("known", b"host " + b"ssh-ed25519 " + base64.b64encode(host_key(HOSTS[0])) + b"\n")
            works("a usual key is added for a host", "ssh-add", "-h", "host", "-H", path("known"), path("usual"))
            expect("its log-in there is signed", bound(agent, False).sign(blob, login(b"S" * 32, blob))[0], SIGNATURE)
            elsewhere = Client(agent)
            elsewhere.ask(binding(b"S" * 32, False, HOSTS[1]))
            expect("elsewhere it is not shown", elsewhere.identities(), [])
            expect("nor signs", elsewhere.sign(blob, login(b"S" * 32, blob)), bytes([FAILURE]))
            library = os.path.realpath("/usr/lib/x86_64-linux-gnu/opensc-pkcs11.so")
            add = b"\x14" + string(library.encode()) + string(b"")
            for name, one in (("ssh-agent", other), ("ykit", agent)):
                expect(f"{name}: a client on another machine loads no library", bound(one, True).ask(add), bytes([FAILURE]))
            helpers = subprocess.run(["pgrep", "-P", str(other.process.pid)], capture_output=True, text=True).stdout
            expect("and none was loaded", helpers, "")


def test_session_words():
    """An unknown extension is a failure, a failed one an extension failure (RFC 9987)."""
    with Agent("words", "--no-piv", "--no-upstream") as agent:
        expect("unknown", Client(agent).ask(b"\x1b" + string(b"other@example.com")), bytes([FAILURE]))
        good = binding(b"S" * 32, False)
        expect("failed", Client(agent).ask(good[:-2] + bytes([good[-2] ^ 1]) + good[-1:]), bytes([EXTENSION_FAILURE]))


def test_adding_again():
    blob = public("id_sk")
    no = script("no", "exit 1")
    with Agent("again", "--no-piv", "--no-upstream", SSH_ASKPASS=no, SSH_ASKPASS_REQUIRE="force") as agent:
        expect("added with a confirmation", Client(agent).ask(addition("id_sk", b"\2")), bytes([SUCCESS]))
        client = bound(agent, True)
        for name, message in (("removed", b"\x12" + string(blob)), ("all removed", b"\x13"), ("added", addition("id_sk"))):
            client.ask(message)
            expect(f"{name} by a client on another machine, it still has to be confirmed",
                   ([one for one, _ in client.identities()], client.sign(blob, file_data())), ([blob], bytes([FAILURE])))
        here = Client(agent)
        here.ask(b"\x13")
        expect("added for one host", here.ask(addition("id_sk", restricted_to(HOSTS[1]))), bytes([SUCCESS]))
        client = bound(agent, True)
        expect("hidden from another", client.identities(), [])
        expect("which may not add it again", client.ask(addition("id_sk")), bytes([FAILURE]))
        expect("and gets no signature", (client.identities(), client.sign(blob, b"x")), ([], bytes([FAILURE])))
    with OpenSSHAgent("judge.sock") as judge:
        Client(judge).ask(addition("id_sk", restricted_to(HOSTS[1])))
        client = bound(judge, True)
        expect("ssh-agent: the same", (client.identities(), client.ask(addition("id_sk"))), ([], bytes([FAILURE])))


def test_other_agent_hangs():
    """One that takes connections and never answers, and one whose queue of connections is full."""
    blob = public("id_sk")
    for name, takes in (("silent", True), ("full", False)):
        other = socket.socket(socket.AF_UNIX)
        other.bind(path(f"{name}.other"))
        other.listen(8 if takes else 0)
        filler = []
        for _ in range(0 if takes else 2):
            filler.append(socket.socket(socket.AF_UNIX))
            filler[-1].setblocking(False)
            filler[-1].connect_ex(path(f"{name}.other"))
        with Agent(name, "--upstream", path(f"{name}.other"), "--no-piv", "--key", "id_sk") as agent:
            slow = Client(agent)
            slow.socket.sendall(string(b"\x0b"))
            begin = time.monotonic()
            expect(f"{name}: a signature with an own key waits for nobody", Client(agent).sign(blob, file_data())[0], SIGNATURE)
            expect(f"{name}: at once", time.monotonic() - begin < 4)
            expect(f"{name}: the own keys are listed", slow.read()[0], 12)
            expect(f"{name}: after five seconds", time.monotonic() - begin < 12)
            begin = time.monotonic()
            unknown = string(b"ssh-ed25519") + string(b"k" * 32)
            expect(f"{name}: an unknown key is refused", slow.sign(unknown, b"x"), bytes([FAILURE]))
            expect(f"{name}: after five seconds, too", time.monotonic() - begin < 12)
            gone = [Client(agent) for _ in range(20)]
            for client in gone:
                client.socket.sendall(string(b"\x0d" + string(unknown) + string(b"x") + b"\0" * 4))
            for client in gone:
                client.socket.close()
            def threads():
                return len(os.listdir(f"/proc/{agent.process.pid}/task"))
            expect(f"{name}: clients that hang up leave no thread behind", within(12, lambda: threads() < 12) or threads())
        for one in (other, *filler):
            one.close()


def test_circles():
    """Agents that are their own upstream, by another path, or each other's."""
    os.symlink("self.sock", path("mirror.sock"))
    unknown = string(b"ssh-ed25519") + string(b"k" * 32)

    def ends(name, agent):
        begin = time.monotonic()
        client = Client(agent)
        expect(f"{name}: its own key is listed", len(client.identities()), 1)
        expect(f"{name}: an unknown key is refused", client.sign(unknown, b"x"), bytes([FAILURE]))
        expect(f"{name}: at once", time.monotonic() - begin < 4)
        others = [Client(agent) for _ in range(50)]  # a process may have 64 connections
        expect(f"{name}: another client is served", Client(agent).sign(public("id_sk"), file_data())[0], SIGNATURE)
        for one in others:
            one.socket.close()

    own = ("--no-piv", "--key", "id_sk")
    with Agent("self", "--upstream", path("mirror.sock"), *own) as agent:
        ends("its own", agent)
    with Agent("one", "--upstream", path("two.sock"), *own) as agent, Agent("two", "--upstream", path("one.sock"), "--no-piv"):
        ends("each other's", agent)
    with Agent("a", "--upstream", path("b.sock"), *own) as agent, Agent("b", "--upstream", path("c.sock"), "--no-piv"), \
            Agent("c", "--upstream", path("a.sock"), "--no-piv"):
        ends("three", agent)


PINENTRIES = {
    "exits with 1": "exit 1",
    "is killed": "kill -9 $$",
    "greets and dies": 'echo "OK Pleased to meet you"; read -r a; echo OK; exit 2',
    "greets and ends": 'echo "OK Pleased to meet you"; read -r a; echo OK; exit 0',
    "says nothing": "exit 0",
    "is cancelled": "echo OK; while read -r l; do case $l in CONFIRM) echo 'ERR 83886179 Operation cancelled';; *) echo OK;; esac; done",
    "is not confirmed": "echo OK; while read -r l; do case $l in CONFIRM) echo ASSUAN_Not_Confirmed;; *) echo OK;; esac; done",
    "confirms, and ends with 1": "echo OK; while read -r l; do echo OK; done; exit 1",
}
ASKPASSES = {"exits with 1": "exit 1", "is killed": "kill -9 $$", "says no": "echo no", "says something": "echo maybe"}


def test_confirmation():
    """Only an explicit yes confirms."""
    blob = public("id_sk")
    with_pinentry = dict(PATH=f"{path('bin')}:{os.environ['PATH']}")
    with_askpass = dict(SSH_ASKPASS=path("ask"), SSH_ASKPASS_REQUIRE="force")
    for program, name, variables, refusals, yes in (
            ("pinentry", "bin/pinentry", with_pinentry, PINENTRIES, "echo OK; while read -r l; do echo OK; done"),
            ("askpass", "ask", with_askpass, ASKPASSES, "echo YES")):
        script(name, "exit 1")
        with Agent(program, "--no-piv", "--no-upstream", **variables) as agent:
            client = Client(agent)
            client.ask(addition("id_sk", b"\2"))
            for what, text in refusals.items():
                script(name, text)
                expect(f"{program} {what}: not signed", client.sign(blob, file_data()), bytes([FAILURE]))
            script(name, yes)
            expect(f"{program} says yes: signed", client.sign(blob, file_data())[0], SIGNATURE)
            os.remove(path(name))
            if program == "askpass":
                expect("no program at all: not signed", client.sign(blob, file_data()), bytes([FAILURE]))
    script("true", "exit 0")
    with Agent("dialogue", "--no-piv", "--no-upstream", SSH_ASKPASS=path("true"), SSH_ASKPASS_REQUIRE="force") as agent:
        client = Client(agent)
        client.ask(addition("id_sk", b"\2"))
        expect("a dialogue with a button prints nothing, as in OpenSSH", client.sign(blob, file_data())[0], SIGNATURE)


def test_pins():
    """A PIN that is cached or given, and was changed elsewhere, costs one try at most and never the last one."""
    def changed(left, name="stale.json"):
        state = json.loads(read(name))
        state["piv"]["pin"]["left"] = left
        state["piv"]["pin"]["value"] = (b"654321" + b"\xff\xff").hex()
        write(name, json.dumps(state).encode())

    def left():
        return json.loads(read("stale.json"))["piv"]["pin"]["left"]

    answer = script("answer", f"echo \"$1\" >> {path('asked')}; cat {path('pin')}")
    variables = dict(virtual="stale.json", SSH_ASKPASS=answer, SSH_ASKPASS_REQUIRE="force")
    for before, after in ((3, 2), (2, 1), (1, 1)):
        shutil.copy(path("key.json"), path("stale.json"))
        write("pin", PIN.encode())
        with Agent("cached", "--no-upstream", **variables) as agent:
            client = Client(agent)
            blob = client.identities()[0][0]
            expect("signed, and the PIN is cached", client.sign(blob, b"x")[0], SIGNATURE)
            time.sleep(2.5)  # The agent keeps the card for two seconds, in which nobody else can change a PIN.
            changed(before)
            write("pin", b"")
            expect(f"changed elsewhere, {before} left: not signed", client.sign(blob, b"x"), bytes([FAILURE]))
            expect(f"changed elsewhere, {before} left: {after} left", left(), after)
            for _ in range(3):
                client.sign(blob, b"x")
            expect("it is not sent again", left(), after)
    for before, after in ((3, 2), (1, 1)):
        shutil.copy(path("key.json"), path("stale.json"))
        changed(before)
        with Agent("given", "--no-upstream", YKIT_PIN=PIN, **variables) as agent:
            client = Client(agent)
            blob = client.identities()[0][0]
            answers = [client.sign(blob, b"x")[0] for _ in range(4)]
            expect(f"a wrong PIN is given, {before} left: {after} left", (answers, left()), ([FAILURE] * 4, after))
            if before == 1:
                expect("the user is asked about the last one", "last" in read("asked").decode().splitlines()[-1])
                write("pin", b"654321")
                expect("and may spend it", client.sign(blob, b"x")[0], SIGNATURE)


def piv_key(agent):
    return next(blob for blob, comment in Client(agent).identities() if comment.startswith(b"PIV "))


def test_open_question():
    """A question for a PIN has an end, stops nobody else, and goes when its client does."""
    slow = script("slow", f"echo $$ > {path('asking')}; exec sleep 60")

    def is_asking():
        return os.path.exists(path("asking")) and bool(read("asking").strip()) and os.path.exists(f"/proc/{int(read('asking'))}")

    with OpenSSHAgent("beside.sock") as other:
        run("env", f"SSH_AUTH_SOCK={other.socket}", "ssh-add", path("usual"))
        with Agent("open", "--upstream", other.socket, SSH_ASKPASS=slow, SSH_ASKPASS_REQUIRE="force") as agent:
            blob = piv_key(agent)
            for how in ("closes", "ends its direction"):
                client = Client(agent)
                client.socket.sendall(string(b"\x0d" + string(blob) + string(b"x") + b"\0" * 4))
                expect(f"{how}: a PIN is asked for", within(10, is_asking))
                begin = time.monotonic()
                expect(f"{how}: another client gets the list", [one for one, _ in Client(agent).identities()], [blob, public("usual")])
                expect(f"{how}: and a signature with a key of the other agent", Client(agent).sign(public("usual"), file_data())[0], SIGNATURE)
                expect(f"{how}: at once", time.monotonic() - begin < 5)
                if how == "closes":
                    client.socket.close()
                else:
                    client.socket.shutdown(socket.SHUT_WR)  # all that a forwarded client's end is to the agent
                expect(f"{how}: the question is withdrawn", within(5, lambda: not is_asking()))
                expect(f"{how}: the log says so", within(5, lambda: "the client has hung up" in agent.said) or agent.said)
                os.remove(path("asking"))
    with Agent("ends", "--no-upstream", "--wait", "1", SSH_ASKPASS=slow, SSH_ASKPASS_REQUIRE="force") as agent:
        begin = time.monotonic()
        expect("--wait 1: no PIN", Client(agent).sign(piv_key(agent), b"x"), bytes([FAILURE]))
        expect("after a second", 0.5 < time.monotonic() - begin < 10)
        expect("the log says why", "not answered in time" in agent.said or agent.said)
        expect("the question is gone", within(5, lambda: not is_asking()))


def test_open_question_elsewhere():
    """A client that ends behind a real sshd, whose ssh lives on: of it the agent sees no more than the end of what it sends."""
    if os.getuid() != 0:
        skip("a question for another machine", "sshd needs root")
        return
    slow = script("slow-far", f"echo $$ > {path('asking-far')}; exec sleep 60")
    with Agent("far", "--no-upstream", "--allow-host", "SHA256:*", SSH_ASKPASS=slow, SSH_ASKPASS_REQUIRE="force") as agent, Server() as server:
        write("authorized", read("usual.pub"))
        command = f"timeout 3 ssh-add -T {path('piv.pub')}; sleep 15"
        thread = threading.Thread(target=lambda: server.login("usual", "-A", command=command))
        thread.start()
        expect("a PIN is asked for", within(20, lambda: os.path.exists(path("asking-far")) and read("asking-far").strip()) and True)
        pid = int(read("asking-far"))
        expect("the question is withdrawn", within(10, lambda: not os.path.exists(f"/proc/{pid}")))
        expect("while the connection lives", thread.is_alive())
        expect("the log says why", within(5, lambda: "the client has hung up" in agent.said) or agent.said)
        thread.join(40)


def test_pinentry_that_cannot_ask():
    """Nobody declined: the log says why pinentry did not ask, and what to do."""
    refusal = "echo 'ERR 83918950 Inappropriate ioctl for device <Pinentry>'"
    script("bin/pinentry", f"echo OK; while read -r l; do echo \"$l\" >> {path('told')}; case $l in GETPIN|CONFIRM) {refusal};; *) echo OK;; esac; done")
    variables = dict(PATH=f"{path('bin')}:{os.environ['PATH']}", GPG_TTY="/dev/pts/99", TERM="xterm", LC_ALL="C.UTF-8")
    with Agent("mute", "--no-upstream", **variables) as agent:
        client = Client(agent)
        client.ask(addition("id_sk", b"\2"))
        for blob in (piv_key(agent), public("id_sk")):
            expect("not signed", client.sign(blob, b"x"), bytes([FAILURE]))
        expect("the log says why, and what to do", [agent.said.count(text) for text in (
            "pinentry cannot ask: Inappropriate ioctl for device", "export GPG_TTY=$(tty)", "no PIN was entered")], [2, 2, 0])
    told = read("told").decode().splitlines()
    expect("the terminal of GPG_TTY is named", told[:3], ["OPTION ttyname=/dev/pts/99", "OPTION ttytype=xterm", "OPTION lc-ctype=C.UTF-8"])
    if not os.path.exists("/usr/bin/pinentry-curses"):
        skip("pinentry on a terminal", "pinentry-curses is not installed")
        return
    os.symlink("/usr/bin/pinentry-curses", path("curses"))
    script("bin/pinentry", f"exec {path('curses')} \"$@\"")
    with Agent("nowhere", "--no-upstream", PATH=variables["PATH"], GPG_TTY=None) as agent:
        expect("without a terminal it cannot ask", Client(agent).sign(piv_key(agent), b"x"), bytes([FAILURE]))
        expect("which the log says", "cannot ask" in agent.said or agent.said)
    with terminal.Terminal(["sh", "-c", "tty; exec sleep 100"], {**os.environ, "TERM": "xterm"}) as screen:
        screen.expect(r"/dev/pts/\d+\r")
        name = re.search(rb"/dev/pts/\d+", screen.seen)[0].decode()
        with Agent("curses", "--no-upstream", PATH=variables["PATH"], GPG_TTY=name, TERM="xterm") as agent:
            blob, answers = piv_key(agent), []
            thread = threading.Thread(target=lambda: answers.append(Client(agent).sign(blob, b"x")[0]))
            thread.start()
            expect("on the terminal of GPG_TTY it asks", screen.expect("PIN of") is not None)
            screen.type(f"{PIN}\r")
            deadline = time.monotonic() + 20
            while thread.is_alive() and time.monotonic() < deadline:
                screen.read(0.05)
            expect("and the PIN is right", answers, [SIGNATURE])


def test_flood():
    """One process, as the ssh that forwards a machine's clients, has a share of the connections, and clients a share of the keys."""
    with Agent("flood", "--no-piv", "--no-upstream") as agent:
        flood = []
        for _ in range(300):
            client = Client(agent)
            flood.append(client)
        status, output = run("ssh-add", "-l")
        expect("the user still gets the list", (status, "no identities" in output), (1, True))
        for client in flood:
            client.socket.close()
        within(10, lambda: len(os.listdir(f"/proc/{agent.process.pid}/task")) < 12)
        client = bound(agent, True)
        message = addition("id_sk")
        point = strings(public("id_sk"))[2]

        def add(point, comment=b"added"):
            changed = message.replace(strings(public("id_sk"))[2], point).replace(string(b"added"), string(comment))
            return client.ask(b"\x19" + changed[1:])[0]

        expect("keys that are not points", {add(b"\4" + os.urandom(64)) for _ in range(20)}, {FAILURE})
        expect("a comment of 100,000 bytes", add(point, b"c" * 100_000), FAILURE)
        points = [ec.generate_private_key(ec.SECP256R1()).public_key().public_bytes(
            serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint) for _ in range(100)]
        expect("100 keys with comments of 1024 bytes", sum(add(one, b"c" * 1024) == SUCCESS for one in points), 32)
        begin = time.monotonic()
        expect("the user may add a key", Client(agent).ask(addition("id_sk")), bytes([SUCCESS]))
        status, output = run("ssh-add", "-l")
        expect("and gets the list", (status, len(output.splitlines()), time.monotonic() - begin < 5), (0, 33, True))


def test_guesses():
    """Passphrases are compared one after the other, each wrong one slower than the one before."""
    with Agent("locked", "--no-piv", "--no-upstream") as agent:
        expect("locked", Client(agent).ask(b"\x16" + string(b"right")), bytes([SUCCESS]))
        begin = time.monotonic()
        clients = [Client(agent) for _ in range(5)]
        for number, client in enumerate(clients):
            client.socket.sendall(string(b"\x17" + string(b"guess%d" % number)))
        expect("five guesses at once", [client.read() for client in clients], [bytes([FAILURE])] * 5)
        expect("take as long as one after the other", time.monotonic() - begin >= 1.5)
        expect("the right one unlocks", Client(agent).ask(b"\x17" + string(b"right")), bytes([SUCCESS]))


def test_memory():
    if os.getuid() != 0:
        skip("what is in memory", "needs root")
        return
    works("a virtual key", YKIT, "virtual", "new", "memory.json")
    key = [YKIT, "--virtual", "memory.json"]
    works("a key in 9a", *key, "piv", "keys", "generate", "9a", "m.pem")
    works("a PIN that is nowhere else", *key, "piv", "access", "change-pin", "--pin-stdin", "--new-pin-stdin", text=f"{PIN}\n73519462\n")
    variables = dict(virtual="memory.json", SSH_ASKPASS=script("types", "echo 73519462"), SSH_ASKPASS_REQUIRE="force")

    def held(count, *arguments):
        """Whether so many copies are in the pages for secrets within a minute after a signature. Elsewhere are those of the virtual
        key, which is in the same process, and what is left of messages until their memory is used again."""
        with Agent("memory", "--no-upstream", *arguments, **variables) as agent:
            client = Client(agent)
            expect("signed with the PIN", client.sign(client.identities()[0][0], b"x")[0], SIGNATURE)
            return within(60, lambda: copies(agent.process.pid, [b"73519462"])[1] == count, 0.5)
    expect("a PIN without a lifetime is held once", held(1))
    expect("one with a lifetime of 0 is gone", held(0, "--pin-lifetime", "0"))
    expect("a PIN is gone when its lifetime ends, without another request", held(0, "--pin-lifetime", "2"))
    with Agent("lock", "--no-piv", "--no-upstream") as agent:
        client = Client(agent)
        client.ask(b"\x16" + string(b"LOCKPASSPHRASE99"))
        expect("locked with one copy of the passphrase", sum(copies(agent.process.pid, [b"LOCKPASSPHRASE99"])), 1)
        client.ask(b"\x17" + string(b"WRONGPASSPHRASE7"))
        client.ask(b"\x17" + string(b"LOCKPASSPHRASE99"))
        client.ask(b"\x11" + string(b"ssh-ed25519") + string(b"PRIVATEKEYPRIVATE"))
        texts = (b"LOCKPASSPHRASE99", b"WRONGPASSPHRASE7", b"PRIVATEKEYPRIVATE")
        # A thread that has answered may still be about to release the message.
        expect("nothing is left of what was in messages", within(
            10, lambda: [sum(copies(agent.process.pid, [text])) for text in texts] == [0, 0, 0], 0.5))


def test_children():
    """Programs that ykit starts get no secret from its variables, and may dump core if they want to."""
    write("pin", PIN.encode())
    answer = script("sees", f"env > {path('variables')}; ulimit -H -c > {path('core')}; cat {path('pin')}")
    secrets = dict(YKIT_MANAGEMENT_KEY="secret", YKIT_STORE_PASSPHRASE="secret", YKIT_2FA_API_KEY="secret", YKIT_UNKNOWN="secret")
    with Agent("children", "--no-upstream", SSH_ASKPASS=answer, SSH_ASKPASS_REQUIRE="force", YKIT_DEVICE="", YKIT_TIMEOUT="20",
               **secrets) as agent:
        client = Client(agent)
        expect("signed with a PIN by SSH_ASKPASS", client.sign(client.identities()[0][0], b"x")[0], SIGNATURE)
    seen = read("variables").decode().splitlines()
    expect("which sees no secret", [line for line in seen if "secret" in line], [])
    expect("but settings", "YKIT_TIMEOUT=20" in seen)
    hard = subprocess.run(["sh", "-c", "ulimit -H -c"], capture_output=True, text=True).stdout
    expect("and has the limit of core files that ykit was started with", read("core").decode(), hard)


def test_sockets():
    """The agent removes nothing but a socket that nobody listens at, and its own."""
    os.mkfifo(path("fifo"))
    write("regular", b"x")
    os.symlink("regular", path("link"))
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(path("dead"))
    dead.close()
    command = [REAL, "--virtual", "key.json", "ssh", "agent", "--no-piv", "--no-upstream", "--socket"]
    for name in ("fifo", "regular", "link", "."):
        done = subprocess.run([*command, path(name)], cwd=FOLDER, capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL)
        expect(f"{name}: refused, and still there", (done.returncode, "already exists" in done.stderr, os.path.lexists(path(name))),
               (2, True, True))
    if os.getuid() == 0:
        os.mknod(path("null"), stat.S_IFCHR | 0o666, os.makedev(1, 3))
        done = subprocess.run([*command, path("null")], cwd=FOLDER, capture_output=True, timeout=30, stdin=subprocess.DEVNULL)
        expect("a device: refused, and still there", (done.returncode, os.path.exists(path("null"))), (2, True))
    shutil.move(path("dead"), path("taken.sock"))
    with Agent("taken", "--no-piv", "--no-upstream") as agent:
        expect("a socket without a listener is replaced", Client(agent).identities(), [])
        done = subprocess.run([*command, agent.socket], cwd=FOLDER, capture_output=True, timeout=30, stdin=subprocess.DEVNULL)
        expect("one with a listener is not", (done.returncode, Client(agent).identities()), (2, []))
        os.remove(agent.socket)
        write("taken.sock", b"somebody's")
    expect("a file that has the name at the end stays", read("taken.sock"), b"somebody's")


# MARK: jobs of a shell

def shell(**variables):
    environment = {**os.environ, "PS1": "shell> ", "HOME": FOLDER, "XDG_STATE_HOME": FOLDER, "XDG_RUNTIME_DIR": FOLDER, **variables}
    found = terminal.Terminal(["/bin/bash", "--norc", "--noprofile", "-i"], environment, FOLDER)
    found.expect("shell> ")
    return found


def state(pid):
    """The letter of a process's state: T is stopped."""
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rsplit(")", 1)[1].split()[0]


def job(shell, number=1):
    """The process of a job."""
    return told(shell, f"$(jobs -p %{number})")


def told(shell, word):
    """The number that a word stands for in a shell."""
    place = len(shell.seen)
    shell.type(f"echo number={word}=\n")
    shell.expect(r"number=\d+=\r", 20, place)
    return int(re.search(rb"number=(\d+)=\r", shell.seen[place:])[1])


AGENT = f"'{REAL}' --virtual key.json ssh agent --no-upstream --key id_sk --socket job.sock"


class Job:
    """What Client needs of an agent."""
    socket = path("job.sock")


def asked_in_background(name, signed, log, **variables):
    """The agent as a background job: it is not stopped, and prompts do not come on the terminal."""
    with shell(**variables) as one:
        one.type(f"{AGENT} 2>job.log &\n")
        expect(f"{name}: it listens", within(20, lambda: os.path.exists(Job.socket)))
        pid = job(one)
        client = Client(Job)
        piv = next(blob for blob, _ in client.identities() if strings(blob)[0] == b"ecdsa-sha2-nistp256")
        expect(f"{name}: a signature with a PIN", client.sign(piv, b"x")[0], signed)
        client.ask(b"\x13")
        client.ask(addition("id_sk", b"\2"))
        expect(f"{name}: one to be confirmed", client.sign(public("id_sk"), file_data())[0], signed)
        expect(f"{name}: the agent is not stopped", state(pid) != "T")
        one.type("echo it-is-$((1+1))\n")
        expect(f"{name}: the shell has its terminal", one.expect("it-is-2") is not None)
        expect(f"{name}: nothing was asked there", b"PIN of" in one.seen or b"asks to" in one.seen, False)
        expect(f"{name}: the log says why", log in read("job.log").decode() or read("job.log"))
        one.type("kill %1; wait\n")
        within(20, lambda: not os.path.exists(Job.socket))
        one.type("exit\n")
        one.wait(10)


def test_background():
    os.makedirs(path("empty"), exist_ok=True)
    for program in ("env", "cat"):
        if not os.path.exists(path(f"empty/{program}")):
            os.symlink(shutil.which(program), path(f"empty/{program}"))
    asked_in_background("nobody to ask", FAILURE, "the agent cannot ask", PATH=path("empty"))
    write("pin", PIN.encode())
    answer = script("asks", f"test \"$SSH_ASKPASS_PROMPT\" = confirm || cat {path('pin')}")
    asked_in_background("askpass", SIGNATURE, "", PATH=path("empty"), SSH_ASKPASS=answer, DISPLAY=":9")
    script("bin/pinentry", "/bin/echo OK; while read -r l; do case $l in GETPIN) echo D 123456; echo OK;; *) echo OK;; esac; done")
    asked_in_background("pinentry", SIGNATURE, "", PATH=path("bin"))
    # One that opens the terminal all the same, which it does not have.
    script("bin/pinentry", "exec 3<>/dev/tty || exit 1; read -r l <&3; echo OK")
    asked_in_background("pinentry at the terminal", FAILURE, "", PATH=path("bin"))


def test_foreground():
    """In the foreground it asks on the terminal; ^Z and bg at the question cancel it, and the agent goes on."""
    with shell(PATH=path("empty")) as one:
        one.type(f"{AGENT}\n")
        expect("it listens", within(20, lambda: os.path.exists(Job.socket)))
        client = Client(Job)
        piv = next(blob for blob, _ in client.identities() if strings(blob)[0] == b"ecdsa-sha2-nistp256")
        answers = []

        def sign():
            answers.append(client.sign(piv, b"x")[0])

        thread = threading.Thread(target=sign)
        thread.start()
        place = one.expect("PIN of the key's PIV[^:]*: $")
        expect("it asks, silently", (place is not None, within(5, lambda: not one.echoes)), (True, True))
        one.type("\x1a")
        place = one.expect("shell> ", 20, place or 0)
        one.type("bg\n")
        thread.join(20)
        expect("bg: the question is cancelled", answers, [FAILURE])
        pid = job(one)
        expect("and the agent goes on", (state(pid) != "T", len(client.identities())), (True, 2))
        one.type("fg\n")
        one.expect("job.sock", 20, len(one.seen))
        thread = threading.Thread(target=sign)
        thread.start()
        place = one.expect("PIN of the key's PIV[^:]*: $", 20, place or 0)
        expect("fg: it asks again, silently", (place is not None, within(5, lambda: not one.echoes)), (True, True))
        one.type(f"{PIN}\n")
        thread.join(20)
        expect("and signs", answers, [FAILURE, SIGNATURE])
        expect("the PIN is never on the screen", PIN.encode() in one.seen, False)
        client = bound(Job, True)
        for typed, wanted in (("n", FAILURE), ("", FAILURE), ("y", SIGNATURE)):
            begin = len(one.seen)
            thread = threading.Thread(target=sign)
            thread.start()
            place = one.expect(r"asks\s+to\s+sign[^?]*\? \[y/N\]", 20, begin)
            time.sleep(1.2)  # an answer counts a second after its question
            one.type(f"{typed}\n")
            thread.join(20)
            expect(f"another machine: asked at the terminal, '{typed}'", (place is not None, answers[-1]), (True, wanted))
        one.type("\x03")
        one.expect("shell> ", 20, len(one.seen) - 1)
        expect("^C ends it", within(20, lambda: not os.path.exists(Job.socket)))


def test_evaluated():
    """eval "$(ykit ssh agent)" starts it in the background, as ssh-agent does."""
    key = f"'{REAL}' --virtual key.json ssh agent"
    environment = {**os.environ, "HOME": FOLDER, "XDG_STATE_HOME": FOLDER, "XDG_RUNTIME_DIR": FOLDER, "YKIT_PIN": PIN}
    at = path("ykit-ssh-agent.sock")
    for name, words, ends in (("eval", key, "kill $SSH_AGENT_PID"), ("with --socket", f"{key} --socket {at} --background", "ssh-agent -k")):
        text = f'eval "$({words})" && echo sock=$SSH_AUTH_SOCK pid=$SSH_AGENT_PID && ssh-add -T {path("piv.pub")} && ps -o sid=,tty= $SSH_AGENT_PID && {ends}'
        done = subprocess.run(["bash", "-c", text], cwd=FOLDER, env=environment, capture_output=True, text=True, timeout=60,
                              stdin=subprocess.DEVNULL)
        expect(f"{name}: it signs, and is ended", (done.returncode, f"sock={at}" in done.stdout) if done.returncode == 0 else done, (0, True))
        pid = int(done.stdout.split("pid=")[1].split()[0])
        expect(f"{name}: in a session of its own, without a terminal", f"{pid} ?" in " ".join(done.stdout.split()))
        expect(f"{name}: it is gone, and its socket", within(20, lambda: not os.path.exists(f"/proc/{pid}") and not os.path.exists(at)))
    done = subprocess.run(["bash", "-c", f'x=$({key} --key missing); echo "$? <$x>"'], cwd=FOLDER, env=environment, capture_output=True,
                          text=True, timeout=60)
    expect("one that cannot start says so, and prints no line", done.stdout.split()[1:] == ["<>"] and done.stdout[0] != "0" or done.stdout)
    with shell(PATH=path("empty")) as one:
        one.type(f'eval "$({key} --no-upstream)"; echo "started=$?"\n')
        expect("in an interactive shell", one.expect(r"started=0\r") is not None)
        pid = told(one, "$SSH_AGENT_PID")
        one.type("exit\n")
        one.wait(10)
    expect("it outlives the shell", state(pid) != "T")
    class Evaluated:
        socket = at
    client = Client(Evaluated)
    piv = client.identities()[0][0]
    expect("with nobody to ask it refuses at once", client.sign(piv, b"x"), bytes([FAILURE]))
    os.kill(pid, 15)
    expect("and ends", within(20, lambda: not os.path.exists(at)))


def test_other_verbs():
    """A verb that asks in the background of a shell ends instead of being stopped."""
    works("a key with a password", YKIT, "virtual", "new", "asks.json")
    works("a password", YKIT, "--virtual", "asks.json", "oath", "access", "change", "--new-password-stdin", text="secret\n")
    write("token.txt", b"200522216143020723541574706600244335451106410137225201264173164624000252716762774\n")
    works("a store", YKIT, "securid", "import", "token.txt", "--software", "--passphrase-fd", "0", "--store", "store.json",
          "--allow-expired", text="passphrase\n")
    why = "in the background of the terminal"
    with shell() as one:
        for number, (words, status, says) in enumerate((
                ("--virtual asks.json oath list -w", 8, "locked with a password"),
                ("securid watch --software --store store.json", 17, why), ("--virtual asks.json oath reset", 17, why),
                ("--virtual key.json piv sign --slot 9a usual", 17, why))):
            one.type(f"'{REAL}' {words} >verb.log 2>&1 & wait $!; echo \"ended{number}=$?\"\n")
            place = one.expect(rf"ended{number}=\d+\r")
            ended = place and int(one.seen[:place].rsplit(b"=", 1)[1])
            expect(f"{words}: ends with {status} and says why", (ended, says in read("verb.log").decode()), (status, True))
        one.type("exit\n")
        one.wait(10)
