// SPDX-License-Identifier: Apache-2.0

/// A header field (RFC 9110 §5).
public struct HTTPField: Hashable, Sendable {
    /// The name as written; names are case-insensitive.
    public let name: String
    /// The value without surrounding white space.
    public let value: String

    /// Creates a header field.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Whether the field is safe to send: neither part contains a line end.
    package var isSound: Bool {
        let isName = name.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x3A }
        return isName && !name.isEmpty && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }
}

extension [HTTPField] {
    /// The values of all fields with this name.
    public func values(of name: String) -> [String] {
        let wanted = name.lowercased()
        return filter { $0.name.lowercased() == wanted }.map(\.value)
    }

    /// Parses the header of a response with lines ending in CR LF or LF (RFC 9112 §5); the status line and invalid
    /// fields are skipped.
    public init(parsing header: [UInt8]) {
        self = header.split(whereSeparator: { $0 == 0x0A }).compactMap { line in
            guard let colon = line.firstIndex(of: 0x3A), colon > line.startIndex else { return nil }
            let name = String(decoding: line[..<colon], as: UTF8.self)
            let value = line[line.index(after: colon)...].trimmed
            let field = HTTPField(name, String(decoding: value, as: UTF8.self))
            return field.isSound ? field : nil
        }
    }
}

extension ArraySlice<UInt8> {
    /// Without blanks at both ends.
    fileprivate var trimmed: ArraySlice<UInt8> {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
        let start = drop(while: isBlank)
        return start.lastIndex { !isBlank($0) }.map { start[...$0] } ?? []
    }
}

/// The secret parts of a request and its response, which recordings leave out.
///
/// Header fields are not listed here: a recording contains only those known to be harmless.
public struct HTTPSecrets: Hashable, Sendable {
    /// The secret part of a body, or of a URL's query.
    public enum Part: Hashable, Sendable {
        /// Everything.
        case all
        /// The members with these names: of JSON objects at any depth, of forms, of `name=value` lines, and of the
        /// query. Other kinds of bodies are secret as a whole, unless the set is empty.
        case members(Set<String>)
    }

    /// The secret part of the request.
    public var request: Part
    /// The secret part of the response. A response recorded without any content cannot be replayed.
    public var answer: Part

    /// The bodies and every value of the query: the default when nothing is specified.
    public static let everything = HTTPSecrets(request: .all, answer: .all)

    /// Specifies both sides.
    public init(request: Part, answer: Part) {
        self.request = request
        self.answer = answer
    }

    /// Names the secret members.
    public init(request: Set<String>, answer: Set<String>) {
        self.init(request: .members(request), answer: .members(answer))
    }
}
