// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKTestSupport

/// `Tests/Peers/privacyidea/flows.md`: which tests show each recorded flow.
@Suite struct FlowTableTests {
    private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Self.tests.appendingPathComponent(path), encoding: .utf8)
    }

    @Test func everyFlowIsShownByTestsThatExist() throws {
        let rows = try text("Peers/privacyidea/flows.md").split(separator: "\n").map { row in
            row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }.filter { $0.count == 3 && $0[0].first?.isNumber == true }
        let folder = Self.tests.appendingPathComponent("YKPrivacyIDEATests/exchanges")
        let flows = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".json") }
        expect(rows.map { $0[0] + ".json" }, is: flows.sorted())
        var units = ""
        for name in ["YKApprovalTests", "YKPrivacyIDEATests", "YKSecondFactorTests"] {
            for file in try FileManager.default.contentsOfDirectory(
                atPath: Self.tests.appendingPathComponent(name).path)
            where file.hasSuffix(".swift") {
                units += try text("\(name)/\(file)")
            }
        }
        for row in rows {
            for peer in row[1].split(separator: ",") {
                let words = peer.split(separator: " ")
                let script = try text("Peers/\(try #require(words.first))")
                #expect(words.count > 1, "\(row[0])")
                for part in words.dropFirst() {
                    #expect(script.contains("\ndef test_\(part)():\n"), "\(row[0]): \(part)")
                }
            }
            for test in row[2].split(separator: " ") {
                #expect(units.contains("func \(test)("), "\(row[0]): \(test)")
            }
        }
    }
}
