# SPDX-License-Identifier: Apache-2.0
"""The card session that `ykit ssh agent` keeps for a moment: few exchanges, and nothing unlocked for other programs.

YKIT is the ykit to test.
"""

import json
import os
import threading

from smartcard.Exceptions import CardConnectionException
from smartcard.scard import SCARD_W_RESET_CARD
from smartcard.System import readers

from lib.openssh import Agent, Client
from lib.peer import YKIT, beside_pcscd, expect
from lib.piv_bench import DEFAULT_KEY, Key, read, run, works, write

beside_pcscd()

PIN = "123456"
CARD = ["--link", "pcsc"]
SIGNATURES = 20


def ykit(name, *arguments, key=CARD, **more):
    return works(f"ykit: {name}", YKIT, *key, *arguments, **more)


def make_keys(key=CARD):
    for slot, kind, policy in (("9a", "eccp256", "once"), ("9c", "eccp256", "always")):
        ykit(f"{kind} in {slot}", "piv", "keys", "generate", slot, f"{slot}.pem", "--force", "--algorithm", kind, "--pin-policy", policy,
             key=key)
    for line in ykit("the keys", "ssh", "keys", key=key).splitlines():
        if line.split()[2:3] == ["PIV"]:
            write(f"{line.split()[3]}.pub", line.encode() + b"\n")


def exchanges(recording):
    return [event["c"] for event in map(json.loads, read(recording).decode().splitlines()) if "c" in event]


def counted():
    """The number of commands for signatures in a row, by clients that list the keys first, too."""
    works("a virtual key", YKIT, "virtual", "new", "count.json")
    make_keys(["--virtual", "count.json"])
    with Agent("listing", "--record", "listing.jsonl", virtual="count.json") as agent:
        Client(agent).identities()
    listing = len(exchanges("listing.jsonl"))
    for slot, most in (("9a", 40), ("9c", 80)):
        recording = f"{slot}.jsonl"
        with Agent(slot, "--record", recording, virtual="count.json") as agent:
            client = Client(agent)
            blob = next(blob for blob, comment in client.identities() if comment.startswith(f"PIV {slot}".encode()))
            answers = [client.sign(blob, bytes([number]))[0] for number in range(SIGNATURES)]
        expect(f"{SIGNATURES} signatures of {slot}", answers, [14] * SIGNATURES)
        commands = exchanges(recording)
        expect(f"take at most {most} commands", len(commands) - listing <= most or len(commands) - listing)
        verified = sum(command.startswith("00200080") and len(command) > 10 for command in commands)
        expect("the PIN is sent once for each session, or for each signature", verified == SIGNATURES if slot == "9c" else verified < 5)
        print(f"     {slot}: {len(commands) - listing} commands for {SIGNATURES} signatures, {listing} to list the keys")
    with Agent("forgetful", "--pin-lifetime", "0", "--record", "forgetful.jsonl", virtual="count.json") as agent:
        client = Client(agent)
        blob = client.identities()[0][0]
        expect("without a lifetime of the PIN", [client.sign(blob, b"x")[0] for _ in range(3)], [14] * 3)
    selections = sum(command.startswith("00a40400") for command in exchanges("forgetful.jsonl"))
    expect("each signature has a session of its own", selections >= 4 or selections)


def tries():
    """What the card says to a program that uses PIV next: 9000 if a PIN is still verified.

    It takes no transaction, so a program that lets the card go resets it between two of its commands: it begins again.
    """
    for _ in range(20):
        connection = readers()[0].createConnection()
        connection.connect()
        try:
            connection.transmit(list(bytes.fromhex("00a4040005a000000308")))
            _, first, second = connection.transmit(list(bytes.fromhex("00200080")))
            return f"{first:02x}{second:02x}"
        except CardConnectionException as error:
            if error.hresult & 0xFFFFFFFF != SCARD_W_RESET_CARD:
                raise
        finally:
            connection.disconnect()
    return "always reset"


def others():
    """Another program gets the card while the agent signs without a pause, and finds no PIN verified."""
    make_keys()
    with Agent("busy", *CARD, virtual=None) as agent:
        works("the agent signs", "ssh-add", "-T", "9a.pub")
        expect("another program waits for the card, and has no PIN", tries(), "63c3")
        done, failed, count = threading.Event(), [], [0]

        def sign():
            while not done.is_set():
                count[0] += 1
                status, output = run("ssh-add", "-T", "9a.pub")
                if status:
                    failed.append(output)

        threads = [threading.Thread(target=sign) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            said = [tries() for _ in range(3)]
            infos = [run(YKIT, *CARD, "piv", "info")[0] for _ in range(2)]
        finally:
            done.set()
            for thread in threads:
                thread.join()
        expect("also while it is busy", (said, infos), (["63c3"] * 3, [0, 0]))
        expect("and the agent signs all the time", failed and (failed[:3], agent.said[-600:]), [])
        print(f"     {count[0]} signatures beside")
    expect("at its end no PIN is verified either", tries(), "63c3")


def test_agent_session():
    for name in ("SSH_AUTH_SOCK", "SSH_ASKPASS", "DISPLAY", "WAYLAND_DISPLAY"):
        os.environ.pop(name, None)
    os.environ.update(YKIT_PIN=PIN, YKIT_MANAGEMENT_KEY=DEFAULT_KEY)
    counted()
    with Key("5.7.1"):
        others()
