// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// How to extract the password from a record: with the built-in parsers, or the caller's.
public struct TokenParsers: Sendable {
    /// Extracts the bytes of the password from a URI; `nil` if there is none.
    public var uri: @Sendable (NDEFURI) -> [UInt8]?
    /// Extracts the bytes of the password from a text; `nil` if there is none.
    public var text: @Sendable (NDEFText) -> [UInt8]?

    /// Creates parsers, by default the built-in ones.
    public init(
        uri: @escaping @Sendable (NDEFURI) -> [UInt8]? = TokenParsers.password(in:),
        text: @escaping @Sendable (NDEFText) -> [UInt8]? = TokenParsers.password(in:)
    ) {
        self.uri = uri
        self.text = text
    }

    /// Returns the password after the `#` of a URI on any host, after `/neo/`, at the end of its query, or in the last
    /// part of its path.
    ///
    /// A static password is only accepted in the places that keys use: after `/yk/#` and `/neo/`, or as scan codes.
    public static func password(in uri: NDEFURI) -> [UInt8]? {
        let bytes = uri.bytes
        let places = [("#", false), ("/yk/#", true), ("/neo/", true), ("/neo/#", true)]
        for (mark, takesAnything) in places.reversed() {
            guard let rest = bytes.after(mark), !rest.isEmpty else { continue }
            if let password = oneTime(rest) { return password }
            if takesAnything || ScanCodes.looksLike(rest) { return Array(rest) }
        }
        if let query = bytes.after("?"), let value = query.lastIndex(of: UInt8(ascii: "=")),
            let password = oneTime(query[query.index(after: value)...])
        {
            return password
        }
        let path = bytes.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard let scheme = path.after("://"), let slash = scheme.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        let last = scheme[scheme.index(after: slash)...]
        return oneTime(last) ?? (ScanCodes.looksLike(last) ? Array(last) : nil)
    }

    /// Returns the text, if it is a password; otherwise its last word, or the modhex it ends with.
    public static func password(in text: NDEFText) -> [UInt8]? {
        let bytes = Array(text.text.utf8)
        return oneTime(bytes[...]) ?? (ScanCodes.looksLike(bytes[...]) ? bytes : nil)
    }

    /// A one-time password at the end of the bytes: all of them, their last word, or the modhex they end with.
    private static func oneTime(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        let text = String(decoding: bytes, as: UTF8.self).trimmed
        let word = text.split(whereSeparator: \.isWhitespace).last.map(String.init) ?? ""
        for candidate in [text, word] where OTPToken.Kind(oneTime: candidate) != nil { return Array(candidate.utf8) }
        let run = bytes.suffix(from: (bytes.lastIndex { !$0.isModhex }).map { $0 + 1 } ?? bytes.startIndex)
        let isOTP = YubicoOTP.lengths.contains(run.count) && run.count.isMultiple(of: 2)
        return isOTP ? Array(run) : nil
    }
}

extension OTPToken {
    /// Extracts the first password from a message; `nil` if no record has one.
    ///
    /// A static password consists of scan codes, which `layout` maps to characters; a record with an unmapped code is
    /// skipped.
    public init?(in message: NDEFMessage, parsers: TokenParsers = TokenParsers(), layout: KeyboardLayout = .us) {
        for content in message.contents {
            let found: (bytes: [UInt8]?, source: Source)
            switch content {
            case .uri(let uri): found = (parsers.uri(uri), .uri(uri))
            case .smartPoster(let poster): found = (parsers.uri(poster.uri), .uri(poster.uri))
            case .text(let text): found = (parsers.text(text), .text(text))
            default: continue
            }
            guard let bytes = found.bytes, let token = OTPToken(bytes, found.source, layout) else { continue }
            self = token
            return
        }
        return nil
    }

    private init?(_ bytes: [UInt8], _ source: Source, _ layout: KeyboardLayout) {
        let plain = String(validating: bytes, as: UTF8.self)
        let isOneTime = plain.map { Kind(oneTime: $0) != nil } ?? false
        let text = !isOneTime && ScanCodes.looksLike(bytes[...]) ? ScanCodes.text(bytes, layout) : plain
        guard let text, !text.isEmpty else { return nil }
        self.init(text, source: source)
    }
}

/// Key positions instead of characters (HID Usage Tables 1.5 §10), as a key stores a static password on a tag.
enum ScanCodes {
    /// Whether the bytes can only be key positions: all are valid positions, and one is not a text character.
    static func looksLike(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.allSatisfy { (0x04...0x38).contains($0 & 0x7F) || $0 & 0x7F == 0x64 }
            && bytes.contains { $0 < 0x20 || $0 >= 0x80 }
    }

    /// The characters, without the final Enter; `nil` if the layout has none for a position.
    static func text(_ bytes: [UInt8], _ layout: KeyboardLayout) -> String? {
        var text = ""
        for code in bytes {
            guard let character = layout.character(code) else { return nil }
            text.append(character)
        }
        return text.trimmed.isEmpty ? nil : text.trimmedEnd
    }
}

extension String {
    fileprivate var trimmedEnd: String {
        var text = self[...]
        while text.last == "\n" || text.last == "\t" { text.removeLast() }
        return String(text)
    }
}

extension RandomAccessCollection<UInt8> where Index == Int {
    /// The part after the first occurrence of these characters.
    fileprivate func after(_ mark: String) -> SubSequence? {
        let mark = Array(mark.utf8)
        guard count >= mark.count else { return nil }
        let start = (startIndex...(endIndex - mark.count)).first { self[$0...].starts(with: mark) }
        return start.map { self[($0 + mark.count)...] }
    }
}
