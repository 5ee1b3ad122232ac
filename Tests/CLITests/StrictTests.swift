// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKTestSupport

/// `--strict` turns every warning into an error, because all of them pass through `Terminal.warn`, `Terminal.warnNow` or
/// `Answer.warnings`.
struct StrictTests {
    private struct Envelope: Decodable {
        struct Failure: Decodable { let code: String }
        struct Problem: Decodable {
            let code: String
            let message: String
        }
        let ok: Bool
        let error: Failure?
        let warnings: [Problem]
    }

    private static func sources() throws -> [(name: String, text: String)] {
        let folder = Shell.root.appendingPathComponent("Sources/CommandLine")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        let swift = try #require(files).compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
        return try swift.map { ($0.lastPathComponent, try String(contentsOf: $0, encoding: .utf8)) }
    }

    @Test func noWarningIsPrintedElsewhere() throws {
        let printing = try Self.sources().filter {
            $0.text.contains(#"warning:")"#) || $0.text.contains(#""warning: "#)
        }
        expect(printing.map(\.name), is: ["Terminal.swift"])
    }

    /// The `warnings` of an envelope that no answer stands behind are empty: what is warned of there would not count.
    @Test func onlyTheProgramWritesWarningsIntoAnEnvelope() throws {
        for (name, text) in try Self.sources() where name != "Program.swift" {
            for line in text.split(separator: "\n") where line.contains(#""warnings":"#) {
                #expect(line.contains(#""warnings": []"#), "\(name): \(line)")
            }
        }
    }

    /// Each kind of warning that a key in software can cause fails with exit code 15 under `--strict` and not without,
    /// and is in the JSON answer either way.
    @Test(arguments: [
        "oath export", "oath uri otpauth://totp/a?secret=JBSWY3DPEHPK3PXP", "piv info", "piv reset --force",
        "piv access set-retries 5 5 --force --pin-fd 3 --management-key-fd 4",
        "--record r.jsonl --keep-secrets oath list",
    ])
    func warningsFail(_ line: String) async throws {
        let shell = try Shell()
        let secrets = "printf 123456 > p; printf 010203040506070801020304050607080102030405060708 > m; exec 3< p 4< m; "
        let key = "ykit virtual new key.json > made; "
        let command = { (option: String) in key + secrets + "ykit --virtual key.json --json \(option) \(line)" }
        let plain = try await shell.run(command("") + "; s=$?; rm -f r.jsonl key.json; exit $s")
        expect(plain.status, is: 0, "\(plain.output)\(plain.errors)")
        let strict = try await shell.run(command("--strict"))
        expect(strict.status, is: 15, "\(strict.output)\(strict.errors)")
        try check(plain, fails: false)
        try check(strict, fails: true)
    }

    private func check(_ result: Shell.Result, fails: Bool) throws {
        let envelope = try JSONDecoder().decode(Envelope.self, from: Data(result.output.utf8))
        #expect(!envelope.warnings.isEmpty)
        expect(envelope.ok, is: !fails)
        expect(envelope.error?.code, is: (fails ? "strict" : nil))
    }
}
