# SPDX-License-Identifier: Apache-2.0
"""`ykit arculus` with a virtual Arculus card and independent servers: the REST peer (Flask and PyPI's webauthn) in all its
path families, directly and with curl as the backend, and python-fido2's Fido2Server; servers that are down, slow, hostile
or impostors; the card through a real pcscd, removed at every exchange.

YKIT is the ykit to test.
"""

import base64
import json
import os
import pathlib
import subprocess
import tempfile
import time

from lib import arculus_servers as servers
from lib.arculus_card import AAGUIDS, PIN, WRONG, Card, Served, codes, described, run
from lib.peer import YKIT, beside_pcscd, expect

beside_pcscd("--name", "OMNIKEY 5422 Contactless")

FAMILIES = ["arculus", "arculus-register", "arculus-short", "conformance"]


# The REST peer


def families(folder, card, peer):
    for family in FAMILIES:
        server = described(folder, peer.origin, paths=family, rpId="localhost")
        user = f"{card.model}@{family}"
        status, made, errors = card("register", "--server", server, "--user", user, "--attestation", "direct")
        expect(f"{family}: registers on {card.model}", (status, made.get("status")), (0, "ok"))
        known = peer.state()["creds"].get(made.get("credentialId") or "", {})
        expect(f"{family}: the server has the credential, its model and its user, verified",
               (known.get("user"), known.get("aaguid"), known.get("uv")), (user, AAGUIDS[card.model], True))
        for turn in (1, 2):
            before = peer.state()["creds"].get(made.get("credentialId") or "", {}).get("count", 0)
            signed = card("authenticate", "--server", server, "--user", user)
            expect(f"{family}: authenticates, time {turn}", codes(signed), (0, "200", "ok"))
            after = peer.state()["creds"].get(made.get("credentialId") or "", {}).get("count", 0)
            expect(f"{family}: the server saw it, time {turn}", after > before)
        recorded(folder, card, peer, family, server, user)
        again = card("register", "--server", server, "--user", user)
        expect(f"{family}: the same card again is excluded", again[1]["error"] and again[1]["error"]["code"], "excluded")


def recorded(folder, card, peer, family, server, user):
    """One recording contains what the card and the server say, and is replayed without either of them."""
    file = pathlib.Path(folder) / f"{card.model}-{family}.jsonl"
    before = run("--virtual", card.file, "--record", file, "arculus", "authenticate", "--server", server, "--user", user)
    events = [json.loads(line) for line in file.read_text().splitlines()[1:]]
    expect(f"{family}: the recording has the server's requests and the card's commands",
           (sum("h" in event for event in events), any("c" in event or "w" in event for event in events),
            "Cookie" in file.read_text()), (2, True, False))
    asked = peer.state()
    after = run("--replay", file, "arculus", "authenticate", "--server", server, "--user", user)
    expect(f"{family}: a replay says the same and asks nobody", (after[:2], peer.state()), (before[:2], asked))
    other = run("--replay", file, "arculus", "authenticate", "--server", server, "--user", "other@x")
    expect(f"{family}: another request ends a replay", (other[0], other[1]["error"]["code"]), (14, "replay-mismatch"))


def refusals(folder, card, peer):
    user = "refused@x"
    server = described(folder, peer.origin)
    expect("a card for the refusals", card("register", "--server", server, "--user", user)[0], 0)

    def through(name, wanted, verb="authenticate", cookies=True, change=lambda path, body: body):
        between = servers.Server(servers.between(peer, change, cookies))
        try:
            got = card(verb, "--server", described(folder, between.url, origin=peer.origin), "--user", user)
            expect(name, codes(got), wanted)
            return got
        finally:
            between.end()

    def tampered(path, body):
        if not path.endswith("result"):
            return body
        answer = json.loads(body)
        signature = bytearray(base64.urlsafe_b64decode(answer["response"]["signature"] + "=="))
        signature[-1] ^= 1
        answer["response"]["signature"] = base64.urlsafe_b64encode(bytes(signature)).decode().rstrip("=")
        return json.dumps(answer).encode()

    def renamed(path, body):
        if not path.endswith("result"):
            return body
        answer = json.loads(body)
        answer["id"] = answer["rawId"] = "AAAA"
        return json.dumps(answer).encode()

    through("what stands between changes nothing by itself", (0, "200", "ok"))
    through("a missing cookie is E0024R", (10, "E0024R", "false"), cookies=False)
    through("a missing cookie is E0024R at registration", (10, "E0024R", "false"), verb="register", cookies=False,
            change=lambda path, body: body.replace(user.encode(), b"another@x"))
    through("a tampered signature is E2017R", (8, "E2017R", "failed"), change=tampered)
    through("an unknown credential is E2019R", (12, "E2019R", "failed"), change=renamed)
    got = card("authenticate", "--server", server, "--user", "nobody@x")
    expect("an unknown user is refused", (got[0], got[1]["statuscode"], got[1]["responseCode"]), (12, "403", 403))
    wrong = card("authenticate", "--server", server, "--user", user, pin=WRONG)
    expect("a wrong PIN is 608", (*codes(wrong), wrong[1]["error"]["retriesLeft"]), (8, "608", "failed", 7))
    expect("the right PIN gives the tries back", card("authenticate", "--server", server, "--user", user)[0], 0)
    short = card("authenticate", "--server", server, "--user", user, pin="12345")
    expect("a PIN of five digits never reaches the card", (short[0], short[1]["error"]["code"], card.tries()),
           (2, "pin-too-short", 8))


def expiry(folder, card):
    """A session that has expired when the card has answered."""
    peer = servers.Peer(folder, seconds=0.001)
    try:
        got = card("register", "--server", described(folder, peer.origin), "--user", "late@x")
        expect("an expired session is E0024R", codes(got), (10, "E0024R", "false"))
    finally:
        peer.end()


def resetting(folder, peer):
    card = Card(folder, "arculus-p71")
    server = described(folder, peer.origin)
    expect("before the reset", card("register", "--server", server, "--user", "old@x")[0], 0)
    info = pathlib.Path(folder) / "device.json"
    info.write_text('{"device": "laptop", "os": "Linux"}')
    seen = []

    def look(path, body):
        seen.append(json.loads(body))
        return body

    between = servers.Server(servers.between(peer, look))
    try:
        got = card("register", "--server", described(folder, between.url, origin=peer.origin), "--user", "new@x",
                   "--reset", "--force", "--info", info, pin=WRONG)
        expect("registers after a reset with the PIN that is given", codes(got), (0, "200", "ok"))
        expect("the server is told of the device", seen[0].get("keypair"), {"device": "laptop", "os": "Linux"})
    finally:
        between.end()
    expect("the old credential is gone: 602",
           codes(card("authenticate", "--server", server, "--user", "old@x", pin=WRONG)), (12, "602", "failed"))
    unforced = card("register", "--server", server, "--user", "new2@x", "--reset", pin=WRONG)
    expect("a reset asks", unforced[1]["error"]["code"] in ("no-terminal", "declined"))
    expect("the new one works", card("authenticate", "--server", server, "--user", "new@x", pin=WRONG)[0], 0)
    changed = card("change-pin", pin=WRONG, env={"YKIT_NEW_PIN": "222222"})
    expect("the PIN is changed", changed[0], 0)
    expect("the old PIN is refused", codes(card("authenticate", "--server", server, "--user", "new@x", pin=WRONG)),
           (8, "608", "failed"))
    expect("the credential still works",
           card("authenticate", "--server", server, "--user", "new@x", pin="222222")[0], 0)
    expect("five digits cannot be the new PIN",
           codes(card("change-pin", pin="222222", env={"YKIT_NEW_PIN": "22222"})), (2, "611", "failed"))


# A backend in between


def proxied(folder, card, peer):
    """curl is the backend: it has the cookie, ykit has the card."""
    jar = pathlib.Path(folder) / "jar"

    def curl(path, body):
        result = subprocess.run(
            ["curl", "-sS", "-b", jar, "-c", jar, "-H", "Content-Type: application/json", "--data-binary", "@-",
             peer.origin + path], input=body, capture_output=True, text=True, timeout=30)
        return result.stdout

    def alone(*arguments, text=""):
        result = subprocess.run(
            [YKIT, "--virtual", card.file, "arculus", "card", *arguments, "--origin", peer.origin], input=text,
            capture_output=True, text=True, timeout=60, env={**os.environ, "YKIT_PIN": PIN})
        return result.stdout

    options = curl("/attestation/options", '{"username":"proxy@x","displayName":"Proxy","attestation":"direct"}')
    made = alone("register", "--options", "-", text=options)
    expect("curl registers what ykit made", json.loads(curl("/attestation/result", made))["status"], "ok")
    for shape in ("bare", "publicKey", "options"):
        options = json.loads(curl("/fidoapi/authenticate/begin", '{"username":"proxy@x"}'))
        file = pathlib.Path(folder) / f"{shape}.json"
        file.write_text(json.dumps(options if shape == "bare" else {shape: options}))
        output = pathlib.Path(folder) / f"{shape}-signed.json"
        alone("authenticate", "--options", str(file), "--output", str(output))
        expect(f"curl authenticates with options {shape}, through files",
               json.loads(curl("/fidoapi/authenticate/complete", output.read_text()))["status"], "ok")
    refused = run("--virtual", card.file, "arculus", "card", "authenticate", "--options", "-", "--origin", peer.origin,
                  text='{"status":"failed","errorMessage":"E2019R Unknown credential"}')
    expect("a refusal that the backend hands on", codes(refused), (12, "E2019R", "failed"))


def python_fido2(card):
    from fido2.server import Fido2Server
    from fido2.webauthn import PublicKeyCredentialRpEntity, PublicKeyCredentialUserEntity

    origin = "https://login.example.com"
    server = Fido2Server(PublicKeyCredentialRpEntity(id="example.com", name="Example"), attestation="direct",
                         verify_origin=lambda other: other == origin)
    options, state = server.register_begin(
        PublicKeyCredentialUserEntity(id=b"alice", name="alice"), user_verification="required")
    challenge = dict(options)["publicKey"]["challenge"]
    _, made, _ = card("card", "register", "--origin", origin, "--rp", "example.com", "--user", "alice", "--challenge",
                      challenge, "--resident")
    known = server.register_complete(state, made["credential"]).credential_data
    expect("Fido2Server accepts a card-only registration", str(known.aaguid), AAGUIDS[card.model])
    for name, credentials in {"named": [known], "resident": None}.items():
        options, state = server.authenticate_begin(credentials, user_verification="required")
        _, signed, _ = card("card", "authenticate", "--origin", origin, "--rp", "example.com", "--options", "-", "--user",
                            "alice", text=json.dumps(dict(options)))
        try:
            server.authenticate_complete(state, [known], signed["credential"])
            expect(f"Fido2Server accepts a card-only assertion, {name}", True)
        except Exception as error:
            expect(f"Fido2Server accepts a card-only assertion, {name}", repr(error))
        broken = dict(signed["credential"], response=dict(signed["credential"]["response"], signature="AAAA"))
        try:
            server.authenticate_complete(state, [known], broken)
            expect(f"Fido2Server refuses a broken one, {name}", False)
        except Exception:
            expect(f"Fido2Server refuses a broken one, {name}", True)


# Misbehaving servers


def hostile(folder, card):
    def with_server(name, answer, wanted, **members):
        server = servers.Server(answer)
        try:
            started = time.monotonic()
            status, got, _ = card("authenticate", "--server", described(folder, server.url, **members), "--user", "a")
            expect(name, (status, got["error"]["code"], got["status"]), (*wanted, "failed"))
            expect(f"{name}: at once, asked once", (time.monotonic() - started < 20, len(server.asked)), (True, 1))
        finally:
            server.end()

    with_server("a server that redirects is not followed", servers.redirect, (15, "redirected"))
    with_server("a server that answers HTML", servers.html, (13, "malformed"))
    with_server("a server that answers 2 GB", servers.endless, (13, "malformed"))
    with_server("a server that answers 2 GB without saying so", servers.unending, (13, "malformed"))
    with_server("a server that is slow", servers.slow, (10, "server-timed-out"), timeout=1)
    with_server("a server that fails without words", lambda handler, _: servers.reply(handler, 502, b""),
                (13, "malformed"))
    gone = card("authenticate", "--server", described(folder, f"http://localhost:{servers.free_port()}"), "--user", "a")
    expect("a server that is down", (gone[0], gone[1]["error"]["code"]), (16, "server-unreachable"))
    plain = card("authenticate", "--server", described(folder, "http://example.com"), "--user", "a")
    expect("no server without TLS but this machine's", (plain[0], plain[1]["error"]["code"]), (2, "usage"))
    expect("none of them cost a PIN try", card.tries(), 8)


def tls(folder, card, peer):
    place = servers.authority(folder)
    right, wrong = servers.pin(place / "localhost.crt"), servers.pin(place / "ca.pem")

    def ask(name, wanted, certificate="localhost.pem", says=None, **members):
        server = servers.Server(servers.between(peer), certificate=place / certificate)
        try:
            file = place / f"tls-{time.monotonic_ns()}.json"
            file.write_text(json.dumps({"url": server.url, "origin": peer.origin, **members}))
            status, got, errors = card("authenticate", "--server", file, "--user", "tls@x")
            expect(name, (status, (got["error"] or {}).get("code"), len(server.asked)), wanted)
            if says:
                expect(f"{name}: what the server has is said", says in got["error"]["message"])
        finally:
            server.end()

    expect("an account for TLS",
           card("register", "--server", described(folder, peer.origin), "--user", "tls@x")[0], 0)
    ask("an authority of the own is trusted when it is named", (0, None, 2), authorities="ca.pem")
    ask("and its server's key can be pinned", (0, None, 2), authorities="ca.pem", pins=[wrong, right])
    ask("a wrong pin ends it, nothing is sent", (16, "server-pin", 0), authorities="ca.pem", pins=[wrong], says=right)
    ask("and neither do two", (16, "server-pin", 0), authorities="ca.pem", pins=[wrong, "sha256/" + "A" * 43 + "="], says=right)
    ask("an unknown authority ends it, nothing is sent", (16, "server-not-trusted", 0))
    ask("a pin does not make up for the certificate", (16, "server-not-trusted", 0), pins=[right])
    ask("a certificate for another host ends it, nothing is sent", (16, "server-not-trusted", 0),
        certificate="elsewhere.example.pem", authorities="ca.pem")
    ask("authorities that cannot be read", (2, "usage", 0), authorities="nothing.pem")


# A real pcscd


def real_reader(folder, peer):
    server = described(folder, peer.origin)
    for model in AAGUIDS:
        card = Card(folder, model)
        with Served(card.file):
            status, made, errors = run("arculus", "register", "--server", server, "--user", f"pcsc-{model}@x")
            expect(f"{model} in a real pcscd registers", (status, made["status"], made["aaguid"]),
                   (0, "ok", AAGUIDS[model]))
            expect("and the person is told to hold it", "hold the card steady" in errors)
            signed = run("arculus", "authenticate", "--server", server, "--user", f"pcsc-{model}@x")
            expect(f"{model} in a real pcscd authenticates", codes(signed), (0, "200", "ok"))
            wrong = run("arculus", "authenticate", "--server", server, "--user", f"pcsc-{model}@x", pin=WRONG)
            expect(f"{model} in a real pcscd counts a wrong PIN", codes(wrong), (8, "608", "failed"))
            management(peer, model)
        absent = run("--timeout", "1", "arculus", "authenticate", "--server", server, "--user", f"pcsc-{model}@x")
        expect(f"{model}: nobody holds a card", (absent[0], "hold the card to the reader" in absent[2]), (10, True))
        waiting = subprocess.Popen(
            [YKIT, "--json", "arculus", "authenticate", "--server", server, "--user", f"pcsc-{model}@x"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "YKIT_PIN": PIN})
        while (line := waiting.stderr.readline()) and "hold the card to the reader" not in line:
            pass
        with Served(card.file):
            output, _ = waiting.communicate(timeout=60)
            expect(f"{model}: waits for the card, and goes on by itself", json.loads(output)["status"], "ok")
        pulled(card, server, f"pcsc-{model}@x")


def management(peer, model):
    """Changes the card's PIN and changes it back, uses the card alone, and finally resets it, all through pcscd."""
    info = run("arculus", "info")[1]
    expect(f"{model} in a real pcscd says what it is", (info["aaguid"], info["isArculus"], info["hasPin"]),
           (AAGUIDS[model], True, True))
    for old, new in ((PIN, WRONG), (WRONG, PIN)):
        changed = run("arculus", "change-pin", pin=old, env={"YKIT_NEW_PIN": new})
        expect(f"{model} in a real pcscd changes its PIN", codes(changed), (0, "200", "ok"))
    party = ["--origin", peer.origin, "--rp", "localhost"]
    made = run("arculus", "card", "register", *party, "--user", "alone", "--challenge", "A" * 22)
    expect(f"{model} in a real pcscd makes a credential alone", codes(made), (0, "200", "ok"))
    options = {"challenge": "A" * 22, "allowCredentials": [{"type": "public-key", "id": made[1]["credentialId"]}]}
    signed = run("arculus", "card", "authenticate", *party, "--options", "-", text=json.dumps(options))
    expect(f"{model} in a real pcscd signs alone", codes(signed), (0, "200", "ok"))


def pulled(card, server, user):
    """The card is removed before its Nth exchange and presented again: the whole operation is repeated."""
    for number in range(1, 30):
        with Served(card.file, "--fault", f"at {number}: remove 300ms"):
            status, answer, errors = run("arculus", "authenticate", "--server", server, "--user", user)
        again = "hold the same card to the reader again" in errors
        expect(f"{card.model}: pulled at exchange {number}" if again else f"{card.model}: has {number - 1} exchanges",
               (status, answer["status"], card.tries()), (0, "ok", 8))
        if not again:
            break
    with Served(card.file, "--fault", "at 6: remove"):
        status, answer, errors = run("--timeout", "2", "arculus", "authenticate", "--server", server, "--user", user)
        expect(f"{card.model}: pulled for good", (status in (7, 10), answer["status"], card.tries()),
               (True, "failed", 8))
    with Served(card.file, "--fault", "at 6: remove 200ms"):
        status, answer, errors = run("arculus", "authenticate", "--server", server, "--user", user, "--no-retry")
        expect(f"{card.model}: without another try it is 600", (status, answer["statuscode"]), (7, "600"))

    with Served(card.file, "--fault", "at 4: remove 300ms"):
        status, answer, errors = run("arculus", "reset", "--force", env={"YKIT_NEW_PIN": WRONG})
        expect(f"{card.model}: a reset survives the pull", (status, answer["status"]), (0, "ok"))
    expect(f"{card.model}: and has the new PIN",
           codes(card("authenticate", "--server", server, "--user", user, pin=WRONG)), (12, "602", "failed"))


def test_arculus():
    with tempfile.TemporaryDirectory(dir=os.environ.get("YKIT_TEST_TMP")) as folder:
        peer = servers.Peer(folder)
        try:
            cards = [Card(folder, model) for model in AAGUIDS]
            for card in cards:
                families(folder, card, peer)
                python_fido2(card)
            refusals(folder, cards[0], peer)
            expiry(folder, cards[0])
            resetting(folder, peer)
            proxied(folder, cards[1], peer)
            hostile(folder, cards[0])
            tls(folder, cards[0], peer)
            real_reader(folder, peer)
        finally:
            peer.end()
