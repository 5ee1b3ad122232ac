// SPDX-License-Identifier: Apache-2.0

import Glibc
package import YKCapture
package import YKWire

/// The files of the repository that tests read.
package enum Recordings {
    private static let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

    /// The bytes of a recording by its path under `captures/`, without `.jsonl`.
    package static func bytes(_ name: String) -> [UInt8] { read("\(root)/captures/\(name).jsonl") }

    /// A recording.
    package static func capture(_ name: String) throws -> Capture { try Capture(parsing: bytes(name)) }

    /// A file of `Tests/Fixtures`.
    package static func fixture(_ name: String) -> [UInt8] { read("\(root)/Tests/Fixtures/\(name)") }

    /// The lines of a file of `Tests/Fixtures`, read as JSON.
    package static func lines(_ name: String) throws -> [JSONValue] {
        try fixture(name).split(separator: 0x0A).map { try JSONValue(parsing: Array($0)) }
    }

    /// A file of the repository, as text.
    package static func text(_ path: String) -> String { String(decoding: read("\(root)/\(path)"), as: UTF8.self) }

    /// The bytes of a file; none if there is none.
    package static func read(_ path: String) -> [UInt8] {
        guard let file = fopen(path, "r") else { return [] }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = fread(&part, 1, part.count, file), count > 0 { bytes += part.prefix(count) }
        return bytes
    }
}
