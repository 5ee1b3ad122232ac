// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKTestSupport

@testable import TerminalIO
@testable import Verbs

struct SecretVariableTests {
    @Test("no variable of a secret is inherited by other programs")
    func variables() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources/CommandLine")
        var secrets: Set<String> = []
        let files = try #require(FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil))
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            for found in text.matches(of: /(?:SecretName\([^)]*?|Source\([^)]*?variable: )"(YKIT_[A-Z0-9_]+)"/) {
                secrets.insert(String(found.1))
            }
        }
        #expect(secrets.isSuperset(of: ["YKIT_PIN", "YKIT_MANAGEMENT_KEY", "YKIT_STORE_PASSPHRASE", "YKIT_SCP_KEYS"]))
        expect(secrets.filter { !Program.mayHoldSecret($0) }, is: [])
        #expect(HelpTopic.settings.isSubset(of: HelpTopic.variables.flatMap(\.names)))
        #expect(!Program.mayHoldSecret("YKIT_DEVICE") && !Program.mayHoldSecret("HOME"))
        #expect(Program.mayHoldSecret("YKIT_OF_LATER"))
    }
}
