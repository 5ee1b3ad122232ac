# SPDX-License-Identifier: Apache-2.0
"""ykit 2fa with a running privacyIDEA: every call of the service's side, and everything that must be refused.

YKIT is the ykit to test.
"""

import json
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "privacyidea"))

from server import WORK, Server, code, raw, start, ykit

from lib.peer import ROOT, expect, free_port, parts, pipe, reader_port

PIN = "483926"
for name in ("key.json", "second.json"):
    raw("virtual", "new", f"{WORK}/{name}")
    raw("--virtual", f"{WORK}/{name}", "fido2", "pin", "set", env={"YKIT_NEW_PIN": PIN})
server = Server("--tls")


def factor(*words, secrets=(), login=True, **more):
    """Runs a verb of 2fa as the administrator."""
    options = ["--server", server.url, "--ca", server.ca, "--audit-key", server.audit_key]
    given = list(secrets) + ([("--password-fd", server.state["password"])] if login else [])
    return ykit("2fa", *words, *options, secrets=given, env={"YKIT_PIN": PIN, **more.pop("env", {})}, **more)


def outcome(answer):
    """Exit status, error code and the SDK's number."""
    body, status = answer
    return status, code(body), (body.get("error") or {}).get("legacyCode")


def test_log_in():
    """Flow 01: authentication."""
    answer, status = factor("login")
    expect("a log-in", (status, answer["account"], answer["role"], answer["kept"]), (0, "admin", "admin", False))
    wrong = ykit("2fa", "login", "--server", server.url, "--ca", server.ca, secrets=[("--password-fd", "wrong-password")])
    expect("a wrong password", outcome(wrong), (8, "credentials", 100))
    expect("the password is in no answer", "wrong-password" in json.dumps(wrong[0]), False)
    expect("an unknown authority", outcome(ykit("2fa", "status", "alice", "--server", server.url, secrets=[("--password-fd", "x")])),
           (16, "server-not-trusted", 106))
    pins = ("--server-pin", "sha256/" + "A" * 43 + "=", "--server-pin", "sha256/" + "A" * 42 + "E=")
    answer = factor("status", "alice", *pins)
    expect("another server key, which is shown", (*outcome(answer), server.pin.replace("//", "/", 1) in answer[0]["error"]["message"]),
           (16, "server-pin", 106, True))
    expect("the server's own key", factor("status", "alice", *pins[:2], "--server-pin", server.pin)[1], 0)
    expect("one pin is not enough", outcome(factor("status", "alice", "--server-pin", server.pin)), (2, "usage", None))
    expect("nor the same pin twice", outcome(factor("status", "alice", *pins[:2], *pins[:2])), (2, "usage", None))
    expect("a token of nobody", outcome(factor("status", "alice", login=False, secrets=[("--api-key-fd", "a.b.c")])), (8, "credentials", 100))
    expect("no server", outcome(ykit("2fa", "status", "alice", "--server", "https://localhost:1", secrets=[("--password-fd", "x")])),
           (16, "server-unreachable", 106))
    other = f"{WORK}/other.pem"
    os.system(f"openssl genrsa 2048 2>/dev/null | openssl rsa -pubout -out {other} 2>/dev/null")
    answer = ykit("2fa", "status", "alice", "--server", server.url, "--ca", server.ca, "--audit-key", other,
                  secrets=[("--password-fd", server.state["password"])])
    expect("another audit key", outcome(answer), (13, "signature", None))


def test_tls():
    """TLS versions and pins, against openssl, which never answers a request: a timeout means that TLS was established."""
    def asked(version, *options):
        port = free_port()
        peer = subprocess.Popen(["openssl", "s_server", "-accept", f"127.0.0.1:{port}", "-cert", f"{server.dir}/tls.pem", "-cipher", "DEFAULT:@SECLEVEL=0",
                                 version, "-www"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            for _ in range(100):
                client = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{port}", version, "-cipher", "DEFAULT:@SECLEVEL=0"],
                                        stdin=subprocess.DEVNULL, capture_output=True, text=True)
                if "Cipher is" in client.stdout and "Cipher is (NONE)" not in client.stdout:
                    break
                time.sleep(0.1)
            else:
                return "openssl has no such version"
            answer = ykit("2fa", "status", "alice", "--server", f"https://localhost:{port}", "--ca", server.ca, "--timeout", "2", *options,
                          secrets=[("--password-fd", "x")])
            return (*outcome(answer)[:2], answer[0]["error"]["message"])
        finally:
            peer.kill()
            peer.wait()

    for version, wanted in (("-tls1", (16, "http")), ("-tls1_1", (16, "http")), ("-tls1_2", (10, "server-timed-out")), ("-tls1_3", (10, "server-timed-out"))):
        expect(f"openssl s_server {version}", asked(version)[:2], wanted)
    wrong = ("--server-pin", "sha256/" + "A" * 43 + "=", "--server-pin", "sha256/" + "A" * 42 + "E=")
    seen = asked("-tls1_3", *wrong)
    expect("openssl's key is not pinned: it is shown", (seen[:2], server.pin.replace("//", "/", 1) in seen[2]), ((16, "server-pin"), True))
    expect("openssl's key is one of two", asked("-tls1_3", *wrong[:2], "--server-pin", server.pin)[:2], (10, "server-timed-out"))


def test_users():
    """Flow 24: users, and their factors enabled and disabled."""
    expect("no token", factor("status", "alice")[0].get("status"), "none")
    expect("an unknown user", outcome(factor("status", "nobody")), (12, "no-such-user", 104))
    expect("no name", outcome(factor("status", "")), (2, "usage", 101))
    answer, status = factor("add-user", "carol", "--mobile", "+41791112233", "--mail", "carol@example.org", env={"YKIT_2FA_USER_PASSWORD": "secret"})
    expect("a user is made", (status, answer["channel"], answer["pending"], answer["active"]), (0, "sms", False, True))
    expect("the user can log in", server.call("POST", "/auth", username="carol", password="secret").status, 200)
    expect("the same name again", outcome(factor("add-user", "carol", "--mobile", "+41791112233")), (15, "user-exists", 200))
    expect("no number", outcome(factor("add-user", "dora", "--mobile", "")), (2, "usage", 101))
    expect("sms", factor("status", "carol")[0].get("status"), "sms")
    expect("disabled", (factor("disable", "carol")[0].get("changedCount"), factor("status", "carol")[0].get("status")), (1, "disabled"))
    expect("a disabled factor gets no PIN", outcome(factor("send-pin", "carol")), (12, "no-factor", None))
    expect("no key to enable", outcome(factor("enable", "carol", "--mode", "fp")), (12, "no-factor", None))
    expect("enabled", (factor("enable", "carol", "--mode", "sms")[0].get("changedCount"), factor("status", "carol")[0].get("status")), (1, "sms"))
    expect("a masked number", factor("phone", "carol")[0].get("phone"), "+41 79 *** ** 33")
    expect("the number", factor("phone", "carol", "--reveal")[0].get("phone"), "+41791112233")
    answer, status = factor("add-user", "erin", "--mail", "erin@example.org", "--disabled")
    expect("a user by mail, disabled", (status, answer["channel"], answer["active"]), (0, "mail", False))
    expect("no number", outcome(factor("phone", "erin")), (12, "no-phone", None))
    answer, status = factor("add-user", "frank", "--mobile", "+41791112244", "--mode", "sms+fp")
    expect("a user with a key", (status, (answer["factor"] or {}).get("type"), factor("status", "frank")[0].get("status")), (0, "webauthn", "fp"))


def test_pins():
    """Flows 15 and 17: a PIN for a login."""
    server.remove_tokens()
    server.admin("POST", "/token/init", type="sms", user="alice", realm="test", genkey=1, dynamic_phone=1)
    sent = len(server.messages("sms"))
    answer, status = factor("send-pin", "alice")
    first = answer.get("transaction")
    expect("a PIN is sent", (status, answer["channel"], answer["purpose"]), (0, "sms", "login"))
    pin = server.pin_sent(after=sent)
    wrong = "000000" if pin != "000000" else "111111"
    expect("a wrong PIN", outcome(factor("verify-pin", "alice", secrets=[("--code-fd", wrong)])), (8, "rejected", 201))
    expect("an empty PIN", outcome(factor("verify-pin", "alice", secrets=[("--code-fd", "\n")])), (2, "usage", 101))
    expect("not for another user", outcome(factor("verify-pin", "bob", "--transaction", first, secrets=[("--code-fd", pin)])),
           (12, "nothing-pending", 105))
    expect("not to register", outcome(factor("verify-pin", "alice", "--register", secrets=[("--code-fd", pin)])), (12, "nothing-pending", 105))
    answer, status = factor("verify-pin", "alice", secrets=[("--code-fd", pin)])
    expect("the right PIN", (status, answer.get("accepted")), (0, True))
    expect("used already", outcome(factor("verify-pin", "alice", "--transaction", first, secrets=[("--code-fd", pin)])),
           (12, "nothing-pending", 105))
    factor("send-pin", "alice")
    sent = len(server.messages("sms"))
    second = factor("send-pin", "alice")[0]["transaction"]
    pin = server.pin_sent(after=sent)
    expect("two transactions", outcome(factor("verify-pin", "alice", secrets=[("--code-fd", pin)])), (4, "ambiguous", None))
    expect("the right one", factor("verify-pin", "alice", "--transaction", second, secrets=[("--code-fd", pin)])[1], 0)
    server.remove_tokens()
    server.admin("POST", "/token/init", type="email", user="alice", realm="test", genkey=1, dynamic_email=1)
    sent = len(server.messages("mail"))
    answer, status = factor("send-pin", "alice", "--by", "mail")
    expect("a PIN by mail", (status, answer["channel"]), (0, "mail"))
    pin = server.pin_sent("mail", after=sent)
    expect("the PIN of the mail", factor("verify-pin", "alice", secrets=[("--code-fd", pin)])[1], 0)
    expect("no SMS", outcome(factor("send-pin", "alice", "--by", "sms")), (12, "no-factor", None))


def test_locked():
    """Too many wrong PINs (flow 28)."""
    server.remove_tokens("bob")
    serial = server.admin("POST", "/token/init", type="sms", user="bob", realm="test", genkey=1, dynamic_phone=1)["detail"]["serial"]
    server.admin("POST", "/token/set", serial=serial, max_failcount=2)
    sent = len(server.messages("sms"))
    factor("send-pin", "bob")
    pin = server.pin_sent(after=sent)
    wrong = "000000" if pin != "000000" else "111111"
    expect("a first wrong PIN", outcome(factor("verify-pin", "bob", secrets=[("--code-fd", wrong)])), (8, "rejected", 201))
    expect("the last wrong PIN", outcome(factor("verify-pin", "bob", secrets=[("--code-fd", wrong)])), (9, "locked", 201))
    expect("then the right one is refused", outcome(factor("verify-pin", "bob", secrets=[("--code-fd", pin)])), (9, "locked", 201))
    answer, _ = factor("status", "bob")
    expect("the counter is shown", (answer["factors"][0]["failCount"], answer["factors"][0]["maxFail"]), (2, 2))


def test_limits():
    """Flows 28 and 33: limits of the server, reasons that it withholds, and clients that it suspends."""
    server.remove_tokens("bob")
    server.admin("POST", "/token/init", type="sms", user="bob", realm="test", genkey=1, dynamic_phone=1)
    sent = len(server.messages("sms"))
    factor("send-pin", "bob")
    pin = server.pin_sent(after=sent)
    wrong = "000000" if pin != "000000" else "111111"
    server.policy("hide-reasons")
    answer, status = factor("verify-pin", "bob", secrets=[("--code-fd", wrong)])
    expect("a reason that is withheld", (*outcome((answer, status)), "Authentication failed." in answer["error"]["message"]), (8, "rejected", 201, True))
    server.policy("hide-reasons", False)
    server.admin("POST", "/policy/maxfail", scope="authorization", active=True, action={"auth_max_fail": "1/2m"})
    try:
        factor("verify-pin", "bob", secrets=[("--code-fd", wrong)])
        answer, status = factor("verify-pin", "bob", secrets=[("--code-fd", pin)])
        # Depending on the number of attempts in the last two minutes, the server refuses the PIN, or the caller's own login.
        refused = {"Only 1 failed authentications per 0:02:00 allowed.": (8, "rejected", 201),
                   "The account has exceeded the authentication time limit!": (8, "credentials", 100)}
        expect("a limit of the server: its reason is shown",
               [refused[reason] for reason in refused if answer["error"]["message"].endswith(reason)], [outcome((answer, status))])
    finally:
        server.admin("DELETE", "/policy/maxfail")
    made = factor("api-key", "create", "suspended")[0]
    client = next(each for each in server.admin("GET", "/clients/").value if each["display_name"] == "suspended")
    asked = [("--api-key-fd", made["apiKey"])]
    server.admin("PATCH", f"/clients/{client['id']}", status="suspended")
    factor("trust", "allow", "bob", "on")
    sent = len(server.messages("sms"))
    transaction = factor("send-pin", "bob")[0]["transaction"]
    refused = factor("trust", "add", "bob", "--transaction", transaction, secrets=asked + [("--code-fd", server.pin_sent(after=sent))])
    expect("a suspended client", outcome(refused), (15, "trust-not-allowed", 103))
    factor("trust", "allow", "bob", "off")


def test_yubico_otps():
    """Flow 19: Yubico OTPs of a slot of the key, read from its tag."""
    server.remove_tokens()
    aes, slot = "000102030405060708090a0b0c0d0e0f", {"YKIT_OTP_KEY": "000102030405060708090a0b0c0d0e0f", "YKIT_OTP_PRIVATE_ID": "010203040506"}
    server.admin("POST", "/token/init", type="yubikey", user="alice", realm="test", otpkey=aes, otplen=44, pin="p")
    ykit("otp", "yubiotp", "1", "--public-id", "vvcccccccccb", "--force", env=slot)
    ykit("otp", "ndef", "1")

    def check(text):
        return server.call("POST", "/validate/check", user="alice", **{"pass": "p" + text}).authentication

    first, second = (ykit("nfc", "read")[0]["token"]["value"] for _ in range(2))
    expect("the key's password is accepted", check(first), "ACCEPT")
    expect("not twice", check(first), "REJECT")
    expect("the next one is", check(second), "ACCEPT")
    expect("an older one is not", check(first), "REJECT")
    expect("nor one of another key", check(first[:12] + "c" * 32), "REJECT")
    expect("ykit opens what the server accepts", ykit("otp", "verify", second, env={"YKIT_OTP_KEY": aes})[1], 0)


def test_registration():
    """Flow 16: a number is verified before it is used."""
    server.remove_tokens()
    expect("not without the server's policy", outcome(factor("send-pin", "alice", "--register", "--to", "+41790000002")),
           (15, "unverified-enrolment", 103))
    expect("nothing is left of that", factor("status", "alice")[0].get("status"), "none")
    server.policy("verify-enrolment")
    try:
        sent = len(server.messages("sms"))
        answer, status = factor("send-pin", "alice", "--register", "--to", "+41790000002")
        expect("a PIN to a new number", (status, answer["purpose"], server.messages("sms")[-1]["to"]), (0, "register", "+41790000002"))
        pin = server.pin_sent(after=sent)
        wrong = "000000" if pin != "000000" else "111111"
        expect("it does not count yet", factor("status", "alice")[0].get("status"), "disabled")
        expect("no PIN for a log-in yet", outcome(factor("send-pin", "alice")), (12, "no-factor", None))
        expect("the PIN is not for a log-in", outcome(factor("verify-pin", "alice", secrets=[("--code-fd", pin)])), (12, "nothing-pending", 105))
        expect("a wrong PIN", outcome(factor("verify-pin", "alice", "--register", secrets=[("--code-fd", wrong)])), (8, "rejected", 201))
        expect("the right PIN", factor("verify-pin", "alice", "--register", secrets=[("--code-fd", pin)])[1], 0)
        expect("used already", outcome(factor("verify-pin", "alice", "--register", secrets=[("--code-fd", wrong)])), (12, "nothing-pending", 105))
        expect("it counts", factor("status", "alice")[0].get("status"), "sms")
        sent = len(server.messages("mail"))
        factor("send-pin", "alice", "--register", "--by", "mail", "--to", "new@example.org")
        factor("send-pin", "alice", "--register", "--by", "mail", "--to", "newer@example.org")
        pin = server.pin_sent("mail", after=sent + 1)
        expect("a second PIN replaces the first", factor("verify-pin", "alice", "--register", secrets=[("--code-fd", pin)])[1], 0)
        expect("one factor of each", len(factor("status", "alice")[0]["factors"]), 2)
    finally:
        server.policy("verify-enrolment", False)


def test_keys():
    """Flow 20: a FIDO2 key that verifies its user."""
    server.remove_tokens()
    expect("not without a number", outcome(factor("register-key", "alice", "--device-id", "desk")), (15, "no-verified-channel", 103))
    server.admin("POST", "/token/init", type="sms", user="alice", realm="test", genkey=1, dynamic_phone=1)
    answer, status = factor("register-key", "alice", "--device-id", "desk")
    expect("a key is registered", (status, answer.get("name"), bool(answer.get("aaguid"))), (0, "desk", True))
    serial = answer.get("serial")
    expect("one device, one name", outcome(factor("register-key", "alice", "--device-id", "desk")), (4, "ambiguous", None))
    expect("the strongest factor", factor("status", "alice")[0].get("status"), "fp")
    answer, status = factor("verify-key", "alice")
    expect("the key answers", (status, answer.get("serial"), answer.get("accepted")), (0, serial, True))
    expect("a device by its name", factor("verify-key", "alice", "--device-id", "desk")[1], 0)
    expect("another device", outcome(factor("verify-key", "alice", "--device-id", "sofa")), (12, "no-such-device", None))
    expect("another key", outcome(factor("verify-key", "alice", key="second.json"))[2], 107)
    expect("a wrong PIN of the key", outcome(factor("verify-key", "alice", env={"YKIT_PIN": "000000"})), (8, "pin-wrong", 107))
    bare = factor("register-key", "alice", key="bare.json", env={"YKIT_PIN": ""})
    expect("a key without a PIN proves nobody", (bare[1] != 0, (bare[0].get("error") or {}).get("legacyCode")), (True, 107))
    expect("nothing is left of that", len(factor("device", "status", "alice")[0]["factors"]), 1)
    server.policy("uv-required")
    expect("with the server's policy too", factor("verify-key", "alice")[1], 0)
    server.policy("uv-required", False)
    expect("at an origin that is not the relying party's", outcome(factor("verify-key", "alice", "--origin", "https://example.org"))[2], 107)
    answer, status = factor("device", "status", "alice", "desk")
    expect("the device is registered", (status, answer["registered"], answer["factors"][0]["serial"]), (0, True, serial))
    expect("another one is not", outcome(factor("device", "status", "alice", "sofa")), (12, "no-such-device", None))
    expect("only one's own is deleted", outcome(factor("device", "rm", "bob", serial, "--force")), (12, "no-such-device", None))
    expect("deleted", factor("device", "rm", "alice", "desk", "--force")[1], 0)
    expect("gone", factor("status", "alice")[0].get("status"), "sms")


def test_passkeys():
    """Flow 21: no user name; the challenge is text."""
    server.remove_tokens()
    answer, status = factor("register-key", "alice", "--resident", "--no-condition", "--device-id", "passkey")
    expect("a passkey is registered", (status, answer.get("name")), (0, "passkey"))
    answer, status = factor("verify-key", "alice", "--resident")
    expect("it names its user", (status, answer.get("accepted")), (0, True))
    expect("not another one", outcome(factor("verify-key", "bob", "--resident")), (8, "other-user", 201))
    expect("no passkey", outcome(factor("verify-key", "alice", "--resident", key="second.json"))[2], 107)
    answer, status = factor("login", "--passkey", login=False)
    expect("a log-in by passkey", (status, answer["account"], answer["role"]), (0, "alice", "user"))


def test_reader():
    """A FIDO2 key registered and verified through a real pcscd."""
    if "YKIT_TEST_VPCD_PORTS" not in os.environ:
        sandbox = [f"{ROOT}/tools/lab/pcscd-sandbox", "--", *parts(__file__, "reader")]
        return expect("registered and verified through a real pcscd", subprocess.run(sandbox).returncode, 0)
    port = reader_port()
    served = start("virtual", "serve", "--vpcd", f"127.0.0.1:{port}", "--state", f"{WORK}/key.json", stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL)
    end = time.monotonic() + 60
    while not any(device.get("serial") for device in json.loads(raw("list", "--json").stdout)["devices"]) and time.monotonic() < end:
        time.sleep(0.1)

    def through_pcscd(*words):
        descriptor = pipe(server.state["password"])
        done = raw("--json", "2fa", *words, "--server", server.url, "--ca", server.ca, "--password-fd", str(descriptor), fds=[descriptor],
                   env={"YKIT_PIN": PIN})
        os.close(descriptor)
        return json.loads(done.stdout or "{}"), done.returncode

    server.remove_tokens()
    answer, status = through_pcscd("register-key", "alice", "--no-condition", "--device-id", "desk")
    expect("a key is registered", (status, answer.get("name")), (0, "desk"))
    serial = answer.get("serial")
    answer, status = through_pcscd("verify-key", "alice")
    expect("the key answers", (status, answer.get("serial"), answer.get("accepted")), (0, serial, True))
    served.terminate()
    served.wait(30)
    answer, status = through_pcscd("verify-key", "alice")
    expect("a key that was pulled out", (status != 0, answer.get("accepted")), (True, None))


def test_api_keys():
    """Flow 23: clients and their keys."""
    answer, status = factor("api-key", "create", "shop")
    expect("an API key", (status, answer["apiKey"].startswith("pi_" + answer["keyId"])), (0, True))
    first = answer["apiKey"]
    expect("the same name again", outcome(factor("api-key", "create", "shop")), (4, "ambiguous", None))
    answer, status = factor("api-key", "list")
    expect("listed without its key", ([client["name"] for client in answer["clients"]].count("shop"), first in json.dumps(answer)), (1, False))
    answer, status = factor("api-key", "rotate", "shop", "--force")
    expect("another API key", (status, answer["apiKey"] != first), (0, True))
    status = server.call("GET", "/validate/capabilities", headers={"X-API-Key": first}).status
    expect("the old one is invalid", status, 401)
    status = server.call("GET", "/validate/capabilities", headers={"X-API-Key": answer["apiKey"]}).status
    expect("the new one is valid", status, 200)
    expect("an unknown client", outcome(factor("api-key", "rotate", "nobody", "--force")), (12, "no-such-client", None))
    expect("an API key does not administer", outcome(ykit("2fa", "status", "alice", "--server", server.url, "--ca", server.ca,
           secrets=[("--api-key-fd", first), ("--password-fd", "wrong")])), (8, "credentials", 100))


def test_trust():
    """Flows 23 and 32: remembered devices, and their theft."""
    server.remove_tokens()
    server.admin("POST", "/token/init", type="sms", user="alice", realm="test", genkey=1, dynamic_phone=1)
    key = factor("api-key", "create", "trusting")[0]["apiKey"]
    asked = [("--api-key-fd", key)]

    def add(name="key.json"):
        sent = len(server.messages("sms"))
        factor("send-pin", "alice")
        return factor("trust", "add", "alice", secrets=asked + [("--code-fd", server.pin_sent(after=sent))], key=name)

    expect("not allowed yet", outcome(add()), (15, "trust-not-allowed", 103))
    answer, status = factor("trust", "allow", "alice", "on")
    expect("alice may", (status, answer["users"]), (0, ["alice"]))
    expect("bob too", factor("trust", "allow", "bob", "on")[0].get("users"), ["alice", "bob"])
    expect("bob no longer", factor("trust", "allow", "bob", "off")[0].get("users"), ["alice"])
    expect("nobody is remembered yet", outcome(factor("trust", "check", "alice", secrets=asked, login=False)), (8, "not-trusted", None))
    answer, status = add()
    expect("remembered", (status, answer.get("remembered")), (0, True))
    expect("the cookie is sealed", "pi_remember_device" in pathlib.Path(f"{WORK}/data/ykit/2fa.json").read_text(), False)
    answer, status = factor("trust", "status", "alice", secrets=asked)
    expect("listed", (status, answer["trusted"], len(answer["devices"])), (0, True, 1))
    expect("recognized", factor("trust", "check", "alice", secrets=asked, login=False)[1], 0)
    expect("recognized again", factor("trust", "check", "alice", secrets=asked, login=False)[1], 0)
    expect("not for bob", outcome(factor("trust", "check", "bob", secrets=asked, login=False)), (8, "not-trusted", None))
    expect("another key does not open the store", outcome(factor("trust", "check", "alice", secrets=asked, login=False, key="second.json"))[:2],
           (8, "store-key"))
    expect("no API key", outcome(factor("trust", "check", "alice", login=False)), (2, "api-key-needed", None))
    expect("an invalid API key", outcome(factor("trust", "check", "alice", secrets=[("--api-key-fd", "pi_0000000000000000_x")], login=False)),
           (8, "credentials", 100))
    answer, status = factor("login-test", "alice", secrets=asked)
    expect("a log-in needs no PIN", (status, [step["step"] for step in answer.get("steps", [])]), (0, ["status", "trusted"]))
    # A thief copies the file, and uses the cookie; the owner's next use reveals it.
    stolen = pathlib.Path(f"{WORK}/data/ykit/2fa.json").read_text()
    factor("trust", "check", "alice", secrets=asked, login=False)
    factor("trust", "check", "alice", secrets=asked, login=False)
    with open(f"{WORK}/data/ykit/2fa.json", "w") as out:
        out.write(stolen)
    time.sleep(11)
    expect("an old cookie is theft", outcome(factor("trust", "check", "alice", secrets=asked, login=False)), (8, "trust-revoked", None))
    expect("all devices are forgotten", factor("trust", "status", "alice", secrets=asked)[0].get("trusted"), False)
    expect("the cookie is deleted", outcome(factor("trust", "check", "alice", secrets=asked, login=False)), (8, "not-trusted", None))
    add()
    device = factor("trust", "status", "alice", secrets=asked)[0]["devices"][0]["id"]
    expect("one device is removed", factor("trust", "rm", "alice", device, "--force", secrets=asked)[0].get("removedCount"), 1)
    expect("twice", outcome(factor("trust", "rm", "alice", device, "--force", secrets=asked)), (12, "no-such-device", None))
    add()
    expect("all are removed", factor("trust", "rm", "alice", "--force")[0].get("removedCount"), 1)
    expect("alice no longer", factor("trust", "allow", "alice", "off")[0].get("users"), [])
    expect("then nobody is remembered", outcome(add()), (15, "trust-not-allowed", 103))


def test_log_in_test():
    """The complete login, by PIN and by key."""
    server.remove_tokens()
    expect("no factor", outcome(factor("login-test", "alice")), (12, "no-factor", None))
    server.admin("POST", "/token/init", type="sms", user="alice", realm="test", genkey=1, dynamic_phone=1)
    factor("register-key", "alice")
    answer, status = factor("login-test", "alice", "--notify-command", f"cat >> {WORK}/steps.jsonl")
    expect("by the key", (status, [step["step"] for step in answer.get("steps", [])]), (0, ["status", "key"]))
    expect("each step is given to the command", [json.loads(line) for line in pathlib.Path(f"{WORK}/steps.jsonl").read_text().splitlines()], answer["steps"])
    server.remove_tokens()
    factor("register-key", "alice", "--resident", "--no-condition")
    answer, status = factor("login-test", "alice")
    expect("by a passkey", (status, [step["step"] for step in answer.get("steps", [])]), (0, ["status", "key"]))
    server.remove_tokens()
    server.admin("POST", "/token/init", type="sms", user="alice", realm="test", genkey=1, dynamic_phone=1)
    answer, status = factor("login-test", "alice", secrets=[("--code-fd", "000000")])
    expect("by a wrong PIN", (status, code(answer)), (8, "rejected"))


def test_kept():
    """A stored session, sealed."""
    answer, status = factor("login", "--keep")
    expect("kept", (status, answer["kept"]), (0, True))
    text = pathlib.Path(f"{WORK}/data/ykit/2fa.json").read_text()
    expect("the token is sealed", "eyJhbGci" in text, False)
    answer, status = ykit("2fa", "status", "alice", env={"YKIT_PIN": PIN})
    expect("used without a server's name", (status, answer.get("user")), (0, "alice"))
    expect("not by another key", outcome(ykit("2fa", "status", "alice", key="second.json", env={"YKIT_PIN": PIN}))[:2], (8, "store-key"))
    expect("forgotten", ykit("2fa", "logout")[1], 0)
    expect("gone", outcome(ykit("2fa", "status", "alice", env={"YKIT_PIN": PIN})), (12, "no-log-in", None))
    plan = raw("--virtual", f"{WORK}/key.json", "--plan", "2fa", "login", "--server", server.url, "--ca", server.ca, "--password-stdin",
               stdin="adminpw\n")
    expect("a plan sends nothing and shows no password", (plan.returncode, "not sent POST" in plan.stdout, "adminpw" in plan.stdout), (0, True, False))


def test_secrets():
    """No password, PIN, code, API key, token or cookie in recordings, logs and errors; a recording replays."""
    server.remove_tokens()
    server.admin("POST", "/token/init", type="sms", user="alice", realm="test", genkey=1, dynamic_phone=1)
    factor("trust", "allow", "alice", "on")
    key = factor("api-key", "create", "hidden")[0]["apiKey"]
    sent = len(server.messages("sms"))
    factor("send-pin", "alice")
    pin = server.pin_sent(after=sent)
    options = ["--server", server.url, "--ca", server.ca]
    verbs = [
        (["login", "--keep"], []), (["trust", "add", "alice"], [("--api-key-fd", key), ("--code-fd", pin)]),
        (["trust", "check", "alice"], [("--api-key-fd", key)]), (["status", "alice"], []),
        (["login"], [("--password-fd", "wrong-password")]), (["verify-pin", "alice"], [("--code-fd", None)]),
        (["api-key", "create", "noted"], []), (["api-key", "rotate", "noted", "--force"], []),
        (["trust", "rm", "alice", "--force"], []), (["register-key", "alice", "--device-id", "desk"], []), (["verify-key", "alice"], []),
        (["add-user", "gina", "--mobile", "+41791112266"], [("--user-password-fd", "gina-password")]),
    ]
    hidden = {"password": server.state["password"], "wrong password": "wrong-password", "API key": key, "PIN": f"={pin}", "key's PIN": PIN,
              "user's password": "gina-password",
              "token": "eyJhbGci", "cookie": "pi_remember_device="}
    for number, (words, given) in enumerate(verbs):
        record, log = f"{WORK}/record-{number}.jsonl", f"{WORK}/log-{number}.txt"
        if words[0] == "verify-pin":
            sent = len(server.messages("sms"))
            factor("send-pin", "alice")
            hidden["other PIN"] = f"={server.pin_sent(after=sent)}"
            given = [("--code-fd", hidden["other PIN"][1:])]
        given = given if any(option == "--password-fd" for option, _ in given) else given + [("--password-fd", server.state["password"])]
        answer, status = ykit("--log-level", "traffic", "--log-file", log, "2fa", *words, *options, secrets=given, env={"YKIT_PIN": PIN}, record=record)
        # A new API key is printed, once, and is nowhere else.
        made = answer.pop("apiKey", None)
        text = json.dumps(answer) + "".join(pathlib.Path(path).read_text() for path in (record, log) if os.path.exists(path))
        if made:
            hidden[f"API key of {words[1]}"] = made
        expect(f"2fa {' '.join(words)}: done and recorded", (status, os.path.exists(record)), (8 if number == 4 else 0, True))
        expect("its secrets are nowhere", [name for name, value in hidden.items() if value in text], [])
    done = raw("--replay", f"{WORK}/record-3.jsonl", "--json", "2fa", "status", "alice", *options, "--password-stdin", stdin="adminpw\n")
    expect("a recording replays without the server", (done.returncode, '"status":"sms"' in done.stdout), (0, True))


def test_ordinary_user():
    """An account of role user: the server ignores the user that a request names, so ykit refuses all but the account."""
    server.remove_tokens()
    server.remove_tokens("bob")
    own = server.admin("POST", "/token/init", type="sms", user="alice", realm="test", genkey=1, dynamic_phone=1)["detail"]["serial"]
    other = server.admin("POST", "/token/init", type="sms", user="bob", realm="test", genkey=1, dynamic_phone=1)["detail"]["serial"]

    def by_alice(*words, **more):
        return factor(*words, "--account", "alice", login=False, secrets=[("--password-fd", "secret"), *more.pop("secrets", [])], **more)

    def tokens():
        found = {token["serial"]: token["active"] for token in server.admin("GET", "/token/", pagesize=100).value["tokens"]}
        return found.get(own), found.get(other)

    code_of_bob = [("--code-fd", "123456")]
    verbs = [("status", "bob"), ("enable", "bob"), ("disable", "bob"), ("send-pin", "bob"), ("send-pin", "bob", "--register", "--to", "+41790000009"),
             ("register-key", "bob", "--no-condition"), ("verify-key", "bob"), ("verify-key", "bob", "--resident"), ("device", "status", "bob"),
             ("device", "rm", "bob", own, "--force"), ("phone", "bob"), ("login-test", "bob"), ("trust", "allow", "bob", "on"),
             ("trust", "status", "bob", "--client", "x"), ("trust", "rm", "bob", "--force"), ("add-user", "bob", "--mobile", "+41790000009")]
    for words in verbs:
        expect("refused: " + " ".join(words), outcome(by_alice(*words)), (15, "other-account", 100))
    for words in (("verify-pin", "bob"), ("verify-pin", "bob", "--register")):
        expect("refused: " + " ".join(words), outcome(by_alice(*words, secrets=code_of_bob)), (15, "other-account", 100))
    expect("a user that the server does not have is not the account either", outcome(by_alice("status", "nosuchuser")), (15, "other-account", 100))
    expect("nor one of another realm", outcome(by_alice("status", "alice", "--realm", "other")), (15, "other-account", 100))
    expect("nothing was changed", tokens(), (True, True))
    answer, status = by_alice("status", "alice")
    expect("the account itself", (status, [each["serial"] for each in answer["factors"]]), (0, [own]))
    expect("it may switch itself off", (by_alice("disable", "alice")[0].get("changedCount"), tokens()), (1, (False, True)))
    answer, status = by_alice("login", "--keep")
    expect("a session of it that is kept", (status, answer["role"], answer["kept"]), (0, "user", True))
    expect("refuses as well", outcome(ykit("2fa", "status", "bob", env={"YKIT_PIN": PIN})), (15, "other-account", 100))
    answer, status = ykit("2fa", "status", "alice", env={"YKIT_PIN": PIN, "YKIT_2FA_PASSWORD": "secret"})
    expect("and is used though a password is in a variable", (status, answer.get("status")), (0, "disabled"))
    ykit("2fa", "logout")


def test_codes_of_the_server():
    """What the server answers stays in the error."""
    def codes(answer):
        error = answer[0].get("error") or {}
        return answer[1], error.get("code"), error.get("httpStatus"), error.get("serverCode"), error.get("legacyCode")

    wrong = ykit("2fa", "status", "bob", "--server", server.url, "--ca", server.ca, secrets=[("--password-fd", "wrong")])
    expect("a wrong password of the caller", codes(wrong), (8, "credentials", 401, 4031, 100))
    server.remove_tokens("bob")
    server.policy("verify-enrolment")
    try:
        factor("send-pin", "bob", "--register", "--to", "+41790000002")
        wrong = factor("verify-pin", "bob", "--register", secrets=[("--code-fd", "000000")])
        expect("a wrong registration PIN", codes(wrong), (8, "rejected", 400, 905, 201))
        expect("what is not verified is not enabled", codes(factor("enable", "bob", "--mode", "sms")), (15, "not-enrolled", None, None, 103))
    finally:
        server.policy("verify-enrolment", False)
        server.remove_tokens("bob")
    expect("the name of a user that exists", codes(factor("add-user", "bob", "--mobile", "+41791112233")), (15, "user-exists", None, None, 200))
    for words in (("verify-key", "bob"), ("register-key", "bob"), ("login-test", "bob")):
        done = raw("--virtual", f"{WORK}/key.json", "2fa", *words, "--server", server.url, "--ca", server.ca, "--password-stdin",
                   stdin=server.state["password"] + "\n", env={"YKIT_PIN": PIN})
        expect(f"{words[0]}: nothing is announced before there is something to approve", (done.returncode != 0, "approve" in done.stderr), (True, False))
