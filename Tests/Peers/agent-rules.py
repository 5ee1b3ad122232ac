# SPDX-License-Identifier: Apache-2.0
"""The rules of SSH agents for sessions, destinations, constraints and locks: a table of messages, sent to `ykit ssh agent` and to
OpenSSH's ssh-agent. Where the two answer differently, the row says why.

YKIT is the ykit to test, with its own virtual key. ssh-agent has an ordinary key, since it cannot sign with a virtual one.
"""

import os
import struct

from cryptography.hazmat.primitives.asymmetric import ed25519

from lib.openssh import HOSTS, Agent, Client, OpenSSHAgent, addition, binding, file_data, hop, login, public, restricted, string
from lib.peer import YKIT, expect
from lib.piv_bench import path, read, script, works, write

PIN = "123456"
for name in ("SSH_AUTH_SOCK", "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE", "DISPLAY", "WAYLAND_DISPLAY", "YKIT_PIN"):
    os.environ.pop(name, None)
A, B, C = HOSTS
S, T, U = (letter * 32 for letter in (b"S", b"T", b"U"))
REMOVE_ALL, LIST = b"\x13", b"\x0b"


class YKit:
    """ykit's agent with a credential that requires no touch."""
    name = "ykit"

    def __init__(self, agent):
        self.agent, self.blob = agent, public("id_sk")

    def added(self, constraints):
        return addition("id_sk", constraints)


class OpenSSH:
    """ssh-agent with an ordinary key."""
    name = "ssh-agent"

    def __init__(self, agent):
        key = ed25519.Ed25519PrivateKey.generate()
        point = key.public_key().public_bytes_raw()
        self.agent, self.blob = agent, string(b"ssh-ed25519") + string(point)
        self.private = self.blob + string(key.private_bytes_raw() + point)

    def added(self, constraints):
        return b"\x19" + self.private + string(b"added") + constraints


# MARK: the steps of a row: what is sent, by which client

def sent(message):
    return lambda side, client: client.ask(message)


def here(step):
    """A step of another client, without a session."""
    return lambda side, client: step(side, Client(side.agent))


def listed(side, client):
    return client.ask(LIST)


def signs(session=S, user=b"root", host=None):
    return lambda side, client: client.sign(side.blob, login(session, side.blob, user, host))


def signs_file(side, client):
    return client.sign(side.blob, file_data())


def adds(constraints=b""):
    return lambda side, client: client.ask(side.added(constraints))


def removes(side, client):
    return client.ask(b"\x12" + string(side.blob))


def into(host, session=S):
    """A session to log in to a host."""
    return sent(binding(session, False, host))


def through(host, session=T):
    """A session over which the agent is forwarded to a host."""
    return sent(binding(session, True, host))


def forged(session=S):
    message = binding(session, False, A)
    return sent(message[:-2] + bytes([message[-2] ^ 1]) + message[-1:])


def locks(text):
    return sent(b"\x16" + string(text))


def unlocks(text):
    return sent(b"\x17" + string(text))


def answers(no):
    """Whether the user answers questions with no from now on."""
    def step(side, client):
        if no:
            write("no", b"")
        elif os.path.exists(path("no")):
            os.remove(path("no"))
        return b"\6"
    return step


def word(reply):
    """What a reply says. A failed extension has a number of its own in newer versions."""
    if reply[0] == 12:
        return struct.unpack(">I", reply[1:5])[0]
    return {5: "no", 28: "no", 6: "ok", 14: "signed"}[reply[0]]


TO_A = restricted((hop(), hop(A)))
TO_A_THEN_B = restricted((hop(), hop(A)), (hop(A), hop(B, b"bob")))
TO_B_BOB = restricted((hop(), hop(B, b"b?b*")))
LIFETIME, CONFIRM, MAXIMUM = b"\1" + struct.pack(">I", 1000), b"\2", b"\3" + struct.pack(">I", 9)
PROVIDER = b"\xff" + string(b"sk-provider@openssh.com") + string(b"internal")

BROKEN = "ykit signs nothing more for a client whose binding it has refused; ssh-agent keeps the sessions before it"
HIDDEN = "ykit hides keys for certain hosts from a client whose binding it has refused"
OTHER = "ykit signs no login of another session, also with a key that has no constraints"
KEPT = "a credential's file holds no secret, so who may use the agent could add it again without its constraints: ykit keeps them"
AUTHORITY = "ykit permits nothing to certificate authorities of hosts"
EMPTY = "ykit refuses a constraint that names no host; ssh-agent ignores it"
LOCKED = "ykit notes a session also while it is locked; for ssh-agent that client is a local one afterwards"

#: The name of a row, what is added before it (None: nothing), its steps, the answers, and ykit's where they differ, with the reason.
RULES = [
    # Sessions.
    ("the session of a login", b"", [into(A), signs()], ["ok", "signed"]),
    ("the same again", b"", [into(A), into(A), signs()], ["ok", "no", "signed"]),
    ("another after a login", b"", [into(A), into(B, T)], ["ok", "no"]),
    ("a forwarding after a login", b"", [into(A), through(B)], ["ok", "no"]),
    ("a forwarding twice", b"", [through(A), through(A)], ["ok", "ok"]),
    ("a forwarding, then the same as a login", TO_A, [through(A, S), into(A), signs(), listed], ["ok", "ok", "no", 0]),
    ("a session with another host key", b"", [through(A), through(B)], ["ok", "no"]),
    ("a login in the session of a forwarding with another host key", b"", [through(A), into(B, T)], ["ok", "no"]),
    ("two sessions with one host", b"", [through(A), through(A, U), into(B)], ["ok", "ok", "ok"]),
    ("sixteen sessions", b"", [through(A, bytes([n]) * 32) for n in range(17)], ["ok"] * 16 + ["no"]),
    ("a forged session", b"", [forged()], ["no"]),
    ("a forged session: an unconstrained key", b"", [forged(), signs()], ["no", "signed"], ["no", "no"], BROKEN),
    ("a forged session: a constrained key", TO_A, [forged(), listed, signs()], ["no", 1, "no"], ["no", 0, "no"], HIDDEN),
    ("a forged session after another", b"", [into(A), forged(T), signs()], ["ok", "no", "signed"], ["ok", "no", "no"], BROKEN),
    ("a session without a host key", b"", [sent(b"\x1b" + string(b"session-bind@openssh.com"))], ["no"]),
    ("half a session", b"", [sent(binding(S, False, A)[:-1])], ["no"]),
    ("an unconstrained key in another session", b"", [into(A), signs(T)], ["ok", "signed"], ["ok", "no"], OTHER),
    ("an unconstrained key and a file", b"", [into(A), signs_file], ["ok", "signed"]),
    ("an unconstrained key, forwarded", b"", [through(A), into(B), signs(), signs(host=B)], ["ok", "ok", "signed", "signed"]),
    # Destinations.
    ("no session", TO_A, [listed, signs(), signs_file], [1, "no", "no"]),
    ("the host", TO_A, [into(A), listed, signs(), signs(host=A)], ["ok", 1, "signed", "signed"]),
    ("the host, a file", TO_A, [into(A), signs_file], ["ok", "no"]),
    ("the host, another session", TO_A, [into(A), signs(T), signs(T, host=A)], ["ok", "no", "no"]),
    ("the host, a login that names another", TO_A, [into(A), signs(host=B)], ["ok", "no"]),
    ("another host", TO_A, [into(B), listed, signs(), signs(host=B), signs(host=A)], ["ok", 0, "no", "no", "no"]),
    ("forwarded to the host", TO_A, [through(A), listed, signs(T), signs(T, host=A)], ["ok", 0, "no", "no"]),
    ("forwarded, and one host more", TO_A_THEN_B, [through(A), listed, signs(T), signs(T, host=A)], ["ok", 1, "no", "no"]),
    ("forwarded: a login that names no host key", TO_A_THEN_B, [through(A), into(B), listed, signs(user=b"bob")], ["ok", "ok", 1, "no"]),
    ("forwarded: a login that names its host key", TO_A_THEN_B, [through(A), into(B), signs(user=b"bob", host=B)], ["ok", "ok", "signed"]),
    ("forwarded: a login that names another", TO_A_THEN_B, [through(A), into(B), signs(user=b"bob", host=A), signs(user=b"bob", host=C)],
     ["ok", "ok", "no", "no"]),
    ("forwarded: another user", TO_A_THEN_B, [through(A), into(B), listed, signs(user=b"eve", host=B)], ["ok", "ok", 1, "no"]),
    ("forwarded: another host", TO_A_THEN_B, [through(A), into(C), listed, signs(user=b"bob", host=C)], ["ok", "ok", 0, "no"]),
    ("forwarded twice", TO_A_THEN_B, [through(A), through(B, U), listed, signs(U, b"bob", B)], ["ok", "ok", 0, "no"]),
    ("forwarded through another host", TO_A_THEN_B, [through(C), into(B), listed, signs(user=b"bob", host=B)], ["ok", "ok", 0, "no"]),
    ("the second host without the first", TO_A_THEN_B, [into(B), listed, signs(user=b"bob")], ["ok", 0, "no"]),
    ("a pattern for users", TO_B_BOB, [into(B), signs(user=b"bob"), signs(user=b"bobby"), signs(user=b"root")],
     ["ok", "signed", "signed", "no"]),
    ("a host by its authority", restricted((hop(), hop(A, is_authority=True))), [into(A), listed, signs()], ["ok", 0, "no"]),
    ("a step from a user", None, [adds(restricted((hop(A, b"x"), hop(B))))], ["no"]),
    ("a step to this machine", None, [adds(restricted((hop(), hop())))], ["no"]),
    ("no step", None, [adds(restricted())], ["ok"], ["no"], EMPTY),
    ("steps twice", None, [adds(TO_A + TO_A)], ["no"]),
    ("1025 steps", None, [adds(restricted(*[(hop(), hop(A))] * 1025))], ["no"]),
    ("half a step", None, [adds(TO_A[:-1])], ["no"]),
    # Other constraints.
    ("a lifetime", LIFETIME, [listed, signs()], [1, "signed"]),
    ("a lifetime of nothing", b"\1" + bytes(4), [listed, signs()], [0, "no"]),
    ("a lifetime twice", None, [adds(LIFETIME + LIFETIME)], ["no"]),
    ("a number of signatures", None, [adds(MAXIMUM)], ["no"]),
    ("an unknown constraint", None, [adds(b"\x63")], ["no"]),
    ("an unknown extension", None, [adds(b"\xff" + string(b"x@example.com") + string(b""))], ["no"]),
    ("a provider twice", None, [adds(PROVIDER + PROVIDER)], ["no"]),
    ("confirmed twice", None, [adds(CONFIRM + CONFIRM)], ["no"]),
    ("confirmed, and no", CONFIRM, [answers(no=True), listed, signs(), answers(no=False)], ["ok", 1, "no", "ok"]),
    ("confirmed, and yes", CONFIRM, [listed, signs(), signs_file], [1, "signed", "signed"]),
    ("confirmed for a host: elsewhere", TO_A + CONFIRM, [into(B), listed, signs()], ["ok", 0, "no"]),
    # Adding again, and removing.
    ("added again without its hosts", TO_A, [adds(), signs_file], ["ok", "signed"], ["ok", "no"], KEPT),
    ("added again where it is hidden", TO_A, [into(B), adds(), listed], ["ok", "no", 0]),
    ("removed", TO_A, [removes, listed, removes], ["ok", 0, "no"]),
    ("removed where it is hidden", TO_A, [into(B), removes, here(listed)], ["ok", "no", 1]),
    ("removed over a forwarding: a constrained key", CONFIRM, [through(A), removes, here(listed)], ["ok", "ok", 0], ["ok", "no", 1], KEPT),
    ("removed over a forwarding: another", b"", [through(A), removes, here(listed)], ["ok", "ok", 0]),
    ("all removed over a forwarding", CONFIRM, [through(A), sent(REMOVE_ALL), here(listed)], ["ok", "ok", 0], ["ok", "ok", 1], KEPT),
    # Locks.
    ("locked", b"", [locks(b"x"), listed, signs(), adds(), removes, sent(REMOVE_ALL), locks(b"y"), unlocks(b"y"), unlocks(b"x"), listed],
     ["ok", 0, "no", "no", "no", "no", "no", "no", "ok", 1]),
    ("unlocked without a lock", b"", [unlocks(b"x")], ["no"]),
    ("a lock without a passphrase", b"", [locks(b""), listed], ["no", 1]),
    ("locked: a session", TO_A, [here(locks(b"x")), into(B), here(unlocks(b"x")), listed], ["ok", "no", "ok", 1], ["ok", "ok", "ok", 0], LOCKED),
    # Messages.
    ("an unknown message", None, [sent(b"\x63")], ["no"]),
    ("an unknown extension of the protocol", None, [sent(b"\x1b" + string(b"x@example.com"))], ["no"]),
    ("a signature with an unknown key", None, [signs()], ["no"]),
    ("bytes after a session", b"", [sent(binding(S, False, A) + b"x"), signs()], ["ok", "signed"], ["no", "no"], BROKEN),
    ("an empty session", b"", [into(A, b"")], ["ok"]),
]


def test_keys():
    works("a virtual key", YKIT, "virtual", "new", "key.json")
    works("a PIN for FIDO2", YKIT, "--virtual", "key.json", "fido2", "pin", "set", "--new-pin-stdin", text=f"{PIN}\n")
    works("a credential for SSH", YKIT, "--virtual", "key.json", "ssh", "generate", "-o", "id_sk", "-a", "ecdsa", "--no-touch-required",
          "--pin-stdin", text=f"{PIN}\n")


def test_rules():
    asks = {"SSH_ASKPASS": script("answer", f'echo "$1" >> {path("asked")}; ! test -e {path("no")}'), "SSH_ASKPASS_REQUIRE": "force"}
    with Agent("rules", "--no-piv", "--no-upstream", **asks) as agent, OpenSSHAgent("judge.sock", **asks) as judge:
        for side in (OpenSSH(judge), YKit(agent)):
            for name, before, steps, wanted, *other in RULES:
                Client(side.agent).ask(REMOVE_ALL)
                if before is not None:
                    expect(f"{side.name}: {name}: added", word(Client(side.agent).ask(side.added(before))), "ok")
                client = Client(side.agent)
                said = [word(step(side, client)) for step in steps]
                reason = f" ({other[1]})" if other and side.name == "ykit" else ""
                expect(f"{side.name}: {name}{reason}", said, other[0] if reason else wanted)


def test_shown_host():
    """The host of a login that does not name it is only what the machine in between says."""
    asked = read("asked").decode().splitlines()
    logins = [line for line in asked if "as 'root'" in line and "a program at" in line]
    expect("a login that names its host, and one that does not", sorted({"unverified" in line for line in logins}), [False, True])


def test_shown_names():
    """A name that a client chose cannot pass for what follows it: it is short, has no quotes of its own, and stands after the host."""
    hostile = b"git' at the host SHA256:uNiVzt: use your key?" + b" " * 400 + b"\x1b[2K'"
    asks = {"SSH_ASKPASS": script("keeps", f'echo "$1" >> {path("names")}'), "SSH_ASKPASS_REQUIRE": "force"}
    with Agent("names", "--no-piv", "--no-upstream", **asks) as agent:
        side = YKit(agent)
        adding = addition("id_sk").replace(string(b"added"), string(hostile))
        client = Client(agent)
        expect("added with a hostile comment", [word(client.ask(adding)), word(client.ask(binding(T, True, A)))], ["ok", "ok"])
        expect("a file", word(client.sign(side.blob, file_data(hostile))), "signed")
        expect("a login", word(client.sign(side.blob, login(T, side.blob, hostile, A))), "signed")
        asked = read("names").decode().splitlines()
        said = [line for line in agent.said.splitlines() if "requested from the host" in line]
        expect("two questions, two lines of the log", (len(asked), len(said)), (2, 2))
        for line in asked + said:
            expect("no blanks, no controls, no quote that ends the name", ("  " in line, "\x1b" in line, "git' at" in line), (False,) * 3)
            expect("but the name, escaped", "'git\\' at the host" in line or line)
        expect("a login says first where it leads", " at the host SHA256:" in asked[1].split("'git")[0].split("asks to")[1] or asked[1])
