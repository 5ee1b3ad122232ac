# SPDX-License-Identifier: Apache-2.0
"""SecurID tokens exchanged between ykit and stoken in both directions, python-securid as a second reader, and the sealed
store.

YKIT is the ykit to test. YKIT_SECURID_TOKENS is the number of random tokens: 60, or with YKIT_TEST_ALL=1, as in
`tools/test all`, 200. Otherwise a program is also killed at a third of the system calls only.
"""

import json
import os
import pathlib
import random
import re
import subprocess
import sys
import time

from lib import terminal
from lib.peer import ROOT, YKIT, expect
from lib.securid_tool import WORK, access, at_once, import_, raw, sdtid, seed_of, shown, stoken, written, ykit, ykit_with

VECTORS = json.loads(pathlib.Path(f"{ROOT}/Tests/YKSecurIDTests/vectors/securid.json").read_text())["vectors"]
ALL = os.environ.get("YKIT_TEST_ALL") == "1"
COUNT = int(os.environ.get("YKIT_SECURID_TOKENS", "200" if ALL else "60"))


def test_vectors():
    for vector in VECTORS:
        store = f"{vector['id']}.json"
        source = written(f"{vector['id']}.token", vector["input"])
        answer, status = import_(source, store, vector["password"], vector["devid"], more=["--max", "1"])
        if "expect_error" in vector:
            code = vector["expect_error"].replace("_", "-")
            if code == "expired":
                answer, status = ykit("import", source, store=store + "2")
            expect(f"{vector['id']} is refused as {code}", (answer["error"] or {}).get("code"), code)
            continue
        wanted = vector["expect"]
        token = (answer.get("tokens") or [{}])[0]
        expect(f"{vector['id']} {vector['name']}",
               (token.get("serial"), token.get("digits"), token.get("interval"), token.get("expiry"), token.get("type") == "pinpad"),
               (wanted["serial"], wanted["digits"], wanted["interval"], wanted["expiration_date"], wanted["pin_folded"]))
        wrong = []
        for case in vector["codes"][:: max(1, len(vector["codes"]) // 8)]:
            pin = case["pin"]
            if pin is not None and not 4 <= len(pin) <= 8:
                continue
            words = ["code", "--time", str(case["time"]), "--allow-expired"] + (["--pin-stdin"] if pin else [])
            got, _ = ykit(*words, store=store, stdin=(pin or "") + "\n")
            if (got.get("code"), got.get("next"), got.get("secondsLeft")) != (case["tokencode"], case["next"], case["seconds_left"]):
                wrong.append((case, got))
        expect(f"{vector['id']} codes", wrong, [])
        exported(vector["id"], store, wanted["seed_hex"], wanted)


def exported(name, store, seed, wanted):
    """stoken reads what ykit writes: the string with password and device, and SDTID."""
    problems = []
    for form, password, device in (("url", None, None), ("url", "s3cret pw", "3eea958d96caa2538ccc8964"), ("sdtid", None, None),
                                   ("sdtid", "s3cret pw", None)):
        path = f"{WORK}/{name}.export"
        words = ["export", "--format", form, "--force", "--output", path]
        words += ["--scheme", "http"] if form == "url" else []
        words += ["--new-device-id", device] if device else []
        answer, status = ykit_with([("--new-password-fd", password)], *words, store=store)
        if status:
            problems.append((form, answer["error"]))
            continue
        out, err = stoken("show", "--seed", "--file", path, *access(password, device))
        fields = shown(out)
        seen = fields.get("Decrypted seed", "").replace(" ", "").lower()
        got = (fields.get("Serial number"), seen, fields.get("Tokencode digits"), fields.get("Seconds per tokencode"))
        if got != (wanted["serial"], seed, str(wanted["digits"]), str(wanted["interval"])):
            problems.append((form, password, got, err))
    expect(f"{name} exports are read by stoken", problems, [])


def test_random_tokens():
    """Tokens that stoken makes: imported by ykit in one form, exported in another, codes compared over a day."""
    seed = random.SystemRandom().randrange(1 << 32)
    chance = random.Random(seed)
    print(f"# random tokens of seed {seed}")
    day = 1700000000 // 86400 * 86400 + chance.randrange(3000) * 86400
    ways = [["--iphone"], ["--android"], ["--blocks"], ["--v3"], ["--sdtid"], []]
    # The times of all tokens together cover the day in equal steps.
    step = 86400 // (3 * COUNT)
    moments = [day + number * step + chance.randrange(step) for number in range(3 * COUNT)]
    chance.shuffle(moments)
    plans = [(number, ways[number % len(ways)], random.Random(chance.random()), moments[3 * number:3 * number + 3]) for number in range(COUNT)]
    ykit("store", "add-key", store="random.json")
    wrong = {"import": [], "codes": [], "pin": [], "back": [], "securid": []}
    compared = sum(at_once(lambda plan: random_token(*plan, wrong), plans))
    expect(f"{COUNT} random tokens of stoken are imported", wrong["import"], [])
    expect(f"their {compared} codes over a day are equal", wrong["codes"], [])
    expect("and with a PIN", wrong["pin"], [])
    expect("stoken reads them back, with passwords and device identifiers", wrong["back"], [])
    expect("python-securid reads the same seeds and makes the same codes", wrong["securid"], [])


def random_token(number, way, chance, moments, wrong):
    """Generates one token, and compares its codes at several times; returns their number."""
    password = chance.choice([None, f"pw{chance.randrange(10000):04} ok"])
    device = chance.choice([None, f"{chance.getrandbits(96):024x}"]) if way != ["--sdtid"] else None
    digits, interval, pins = chance.choice([6, 8]), chance.choice([30, 60]), chance.choice([0, 1])
    template = written(f"template{number}.xml", f"""<?xml version="1.0"?><TKNBatch><TKNHeader><DefDeath>2036/12/31</DefDeath>
<DefDigits>{digits}</DefDigits><DefInterval>{interval}</DefInterval><DefAddPIN>{pins}</DefAddPIN><DefLocalPIN>{pins}</DefLocalPIN>
</TKNHeader><TKN></TKN></TKNBatch>""")
    path = written(f"random{number}.sdtid", stoken("issue", "--template", template)[0] + "\n")
    words = ["export", "--file", path, *way] + (["--new-password", password] if password else []) + (["--new-devid", device] if device else [])
    text, problem = stoken(*words)
    source = written(f"random{number}.token", text + "\n")
    answer, status = import_(source, "random.json", password, device, more=["--max", str(COUNT)])
    if status:
        wrong["import"].append((way, answer["error"], problem))
        return 0
    serial = answer["serial"]
    pin = chance.choice(["1234", "00000007", "987654"])
    for moment in moments:
        def peer(pin):
            return stoken("tokencode", "--file", source, *access(password, device), "--pin", pin, "--use-time", str(moment), "--force")[0]
        words = ["code", serial, "--time", str(moment)]
        got = ykit(*words, store="random.json")[0].get("code")
        plain = peer("0000")
        if got != plain:
            wrong["codes"].append((way, moment, got, plain))
        added = ykit_with([("--pin-fd", pin)], *words, store="random.json")[0].get("code") or ""
        if (added if pins else added[len(pin):]) != peer(pin):
            wrong["pin"].append((way, moment, added, plain, pin))
    exported_back(number, serial, chance, moments[0], wrong)
    return len(moments)


def exported_back(number, serial, chance, moment, wrong):
    """Exports a token in a format that stoken and python-securid have to read."""
    back = f"{WORK}/back{number}.txt"
    form = ["url", "sdtid"][number % 2]
    password = chance.choice([None, f"new {chance.randrange(10000):04}"])
    device = chance.choice([None, f"{chance.getrandbits(96):024x}"])
    words = ["export", serial, "--format", form, "--scheme", "http", "--force", "--output", back]
    done, status = ykit_with([("--new-password-fd", password)], *words, *(["--new-device-id", device] if device else []), store="random.json")
    opened = access(password, device if form == "url" else None)
    read, problem = stoken("tokencode", "--file", back, *opened, "--pin", "0000", "--use-time", str(moment), "--force")
    got = ykit("code", serial, "--time", str(moment), store="random.json")[0].get("code")
    if status or not got or read != got:
        wrong["back"].append((form, done, read, problem, got))
    if form == "sdtid" and not password and number % 5 == 1:
        second, first = second_reader(back, moment), f"{seed_of(back)} {got}"
        if second != first:
            wrong["securid"].append((second, first))


def second_reader(path, moment):
    """The seed that python-securid reads from an SDTID file and its code, in a separate interpreter."""
    # Python 3.9 removed the old name of ElementTree, which python-securid imports.
    program = ("import sys, xml.etree, xml.etree.ElementTree as tree\nxml.etree.cElementTree = sys.modules['xml.etree.cElementTree'] = tree\n"
               "from securid.sdtid import SdtidFile\ntoken = SdtidFile(sys.argv[1]).get_token()\nprint(token.seed.hex(), token.at(int(sys.argv[2])))")
    done = subprocess.run([sys.executable, "-c", program, path, str(moment)], capture_output=True, text=True)
    return done.stdout.strip() or done.stderr[-200:]


def test_stores():
    """Two keys, a spare, an unknown key; PIV; a passphrase; flipped bits; a program that is killed."""
    token = written("plain.token", VECTORS[0]["input"])
    answer, status = ykit("import", token, store="sealed.json")
    expect("the first import makes the store", (status, oct(os.stat(f"{WORK}/sealed.json").st_mode & 0o777)), (0, "0o600"))
    expect("the seed is not in the file", VECTORS[0]["expect"]["seed_hex"] in pathlib.Path(f"{WORK}/sealed.json").read_text(), False)
    answer, status = ykit("import", token, store="sealed.json")
    expect("a duplicate is told with its serial number", (status, answer["error"]["code"], answer["serial"]),
           (1, "duplicate", VECTORS[0]["expect"]["serial"]))
    case = VECTORS[0]["codes"][0]
    words = ["code", "--time", str(case["time"])]
    raw("virtual", "new", f"{WORK}/spare.json")
    answer, status = ykit(*words, store="sealed.json", key="spare.json")
    expect("another key opens nothing", (status, answer["error"]["code"]), (8, "store-key"))
    answer, status = ykit("store", "add-key", "--from", f"{WORK}/key.json", "--key-name", "spare", store="sealed.json", key="spare.json")
    expect("a spare key is added", (status, answer.get("keyCount")), (0, 2))
    answer, status = ykit(*words, store="sealed.json", key="spare.json")
    expect("the spare key opens the store", (status, answer.get("code")), (0, case["tokencode"]))
    answer, status = ykit("store", "remove-key", "spare", "--force", store="sealed.json")
    answer, status = ykit(*words, store="sealed.json", key="spare.json")
    expect("a removed key opens nothing", (status, answer["error"]["code"]), (8, "store-key"))
    flipped_bits(words)
    killed()
    passphrase(token, case)
    slots(token, case)


def flipped_bits(words):
    whole = pathlib.Path(f"{WORK}/sealed.json").read_bytes()
    start = whole.index(b'"records"')
    accepted = []
    chance = random.Random(1)
    places = [(place, 1 << chance.randrange(8)) for place in range(start, len(whole) - 2)]
    for place, bit in chance.sample(places, min(60, len(places))):
        changed = bytearray(whole)
        changed[place] ^= bit
        pathlib.Path(f"{WORK}/flipped.json").write_bytes(changed)
        answer, status = ykit(*words, store="flipped.json")
        if status == 0:
            accepted.append((place, bit, bytes(changed[place - 20:place + 20])))
    expect("records with a flipped bit are refused", accepted, [])


def killed():
    """A program killed between lock and end leaves either the old store or the new one."""
    path, trace = f"{WORK}/sealed.json", f"{WORK}/trace"
    serial = VECTORS[0]["expect"]["serial"]

    def renamed(name, *options):
        subprocess.run(["strace", "-f", "-o", trace, *options, YKIT, "--virtual", f"{WORK}/key.json", "securid", "rename", serial, name,
                        "--store", path], capture_output=True)
        answer, status = ykit("list", store="sealed.json")
        return status, [token["nickname"] for token in answer["tokens"] or []]

    expect("a name is given", renamed("name 0"), (0, ["name 0"]))
    calls, counts, inside = [], {}, False
    for process, call, rest in re.findall(r"^(\d+) +([a-z0-9_]+)\((.*)", pathlib.Path(trace).read_text(), re.M):
        counts[process, call] = counts.get((process, call), 0) + 1
        inside = inside or f"{path}.lock" in rest
        if inside and call != "exit_group":
            calls.append((call, counts[process, call]))
    broken, seen, last = [], set(), ["name 0"]
    tried = calls if ALL else calls[::3]
    for number, (call, count) in enumerate(tried, 1):
        status, names = renamed(f"name {number}", "-e", f"inject={call}:signal=KILL:when={count}")
        seen.add(names == [f"name {number}"])
        if status or names not in ([f"name {number}"], last):
            broken.append((call, count, status, names))
        last = names
    expect(f"the store is whole when killed at {len(tried)} of {len(calls)} calls", broken, [])
    expect("with the old content or the new", (len(calls) > 20, seen), (True, {True, False}))
    answer, status = ykit("code", store="sealed.json")
    expect("and opens", status, 0)
    for call in ("write", "fsync", "rename"):
        before = pathlib.Path(path).read_text()
        count = next(count for name, count in calls if name == call)
        subprocess.run(["strace", "-f", "-o", trace, "-e", f"inject={call}:error=ENOSPC:when={count}", YKIT, "--virtual", f"{WORK}/key.json",
                        "securid", "rename", serial, f"no {call}", "--store", path], capture_output=True)
        expect(f"the store is unchanged when {call} fails", pathlib.Path(path).read_text(), before)
    expect("nothing is left beside it", [name for name in os.listdir(WORK) if ".new-" in name], [])


def passphrase(token, case):
    words = ["--store", f"{WORK}/soft.json", "--software"]
    environment = {"YKIT_STORE_PASSPHRASE": "correct horse"}
    done = raw("--json", "securid", "import", token, *words, environment=environment)
    expect("a passphrase seals under --software", done.returncode, 0)
    done = raw("--json", "securid", "code", "--time", str(case["time"]), *words, environment=environment)
    expect("the passphrase opens it", json.loads(done.stdout)["code"], case["tokencode"])
    done = raw("--json", "securid", "code", *words, environment={"YKIT_STORE_PASSPHRASE": "wrong"})
    expect("another does not", (done.returncode, json.loads(done.stdout)["error"]["code"]), (8, "wrong-passphrase"))
    done = raw("--json", "--virtual", f"{WORK}/key.json", "securid", "code", "--store", f"{WORK}/soft.json")
    expect("nor does a key", (done.returncode, json.loads(done.stdout)["error"]["code"]), (15, "software-store"))


def slots(token, case):
    os.environ["YKIT_PIN"] = "123456"
    for kind in ("ecc-p256", "rsa2048"):
        raw("virtual", "new", f"{WORK}/{kind}.json")
        raw("--virtual", f"{WORK}/{kind}.json", "piv", "keys", "generate", "9d", "--algorithm", kind, f"{WORK}/{kind}.pem")
        answer, status = ykit("import", token, "--slot", "9d", store=f"{kind}-store.json", key=f"{kind}.json")
        expect(f"a PIV slot with {kind} seals", (status, (answer["error"] or {}).get("message")), (0, None))
        answer, status = ykit("code", "--time", str(case["time"]), store=f"{kind}-store.json", key=f"{kind}.json")
        expect(f"and opens with {kind}", (status, answer.get("code")), (0, case["tokencode"]))
        answer, status = ykit("code", store=f"{kind}-store.json", key="spare.json")
        expect(f"another key does not open {kind}", status, 8)
    del os.environ["YKIT_PIN"]


def test_batches():
    """Files with several tokens."""
    base = written("batch.sdtid", next(v["input"] for v in VECTORS if v["id"] == "dev-12"))
    answer = json.loads(raw("--json", "securid", "detect", base).stdout)
    expect("a file is detected", (answer["form"], answer["serials"]), ("sdtid", ["051351542239"]))
    text = pathlib.Path(base).read_text()
    start, end = text.index("<TKN>"), text.index("</TKN>") + len("</TKN>")
    several = text[:end] + text[start:end].replace("051351542239", "000000000001") + text[end:]
    answer, status = ykit("import", written("several.sdtid", several), store="several.json")
    expect("several tokens ask for a choice", (status, answer["error"]["code"], [one["name"] for one in answer["error"].get("candidates", [])]),
           (4, "several-tokens", ["051351542239", "000000000001"]))
    answer, status = ykit("import", f"{WORK}/several.sdtid", "--serial", "051351542239", store="several.json")
    expect("one of them is imported", (status, answer.get("serial")), (0, "051351542239"))
    answer, status = ykit("import", f"{WORK}/several.sdtid", "--serial", "000000000001", store="several.json")
    expect("an altered one is refused", (status, answer["error"]["code"]), (13, "mac"))


def test_shapes():
    """SDTID files of every shape, made from the description of the format: stoken and ykit calculate the same codes."""
    seed, moment = bytes(range(40, 56)), 1790000000
    one = ("000123456789", seed)
    pin = [("DefAddPIN", "1"), ("DefLocalPIN", "1")]
    attributes = ("TokenAttributes", [("DeviceSerialNumber", "3eea958d96caa2538ccc8964"), ("Nickname", "a & <b>")])
    death = ("DefDeath", "2036/12/31")
    plain = sdtid([one])
    files = {
        "no more than a day": plain, "fields in the header": sdtid([one], header=[death, ("DefDigits", "8"), ("DefInterval", "30"), *pin]),
        "fields in the token": sdtid([(*one, [("Death", "2036/1/5"), ("Digits", "8"), ("Interval", "30"), ("AddPIN", "1")])], header=[]),
        "a user and attributes": sdtid([(*one, [("UserFirstName", " "), ("UserLastName", "Zoë"), ("UserLogin", ""), attributes])]),
        "short lines": sdtid([(*one, [(name, "1") for name in "ABCDEFGH"])]), "empty elements": sdtid([(*one, [("A", ""), ("B", ""), ("C", " ")])]),
        "long names": sdtid([one], origin="o" * 50, dest="d" * 50, name="n" * 50),
        "names with spaces": sdtid([one], origin=" o p ", dest="\td\n", name=" n "),
        "CRLF": plain.replace("\n", "\r\n"), "comments": plain.replace("<SN>", "<!-- serial --><SN><!-- number -->"),
        "a declared encoding": plain.replace('"1.0"', '"1.0" encoding="UTF-8"'), "attributes": plain.replace("<TKN>", '<TKN id="1" x="2">'),
        "CDATA": plain.replace("<Origin>Origin<", "<Origin><![CDATA[Origin]]><"), "references": plain.replace("<Dest>Dest<", "<Dest>&#68;e&#x73;t<"),
        "a namespace": plain.replace("<TKNBatch>", '<TKNBatch xmlns="urn:x">'), "text in front": "To: you\n\n" + plain,
        "a prefix": re.sub("<(/?)(?=[A-Z])", r"<\1r:", plain).replace("<r:TKNBatch>", '<r:TKNBatch xmlns:r="urn:x">'),
        "a password": sdtid([one], password="p&w <1>"), "a long password": sdtid([one], password="p" * 36),
    }
    for name, text in files.items():
        password = "p&w <1>" if name == "a password" else "p" * 36 if name == "a long password" else None
        source = written(f"{name}.sdtid", text)
        answer, status = import_(source, f"{name}.json", password)
        got = ykit("code", "--time", str(moment), store=f"{name}.json")[0].get("code")
        peer, problem = stoken("tokencode", "--file", source, *access(password, None), "--pin", "0000", "--use-time", str(moment), "--force")
        expect(f"SDTID with {name}", (status, got or answer["error"]), (0, peer or problem))
    bound = f"{WORK}/a user and attributes.sdtid"
    answer, status = import_(bound, "bound.json", device="112233445566778899aabbcc")
    expect("a token for another device is refused", (status, answer["error"]["code"]), (15, "bound-elsewhere"))
    answer, status = import_(bound, "bound.json")
    expect("without an identifier it is told", (status, [w["message"] for w in answer["warnings"] if "names the device" in w["message"]]),
           (0, ["token 000123456789 names the device 3eea958d96caa2538ccc8964"]))
    own = ykit("binding-id", store="own.json")[0]["bindingId"]
    mine = sdtid([(*one, [("TokenAttributes", [("DeviceSerialNumber", own)])])])
    answer, status = import_(written("own.sdtid", mine), "own.json")
    expect("a token for this device needs no word", (status, [w for w in answer["warnings"] if "device" in w["message"]]), (0, []))
    eleven = sdtid([(f"{number:012}", seed) for number in range(11)])
    answer, status = import_(written("eleven.sdtid", eleven), "eleven.json", more=["--all"])
    expect("the eleventh token is refused", (status, answer["error"]["code"]), (15, "too-many"))
    answer, status = import_(f"{WORK}/eleven.sdtid", "eleven.json", more=["--all", "--max", "11"])
    expect("unless it is allowed", (status, len(ykit("list", store="eleven.json")[0]["tokens"])), (0, 11))
    forbidden = plain.replace("<TKNBatch>", "<!DOCTYPE TKNBatch [<!ENTITY x 'y'>]><TKNBatch>", 1)
    answer, status = import_(written("doctype.sdtid", forbidden), "doctype.json")
    expect("a document type is refused", (status, answer["error"]["code"]), (13, "format"))


def test_thousand():
    """A file with many tokens, read in linear time and little memory, with progress on a terminal."""
    def measured(count):
        tokens = [(f"{number:012}", os.urandom(16), [("UserLogin", f"user{number}"), ("UserFirstName", "First"), ("UserLastName", "Last")])
                  for number in range(count)]
        source = written(f"{count}.sdtid", sdtid(tokens, password="many"))
        words = [YKIT, "--virtual", f"{WORK}/key.json", "securid", "import", source, "--all", "--max", str(count), "--store", f"{WORK}/{count}.json"]
        # A child of this program would inherit its peak of memory.
        started = time.perf_counter()
        done = subprocess.run(["time", "-o", f"{WORK}/peak", "-f", "%M", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              env={**os.environ, "YKIT_SECURID_PASSWORD": "many"})
        seconds = time.perf_counter() - started
        expect(f"{count} tokens are imported", (done.returncode, done.stdout.count("imported token")), (0, count))
        return seconds, int(pathlib.Path(f"{WORK}/peak").read_text()) / 1024

    few, many = measured(250), measured(1000)
    # The kernel maps pages of the program beside those that are used, now more and now fewer: the least of three runs.
    for _ in range(2):
        os.remove(f"{WORK}/1000.json")
        many = (many[0], min(many[1], measured(1000)[1]))
    print(f"# 250 tokens {few[0] * 1000:.0f} ms, 1,000 tokens {many[0] * 1000:.0f} ms, {many[1]:.1f} MiB")
    # Four times the tokens; a busy machine may take three times that.
    expect("in linear time", many[0] < 12 * few[0])
    if "debug" not in os.environ.get("YKIT_REAL", YKIT):
        expect("in 25 MiB", many[1] <= 25)
    answer, status = ykit("list", store="1000.json")
    expect("and listed", (status, len(answer["tokens"]), answer["tokens"][-1]["user"]), (0, 1000, "user999"))
    drawn = subprocess.run(["script", "-qec", f"{YKIT} --virtual {WORK}/key.json securid import {WORK}/1000.sdtid --all --max 1000"
                            f" --store {WORK}/shown.json", "/dev/null"], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                           env={**os.environ, "YKIT_SECURID_PASSWORD": "many", "TERM": "xterm"}).stdout
    expect("with progress", "reading the tokens: 500 of 1000" in drawn)


def test_pictures():
    url = VECTORS[3]["input"]
    path = f"{WORK}/code.png"
    subprocess.run(["qrencode", "-o", path, url], check=True)
    answer, status = import_(path, "qr.json", VECTORS[3]["password"])
    expect("a QR picture is imported", (status, answer.get("serial")), (0, VECTORS[3]["expect"]["serial"]))
    out = f"{WORK}/out.png"
    answer, status = ykit("export", "--qr", "--force", "--output", out, store="qr.json")
    read = subprocess.run(["zbarimg", "-q", "--raw", out], capture_output=True, text=True).stdout.strip()
    shownAs = shown(stoken("show", "--seed", "--token", read.replace("com.rsa.securid://ctf", "http://127.0.0.1/securid/ctf"))[0])
    expect("and drawn", shownAs.get("Decrypted seed", "").replace(" ", "").lower(), VECTORS[3]["expect"]["seed_hex"])


def test_stokenrc():
    rc = f"{WORK}/stokenrc"
    stoken("import", "--rcfile", rc, "--token", VECTORS[0]["input"], "--force", "--new-password", "")
    answer, status = ykit("import", rc, store="rc.json")
    expect("a .stokenrc is imported", (status, answer.get("serial"), answer.get("form")), (0, VECTORS[0]["expect"]["serial"], "stokenrc"))
    with open(rc, "a") as file:
        file.write("pin 98765432\n")
    answer, status = ykit("import", rc, store="pin.json")
    expect("its PIN is not, which is said", (status, "pin-not-imported" in [w["code"] for w in answer["warnings"]]), (0, True))
    expect("and not kept", "98765432" in pathlib.Path(f"{WORK}/pin.json").read_text(), False)


def test_article():
    """The article's commands, typed on a terminal unchanged except for --virtual."""
    text = pathlib.Path(f"{ROOT}/Sources/ykit/ykit.docc/SecurID.md").read_text()
    block = re.search(r"```\n(.*?)```", text, re.S)[1]
    commands = re.findall(r"^\$ ykit (.*)$", block, re.M)
    expect("the article begins with an import and a code", commands, ["securid import token.sdtid", "securid code"])
    home = f"{WORK}/article"
    os.mkdir(home)
    seed = bytes.fromhex("3db3635fca3061d864f340f7c6873aa2")
    with open(f"{home}/token.sdtid", "w") as out:
        out.write(sdtid([("051351542239", seed)], password="from the administrator"))
    environment = {**os.environ, "HOME": home, "XDG_DATA_HOME": home, "TERM": "xterm", "NO_COLOR": "1"}
    started = time.monotonic()
    for command, lines in zip(commands, (["password of the token:", "imported token 051351542239"], [r"\d{6}"]), strict=False):
        wanted = re.findall(r"^(?!\$ )(.+)$", block.split(f"$ ykit {command}\n")[1].split("$ ykit")[0], re.M)
        expect(
            f"what the article shows for '{command}'", [bool(re.search(line, shown)) for line, shown in zip(lines, wanted, strict=False)], [True] * len(lines)
        )
        with terminal.Terminal([YKIT, "--virtual", f"{WORK}/key.json", *command.split()], environment, home) as typed:
            if "import" in command:
                typed.expect("password of the token:")
                for _ in range(100):
                    if typed.echoes:
                        typed.read(0.05)
                typed.type("from the administrator\n")
            place = typed.expect(lines[-1] + "\r")
            expect(f"'{command}' prints it", (typed.wait(), place is not None), (0, True))
            expect("and no password", b"administrator" in typed.seen, False)
    expect("the first code comes within a minute", time.monotonic() - started < 60)
