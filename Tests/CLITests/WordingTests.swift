// SPDX-License-Identifier: Apache-2.0

import Arguments
import Testing
import YKTestSupport

@testable import TerminalIO
@testable import Verbs
@testable import ykit

/// Compares what the help of all verbs says of options and arguments of the same name.
@Suite struct WordingTests {
    /// The names with several wordings, by the reason, with the number of wordings.
    private static let allowed: [(reason: String, names: [String: Int])] = [
        (
            "it names another thing in each verb",
            [
                "--account": 2, "--all": 6, "--brief": 2, "--app": 2, "--at": 2, "--challenge": 6, "--clear": 2,
                "--client": 2, "--clipboard": 2, "--login": 2, "--password": 2, "--period": 2, "--protected": 3,
                "--command": 2, "--comment": 2, "--context": 2, "--counter": 3, "--cred-blob": 2, "--credential": 2,
                "--days": 2, "--device-id": 3, "--display-name": 2, "--for": 4, "--form": 2, "--from": 2,
                "--key": 4, "--keyslot": 2, "--large-blob": 2,
                "--listen": 2, "--long": 2, "--mode": 2, "--name": 4, "--namespace": 2, "--no-touch": 3,
                "--options": 2, "--origin": 4, "--passkey": 2, "--payment": 2, "--public-id": 2, "--public-key": 3,
                "--qr": 4,
                "--register": 2, "--remember": 2, "--require": 2, "--resident": 7, "--rp": 7, "--salt": 2,
                "--scheme": 2, "--serial": 2,
                "--server": 5, "--slot": 7, "--software": 2, "--state": 2, "--store": 4, "--text": 2, "--to": 2,
                "--token": 4, "--totp": 2, "--user": 7, "--wait": 3, "--watch": 2, "--yubico": 2, "<credential>": 3,
                "<device>": 2, "<fingerprint>": 2, "<key>": 5, "<label>": 2, "<name>": 9, "<object>": 2,
                "<policy>": 2, "<query>": 2, "<slot>": 4, "<source>": 2,
            ]
        ),
        (
            "each verb accepts other values",
            [
                "--algorithm": 10, "--attestation": 4, "--by": 2, "--digits": 2, "--format": 14, "--hash": 4,
                "--padding": 2, "--pin-policy": 3, "--touch": 10, "--touch-policy": 2, "--type": 4, "--uv": 5,
            ]
        ),
        (
            "each verb says what it does without asking",
            [
                "--allow-expired": 2, "--force": 13,
            ]
        ),
        (
            "each verb says what it generates, reads or writes",
            [
                "--generate": 5, "--key-file": 3, "--output": 14, "<file>": 21,
            ]
        ),
        (
            "each verb says whose secret it reads, and from which variable",
            [
                "--code-fd": 2, "--code-stdin": 2, "--key-fd": 2, "--new-password-fd": 3,
                "--new-password-stdin": 2, "--password-fd": 7, "--password-stdin": 5, "--pin-fd": 3,
                "--pin-stdin": 3, "--secret-fd": 2,
            ]
        ),
    ]

    /// The wordings of each name: the help with the name of the value.
    private static func wordings() -> [String: Set<String>] {
        var all: [String: Set<String>] = [:]
        for declaration in Commands.root.listedVerbs.flatMap({ Declarations.of($0.command) }) {
            guard let help = declaration.help else { continue }
            let words = declaration.words
            let name = words.first { $0.hasPrefix("--") } ?? words.first ?? "<\(declaration.name)>"
            let value = if case .option(let names) = declaration.place { names.value ?? names.plain } else { "" }
            all[name, default: []].insert("\(help) \(value)")
        }
        return all
    }

    @Test func aNameIsDescribedInTheSameWordsByAllVerbs() throws {
        var counts: [String: Int] = [:]
        for (reason, names) in Self.allowed {
            counts.merge(names) { first, _ in
                Issue.record("allowed twice: \(reason)")
                return first
            }
        }
        let found = Self.wordings()
        #expect(found.count > 300)
        for (name, wordings) in found.sorted(by: { $0.key < $1.key }) {
            expect(wordings.count, is: counts[name] ?? 1, "\(name):\n\(wordings.sorted().joined(separator: "\n"))")
        }
        expect(counts.keys.filter { found[$0] == nil }, is: [])
    }
}
