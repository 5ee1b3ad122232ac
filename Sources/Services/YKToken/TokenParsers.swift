// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// How the password is cut out of a record: ready-made, or the caller's own.
public struct TokenParsers: Sendable {
    /// Takes the bytes of the password out of a URI; `nil` when there is none.
    public var uri: @Sendable (NDEFURI) -> [UInt8]?
    /// Takes the bytes of the password out of a text; `nil` when there is none.
    public var text: @Sendable (NDEFText) -> [UInt8]?

    /// Makes parsers; those that are not given are ready-made.
    public init(
        uri: @escaping @Sendable (NDEFURI) -> [UInt8]? = TokenParsers.password(in:),
        text: @escaping @Sendable (NDEFText) -> [UInt8]? = TokenParsers.password(in:)
    ) {
        self.uri = uri
        self.text = text
    }

    /// What stands behind the `#` of a URI on any host, behind `/neo/`, or in the last part of its path.
    ///
    /// What a key would type as a static password is only taken where keys put one: behind `/yk/#` and `/neo/`, or as scan
    /// codes.
    public static func password(in uri: NDEFURI) -> [UInt8]? {
        let bytes = uri.bytes
        let places = [("#", false), ("/yk/#", true), ("/neo/", true), ("/neo/#", true)]
        for (mark, takesAnything) in places.reversed() {
            guard let rest = bytes.after(mark), !rest.isEmpty else { continue }
            if let password = oneTime(rest) { return password }
            if takesAnything || ScanCodes.looksLike(rest) { return Array(rest) }
        }
        let path = bytes.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard let scheme = path.after("://"), let slash = scheme.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        let last = scheme[scheme.index(after: slash)...]
        return oneTime(last) ?? (ScanCodes.looksLike(last) ? Array(last) : nil)
    }

    /// The text, when it is a password; else its last word, or what modhex it ends with.
    public static func password(in text: NDEFText) -> [UInt8]? {
        let bytes = Array(text.text.utf8)
        return oneTime(bytes[...]) ?? (ScanCodes.looksLike(bytes[...]) ? bytes : nil)
    }

    /// A one-time password at the end of some bytes: all of them, their last word, or the modhex they end with.
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
    /// Takes the first password out of a message; `nil` when no record has one.
    ///
    /// A static password comes as scan codes, which `layout` turns into characters; where it has none for a code the
    /// password cannot be told and the record is passed over.
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

/// Key positions instead of characters (HID Usage Tables 1.5 §10), as a key puts a static password on a tag.
enum ScanCodes {
    /// Whether bytes can only be key positions: all of them are, and one is no character of a text.
    static func looksLike(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.allSatisfy { (0x04...0x38).contains($0 & 0x7F) || $0 & 0x7F == 0x64 }
            && bytes.contains { $0 < 0x20 || $0 >= 0x80 }
    }

    /// The characters, without the Enter at the end; `nil` when the layout has none for a position.
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
        while text.last == "\n" || text.last == "\t" { text = text.dropLast() }
        return String(text)
    }
}

extension RandomAccessCollection<UInt8> where Index == Int {
    /// What stands behind the first place where these characters stand.
    fileprivate func after(_ mark: String) -> SubSequence? {
        let mark = Array(mark.utf8)
        guard count >= mark.count else { return nil }
        let start = (startIndex...(endIndex - mark.count)).first { self[$0...].starts(with: mark) }
        return start.map { self[($0 + mark.count)...] }
    }
}
