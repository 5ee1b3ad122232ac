# SPDX-License-Identifier: Apache-2.0
"""tools/release in a small repository of its own, whose tools are stand-ins: what it refuses, that its folder appears when it
is complete, that the tag comes last and nothing is pushed; apt judges its repository. With the real builds: tools/test demand release.
"""

import datetime
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tarfile

from lib.peer import REAL, ROOT, expect, holds, own_folder

sys.path.insert(0, str(ROOT / "tools/build"))
import release_checks  # noqa: E402
from documents import documents  # noqa: E402

FOLDER = pathlib.Path(own_folder())
REPOSITORY = FOLDER / "ykit"
OUTPUT = FOLDER / "out"
TODAY = datetime.datetime.now(datetime.UTC).date().isoformat()
CHANGELOG = f"# Changelog\n\n## 0.2.0 – {TODAY}\n\n- **Releases**: one.\n\n## 0.1.0 – 2026-11-26\n\nThe first.\n"
SOURCE = {
    "CHANGELOG.md": CHANGELOG,
    "README.md": "# ykit\n\n    apt install ./ykit_0.2.0-1_amd64.deb\n\nTo build: tools/run, see [the changes](CHANGELOG.md)\n",
    release_checks.VERSION_FILE: 'package static let version = "0.2.0"\n',
    release_checks.ANSWERS: release_checks.written_answers("0.2.0", '{"list": {"properties": {"keys": {"type": "array"}}}}'),
    release_checks.FEATURES: "| row | | |\n|---|---|---|\n| T01 | ✓ | works; `one.test`, `OneTests` |\n",
    "tools/world.toml": f'[[constant]]\nname = "list"\nlook = "https://example.org"\ndate = {TODAY}\n',
    "Tests/Guest/one.test": "", "Tests/OneTests/OneTests.swift": "struct OneTests {}\n", ".gitignore": ".build*\n",
}
ARCHITECTURE = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True).stdout.strip()
YKIT = """#!/bin/sh
case $1 in
    --version) echo ykit 0.2.0 ;;
    generate) echo .TH >"$3/ykit.1" ;;
    completion) echo "completion of $2" ;;
    schema) echo '{"list": {"properties": {"keys": {"type": "array"}}}}' ;;
esac
"""
TOOLS = {
    "check": "exit 0",
    # With $EMBEDDED the program depends on its folder, with $VERB it has another verb.
    "run": """cd "$(dirname "$0")/.." && mkdir -p .build/program && cp tools/ykit .build/program/ykit
sed -i "s/\\"list\\"/\\"${VERB:-list}\\"/" .build/program/ykit
echo "${EMBEDDED:+# $PWD}" >>.build/program/ykit; echo symbols >.build/program/ykit.debug""",
    "package": """while [ $# -gt 0 ]; do case $1 in --output) out=$2 ;; esac; shift; done
mkdir -p "$out" && cp "$(dirname "$0")/../.build/program/ykit" "$out/ykit_0.2.0-1_amd64.deb"
[ -z "$DEB" ] || cp "$DEB" "$out/ykit_0.2.0-1_amd64.deb\"""",
    "docs": '[ -z "$DOCS" ] || eval "$DOCS"; mkdir -p "$3" && echo site >"$3/index.html"',
}


def git(*words):
    return subprocess.run(["git", "-C", REPOSITORY, "-c", "user.name=ykit", "-c", "user.email=ykit@example.com", *words],
                          check=True, capture_output=True, text=True).stdout


def write(path, text, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


def make_repository():
    for path, text in SOURCE.items():
        write(REPOSITORY / path, text)
    for name, text in TOOLS.items():
        write(REPOSITORY / "tools" / name, f"#!/bin/sh\n{text}\n", 0o755)
    write(REPOSITORY / "tools/ykit", YKIT, 0o755)
    shutil.copy(ROOT / "tools/release", REPOSITORY / "tools/release")
    for name in ("apt_repository.py", "release_checks.py", "program_difference.py", "world.py"):
        (REPOSITORY / "tools/build").mkdir(exist_ok=True)
        shutil.copy(ROOT / "tools/build" / name, REPOSITORY / "tools/build" / name)
    write(FOLDER / "bin/lintian", '#!/bin/sh\necho "$LINTIAN"\n', 0o755)
    write(FOLDER / "bin/swift", "#!/bin/sh\necho Swift version 6.3\n", 0o755)
    git("init", "-q", "-b", "main")
    git("config", "user.name", "ykit")
    git("config", "user.email", "ykit@example.com")
    git("add", "-A")
    git("commit", "-qm", "All of it")
    git("init", "-q", "--bare", str(FOLDER / "remote.git"))
    git("remote", "add", "origin", str(FOLDER / "remote.git"))


def release(*words, **variables):
    """Runs tools/release; returns its exit status and what it says."""
    done = subprocess.run([REPOSITORY / "tools/release", "0.2.0", "--output", OUTPUT, *words], capture_output=True, text=True,
                          env={**os.environ, "PATH": f"{FOLDER}/bin:{os.environ['PATH']}", **variables})
    return done.returncode, done.stdout + done.stderr


def leftovers():
    """What exists of a release: its tag, its folder, and anything beside it."""
    return git("tag").split(), OUTPUT.exists(), sorted(path.name for path in FOLDER.iterdir() if path.name.startswith(".new-"))


def refused(name, part, *words, **variables):
    status, said = release(*words, **variables)
    holds(f"{name}: refused", part, said)
    expect(f"{name}: nothing is left", (status, leftovers()), (1, ([], False, [])))


def changed(name, path, text, part):
    """A commit in which a file has another text is refused, in words that have this part."""
    write(REPOSITORY / path, text)
    git("commit", "-qam", "Change it")
    refused(name, part)
    git("reset", "-q", "--hard", "HEAD~1")


def test_source():
    make_repository()
    expect("the source can be released", release("--check")[0], 0)
    write(REPOSITORY / "README.md", "changed")
    refused("a work tree with changes", "the work tree has changes")
    git("checkout", "-q", "README.md")
    changed("no date", "CHANGELOG.md", CHANGELOG.replace(TODAY, "unreleased"), "the date of 0.2.0 is 'unreleased'")
    changed("a date in the future", "CHANGELOG.md", CHANGELOG.replace(TODAY, "2999-01-01"), "in the future")
    changed("no section", "CHANGELOG.md", CHANGELOG.replace("## 0.2.0", "## 0.3.0"), "must be '## 0.2.0 – DATE'")
    changed("an empty section", "CHANGELOG.md", CHANGELOG.replace("- **Releases**: one.", ""), "lists no change")
    changed("another version", release_checks.VERSION_FILE, 'static let version = "0.1.0"', "the version is 0.1.0")
    changed("a package of another version", "README.md", SOURCE["README.md"].replace("0.2.0", "0.1.0"), "it installs 0.1.0")
    changed("a link to nothing", "README.md", SOURCE["README.md"] + "[x](none.md)\n", "none.md does not exist")
    changed("first to build", "README.md", "`tools/run`\n" + SOURCE["README.md"] + "https://example.org/releases\n", "how to build comes before")
    old = (datetime.date.fromisoformat(TODAY) - datetime.timedelta(days=184)).isoformat()
    changed("an old list", "tools/world.toml", SOURCE["tools/world.toml"].replace(TODAY, old), "compared 184 days ago")
    changed("a feature without a mark", release_checks.FEATURES, "| T01 | yes | works |\n", "none of ✓, partly, –")
    changed("a feature with a test that is gone", release_checks.FEATURES, "| T01 | ✓ | `gone.py` |\n", "there is no gone.py")
    changed("a feature with a suite that is gone", release_checks.FEATURES, "| T01 | ✓ | `GoneTests` |\n", "no suite GoneTests")


def test_builds():
    refused("other answers", "is not what the program answers", VERB="another")
    refused("a program that depends on its folder", "the programs of two builds differ", EMBEDDED="yes")
    refused("a warning of lintian", "lintian has objections", LINTIAN="W: ykit: some-tag")
    refused("no site", "ended with status", DOCS="exit 1")
    # The child of a killed program lives on: it must write nothing into the folder that is removed here.
    expect("killed while it makes the site: no folder, no tag",
           (release(DOCS="kill -9 $PPID; exit 1")[0], leftovers()[:2]), (-signal.SIGKILL, ([], False)))
    for left in FOLDER.glob(".new-*"):
        shutil.rmtree(left)
    expect("terminated: nothing is left", (release(DOCS="kill $PPID; exit 1")[0] != 0, leftovers()), (True, ([], False, [])))


def test_release():
    status, said = release()
    expect("a release", said if status else 0, 0)
    names = sorted(path.name for path in OUTPUT.iterdir())
    machine = os.uname().machine
    expect("all of it", names, sorted([
        "MANIFEST.json", "NOTES.md", "SHA256SUMS", f"ykit-0.2.0-{machine}.debug.xz", "ykit-0.2.0-completions.tar.gz",
        "ykit-0.2.0-man.tar.gz", "ykit-0.2.0-site.tar.gz", "ykit-0.2.0-source.tar.gz", "ykit-0.2.0.schema.json",
        "ykit_0.2.0-1_amd64.deb"]))
    sums = dict(reversed(line.split("  ")) for line in (OUTPUT / "SHA256SUMS").read_text().splitlines())
    expect("checksums of all of them, and they hold", sums, {
        name: hashlib.sha256((OUTPUT / name).read_bytes()).hexdigest() for name in names if name != "SHA256SUMS"})
    manifest = json.loads((OUTPUT / "MANIFEST.json").read_text())
    expect("the manifest names the commit, the files and that the builds are identical",
           (manifest["commit"], {file["name"] for file in manifest["files"]}, manifest["builds"]["identical"]),
           (git("rev-parse", "HEAD").strip(), set(names) - {"MANIFEST.json", "SHA256SUMS"}, True))
    expect("the notes are the section of the changelog", (OUTPUT / "NOTES.md").read_text(), "- **Releases**: one.\n")
    with tarfile.open(OUTPUT / "ykit-0.2.0-source.tar.gz") as archive:
        expect("the source is what git tracks", {name.partition("/")[2] for name in archive.getnames()}, set(git("ls-files").split()))
    expect("a tag with the notes", git("tag", "-l", "--format=%(contents:body)%(contents:subject)", "v0.2.0").strip(), "- **Releases**: one.")
    expect("of this commit", git("rev-parse", "v0.2.0^{commit}"), git("rev-parse", "HEAD"))
    expect("nothing is pushed", git("ls-remote", "origin"), "")
    status, said = release()
    expect("a release is not made twice", (status, "v0.2.0 exists already" in said), (1, True))


def gpg(*words):
    return subprocess.run(["gpg", "--batch", *words], check=True, capture_output=True, text=True,
                          env={**os.environ, "GNUPGHOME": f"{FOLDER}/gpg"}).stdout


def deb(name):
    """A package with one file."""
    write(FOLDER / "deb/DEBIAN/control", f"Package: {name}\nVersion: 0.2.0-1\nArchitecture: {ARCHITECTURE}\n"
          "Maintainer: ykit <ykit@example.com>\nDescription: a package\n")
    write(FOLDER / "deb/usr/share/ykit/file", "content\n")
    subprocess.run(["dpkg-deb", "--root-owner-group", "--build", FOLDER / "deb", FOLDER / f"{name}.deb"], check=True, capture_output=True)
    return FOLDER / f"{name}.deb"


def apt(command, *words, signed_by):
    """Runs apt-get with a source list, state and cache of its own; returns whether all is well, and what it says."""
    place = FOLDER / "apt"
    shutil.rmtree(place, ignore_errors=True)
    for folder in ("etc", "state/lists/partial", "cache/archives/partial"):
        (place / folder).mkdir(parents=True)
    (place / "status").touch()
    (place / "etc/sources.list").write_text(f"deb [signed-by={signed_by}] file:{OUTPUT}/apt ./\n")
    options = {"Dir::Etc": place / "etc", "Dir::State": place / "state", "Dir::State::status": place / "status", "Dir::Cache": place / "cache",
               "APT::Sandbox::User": "root", "APT::Architecture": ARCHITECTURE, "APT::Update::Error-Mode": "any"}
    said = ""
    for line in (["update"], [command, *words]):
        done = subprocess.run(["apt-get", "-q", *(f"-o{name}={value}" for name, value in options.items()), *line],
                              capture_output=True, text=True, cwd=place)
        said += done.stdout + done.stderr
        if done.returncode != 0:
            return False, said
    return True, said


def test_apt_repository():
    shutil.rmtree(OUTPUT)
    git("tag", "--delete", "v0.2.0")
    (FOLDER / "gpg").mkdir(mode=0o700)
    for person in ("ykit@example.com", "other@example.com"):
        gpg("--passphrase", "", "--quick-generate-key", person, "default", "default", "never")
    (FOLDER / "other.asc").write_text(gpg("--armor", "--export", "other@example.com"))
    real = {"GNUPGHOME": f"{FOLDER}/gpg", "DEB": str(deb("ykit"))}
    refused("a key that gpg does not have", "No secret key", "--apt-key", "nobody@example.com", **real)
    status, said = release("--apt-key", "ykit@example.com", **real)
    expect("a release with an apt repository", said if status else 0, 0)
    public = OUTPUT / "apt/ykit.asc"
    expect("apt reads it", apt("download", "ykit", signed_by=public)[0] and (FOLDER / f"apt/ykit_0.2.0-1_{ARCHITECTURE}.deb").exists())
    expect("apt refuses another key", apt("download", "ykit", signed_by=FOLDER / "other.asc")[0], False)
    index = OUTPUT / "apt/Packages"
    before = index.read_text()
    for name in ("Packages", "Packages.gz"):
        (OUTPUT / "apt" / name).unlink()
    index.write_text(before.replace("a package", "b package"))
    expect("apt refuses a changed index", apt("download", "ykit", signed_by=public)[0], False)
    again = [sys.executable, ROOT / "tools/build/apt_repository.py", OUTPUT, "ykit@example.com"]
    former = (OUTPUT / "apt/Release").read_bytes()
    shutil.copy(deb("ykit-more"), OUTPUT / f"ykit-more_0.2.0-1_{ARCHITECTURE}.deb")
    subprocess.run(again, check=True, capture_output=True, env={**os.environ, **real})
    expect("with one more package it is made again", apt("download", "ykit-more", signed_by=public)[0])
    (OUTPUT / f"ykit-more_0.2.0-1_{ARCHITECTURE}.deb").unlink()
    subprocess.run(again, check=True, capture_output=True, env={**os.environ, **real})
    subprocess.run(["gpgconf", "--kill", "gpg-agent"], check=True, env={**os.environ, **real})
    expect("the same packages, the same index", ((OUTPUT / "apt/Release").read_bytes() == former, index.read_text() == before), (True, True))


def test_answers():
    """What programs read in the answers of the released version is still there, or the table of CHANGELOG has it."""
    printed = subprocess.run([REAL, "schema"], capture_output=True, text=True, check=True).stdout
    released = release_checks.read(ROOT, release_checks.ANSWERS)
    rows = list(release_checks.announced_answers(release_checks.read(ROOT, "CHANGELOG.md")))
    lost = [line for line in release_checks.lost_answers(released, printed) if not release_checks.is_announced(line, rows)]
    expect("no answer has lost a member, unless CHANGELOG says so", lost, [])
    fewer = json.loads(printed)
    for kind in fewer["list"].get("anyOf", [fewer["list"]]):
        kind["properties"].pop("devices", None)
    found = [line for line in release_checks.lost_answers(released, json.dumps(fewer)) if line.startswith("list devices")]
    expect("a lost member is found", [line.split(":")[0] for line in found][:1], ["list devices"])
    expect("and no row excuses it", [line for line in found[:1] if release_checks.is_announced(line, rows)], [])


def test_documents():
    """Every link in the documents of a package leads to a document beside it, or to a file of the repository."""
    url = "https://example.org/ykit"
    found = documents(ROOT, url, "1.2.3", REAL)
    expect("README and the articles", {"README.md", "articles/Features.md", "articles/YKit.md"} <= found.keys())
    broken = []
    for place, text in found.items():
        for match in re.finditer(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)", text):
            target = match[1]
            inside = target.removeprefix(f"{url}/blob/v1.2.3/")
            there = os.path.normpath(os.path.join(os.path.dirname(place), target)) in {*found, "changelog.gz"}
            if not (there or inside != target and (ROOT / inside).exists() or target.startswith("http") and inside == target):
                broken.append(f"{place}: {target}")
    expect("no link is broken", broken, [])
    expect("none is in DocC's form", [place for place, text in found.items() if "<doc:" in text], [])
