// SPDX-License-Identifier: Apache-2.0

import YKWire

/// The parts of a QR code's link: `scheme://authority/path?name=value`, with percent-encoded values.
struct LinkQuery {
    /// The scheme in lower case.
    let scheme: String
    /// The part between `://` and the first slash or question mark, unchanged.
    let authority: String
    /// The path without its first slash, unchanged.
    let path: String
    private let parameters: [String: String]
    private static let limit = 4096

    /// Reads a link.
    ///
    /// - Throws: `malformed` for a text without a scheme, longer than 4096 bytes, or with a parameter that is repeated
    ///   or not percent-encoded UTF-8.
    init(_ text: String) throws(ApprovalError) {
        guard text.utf8.count <= Self.limit, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .malformed("a link is ASCII without blanks, at most \(Self.limit) characters")
        }
        let bytes = Array(text.utf8)
        guard let mark = Self.place(of: Array("://".utf8), in: bytes), mark > 0 else {
            throw .malformed("a link begins with a scheme and ://")
        }
        func string(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
        scheme = string(bytes[..<mark]).lowercased()
        let rest = bytes[(mark + 3)...]
        let head = rest.prefix { $0 != 0x3F }
        let host = head.prefix { $0 != 0x2F }
        authority = string(host)
        path = string(head.dropFirst(host.count + 1))
        var found: [String: String] = [:]
        for pair in rest.dropFirst(head.count + 1).split(separator: 0x26) {
            let name = string(pair.prefix { $0 != 0x3D })
            guard let value = PercentEncoding.decode(string(pair.dropFirst(name.utf8.count + 1))) else {
                throw .malformed("the link's \(name) is not percent-encoded text")
            }
            guard found.updateValue(value, forKey: name) == nil else {
                throw .malformed("the link has \(name) twice")
            }
        }
        parameters = found
    }

    /// The value of a parameter; `nil` if it is absent.
    subscript(name: String) -> String? { parameters[name] }

    /// The value of a required parameter, which must not be empty.
    func required(_ name: String) throws(ApprovalError) -> String {
        guard let value = parameters[name], !value.isEmpty else { throw .malformed("the link has no \(name)") }
        return value
    }

    /// Reads a boolean as written by Python, or 0 or 1; `nil` if it is absent.
    func flag(_ name: String) throws(ApprovalError) -> Bool? {
        switch parameters[name]?.lowercased() {
        case nil: nil
        case "true", "1": true
        case "false", "0": false
        default: throw .malformed("the link's \(name) is neither True nor False")
        }
    }

    private static func place(of part: [UInt8], in bytes: [UInt8]) -> Int? {
        guard bytes.count >= part.count else { return nil }
        return (0...(bytes.count - part.count)).first { bytes[$0...].starts(with: part) }
    }
}
