# SPDX-License-Identifier: Apache-2.0
"""Lists of models, signed here with pyca/cryptography as the FIDO Alliance signs them: ykit and python-fido2's mds3 read the
same models from those that are right and refuse the same ones that are wrong; ykit refuses older lists, warns of outdated
ones, and judges keys and registrations by them.

YKIT is the ykit to test.
"""

import base64
import json
import os
import subprocess

from lib.model_list import DAY, NOW, Service, der, payload, url64
from lib.peer import YKIT, expect, holds, own_folder

FOLDER = own_folder()


def path(text):
    return os.path.join(FOLDER, text)


def write(text, data):
    with open(path(text), "wb") as file:
        file.write(data)
    return path(text)


def ykit(*words, home="home", text=None):
    done = subprocess.run([YKIT, "--json", *words], capture_output=True, text=True, input=text, timeout=120, cwd=FOLDER,
                          env={**os.environ, "HOME": path(home), "XDG_STATE_HOME": path(home)})
    return done.returncode, json.loads(done.stdout)


def info(blob, root, home="home"):
    return ykit("--virtual", path("key.json"), "info", "--metadata", write("blob.jwt", blob), "--metadata-root",
                write("root.der", der(root)), home=home)


def theirs(blob, root):
    """What python-fido2 reads: the description of each model, or nothing if it refuses the list."""
    from fido2.mds3 import parse_blob

    try:
        return [entry.metadata_statement.description for entry in parse_blob(blob, der(root)).entries]
    except Exception:
        return None


def agreement(aaguid):
    good = [{"status": "FIDO_CERTIFIED_L1", "effectiveDate": "2024-01-01", "certificateNumber": "FIDO20020240101001"}]
    other = Service()
    for kind in ("ES256", "RS256"):
        service = Service(kind=kind)
        blob = service.sign(payload(aaguid, good))
        status, answer = info(blob, service.root, home=kind)
        model = answer["model"] or {}
        # python-fido2 expects DER where RFC 7518 has two numbers, and so reads no list that is signed with ECDSA.
        wanted = theirs(blob, service.root) if kind == "RS256" else ["Virtual key"]
        expect(f"{kind}: ykit and python-fido2 read the model", ([model.get("name")], status), (wanted, 0))
        expect("its certification", (model["certification"], model["certificateNumber"], model["compromised"]),
               ("FIDO_CERTIFIED_L1", "FIDO20020240101001", False))
        message, signature = blob.rsplit(b".", 1)
        wrong = bytearray(base64.urlsafe_b64decode(signature + b"=="))
        wrong[9] ^= 1
        header, body = message.split(b".")
        changed = json.loads(base64.urlsafe_b64decode(body + b"=="))
        changed["no"] = 99
        for what, bad, root in (
            ("a changed signature", message + b"." + url64(bytes(wrong)).encode(), service.root),
            ("another content", header + b"." + url64(json.dumps(changed).encode()).encode() + b"." + signature, service.root),
            ("another root", blob, other.root),
            ("no signature", service.sign(payload(aaguid, good), alg="none"), service.root),
        ):
            status, answer = info(bad, root, home=kind)
            expect(f"{kind}: both refuse {what}", (theirs(bad, root), status != 0, answer["model"]), (None, True, None))
    for what, service in (("another signer", Service(signer="example.com")), ("an expired signer", Service(until=NOW - DAY))):
        status, answer = info(service.sign(payload(aaguid, good)), service.root)
        expect(f"ykit refuses {what}", (status, answer["error"]["code"], answer["model"]), (8, "metadata", None))
    status, answer = ykit("--virtual", path("key.json"), "info", "--metadata", write("blob.jwt", blob))
    expect("the FIDO Alliance's root is used without --metadata-root", (status, answer["error"]["code"]), (8, "metadata"))


def order(aaguid):
    """Lists by their numbers and days."""
    service = Service()

    def read(number, **more):
        return info(service.sign(payload(aaguid, [], number=number, **more)), service.root, home="order")

    expect("a list", read(20)[0], 0)
    expect("the same one again, and a newer one", (read(20)[0], read(21)[0]), (0, 0))
    status, answer = read(20)
    expect("an older one is refused", (status, answer["error"]["code"]), (15, "metadata-rollback"))
    holds("and it is said where the number is kept", path("order") + "/ykit/metadata.json", answer["error"]["hint"])
    other = Service()
    expect("another service has numbers of its own", info(other.sign(payload(aaguid, [], number=1)), other.root, home="order")[0], 0)
    status, answer = read(22, due=NOW - DAY)
    expect("an outdated list is used, with a warning", (status, len(answer["warnings"])), (0, 1))
    holds("which says so", "out of date", answer["warnings"][0]["message"])
    with open(path("order/ykit/metadata.json"), "w") as file:
        file.write("{}")
    status, answer = read(23)
    expect("a damaged record is not taken for an empty one", (status, answer["error"]["code"]), (13, "malformed"))


def reports(aaguid):
    service = Service()
    tomorrow = (NOW + 2 * DAY).date().isoformat()
    listed = [
        {"status": "FIDO_CERTIFIED_L2", "effectiveDate": "2025-02-01"}, {"status": "FIDO_CERTIFIED", "effectiveDate": "2020-02-01"},
        {"status": "UPDATE_AVAILABLE", "effectiveDate": "2025-03-01", "authenticatorVersion": 6, "url": "https://example.com/6"},
        {"status": "USER_KEY_PHYSICAL_COMPROMISE", "effectiveDate": "2025-04-01", "url": "https://example.com/a"},
        {"status": "REVOKED", "effectiveDate": tomorrow},
        {"status": "ATTESTATION_KEY_COMPROMISE", "effectiveDate": "2025-05-01", "certificate": "AQID"},
    ]
    blob = service.sign(payload(aaguid, listed))
    status, answer = info(blob, service.root, home="reports")
    model = answer["model"]
    expect("the latest certification, a compromise", (status, model["certification"], model["compromised"]),
           (0, "FIDO_CERTIFIED_L2", True))
    expect("reports that apply: not the coming one, nor the one on a single certificate",
           [report["status"] for report in model["reports"]],
           ["FIDO_CERTIFIED_L2", "FIDO_CERTIFIED", "UPDATE_AVAILABLE", "USER_KEY_PHYSICAL_COMPROMISE"])
    holds("a compromise is a warning", "https://example.com/a", " ".join(warning["message"] for warning in answer["warnings"]))
    status, answer = ykit("--virtual", path("key.json"), "doctor", "--metadata", path("blob.jwt"), "--metadata-root",
                          path("root.der"), home="reports")
    check = next(each for each in answer["checks"] if each["name"] == "model")
    expect("ykit doctor calls it a problem", (status, check["verdict"]), (15, "problem"))
    blob = service.sign(payload("00" * 15 + "01", listed))
    status, answer = info(blob, service.root, home="reports")
    expect("a model that is not listed", (status, answer["model"]["listed"]), (0, False))


def registrations(aaguid):
    status, made = ykit("--virtual", path("key.json"), "fido2", "register", "--rp", "example.com", "--user", "alice",
                        "--origin", "https://example.com")
    expect("a registration", status, 0)
    write("made.json", json.dumps(made).encode())
    from fido2.webauthn import AttestationObject

    text = made["credential"]["response"]["attestationObject"]
    leaf = AttestationObject(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))).att_stmt["x5c"][0]
    service = Service()
    root = write("root.der", der(service.root))
    for number, (what, listed, roots, wanted) in enumerate((
        ("a certified model", [{"status": "FIDO_CERTIFIED_L1", "effectiveDate": "2024-01-01"}], [leaf], 0),
        ("a revoked model", [{"status": "REVOKED", "effectiveDate": "2024-01-01"}], [leaf], 8),
        ("roots that do not vouch for it", [], [der(service.root)], 8),
    )):
        roots = [base64.b64encode(each).decode() for each in roots]
        blob = write("blob.jwt", service.sign(payload(aaguid, listed, number=number + 1, roots=roots)))
        status, answer = ykit("fido2", "verify", path("made.json"), "--metadata", blob, "--metadata-root", root, home="verify")
        expect(f"fido2 verify: {what}", (status, answer["verified"], answer["model"]["name"]),
               (wanted, wanted == 0, "Virtual key"))
    blob = write("blob.jwt", service.sign(payload("00" * 15 + "01", [], number=9)))
    status, answer = ykit("fido2", "verify", path("made.json"), "--metadata", blob, "--metadata-root", root, home="verify")
    expect("fido2 verify: a model that is not listed", (status, answer["verified"], answer["model"]["listed"]), (8, False, False))


def test_metadata():
    subprocess.run([YKIT, "virtual", "new", path("key.json")], check=True, capture_output=True, timeout=60)
    status, answer = ykit("--virtual", path("key.json"), "fido2", "info")
    aaguid = answer["aaguid"].replace("-", "")
    expect("the virtual key has an AAGUID", (status, len(aaguid)), (0, 32))
    agreement(aaguid)
    order(aaguid)
    reports(aaguid)
    registrations(aaguid)
