// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// What README and the articles show in Swift stands in this target, where it is compiled and, where that is possible,
/// run.
@Suite struct ArticleTests {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static var articles: [String] {
        let paths = FileManager.default.subpaths(atPath: root.appendingPathComponent("Sources").path) ?? []
        return ["README.md"]
            + paths.filter { $0.contains(".docc/") && $0.hasSuffix(".md") }.sorted().map { "Sources/\($0)" }
    }

    /// The lines of a text that say something, without what is in front of them and behind.
    static func lines(_ text: some StringProtocol) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    static func source() throws -> [String] {
        let folder = root.appendingPathComponent("Tests/ExampleTests")
        return try ["ProgramTests.swift", "SnippetTests.swift", "LibraryTests.swift"].flatMap {
            lines(try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8))
        }
    }

    @Test(arguments: articles) func eachPieceIsCompiled(_ article: String) throws {
        let text = try String(contentsOf: Self.root.appendingPathComponent(article), encoding: .utf8)
        let source = try Self.source()
        for block in text.components(separatedBy: "```swift\n").dropFirst() {
            let code = block.components(separatedBy: "```")[0]
            guard !code.hasPrefix("// swift-tools-version") else { continue }
            let piece = Self.lines(code)
            #expect(piece.filter { $0.hasPrefix("import ") && !source.contains($0) } == [], "\(article)")
            let body = piece.filter { !$0.hasPrefix("import ") }
            let places = source.indices.filter { source[$0...].starts(with: body) }
            #expect(places.count == 1, "\(article)\n\(code)")
        }
    }
}
