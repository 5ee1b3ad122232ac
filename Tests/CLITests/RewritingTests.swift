// SPDX-License-Identifier: Apache-2.0

import Arguments
import Testing

@testable import ykit

@Suite struct RewritingTests {
    private func rewrite(_ line: String, files: Set<String> = []) -> String {
        let rewriting = ArgumentRewriting(isGroup: ["list", "oath", "apdu"].contains, exists: files.contains)
        return rewriting.rewrite(line.split(separator: " ").map(String.init)).joined(separator: " ")
    }

    @Test(arguments: [
        ("oath list", "oath list"),
        ("--json oath list", "oath list --json"),
        ("oath --json list --long", "oath list --long --json"),
        ("--replay f --replay-mode lookup oath list", "oath list --replay f --replay-mode lookup"),
        ("--replay=f oath list", "oath list --replay=f"),
        ("--virtual oath list", "oath list --virtual=:memory:"),
        ("--virtual state oath list", "oath list --virtual=state"),
        ("--virtual", "--virtual=:memory:"),
        ("--virtual --json oath list", "oath list --virtual=:memory: --json"),
        ("oath --virtual list", "oath list --virtual=:memory:"),
        ("oath calculate --virtual query", "oath calculate query --virtual=:memory:"),
        ("oath calculate --virtual ./state query", "oath calculate query --virtual=./state"),
        ("oath calculate --virtual=state query", "oath calculate query --virtual=state"),
        ("oath calculate query --device 12 -- --json", "oath calculate query --device 12 -- --json"),
        ("oath list --device", "oath list --device"),
        ("oath add x --device 1 --device 2", "oath add x --device 1 --also-device 2"),
        ("--device=1 oath add x --device=2", "oath add x --device=1 --also-device=2"),
        ("oath list --device 1 --device 2", "oath list --device 1 --device 2"),
    ])
    func options(_ line: String, _ expected: String) { #expect(rewrite(line) == expected) }

    @Test func anExistingFileBehindTheGroupIsTheStateFile() {
        #expect(rewrite("oath calculate --virtual state q", files: ["state"]) == "oath calculate q --virtual=state")
    }

    @Test func everyGlobalOptionIsKnownToBoth() {
        let help = WholeParser.help(of: GlobalOptions.self)
        for name in ArgumentRewriting.valued + ArgumentRewriting.flags {
            #expect(help.contains(name), "\(name)")
        }
    }
}
