# SPDX-License-Identifier: Apache-2.0
"""Two virtual keys behind a real pcscd, filled by ykman and python-fido2; a LUKS2 volume made by cryptsetup and a mapping of
pam_u2f refer to them. `ykit compare` says what the second lacks, also when a saved inventory stands for the first, and asks
a site where to register. Neither key is changed, and no PIN is sent that was not given for that key.

YKIT is the ykit to test.
"""

import base64
import datetime
import hmac
import http.server
import json
import os
import pathlib
import ssl
import subprocess
import threading

from lib.peer import YKIT, QuietHandler, beside_pcscd, expect, holds, in_reader, own_folder, pipe, reader_port, skip, within

READERS = ["Yubico YubiKey OTP+FIDO+CCID", "Yubico YubiKey CCID"]
beside_pcscd("--readers", "2", *(word for name in READERS for word in ("--name", name)))
FOLDER = own_folder()
SERIALS = ["30000001", "30000002"]
PINS = ["123456", "654321"]
SHARED, OTHER = "GEZDGNBVGY3TQOJQ", "MFRGGZDFMZTWQ2LK"
RP = "io.systemd.cryptsetup"
LOGIN = f"pam://{os.uname().nodename}"

DIGEST = hmac.digest(base64.b32decode(SHARED), bytes(8), "sha1")
#: The code of SHARED for counter 0 (RFC 4226 §5.3).
FIRST_CODE = str((int.from_bytes(DIGEST[DIGEST[-1] & 15:][:4], "big") & 0x7FFFFFFF) % 1_000_000).zfill(6)


def path(name):
    return os.path.join(FOLDER, name)


def environment(**more):
    home = {"HOME": FOLDER, "XDG_STATE_HOME": path("state"), "XDG_DATA_HOME": path("data"), "XDG_CONFIG_HOME": path("config")}
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith("YKIT_") or name in ("YKIT_REAL", "YKIT_TEST_VPCD_PORTS") or name.startswith("YKIT_NOTE")}
    return {**kept, **home, **more}


def run(*command, fds=(), **variables):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL, cwd=FOLDER,
                          env=environment(**variables), pass_fds=fds)
    return done.returncode, done.stdout, done.stderr


def ykman(place, *words):
    status, output, errors = run("ykman", "--device", SERIALS[place], *words)
    expect(f"ykman fills key {place + 1}: {' '.join(words[:3])}", status == 0 or output + errors)


def compare(*words, pins=None, **variables):
    fds = []
    if pins:
        fds = [pipe(f"{pin}\n") for pin in pins]
        words = [*words, "--passkeys", "--first-pin-fd", str(fds[0]), "--second-pin-fd", str(fds[1])]
    status, output, errors = run(YKIT, "--json", "compare", *words, fds=fds, **variables)
    for descriptor in fds:
        os.close(descriptor)
    return status, json.loads(output or "{}"), errors


def verdicts(answer, kind):
    return {item["name"]: item["verdict"] for item in answer["items"] if item["kind"] == kind}


def new_key(place):
    file = path(f"key-{place}.json")
    expect("a virtual key", run(YKIT, "virtual", "new", file)[0], 0)
    state = json.loads(pathlib.Path(file).read_text())
    state["device"]["serial"] = int(SERIALS[place])
    pathlib.Path(file).write_text(json.dumps(state))
    return file


def is_there(place):
    return SERIALS[place] in run(YKIT, "list", "--serials")[1].split()


def credentials(place):
    """Credentials that python-fido2 makes: passkeys, and one for each file."""
    from fido2.ctap2 import ClientPin, Ctap2
    from fido2.pcsc import CtapPcscDevice

    device = next(each for each in CtapPcscDevice.list_devices() if READERS[place] in str(each._name))
    ctap = Ctap2(device)
    ClientPin(ctap).set_pin(PINS[place])

    def make(rp, user, resident):
        pin = ClientPin(ctap)
        token = pin.get_pin_token(PINS[place], ClientPin.PERMISSION.MAKE_CREDENTIAL, rp)
        digest = b"\1" * 32
        answer = ctap.make_credential(
            digest, {"id": rp, "name": rp}, {"id": user.encode(), "name": user}, [{"type": "public-key", "alg": -7}],
            options={"rk": resident}, pin_uv_param=pin.protocol.authenticate(token, digest), pin_uv_protocol=pin.protocol.VERSION)
        return answer.auth_data.credential_data.credential_id

    for rp, user, only in (("example.com", "alice", 0), ("localhost", "bob", 1)):
        if place == 0 or not only:
            make(rp, user, True)
    made = {rp: make(rp, "me", False) for rp in (RP, LOGIN)}
    device.close()
    return made


def fill(place):
    ykman(place, "oath", "accounts", "add", "Acme:alice", SHARED)
    ykman(place, "oath", "accounts", "add", "Other:bob", SHARED if place == 0 else OTHER)
    ykman(place, "oath", "accounts", "add", "-o", "HOTP", "Counter:carol", SHARED)
    if place == 0:
        ykman(place, "oath", "accounts", "add", "Only:dave", SHARED)
    public = path(f"9a-{place}.pem")
    ykman(place, "piv", "keys", "generate", "-m", "010203040506070801020304050607080102030405060708", "-a", "ECCP256", "9a", public)
    ykman(place, "piv", "certificates", "generate", "-m", "010203040506070801020304050607080102030405060708", "-P", "123456",
          "-s", "CN=alice", "9a", public)
    return credentials(place)


def volume(made):
    """A volume with a token for each key, as systemd-cryptenroll writes them; the second key may lack one."""
    image = path("volume.img")
    with open(image, "wb") as file:
        file.truncate(32 << 20)
    pathlib.Path(path("passphrase")).write_text("x")
    luks = ["cryptsetup", "--batch-mode", "--key-file", path("passphrase")]
    status, _, errors = run(*luks, "luksFormat", "--type", "luks2", "--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000", image)
    expect("cryptsetup makes a volume", status == 0 or errors)
    for credential in made:
        token = {"type": "systemd-fido2", "keyslots": ["0"], "fido2-credential": base64.b64encode(credential).decode(),
                 "fido2-salt": base64.b64encode(b"\2" * 32).decode(), "fido2-rp": RP, "fido2-clientPin-required": False,
                 "fido2-up-required": True, "fido2-uv-required": False}
        pathlib.Path(path("token.json")).write_text(json.dumps(token))
        status, _, errors = run("cryptsetup", "token", "import", "--json-file", path("token.json"), image)
        expect("and imports a token", status == 0 or errors)
    return image


def live(image, mapping):
    """Both keys at once."""
    status, answer, errors = compare(*SERIALS, "--file", image, "--file", mapping, pins=PINS, YKIT_PIN="999999", YKIT_FIDO_PIN="999999")
    if not expect("compare", status == 0 or (answer.get("error"), errors)):
        return
    expect("which keys", (answer["first"]["serial"], answer["second"]["serial"], answer["covered"]), (*SERIALS, False))
    expect("OATH accounts by their codes", verdicts(answer, "oath"),
           {"Acme:alice": "same", "Other:bob": "different", "Counter:carol": "named", "Only:dave": "renamed"})
    expect("certificates", verdicts(answer, "piv"), {"slot 9a, CN=alice": "own"})
    expect("passkeys", verdicts(answer, "passkey"), {"alice at example.com": "own", "bob at localhost": "missing"})
    expect("the volume, of which each key has a token", verdicts(answer, "luks"), {image: "own"})
    expect("the login, of which only the first has a line", verdicts(answer, "pam_u2f"), {"me": "missing"})
    pages = {item["name"]: item["page"] for item in answer["items"] if item["page"]}
    expect("where to register, without asking anybody", pages, {"bob at localhost": "https://localhost/"})
    status, answer, _ = compare(*reversed(SERIALS), "--file", image, "--file", mapping, pins=PINS[::-1])
    expect("the other way round", (status, verdicts(answer, "oath"), [each["name"] for each in answer["additional"]]),
           (0, {"Acme:alice": "same", "Other:bob": "different", "Counter:carol": "named"}, ["bob at localhost", "me"]))
    status, answer, _ = compare(SERIALS[0], SERIALS[0])
    expect("one key twice", (status, answer["error"]["code"]), (2, "usage"))


def unchanged():
    """Counters and tries are as before."""
    from fido2.ctap2 import ClientPin, Ctap2
    from fido2.pcsc import CtapPcscDevice

    for place in (0, 1):
        device = next(each for each in CtapPcscDevice.list_devices() if READERS[place] in str(each._name))
        expect("no PIN try was used", ClientPin(Ctap2(device)).get_pin_retries()[0], 8)
        device.close()
        status, output, _ = run("ykman", "--device", SERIALS[place], "oath", "accounts", "code", "--single", "Counter:carol")
        expect("no counter was advanced", (status, output.strip()), (0, FIRST_CODE))


def refused_pins():
    """A variable without a serial number is nobody's PIN here, and one wrong PIN is sent once."""
    status, answer, _ = compare(*SERIALS, "--passkeys", YKIT_PIN="999999", YKIT_FIDO_PIN="999999")
    expect("PINs for another key are not used", (status, answer["error"]["code"]), (17, "no-terminal"))
    status, answer, _ = compare(*SERIALS, "--passkeys", YKIT_FIDO_PIN_30000001="123456", YKIT_FIDO_PIN_30000002="999999")
    expect("a wrong PIN ends it, with the tries", (status, answer["error"]["retriesLeft"]), (8, 7))
    status, _, _ = compare(*SERIALS, "--passkeys", YKIT_FIDO_PIN_30000001="123456", YKIT_FIDO_PIN_30000002="654321")
    expect("PINs by serial number", status, 0)


class Site(QuietHandler):
    """A site that says where it registers passkeys."""

    asked = []

    def do_GET(self):
        self.asked.append(self.path)
        body = json.dumps({"enroll": "https://login.example.org/passkeys", "manage": "http://insecure.example.org/"}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def online(first, second):
    if os.getuid() != 0:
        skip("a site that is asked", "needs root for port 443")
        return
    status, _, errors = run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                            path("site.key"), "-out", path("site.pem"), "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost")
    expect("a certificate", status == 0 or errors)
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 443), Site)
    except OSError as error:
        skip("a site that is asked", str(error))
        return
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path("site.pem"), path("site.key"))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    expect("without --online nobody is asked", (compare(first, second)[0], Site.asked), (0, []))
    status, answer, _ = compare(first, second, "--online", "--ca", path("site.pem"))
    pages = [item["page"] for item in answer["items"] if item["page"]]
    expect("with --online the site says where", (status, pages, Site.asked),
           (0, ["https://login.example.org/passkeys"], ["/.well-known/passkey-endpoints"]))
    status, answer, _ = compare(first, second, "--online")
    expect("a site whose certificate does not verify is a warning", (status, len(answer["warnings"])), (0, 1))
    server.shutdown()


def test_compare():
    keys = [new_key(place) for place in (0, 1)]
    with in_reader("--state", keys[0], ready=lambda: is_there(0), port=reader_port(0)):
        with in_reader("--state", keys[1], ready=lambda: is_there(1), port=reader_port(1)):
            made = [fill(place) for place in (0, 1)]
            image = volume([each[RP] for each in made])
            mapping = path("u2f_keys")
            handle = base64.b64encode(made[0][LOGIN]).decode()
            pathlib.Path(mapping).write_text(f"me:{handle},AAAA,es256,+presence\n")
            status, output, errors = run(YKIT, "inventory", "--no-files")
            expect("two keys, and none is named", status, 4)
            live(image, mapping)
            unchanged()
            status, output, errors = run(YKIT, "--device", SERIALS[0], "inventory", "--passkeys", "--file", image,
                                         YKIT_FIDO_PIN=PINS[0])
            expect("an inventory of the first", status == 0 or errors)
            pathlib.Path(path("first.json")).write_text(output)
            for secret in (SHARED, PINS[0]):
                expect("it has no secret", secret in output, False)
            day = datetime.datetime.now(datetime.UTC).date().isoformat()
            holds("and says when it was made", day, json.loads(output)["timestamp"])
            refused_pins()
        within(30, lambda: not is_there(1))
    with in_reader("--state", keys[1], ready=lambda: is_there(1), port=reader_port(1)):
        descriptor = pipe(PINS[1] + "\n")
        status, output, errors = run(YKIT, "--json", "compare", path("first.json"), SERIALS[1], "--passkeys", "--second-pin-fd",
                                     str(descriptor), "--file", image, fds=[descriptor])
        os.close(descriptor)
        answer = json.loads(output)
        expect("the first key is in a safe, its inventory is here", (status, answer["first"]["saved"], answer["second"]["saved"]),
               (0, True, False))
        expect("the verdicts are the same", (verdicts(answer, "oath")["Acme:alice"], verdicts(answer, "luks"), verdicts(answer, "passkey")),
               ("same", {image: "own"}, {"alice at example.com": "own", "bob at localhost": "missing"}))
        status, output, _ = run(YKIT, "inventory", "--passkeys", "--file", image, YKIT_PIN=PINS[1])
        pathlib.Path(path("second.json")).write_text(output)
    online(path("first.json"), path("second.json"))
