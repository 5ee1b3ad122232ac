// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

/// An input from which tokens can be imported, recognized by its content.
public enum SecurIDInput: Sendable {
    /// A token string.
    case string(CTFString)
    /// An SDTID file.
    case batch(SDTIDBatch)
    /// A link to a CT-KIP server.
    case ctkip(CTKIPLink)
    /// A file of stoken.
    case stoken(StokenFile)

    /// Recognizes text or the content of a file: a CT-KIP link, `ctfData=` in a URL or anywhere else, with or without
    /// the `3D` that quoted-printable mail adds after the equals sign, an SDTID file, a `.stokenrc`, or a bare string,
    /// which may begin on a later line.
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
        } else if let (data, isSmartphoneURL) = TokenText.data(in: units) {
            if plain.contains(bytesOf: "://"), !plain.contains(where: \.isNewline), units.count > SecurIDLimits.url {
                throw .tooLong("URL", limit: SecurIDLimits.url)
            }
            self = .string(try CTFString(data, isSmartphoneURL: isSmartphoneURL))
        } else if let start = TokenText.place(of: "<?xml ", in: units) {
            self = .batch(try SDTIDBatch(parsing: Array(units[start...])))
        } else if plain.hasPrefix("<") {
            self = .batch(try SDTIDBatch(parsing: units))
        } else if units.count > Self.textLimit {
            throw .tooLong("text", limit: Self.textLimit)
        } else if let file = try StokenFile(matching: plain) {
            self = .stoken(file)
        } else {
            self = .string(try Self.bare(plain))
        }
    }

    /// Maximum size in bytes of text that is neither XML nor marked: each of its lines may begin a string.
    private static let textLimit = 1 << 16
    /// Maximum length of a string in characters, percent-encoded and broken into lines, with a margin.
    private static let stringLimit = 2048

    /// Reads a string at the start of the text, or at the start of the first line that begins with one.
    private static func bare(_ text: String) throws(SecurIDError) -> CTFString {
        do { return try CTFString(text) } catch {
            guard case .format = error else { throw error }
            var rest = text[...]
            var tries = 0
            while let end = rest.firstIndex(where: \.isNewline) {
                rest = rest[rest.index(after: end)...]
                let line = rest.drop { $0 == " " || $0 == "\t" }
                guard tries < 100, let first = line.utf8.first, "12AB".utf8.contains(first) else { continue }
                tries += 1
                do { return try CTFString(String(line.prefix(stringLimit))) } catch {
                    guard case .format = error else { throw error }
                }
            }
            throw error
        }
    }

    /// The name of the form, stable for scripts.
    public var form: String {
        switch self {
        case .string(let string): "ctf-v\(string.version)"
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
        default: string?.isProtected ?? false
        }
    }

    /// Whether a device identifier is needed.
    public var isBound: Bool { string?.isBound ?? false }

    private var string: CTFString? {
        switch self {
        case .string(let string): string
        case .stoken(let file): file.token
        case .batch, .ctkip: nil
        }
    }

    /// The serial numbers that can be read without keys.
    public var serials: [String] {
        if case .batch(let batch) = self { return batch.serials }
        return [string?.serial].compactMap { $0 }
    }

    /// Decrypts the tokens. Returns none for a link, since its token must be fetched from a server.
    ///
    /// - Throws: The errors of the recognized form.
    public func tokens(
        _ keys: SecurIDKeys = SecurIDKeys(), _ wanted: [String]? = nil, progress: (Int) -> Void = { _ in }
    ) throws(SecurIDError) -> [SecurIDToken] {
        if case .batch(let batch) = self { return try batch.tokens(keys, wanted, progress: progress) }
        guard let string else { return [] }
        let token = try string.token(keys)
        if let missing = wanted?.first(where: { $0 != token.serial }) { throw .noSuchToken(missing) }
        return [token]
    }
}

/// A token string of any version.
public enum CTFString: Sendable {
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

    /// Returns the text after `ctfData=` and whether it was in a URL of RSA's apps; `nil` without such a mark.
    static func data(in bytes: [UInt8]) -> (String, Bool)? {
        let mark: StaticString = "ctfdata="
        guard let start = place(of: mark, in: bytes) else { return nil }
        let before = String(decoding: bytes[..<start], as: UTF8.self).lowercased()
        var data = bytes[(start + mark.utf8CodeUnitCount)...]
        if data.starts(with: [0x33, 0x44]) || data.starts(with: [0x33, 0x64]) { data = data.dropFirst(2) }
        return (String(decoding: data, as: UTF8.self), smartphone.contains { before.contains(bytesOf: $0) })
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
