// SPDX-License-Identifier: Apache-2.0

import YKWire

/// An input from which tokens can be imported, recognized by its content.
public enum SecurIDInput: Sendable {
    /// A token string.
    case string(CTFString)
    /// Several token strings, and how many more cannot be read.
    case several([CTFString], unreadable: Int)
    /// An SDTID file.
    case batch(SDTIDBatch)
    /// A link to a CT-KIP server.
    case ctkip(CTKIPLink)
    /// A file of stoken.
    case stoken(StokenFile)

    /// Recognizes text or the content of a file: a CT-KIP link, `ctfData=` in a URL or anywhere else, with or without
    /// the `3D` that quoted-printable mail adds after the equals sign, an SDTID file, a `.stokenrc`, or a bare string,
    /// which may begin on a later line. A text may have several links or strings.
    ///
    /// - Throws: `format` for anything else, `tooLong` for a URL above 1,024 characters, or the errors of the
    ///   recognized form.
    public init(parsing bytes: [UInt8]) throws(SecurIDError) {
        guard bytes.count <= XMLParser.byteLimit else { throw .tooLong("token", limit: XMLParser.byteLimit) }
        guard let text = TextFile.unicode(bytes) else {
            // Only XML can declare another encoding.
            guard bytes.starts(with: Array("<?xml".utf8)) else { throw .format("not UTF-8") }
            self = .batch(try SDTIDBatch(parsing: bytes))
            return
        }
        let plain = text.trimmed
        let units = Array(plain.utf8)
        if TokenText.place(of: "ctkip", in: units) != nil, let link = try CTKIPLink(in: plain) {
            self = .ctkip(link)
        } else if let links = TokenText.all(in: units) {
            if plain.contains(bytesOf: "://"), !plain.contains(where: \.isNewline), units.count > SecurIDLimits.url {
                throw .tooLong("URL", limit: SecurIDLimits.url)
            }
            self = try Self.links(links)
        } else if let start = TokenText.place(of: "<?xml ", in: units) {
            self = .batch(try SDTIDBatch(parsing: Array(units[start...])))
        } else if plain.hasPrefix("<") {
            self = .batch(try SDTIDBatch(parsing: units))
        } else if units.count > Self.textLimit {
            throw .tooLong("text", limit: Self.textLimit)
        } else if let file = try StokenFile(matching: plain) {
            self = .stoken(file)
        } else {
            self = try Self.bare(plain)
        }
    }

    /// Joins what several QR codes of a picture hold.
    ///
    /// - Returns: `nil` if there is more than one, and one is not a token string.
    public static func joined(_ inputs: [SecurIDInput]) -> SecurIDInput? {
        if inputs.count == 1 { return inputs[0] }
        var (strings, unreadable): ([CTFString], Int) = ([], 0)
        for input in inputs {
            switch input {
            case .string(let string): strings.append(string)
            case .several(let others, let count): (strings, unreadable) = (strings + others, unreadable + count)
            case .batch, .ctkip, .stoken: return nil
            }
        }
        return strings.isEmpty ? nil : Self.of(strings, unreadable)
    }

    /// Equal strings count once: mail has the same link as text and as HTML.
    private static func of(_ strings: [CTFString], _ unreadable: Int) -> SecurIDInput {
        var seen: Set<CTFString> = []
        let distinct = strings.filter { seen.insert($0).inserted }
        return distinct.count == 1 && unreadable == 0
            ? .string(distinct[0]) : .several(distinct, unreadable: unreadable)
    }

    private static func links(_ links: [(String, Bool)]) throws(SecurIDError) -> SecurIDInput {
        var strings: [CTFString] = []
        var failure: SecurIDError?
        for (data, isSmartphoneURL) in links {
            do { strings.append(try CTFString(data, isSmartphoneURL: isSmartphoneURL)) } catch {
                failure = failure ?? error
            }
        }
        if strings.isEmpty, let failure { throw failure }
        return of(strings, links.count - strings.count)
    }

    /// Maximum size in bytes of text that is neither XML nor marked: each of its lines may begin a string.
    private static let textLimit = 1 << 16
    /// Maximum length of a string in characters, percent-encoded and broken into lines, with a margin.
    private static let stringLimit = 2048

    /// Reads the strings at the start of the text and at the start of lines.
    private static func bare(_ text: String) throws(SecurIDError) -> SecurIDInput {
        var strings: [CTFString] = []
        var failure: SecurIDError?
        do { strings.append(try CTFString(text)) } catch {
            guard case .format = error else { throw error }
            failure = error
        }
        var rest = text[...]
        var tries = 0
        while let end = rest.firstIndex(where: \.isNewline) {
            rest = rest[rest.index(after: end)...]
            let line = rest.drop { $0 == " " || $0 == "\t" }
            guard tries < 100, let first = line.utf8.first, "12AB".utf8.contains(first) else { continue }
            tries += 1
            do { strings.append(try CTFString(String(line.prefix(stringLimit)))) } catch {
                // The lines of a string that is broken into several are none.
                guard !strings.isEmpty else {
                    guard case .format = error else { throw error }
                    continue
                }
            }
        }
        if strings.isEmpty, let failure { throw failure }
        return of(strings, 0)
    }

    /// The number of tokens.
    public var count: Int {
        switch self {
        case .batch(let batch): batch.serials.count
        case .several(let strings, _): strings.count
        case .string, .ctkip, .stoken: 1
        }
    }

    /// The number of token strings that cannot be read, beside those that can.
    public var unreadableCount: Int { if case .several(_, let count) = self { count } else { 0 } }

    /// The name of the form, stable for scripts.
    public var form: String {
        switch self {
        case .string(let string): "ctf-v\(string.version)"
        case .several(let strings, _): "ctf-v\(strings.first?.version ?? 0)"
        case .batch: "sdtid"
        case .ctkip: "ctkip"
        case .stoken: "stokenrc"
        }
    }

    /// Whether a password is needed; `nil` if that is unknown before decryption.
    public var isProtected: Bool? {
        switch self {
        case .batch: nil
        case .ctkip: false
        case .several(let strings, _): strings.contains(where: \.isProtected)
        default: string?.isProtected ?? false
        }
    }

    /// Whether a device identifier is needed.
    public var isBound: Bool {
        if case .several(let strings, _) = self { strings.contains(where: \.isBound) } else { string?.isBound ?? false }
    }

    private var string: CTFString? {
        switch self {
        case .string(let string): string
        case .stoken(let file): file.token
        case .several, .batch, .ctkip: nil
        }
    }

    /// The serial numbers that can be read without keys.
    public var serials: [String] {
        if case .batch(let batch) = self { return batch.serials }
        if case .several(let strings, _) = self { return strings.compactMap(\.serial) }
        return [string?.serial].compactMap { $0 }
    }

    /// Decrypts the tokens. Returns none for a link, since its token must be fetched from a server.
    ///
    /// - Throws: The errors of the recognized form.
    public func tokens(
        _ keys: SecurIDKeys = SecurIDKeys(), _ wanted: [String]? = nil, progress: (Int) -> Void = { _ in }
    ) throws(SecurIDError) -> [SecurIDToken] {
        if case .batch(let batch) = self { return try batch.tokens(keys, wanted, progress: progress) }
        if case .several(let strings, _) = self { return try Self.tokens(strings, keys, wanted) }
        guard let string else { return [] }
        let token = try string.token(keys)
        if let missing = wanted?.first(where: { $0 != token.serial }) { throw .noSuchToken(missing) }
        return [token]
    }

    private static func tokens(
        _ strings: [CTFString], _ keys: SecurIDKeys, _ wanted: [String]?
    ) throws(SecurIDError) -> [SecurIDToken] {
        var tokens: [SecurIDToken] = []
        // A serial number that can be read without keys decides before the string is decrypted.
        for string in strings
        where wanted == nil || string.serial == nil || wanted?.contains(string.serial ?? "") == true {
            tokens.append(try string.token(keys))
        }
        guard let wanted else { return tokens }
        let chosen = tokens.filter { wanted.contains($0.serial) }
        if let missing = wanted.first(where: { serial in !chosen.contains { $0.serial == serial } }) {
            throw .noSuchToken(missing)
        }
        return chosen
    }
}

/// A token string of any version.
public enum CTFString: Hashable, Sendable {
    /// A string of digits, versions 1 and 2.
    case numeric(NumericCTF)
    /// A string in base64, versions 3 and 4.
    case alphanumeric(AlphanumericCTF)

    /// Reads a string, whose first character is its version.
    ///
    /// - Parameters:
    ///   - text: The string, optionally followed by more text.
    ///   - isSmartphoneURL: Whether it came from one of the URLs of RSA's smartphone apps.
    /// - Throws: `format`, or `checksum`.
    public init(_ text: String, isSmartphoneURL: Bool = false) throws(SecurIDError) {
        switch text.utf8.first ?? 0 {
        case 0x30...0x39: self = .numeric(try NumericCTF(text, isSmartphoneURL: isSmartphoneURL))
        case 0x41, 0x42: self = .alphanumeric(try AlphanumericCTF(text))
        default: throw .format("neither a token string, nor a URL, nor a file of tokens")
        }
    }

    /// The version, 1 to 4.
    public var version: Int {
        switch self {
        case .numeric(let string): string.version
        case .alphanumeric(let string): string.version
        }
    }

    /// Whether a password is needed.
    public var isProtected: Bool {
        switch self {
        case .numeric(let string): string.isProtected
        case .alphanumeric(let string): string.isProtected
        }
    }

    /// Whether a device identifier is needed.
    public var isBound: Bool {
        switch self {
        case .numeric(let string): string.isBound
        case .alphanumeric(let string): string.isBound
        }
    }

    /// The serial number; `nil` for versions 3 and 4, which encrypt it.
    public var serial: String? {
        if case .numeric(let string) = self { string.serial } else { nil }
    }

    /// Decrypts the token.
    ///
    /// - Throws: The errors of the string's version.
    public func token(_ keys: SecurIDKeys = SecurIDKeys()) throws(SecurIDError) -> SecurIDToken {
        switch self {
        case .numeric(let string): try string.token(keys)
        case .alphanumeric(let string): try string.token(keys)
        }
    }
}

/// Text that contains a token, possibly among other text, as mail programs and editors produce it.
enum TokenText {
    /// The URLs of RSA's smartphone apps.
    private static let smartphone = [
        "com.rsa.securid.iphone://ctf", "com.rsa.securid://ctf", "http://127.0.0.1/securid/ctf",
    ]

    /// Maximum number of links that are read.
    private static let limit = 100

    /// Returns the text after each `ctfData=` up to the next, and whether it was in a URL of RSA's apps; `nil` without such
    /// a mark.
    static func all(in bytes: [UInt8]) -> [(String, Bool)]? {
        let mark: StaticString = "ctfdata="
        var found: [(String, Bool)] = []
        var rest = bytes
        guard var start = place(of: mark, in: rest) else { return nil }
        while found.count < limit {
            let before = String(decoding: rest[..<start], as: UTF8.self).lowercased()
            rest = Array(rest[(start + mark.utf8CodeUnitCount)...])
            let next = place(of: mark, in: rest)
            var data = rest[..<(next ?? rest.count)]
            if data.starts(with: [0x33, 0x44]) || data.starts(with: [0x33, 0x64]) { data = data.dropFirst(2) }
            found.append((String(decoding: data, as: UTF8.self), smartphone.contains { before.contains(bytesOf: $0) }))
            guard let next else { break }
            start = next
        }
        return found
    }

    /// Returns the position of a lower-case string, ignoring case.
    static func place(of wanted: StaticString, in bytes: [UInt8]) -> Int? {
        wanted.withUTF8Buffer { wanted in
            guard bytes.count >= wanted.count else { return nil }
            return (0...bytes.count - wanted.count).first { start in
                wanted.indices.allSatisfy { index in
                    let byte = bytes[start + index]
                    return (0x41...0x5A).contains(byte) ? byte + 0x20 == wanted[index] : byte == wanted[index]
                }
            }
        }
    }
}
