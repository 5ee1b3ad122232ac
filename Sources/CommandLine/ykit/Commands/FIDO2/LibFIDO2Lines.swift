// SPDX-License-Identifier: Apache-2.0

import YKWire

/// The lines that libfido2's tools read and write (fido2-cred(1), fido2-assert(1)): base64 or text, one per line.
struct LibFIDO2Lines {
    private var lines: ArraySlice<String>
    private let name: String

    init(file: String) throws(Explanation) {
        let bytes = try Files.read(file)
        name = file == "-" ? "standard input" : file
        lines =
            String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            .map { String($0).trimmed }[...]
        while lines.last?.isEmpty == true { lines.removeLast() }
    }

    var isAtEnd: Bool { lines.isEmpty }
    /// The number of remaining lines.
    var count: Int { lines.count }

    /// Reads the next line as text.
    mutating func text(_ what: String) throws(Explanation) -> String {
        guard let line = lines.popFirst() else { throw Explain.malformed("\(name) ends before \(what)") }
        return line
    }

    /// Reads the next line as base64.
    mutating func bytes(_ what: String, count: Int? = nil) throws(Explanation) -> [UInt8] {
        let line = try text(what)
        guard let bytes = try? Base64.decode(line) else { throw Explain.malformed("\(name): \(what) is not base 64") }
        guard count == nil || bytes.count == count else {
            throw Explain.malformed("\(name): \(what) has \(bytes.count) bytes")
        }
        return bytes
    }

    /// Reads the next line as a CBOR byte string in base64.
    mutating func wrapped(_ what: String) throws(Explanation) -> [UInt8] {
        let bytes = try bytes(what)
        guard let inner = (try? CBOR(decoding: bytes))?.bytes else {
            throw Explain.malformed("\(name): \(what) is not a CBOR byte string")
        }
        return inner
    }

    /// Encodes bytes as a base64 line.
    static func line(_ bytes: [UInt8]) -> String { Base64.encode(bytes) }

    /// Encodes bytes as a line with a CBOR byte string in base64.
    static func wrapped(_ bytes: [UInt8]) -> String { Base64.encode(CBOR.bytes(bytes).encoded) }
}
