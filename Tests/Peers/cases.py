# SPDX-License-Identifier: Apache-2.0
"""Inputs that people met with other programs, each with what ykit must make of it: exports, pictures, WebAuthn responses,
metadata lists, key files, recordings of foreign firmware. Nothing of an input is left out unsaid, one odd entry never decides for its neighbours, and what is
right is accepted.

YKIT is the ykit to test.
"""

import json
import os
import shutil

import pytest

from lib.peer import ROOT, YKIT, expect
from lib.piv_bench import FOLDER, path, run

CASES = f"{ROOT}/Tests/Fixtures/cases"
SHOP = ("--rp", "shop.example", "--origin", "https://shop.example", "--challenge", "AAAA")
SITE = ("--rp", "example.com", "--origin", "https://example.com",
        "--challenge", "cYTR0tPc39dugevtbwYy75oqSMVgmgWSZuCBhBud9iQ")


@pytest.fixture(autouse=True)
def inputs():
    """The inputs in the folder of the test, and no key or store of an earlier one."""
    for name in os.listdir(FOLDER):
        if name.endswith((".json", ".state")):
            os.remove(path(name))
    shutil.copytree(CASES, FOLDER, dirs_exist_ok=True)


def ykit(*words, status=0, **variables):
    """What ykit answers, after its exit status was checked."""
    for name, value in variables.items():
        os.environ[name] = value
    try:
        got, output = run(YKIT, *words)
    finally:
        for name in variables:
            del os.environ[name]
    expect(f"{' '.join(words[:9])}: {status}", got == status or f"{got}: {output.strip()[-700:]}")
    return output


def says(output, *texts, never=()):
    for text in texts:
        expect(f"says {text!r}", text in output or output[-700:])
    for text in never:
        expect(f"does not say {text!r}", text not in output or output[-700:])


def imported(file, *words, status=0, names=(), **variables):
    """The accounts that an import adds to an empty key."""
    output = ykit("--virtual", "k.json", "oath", "import", "-y", file, *words, status=status, **variables)
    listed = ykit("--virtual", "k.json", "oath", "list").splitlines()
    expect(f"{file}: accounts", sorted(line.split("  ")[0].strip() for line in listed), sorted(names))
    return output


# Accounts.

def test_csv_without_quotes():
    imported("codes/bitwarden-authenticator-comma/authenticator_export.csv",
             names=["GitHub:bob", "Foo, Inc.:eve", "Zed:zoe"])


def test_row_without_its_columns():
    with open(path("table.csv"), "w") as file:
        file.write("name,login_uri,login_password,login_totp\nAcme,https://a,pw,JBSWY3DPEHPK3PXP\n"
                   "Foo, Inc.,https://b,JBSWY3DPEHPK3PXP,KRSXG5CTMVRXEZLU\nBare\n")
    output = imported("table.csv", status=13, names=["Acme"])
    says(output, "row 3", "row 4", "5 fields")


def test_zip_of_two_exports():
    imported("codes/zip-of-two-exports/both.zip", names=["GitHub:bob", "Shop:eve"])


def test_names():
    imported("codes/bitwarden-null-name/authenticator_export.json", names=["GitHub"])


def test_one_odd_byte():
    imported("codes/odd-text/byte.txt", names=["Größe:a", "café:b"])


def test_half_a_surrogate():
    imported("codes/odd-text/surrogate.json", names=["GitHub:abc\ufffd", "Shop:Müller"])


def test_twice():
    says(imported("codes/import-same-twice/list.txt", names=["GitHub:bob"]), "occurs twice")


def test_names_that_begin_alike():
    imported("codes/import-prefix-name/list.txt", names=["GitHub:bobby", "GitHub:bob"])


def test_base32_of_any_length():
    imported("codes/base32-length/accounts.2fas", names=["Club:ana"])


def test_proton_pass():
    imported("codes/proton-pass-csv/pass.csv", "--column", "totp",
             names=["Google:alice@example.com", "Google:bob@example.com"])


def test_tables():
    imported("codes/csv-header/sep.csv", "--column", "Secret", names=["GitHub:bob"])
    os.remove(path("k.json"))
    imported("codes/csv-header/keepass2.csv", "--column", "6", names=["GitHub:bob"])
    os.remove(path("k.json"))
    output = ykit("--virtual", "k.json", "oath", "import", "-y", "codes/csv-header/hint.csv", status=2)
    says(output, "--column OTP")


def test_2fauth_uris():
    imported("codes/2fauth-otpauth/export.json", names=["GitHub:bob"])


def test_freeotp_of_android_6():
    imported("codes/freeotp2-api23/externalBackup.xml", names=["GitHub:bob"], YKIT_FILE_PASSWORD="test-password")


# Pictures.

@pytest.mark.skipif(shutil.which("zbarimg") is None, reason="zbar-tools is not installed")
def test_pictures():
    imported("codes/qr-transparent/qr.png", names=["Acme:alice"])
    os.remove(path("k.json"))
    imported("codes/qr-one-inverted/qr.png", names=["Acme:alice", "Bolt:bob"])
    os.remove(path("k.json"))
    says(ykit("--virtual", "k.json", "oath", "import", "-y", "codes/qr-eci/qr.png"), "is not UTF-8")


# SecurID.

def test_mail_with_two_tokens():
    mail, place = "codes/securid-two-tokens/mail.txt", ("--store", "s.json", "--software")
    says(ykit("securid", "import", mail, *place, status=4, YKIT_STORE_PASSPHRASE="x"), "2 tokens", "--serial", "--all")
    ykit("securid", "import", mail, *place, "--all", YKIT_STORE_PASSPHRASE="x")
    expect("both are in the store", len(json.loads(ykit("--json", "securid", "list", "--store", "s.json"))["tokens"]), 2)


# One-time passwords and passwords.

def test_dvorak():
    typed, otp = "jjjjjjtkexipehbueckdbnbd.hx.ntgxbettpieghgyk", "cccccckvdbgrdjnfdivhnlnhejbelkubndkkrgdujutv"
    expect("the same as in QWERTY", json.loads(ykit("--json", "otp", "parse", typed)), json.loads(ykit("--json", "otp", "parse", otp)))


# What a relying party checks.

def verified(folder, *words, file="registration.json"):
    return json.loads(ykit("--json", "fido2", "verify", f"{folder}/{file}", *words))


def refused(folder, reason, *words, file="registration.json"):
    says(ykit("fido2", "verify", f"{folder}/{file}", *words, status=8), reason)


def test_pages_in_frames():
    refused("cards/verify-embedded", "embedded", *SHOP)
    refused("cards/verify-embedded", "embedded", *SHOP, "--registration", "cards/verify-embedded/registration.json",
            file="assertion.json")
    refused("codes/verify-cross-origin", "embedded", *SITE)
    expect("allowed by name", verified("cards/verify-embedded", *SHOP, "--top-origin", "https://frame.example")["notChecked"], [])


def test_counters():
    refused("cards/verify-record", "counter went from 10 to 3", *SHOP, "--registration", "cards/verify-record/registration.json",
            file="assertion-counter.json")
    refused("codes/verify-counter", "counter went from 100 to 50", *SITE, "--registration",
            "codes/verify-counter/registration.json", file="assertion.json")
    skipped = verified("codes/verify-public-key-pss", *SITE, "--public-key", "codes/verify-public-key-pss/public.pem",
                       file="assertion.json")["notChecked"]
    expect("named without a registration", {"counter", "backup eligibility"} <= set(skipped))


def test_origins_of_apps():
    folder, origin = "codes/verify-android-origin", "android:apk-key-hash:sjYxqUM11Op8oHJuOdbrsCqtvYvbKHhQoKBlt28dLec"
    expect("compared as it is", verified(folder, "--rp", "example.com", "--origin", origin)["origin"], origin)
    refused(folder, "it comes from", "--rp", "example.com", "--origin", "android:apk-key-hash:other")
    says(ykit("fido2", "verify", f"{folder}/registration.json", status=2), "--rp")


def test_algorithms():
    folder = "codes/verify-public-key-mldsa"
    verified(folder, "--rp", "example.com", "--public-key", f"{folder}/key.pem", file="assertion.json")
    refused("codes/eddsa-ed448", "its type or curve", *SITE)


def test_sha1_only_if_allowed():
    refused("codes/tpm-rs1", "--allow-sha1", *SITE)
    expect("allowed", verified("codes/tpm-rs1", *SITE, "--allow-sha1")["format"], "tpm")


def test_every_origin_of_android():
    refused("codes/android-origin-list", "not made in the key store", *SITE)


def test_libfido2():
    says(ykit("fido2", "verify", "--format", "libfido2", "codes/libfido2-none-with-signature/cred", status=13), "none")


def test_byte_order_mark():
    verified("codes/bom-json")


def test_options_of_a_site():
    ykit("--virtual", "k.json", "fido2", "register", "--origin", "https://example.com",
         "--options", "codes/options-alg-string/options.json")


# The list of models.

def model(folder, root, file="blob.jwt", status=0):
    return ykit("--virtual", "k.json", "info", "--metadata", f"{folder}/{file}", "--metadata-root", f"{folder}/{root}",
                status=status)


def test_lists():
    says(model("codes/mds-same-date", "root.pem"), "level 2", "FIDO20020249999001")
    says(model("codes/mds-odd-entry", "new.pem"), "not in the metadata list")
    says(model("cards/mds-one-bad-entry", "root.pem", "list.jwt"), "level 1")
    model("codes/mds-root-r46", "new.pem")
    says(model("codes/mds-root-r46", "old.pem", status=8), "metadata list", never=["attestation"])


def test_self_attestation():
    folder = "codes/mds-attestation-types"
    found = verified(folder, "--metadata", f"{folder}/blob.jwt", "--metadata-root", f"{folder}/root.pem")
    expect("self", found["trust"], "self")


# Keys and certificates.

def test_key_files():
    ykit("--virtual", "k.json", "piv", "keys", "import", "82", "cards/p12-pbmac1/p12-pbmac1.p12", "-f", YKIT_FILE_PASSWORD="secret")
    says(ykit("--virtual", "k.json", "piv", "keys", "import", "82", "cards/p12-pbmac1/p12-pbmac1.p12", "-f", status=8,
              YKIT_FILE_PASSWORD="other"), "wrong password")
    for name in ["ed-v2.pem", "ec-v2.pem"]:
        ykit("--virtual", "k.json", "piv", "keys", "import", "9a", f"cards/pkcs8-v2/{name}", "-f")
    says(ykit("--virtual", "k.json", "piv", "keys", "import", "9c", "cards/rsa-inconsistent/badn.pem", "-f", status=13), "primes")
    ykit("--virtual", "k.json", "piv", "keys", "import", "9a", "cards/openssh-key-comment/e-pad16", "-f")


def test_certificates():
    ykit("--virtual", "k.json", "piv", "certificates", "import", "9d", "cards/trusted-certificate/c-trusted.pem", "-f")
    for name in ["c-ku-bool1.pem", "c-utc-nosec.pem"]:
        ykit("--virtual", "k.json", "piv", "certificates", "import", "9d", f"cards/cert-lax-der/{name}", "-f")
    found = ykit("--json", "--virtual", "k.json", "piv", "certificates", "import", "9d", "cards/san-not-ascii/c-sanidn.pem", "-f")
    says(found, "xC3", "ok.example" if "ok.example" in found else "example")


# SSH, age and LUKS.

def test_ssh():
    folder = "cards/ssh-webauthn"
    says(ykit("ssh", "verify", f"{folder}/m", "--signature", f"{folder}/web.sig", "--allowed-signers", f"{folder}/web.signers",
              "--identity", "me@example.com"), "good signature")
    with open(path("changed"), "w") as file:
        file.write("another text")
    ykit("ssh", "verify", "changed", "--signature", f"{folder}/web.sig", "--allowed-signers", f"{folder}/web.signers",
         "--identity", "me@example.com", status=8)


def test_ssh_downloads():
    shutil.copy(f"{CASES}/cards/ssh-download-names/key.json", path("k.json"))
    os.makedirs(path("keys"), exist_ok=True)
    ykit("--virtual", "k.json", "ssh", "download", "-o", "keys", YKIT_PIN="123456")
    names = {name.removeprefix("id_ed25519_sk_rk_") for name in os.listdir(path("keys")) if not name.endswith(".pub")}
    expect("a file for each", names, {"u ser", "v ser", "日本", "Jürgen", "alice@x", "root+1"})


def test_luks_tokens():
    shutil.copy(f"{CASES}/cards/fido2-secret-token/uk.json", path("k.json"))
    says(ykit("--virtual", "k.json", "fido2", "secret", "--token", "cards/fido2-secret-token/bad-salt.json", "-o", "secret",
              YKIT_PIN="654321"), "a token is skipped")


# Two keys.

def test_comparisons():
    for name in ["first", "second"]:
        ykit("--virtual", f"{name}.json", "oath", "import", "-y", f"codes/compare-other-name/{name}.txt")
    says(ykit("compare", "first.json", "second.json", "--no-files"), "same secret as")
    ykit("compare", "first.json", "second.json", "--no-files", "--exit-status", status=12)


def test_slots():
    for name in ["a", "b"]:
        ykit("--virtual", f"{name}.json", "otp", "chalresp", "2", "--force", YKIT_OTP_KEY="000102030405060708090a0b0c0d0e0f10111213")
    ykit("--virtual", "a.json", "otp", "chalresp", "1", "--force", YKIT_OTP_KEY="ffeeddccbbaa99887766554433221100ffeeddcc")
    found = json.loads(ykit("--json", "compare", "a.json", "b.json", "--no-files"))
    slots = {item["target"]: item["verdict"] for item in found["items"] if item["kind"] == "otp"}
    expect("slots", slots, {"slot 1": "missing", "slot 2": "same"})


# Foreign firmware, as recorded: what a verb says now. A recording ends where ykit now sends something else (14).

def replayed(file, *words, status, text=None, mode="lookup"):
    got, output = run(YKIT, "--replay-mode", mode, "--replay", f"firmwares/{file}.jsonl", *words, text=text)
    expect(f"{file}: {status}", got == status or f"{got}: {output.strip()[-700:]}")
    return output


def test_bytes_after_an_atr():
    ykit("capture", "check", "firmwares/atr-leftover/info.jsonl")


def test_only_u2f():
    says(replayed("info-says-fido2-for-u2f/info", "info", status=0), "FIDO U2F", "whether the key has FIDO2", never=["FIDO U2F, FIDO2"])


def test_reset_that_is_refused_at_its_end():
    says(replayed("pivapplet-reset-6f00/reset", "piv", "reset", "-f", status=1, mode="strict"),
         "tries of the PIN and the PUK are used up", never=["may be reset"])


def test_openpgp_of_a_neo():
    # The recording has no answer to the question for the applet's version, from 1.0.6 of which on there is a reset.
    replayed("neo-openpgp-reset/reset", "openpgp", "reset", "-f", status=11)


def test_le_that_means_no_bytes():
    says(replayed("pyopenpgp-get-response-le/pinfo", "openpgp", "info", status=14), never=["keeps announcing"])


@pytest.mark.parametrize("card", ["smartpgp", "gnuk"])
def test_derivation_that_was_left_half_done(card):
    says(replayed(f"{card}-set-kdf-half-done/set-kdf", "openpgp", "access", "set-kdf", "on", "-f", "--admin-pin-stdin",
                  "--new-pin-stdin", "--new-admin-pin-stdin", status=14, text="12345678\n654321\n87654321\n"),
         "the change is not complete")


def test_gnuk_under_a_derivation():
    for file, words in [("gnuk-delete-key/delete-signature", ["keys", "delete", "signature", "-f"]),
                        ("gnuk-adminless-tries/chadm", ["access", "change-admin-pin", "--new-admin-pin-stdin"]),
                        ("gnuk-adminless-tries/rstcode", ["access", "set-reset-code", "--reset-code-stdin"])]:
        says(replayed(file, "openpgp", *words, "--admin-pin-stdin", status=14, text="1357911131\n12345678\n"),
             never=["tries are left", "6f00"])
