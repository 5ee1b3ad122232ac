# SPDX-License-Identifier: Apache-2.0
"""How tools/check parses Swift source, and that each of its rules finds violations."""

import glob
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap

from lib.peer import ROOT, expect

sys.dont_write_bytecode = True
sys.path.insert(0, f"{ROOT}/tools/build")
import swift_source  # noqa: E402


def code(text):
    return swift_source.code_only(textwrap.dedent(text))


def sizes(text):
    return {name: length for name, _, length in swift_source.functions(code(text))}


def test_swift():
    expect("comments nest", code("a /* { /* } */ import B */ c // }\nd").split(), ["a", "c", "d"])
    expect("strings and interpolations", code(r'x("{ \(f("}", { $0 }))", y) + #"\("}"# + "\\"').split(), ["x(", ",", "y)", "+", "+"])
    expect("multi-line strings", code('a"""\n  import C {\n  \\(d { e })\n  """\nf').split(), ["a", "f"])
    expect("regex literals", code('a = /[{"]+/\nb = #/}"/#\nc / d / e').split(), ["a", "=", "b", "=", "c", "/", "d", "/", "e"])
    expect("lines stay", code('a /*\n\n*/ """\n\n"""\n').count("\n"), 5)
    expect(
        "imports",
        swift_source.imports(code('''\
            import A
            public import B
            @testable internal import struct C.D; import E
            // import F
            let text = "import G"
            ''')),
        [(1, [], "A"), (2, ["public"], "B"), (3, ["@testable", "internal"], "C"), (3, [], "E")])
    expect(
        "functions",
        sizes('''\
            protocol P { func none() -> Int
                func also(_ x: Int) throws(E)
                var size: Int { get }
                init(x: Int) }
            struct S: P {
                let call = { 1 }
                var stored: Int = 1
                var computed: Int { stored }
                var watched: Int = 2 {
                    didSet { print("}") }
                }
                init(x: Int = { 3 }()) { self.init() }
                func one<T: P>(
                    _ x: T, then: (Int) -> Void = { _ in }
                ) async throws(E) -> [Int]
                where T: Sendable {
                    func inner() { }
                    return S.init(x: 3)
                }
                static func == (a: S, b: S) -> Bool { true }
                subscript(x: Int) -> Int {
                    get { 1 }
                    set { }
                }
                deinit { }
            }
            '''),
        {"computed": 1, "init": 1, "one": 7, "inner": 1, "==": 1, "subscript": 4, "deinit": 1})


def project(folder, files):
    """A small project with this project's tools and one file that breaks a rule."""
    base = {
        "LICENSE": "Apache License\n", ".gitignore": "", "Sources/Base/YKWire/A.swift": HEADER, "Package.swift": PACKAGE,
    } | files
    for name, text in base.items():
        os.makedirs(os.path.dirname(f"{folder}/{name}"), exist_ok=True)
        with open(f"{folder}/{name}", "w") as file:
            file.write(text)
    os.makedirs(f"{folder}/tools/build", exist_ok=True)
    for name in ["check", "build/swift_source.py", "build/world.py"]:
        with open(f"{ROOT}/tools/{name}") as source, open(f"{folder}/tools/{name}", "w") as copy:
            copy.write(source.read())
    subprocess.run(["git", "init", "-q", folder], check=True, stderr=subprocess.DEVNULL)


HEADER = "// SPDX-License-Identifier: Apache-2.0\n"
PACKAGE = "// swift-tools-version: 6.1\n" + HEADER + "import PackageDescription\n" + textwrap.dedent('''\
    let package = Package(name: "small", targets: [
        .target(name: "CPCSC", path: "Sources/System/CPCSC"),
        .target(name: "YKWire", path: "Sources/Base/YKWire"),
        .target(name: "YKHardware", dependencies: ["YKWire", "CPCSC"], path: "Sources/Transport/YKHardware"),
        .testTarget(name: "YKWireTests", dependencies: ["YKWire"]),
    ])
    ''')


def depending(base, *targets):
    """A manifest with a storey's target that depends on another one."""
    places = "".join(f'.target(name: "{name}", dependencies: {json.dumps(others)}, path: "Sources/{place}/{name}"),\n'
                     for name, place, others in (("YKWire", "Base", base), *targets))
    return PACKAGE[:PACKAGE.index("let package")] + f'let package = Package(name: "small", targets: [\n{places}])\n'



def findings(check, files):
    with tempfile.TemporaryDirectory() as folder:
        project(folder, files)
        run = subprocess.run([sys.executable, f"{folder}/tools/check", check], capture_output=True, text=True)
        lines = [line.strip() for line in run.stdout.splitlines()[1:]]
        return run.returncode, sum(line.startswith(tuple(files)) for line in lines)


world = "tools/world.toml"
wire, hardware, readme = "Sources/Base/YKWire/B.swift", "Sources/Transport/YKHardware/B.swift", "README.md"


def constant(text, date="2026-11-01"):
    """A row for B.swift when it has this text."""
    return (f'[[constant]]\nname = "list"\nfiles = ["{wire}"]\nsource = "somebody"\nlook = "somewhere"\ndate = {date}\n'
            f'sha256 = "{hashlib.sha256(text.encode()).hexdigest()}"\n')


LIBRARIES = [f"L{number}" for number in range(16)]
words = "Sources/CommandLine/Words/B.swift"


def switch(count, value):
    """A property that is a switch with this many cases."""
    cases = "".join(f"    case .c{number}:\n        {value}\n" for number in range(count))
    return "var a: E {\n    switch self {\n" + cases + "    }\n}\n"


def person(lines):
    """A front end of so many lines and two."""
    return "struct Asked: Sendable, Person {\n" + "\n" * lines + "}\n"


def importing(count):
    """A program in which so many libraries depend on that of exports."""
    names = LIBRARIES[:count]
    return depending([], ("YKImport", "Keys", []), ("L", "Keys", []), *((name, "Keys", ["YKImport"]) for name in names), ("ykit", "ykit", [*names, "L"]))


CASES = [
    ("world", {wire: HEADER, world: constant(HEADER)}, 0),
    ("world", {wire: HEADER + "let a = 1\n", world: constant(HEADER)}, 1),
    ("world", {wire: HEADER, world: constant(HEADER, "2999-01-01")}, 1),
    ("world", {wire: HEADER, world: constant(HEADER) + f'shown = "{hardware}"\n', hardware: HEADER + 'let a = "2026-11-01"\n'}, 0),
    ("world", {wire: HEADER, world: constant(HEADER) + f'shown = "{hardware}"\n', hardware: HEADER + 'let a = "2026-10-01"\n'}, 1),
    ("world", {wire: HEADER, world: constant(HEADER).replace(f'"{wire}"', '"gone.swift"')}, 1),
    ("world", {wire: HEADER, world: constant(HEADER), hardware: HEADER + f'let a = "MII{"A" * 61}"\n'}, 1),
    ("imports", {wire: HEADER + "import Foundation\npublic import YKTransport\n@_exported import Synchronization\n"}, 3),
    ("imports", {hardware: HEADER + "import Glibc\ninternal import YKWire\n@testable import CPCSC\n"}, 1),
    ("imports", {"Sources/Base/New/A.swift": HEADER}, 1),
    ("imports", {"Tests/YKWireTests/A.swift": HEADER + "import Testing\n@testable import YKWire\n"}, 0),
    ("imports", {"Package.swift": depending(["YKPIV"], ("YKPIV", "Services", []))}, 1),
    ("imports", {"Package.swift": depending([], ("YKPIV", "Services", ["YKWire", "YKOATH"]), ("YKOATH", "Services", []))}, 1),
    ("imports", {"Package.swift": depending([], ("YKKeys", "Keys", ["YKPIV", "YKWire"]), ("YKPIV", "Services", []))}, 0),
    ("imports", {"Package.swift": depending([], ("YKNew", "Elsewhere", []))}, 1),
    ("sizes", {wire: HEADER + "\n" * 400}, 1),
    ("sizes", {wire: HEADER + "\n" * 399}, 0),
    ("sizes", {wire: HEADER + "func f() {" + "\n" * 60 + "}\n"}, 1),
    ("sizes", {wire: HEADER + "func f() {" + "\n" * 59 + "}\n"}, 0),
    ("vocabulary", {hardware: HEADER + "let a = APDU(ins: 0xA4)\n// ins: 0xB0\n"}, 1),
    ("vocabulary", {"Sources/Base/YKProtocols/B.swift": HEADER + "let a = APDU(ins: 0xA4)\n"}, 0),
    ("license", {wire: "\n" + HEADER}, 1),
    ("license", {"tools/x.py": "#!/usr/bin/env python3\n" + HEADER[:-1].replace("//", "#")}, 0),
    ("patterns", {wire: HEADER + "try! f(); x as! Y; fatalError(\"\"); preconditionFailure()\n// TODO: this\n"}, 5),
    ("patterns", {wire: HEADER + "final class A: @unchecked Sendable {}\nstruct LinkManager {}\nlet a = try !f()\n"}, 2),
    ("patterns", {hardware: HEADER + "final class A: @unchecked Sendable {}\n"}, 0),
    ("patterns", {"Tests/YKWireTests/A.swift": HEADER + "import XCTest\ntry! f()\n"}, 1),
    ("imports", {"Package.swift": depending([], ("PIVVerbs", "CommandLine", ["Words"]), ("Words", "CommandLine", []))}, 1),
    ("imports", {"Package.swift": depending([], ("ykit", "ykit", ["Words"]), ("Words", "CommandLine", []))}, 0),
    ("imports", {"Package.swift": depending([], ("Verbs", "CommandLine", LIBRARIES), *((name, "Base", []) for name in LIBRARIES))}, 1),
    ("costs", {wire: HEADER + person(148)}, 0),
    ("costs", {wire: HEADER + person(149)}, 1),
    ("costs", {wire: HEADER + "struct A {}\n", "Sources/Keys/YKInteraction/Person.swift": HEADER}, 1),
    ("costs", {wire: HEADER + person(1), "Package.swift": importing(4)}, 0),
    ("costs", {wire: HEADER + person(1), "Package.swift": importing(5)}, 1),
    ("patterns", {words: HEADER + "switch a {\ncase .b: c\ndefault: d\n}\nswitch a { case _: d }\nlet c = a.default\n"}, 2),
    ("patterns", {wire: HEADER + "switch a {\ncase .b: c\ndefault: d\n}\n"}, 0),
    ("sizes", {wire: HEADER + switch(40, "E(\n            1)")}, 0),
    ("sizes", {wire: HEADER + switch(40, "let x = 1\n        return x")}, 1),
    ("sizes", {wire: HEADER + switch(60, "E(\n            1)")}, 1),
    ("links", {wire: HEADER + "/// Links to ``APDU/ins``, ``init(_:)`` and ``d``; says `APDU`.\nstruct B { init(_ x: Int) {} }\n"}, 2),
    ("links", {wire: HEADER + "/// As ``a``, ``/YKPIV``.\nenum B { case a, b }\n"}, 0),
    ("examples", {readme: "```\n$ ykit piv sign --pin 123456\nykit oath list --password X\nykit oath list -p hunter2\n```\n"}, 3),
    ("examples", {readme: "YKIT_PIN=123456 ykit piv info\nykit oath add a JBSWY3DPEHPK3PXP\n"}, 2),
    ("examples", {readme: "ykit oath uri 'otpauth://totp/a?secret=JBSWY3DPEHPK3PXP'\n"}, 1),
    ("examples", {readme: "ykit piv sign --pin-stdin, --pin-fd 3, YKIT_PIN=…\nor `--pin PIN`, mkdir -p a\nykit oath uri -\n"}, 0),
]


def test_rules():
    for index, (check, files, count) in enumerate(CASES, 1):
        expect(f"rule {index}: {check}, {next(iter(files))}", findings(check, files), (1 if count else 0, count))


GROUP = HEADER + '''let topics = [CommandTopic("toys, for children", ["toy": ToyGroup.self])]
struct ToyGroup: ParsableCommand {
    static let about = About("Toys.", subcommands: [["add", "put"]: ToyAdd.self, "hide": ToyHidden.self])
}
struct ToyAdd: Verb {
    static let about = About(
        "Add a toy.")
}
struct ToyHidden: Verb { static let about = About("Hide.", shouldDisplay: false) }
'''
TOY, TRIED, CHANGES = "Sources/CommandLine/ToyVerbs/Toy.swift", "Tests/CLITests/fixtures/verbs.txt", "CHANGELOG.md"
NAMED = {TRIED: "y toy add", "Tests/Fixtures/answers.txt": "# none\n", CHANGES: "`ykit toy`",
         "Sources/ykit/ykit.docc/Conformance.md": "| toy add |", "Tests/Peers/marked-secrets.py": '"toy-add"', "Sources/ykit/ykit.docc/Toys.md": "ykit toy add"}


def verb_findings(**left):
    """What `tools/check verbs` says of a verb that is described everywhere but where a file of NAMED has another text."""
    with tempfile.TemporaryDirectory() as folder:
        project(folder, {TOY: GROUP} | NAMED | {name: left.get(name.rpartition("/")[2], text) for name, text in NAMED.items()})
        run = subprocess.run([sys.executable, f"{folder}/tools/check", "verbs"], capture_output=True, text=True)
        return run.returncode, [line.strip().partition(": ")[2] for line in run.stdout.splitlines()[1:-1]]


def test_verbs():
    expect("a verb that is described", verb_findings(), (0, []))
    for name, place in (("verbs.txt", TRIED), ("CHANGELOG.md", CHANGES), ("Toys.md", "an article"),
                        ("Conformance.md", "Sources/ykit/ykit.docc/Conformance.md (type: tools/lab/conformance)"),
                        ("marked-secrets.py", "Tests/Peers/marked-secrets.py")):
        expect(f"a new verb without {place}", verb_findings(**{name: "nothing"}), (1, [f"the new verb 'toy add' is missing in {place}"]))
    for text in ('WITHOUT = ["toy"]', 'record("toy add", key)', 'verb("add one")'):
        expect(f"marked-secrets.py has {text}", verb_findings(**{"marked-secrets.py": text}), (0, []))
    expect("a verb of the last release", verb_findings(**{"answers.txt": "toy add name: text\n", "CHANGELOG.md": "nothing"}), (0, []))


def test_changed_files():
    """Without arguments only what differs from HEAD is looked at."""
    with tempfile.TemporaryDirectory() as folder:
        project(folder, {"Sources/Base/YKWire/Old.swift": HEADER + "try! f()\n"} | NAMED | {TOY: GROUP})
        git = ["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@example.com"]
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "commit", "-qm", "first"], check=True)
        with open(f"{folder}/Sources/Base/YKWire/New.swift", "w") as file:
            file.write(HEADER + "as! B\n")
        for words, names in ([], {"New.swift"}), (["all"], {"New.swift", "Old.swift"}):
            run = subprocess.run([sys.executable, f"{folder}/tools/check", *words], capture_output=True, text=True)
            found = {line.split(":")[0].rpartition("/")[2] for line in run.stdout.splitlines() if "is a crash" in line}
            expect(f"tools/check {' '.join(words)}", (run.returncode, found), (1, names))


MODULES = [f"{ROOT}/{place}" for place in (".build/x86_64-unknown-linux-gnu/release", ".build-tests/x86_64-unknown-linux-gnu/debug")]
#: SwiftPM names the package by its folder.
FLAGS = ["-swift-version", "6", "-package-name", re.sub(r"\W", "_", os.path.basename(ROOT).lower()), *(
    word for name in ("InternalImportsByDefault", "MemberImportVisibility", "ExistentialAny")
    for word in ("-enable-upcoming-feature", name))]


def typecheck(library, declaration, case, module, words):
    """The errors in `words`, a file of a module, if a declaration of a library gets a case; the library is a copy."""
    built = next(path for path in MODULES if os.path.exists(f"{path}/Modules/{module}.swiftmodule"))
    pcsc = subprocess.run(["pkg-config", "--cflags-only-I", "libpcsclite"], capture_output=True, text=True, check=True).stdout.split()
    maps = glob.glob(f"{ROOT}/Sources/System/**/module.modulemap", recursive=True) + glob.glob(f"{built}/*.build/module.modulemap")
    flags = [*FLAGS, *(word for path in maps for word in ("-Xcc", f"-fmodule-map-file={path}")), *(
        word for path in pcsc for word in ("-Xcc", path))]
    with tempfile.TemporaryDirectory() as folder:
        sources = glob.glob(f"{ROOT}/Sources/{library}/**/*.swift", recursive=True)
        for index, path in enumerate(sources):
            with open(path) as file:
                text = file.read()
            if declaration in text:
                sources[index] = f"{folder}/{os.path.basename(path)}"
                with open(sources[index], "w") as file:
                    file.write(text.replace(declaration, f"{declaration}\n    {case}", 1))
        name = os.path.basename(library)
        subprocess.run(
            ["swiftc", "-emit-module", "-module-name", name, *flags, "-Xfrontend", "-experimental-skip-all-function-bodies",
             "-I", f"{built}/Modules", *sources, "-emit-module-path", f"{folder}/{name}.swiftmodule"], check=True)
        others = [path for path in glob.glob(f"{os.path.dirname(words)}/*.swift") if path != words]
        run = subprocess.run(
            ["swiftc", "-frontend", "-typecheck", "-module-name", module, *flags, "-I", folder, "-I", f"{built}/Modules",
             "-primary-file", words, *others], capture_output=True, text=True)
        return {line.partition(" error: ")[2] for line in run.stderr.splitlines() if ": error: " in line}


def test_new_cases():
    """A new case of a library's error or question does not compile until it has words."""
    commands = f"{ROOT}/Sources/CommandLine"
    for library, declaration, module, words in (
            ("Keys/YKLUKS", "public enum LUKSError: Error, Hashable, Sendable {", "Words", "Words/LUKSError+Words.swift"),
            ("Keys/YKBridge", "public enum BridgeQuestion: Question, Hashable {", "DeviceVerbs", "DeviceVerbs/Bridge/BridgeQuestion+Words.swift")):
        name = declaration.split()[2].rstrip(":")
        place = library, declaration, module, f"{commands}/{words}"
        expect(f"{name} as it is", typecheck(place[0], place[1], "", *place[2:]), set())
        expect(f"{name} with a new case", typecheck(place[0], place[1], "case frobnicated", *place[2:]), {"switch must be exhaustive"})
