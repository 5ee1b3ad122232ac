# SPDX-License-Identifier: Apache-2.0
"""What must hold before a release is built. Each check yields what is wrong, with what to do."""
import datetime
import json
import os
import re
import subprocess

import world

VERSION_FILE = "Sources/CommandLine/Verbs/Options/Program+Root.swift"
ANSWERS = "Tests/Fixtures/answers.txt"
FEATURES = "Sources/ykit/ykit.docc/Features.md"
SECTION = re.compile(r"^## (\S+) – (.+)$", re.M)


def read(root, path):
    return (root / path).read_text(encoding="utf-8")


def tracked(root):
    names = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, text=True, check=True).stdout
    return set(filter(None, names.split("\0")))


def numbers(version):
    return tuple(int(part) for part in version.split("."))


def tags(root):
    """The versions that have a tag, lowest first."""
    names = subprocess.run(["git", "-C", root, "tag", "--list", "v*"], capture_output=True, text=True, check=True).stdout.split()
    return sorted((name[1:] for name in names if re.fullmatch(r"v\d+\.\d+\.\d+", name)), key=numbers)


def check_version(root, version):
    """The program has this version, which is higher than that of every former release."""
    found = re.search(r'static let version = "(.*)"', read(root, VERSION_FILE))
    if found is None or found[1] != version:
        yield f"{VERSION_FILE}: the version is {found and found[1]}; write {version}"
    former = tags(root)
    if version in former:
        yield f"v{version} exists already: a release is never made twice; the next version is a higher one"
    elif former and numbers(version) < numbers(former[-1]):
        yield f"v{former[-1]} exists, which is higher than {version}"


def section(text, version):
    """The section of a version in the changelog, without its heading; None if there is none."""
    heads = list(SECTION.finditer(text))
    for head, following in zip(heads, [*heads[1:], None], strict=True):
        if head[1] == version:
            return text[head.end():following.start() if following else len(text)].strip()
    return None


def check_changelog(root, version, today=None):
    """The newest section is this version's, with the day of the release and at least one change."""
    text = read(root, "CHANGELOG.md")
    heads = SECTION.findall(text)
    if not heads or heads[0][0] != version:
        yield f"CHANGELOG.md: the first section must be '## {version} – DATE', and is {' – '.join(heads[0]) if heads else 'missing'}"
        return
    try:
        day = datetime.date.fromisoformat(heads[0][1])
    except ValueError:
        yield f"CHANGELOG.md: the date of {version} is '{heads[0][1]}'; write the day of the release, as in 2026-11-30"
    else:
        if day > (today or datetime.datetime.now(datetime.UTC).date()):
            yield f"CHANGELOG.md: {version} is of {day}, which is in the future"
    if not re.search(r"^- ", section(text, version) or "", re.M):
        yield f"CHANGELOG.md: the section of {version} lists no change"
    order = [name for name, _ in heads]
    if order != sorted(order, key=numbers, reverse=True):
        yield f"CHANGELOG.md: the sections are not in order: {', '.join(order)}"


def check_features(root):
    """Every row says whether it works, and the tests that it names exist."""
    files = tracked(root)
    names = {os.path.basename(path) for path in files}
    suites = {word for path in files if path.startswith("Tests/") and path.endswith(".swift")
              for word in re.findall(r"\b(?:struct|class|enum|actor) (\w+Tests)\b", read(root, path))}
    suites |= {path.split("/")[1] for path in files if path.startswith("Tests/") and path.count("/") > 1}
    suites |= {name.removesuffix(".swift") for name in names if name.endswith("Tests.swift")}
    for number, line in enumerate(read(root, FEATURES).splitlines(), 1):
        row = re.match(r"\| ([A-Z]+\d+[^|]*) \|([^|]*)\|", line)
        if row and row[2].strip() not in ("✓", "–", "partly"):
            yield f"{FEATURES}:{number}: {row[1]} is '{row[2].strip()}', which is none of ✓, partly, –"
        for name in re.findall(r"`([\w-]+\.(?:test|py|sh))`", line):
            if name not in names:
                yield f"{FEATURES}:{number}: there is no {name}"
        for name in re.findall(r"`(?:\w+/)?(\w+Tests)`", line):
            if name not in suites:
                yield f"{FEATURES}:{number}: there is no suite {name}"


def check_readme(root, version):
    """README's links lead somewhere, and the packages that it installs are this version's."""
    text = read(root, "README.md")
    for target in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text):
        if not (root / target).exists():
            yield f"README.md: {target} does not exist"
    named = set(re.findall(r"\bykit[-_](\d+\.\d+\.\d+)", text))
    if named != {version}:
        yield f"README.md: it installs {', '.join(sorted(named)) or 'no package'}; write ykit_{version}-1_amd64.deb"
    releases, build = text.find("/releases"), text.find("`tools/run`")
    if 0 <= build < releases:
        yield "README.md: how to build comes before how to install"


def answers(printed):
    """Each verb's members and their types, a line each, of the JSON Schema that `ykit schema` prints."""
    return sorted({f"{verb} {line}" for verb, schema in json.loads(printed).items() for line in members(schema, "")})


def members(schema, path):
    kinds = schema.get("anyOf", [schema])
    if path:
        yield f"{path}: {' or '.join(sorted({str(kind.get('type', 'anything')) for kind in kinds}))}"
    for kind in kinds:
        for name, member in kind.get("properties", {}).items():
            if path or name not in ("ok", "error", "warnings"):
                yield from members(member, f"{path}.{name}".lstrip("."))
        if "items" in kind:
            yield from members(kind["items"], path + "[]")


def written_answers(version, printed):
    """The content of the file of a released version's answers."""
    return "\n".join([f"# The JSON answers of ykit {version}: verb, member, type. Written by tools/release --answers.", *answers(printed)]) + "\n"


def lost_answers(released, printed):
    """The members of a released version's answers that are gone or have another type; a type may become more precise."""
    now = dict(line.rsplit(": ", 1) for line in answers(printed))
    for line in released.splitlines():
        if not line.startswith("#"):
            member, kind = line.rsplit(": ", 1)
            if now.get(member) != kind and not (kind.startswith("anything") and member in now):
                yield f"{member}: {kind}, and now {now.get(member, 'gone')}"


def announced_answers(changelog):
    """The rows of the table "JSON members" in the newest section: the verbs, or groups of them, and the members that changed."""
    newest = SECTION.split(changelog)[3]
    table = newest.partition("### JSON members")[2].partition("\n#")[0]
    for row in re.findall(r"^\|([^|]*)\|([^|]*)\|[^|]*\|$", table, re.M):
        yield ("every verb" if "every verb" in row[0] else set(re.findall(r"`([^`]*)`", row[0]))), set(re.findall(r"`([^`]*)`", row[1]))


def is_announced(line, rows):
    """Whether a row names the verb of a changed member, or its group, and the member, or one that it is in."""
    *words, path = line.split(": ")[0].split(" ")
    names = {name.rstrip("[]") for name in path.split(".")}
    verbs = {" ".join(words[:count]) for count in range(1, len(words) + 1)}
    return any(names & members and (whose == "every verb" or whose & verbs) for whose, members in rows)


def check_answers(root, version, printed):
    """The committed answers are those of the program that is released."""
    if read(root, ANSWERS) != written_answers(version, printed):
        yield f"{ANSWERS} is not what the program answers; type: tools/release {version} --answers"


def check_world(root, today=None):
    """What the world changes was compared with its source in the last six months."""
    today = today or datetime.datetime.now(datetime.UTC).date()
    for row in world.rows(root):
        age = (today - row["date"]).days
        if age > world.LIMIT:
            yield f"{world.PATH}: {row['name']} was compared {age} days ago; look at {row['look']}"


def source_problems(root, version):
    for check in (check_version(root, version), check_changelog(root, version), check_features(root),
                  check_readme(root, version), check_world(root)):
        yield from check
