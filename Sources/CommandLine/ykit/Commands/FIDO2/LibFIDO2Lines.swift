// SPDX-License-Identifier: Apache-2.0

import YKWire

/// The lines that libfido2's tools read and write (fido2-cred(1), fido2-assert(1)): base 64 or text, one a line.
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
    /// How many lines are left.
    var count: Int { lines.count }

    /// The next line, which is text.
    mutating func text(_ what: String) throws(Explanation) -> String {
        guard let line = lines.popFirst() else { throw Explain.malformed("\(name) ends before \(what)") }
        return line
    }

    /// The next line, which is base 64.
    mutating func bytes(_ what: String, count: Int? = nil) throws(Explanation) -> [UInt8] {
        let line = try text(what)
        guard let bytes = try? Base64.decode(line) else { throw Explain.malformed("\(name): \(what) is not base 64") }
        guard count == nil || bytes.count == count else {
            throw Explain.malformed("\(name): \(what) has \(bytes.count) bytes")
        }
        return bytes
    }

    /// The next line, which is a byte string of CBOR in base 64.
    mutating func wrapped(_ what: String) throws(Explanation) -> [UInt8] {
        let bytes = try bytes(what)
        guard let inner = (try? CBOR(decoding: bytes))?.bytes else {
            throw Explain.malformed("\(name): \(what) is not a CBOR byte string")
        }
        return inner
    }

    /// Bytes as such a line.
    static func line(_ bytes: [UInt8]) -> String { Base64.encode(bytes) }

    /// Bytes as such a line, wrapped as a byte string of CBOR.
    static func wrapped(_ bytes: [UInt8]) -> String { Base64.encode(CBOR.bytes(bytes).encoded) }
}
