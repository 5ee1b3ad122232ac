// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

/// Something that a token can be imported from: what it is, is told by its content.
public enum SecurIDInput: Sendable {
    /// A string of digits, versions 1 and 2.
    case numeric(NumericCTF)
    /// A string in base 64, versions 3 and 4.
    case alphanumeric(AlphanumericCTF)
    /// An SDTID file.
    case batch(SDTIDBatch)
    /// A link to a CT-KIP server.
    case ctkip(CTKIPLink)
    /// The file of stoken.
    case stoken(StokenFile)

    /// Recognizes text or the content of a file: a CT-KIP link, `ctfData=` in a URL or anywhere else, with or without the
    /// `3D` that quoted-printable mail puts behind the equals sign, an SDTID file, a `.stokenrc`, or a bare string.
    ///
    /// - Throws: `format` for anything else, `tooLong` for a URL above 1,024 characters, or what the form's own reader
    ///   throws.
    public init(parsing bytes: [UInt8]) throws(SecurIDError) {
        guard bytes.count <= XMLParser.byteLimit else { throw .tooLong("token", limit: XMLParser.byteLimit) }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .format("not UTF-8") }
        let plain = text.trimmed
        if let link = try CTKIPLink(matching: plain) {
            self = .ctkip(link)
        } else if let (data, url) = CTFText.data(in: plain) {
            if plain.contains("://"), !plain.contains("\n"), plain.utf8.count > SecurIDLimits.url {
                throw .tooLong("URL", limit: SecurIDLimits.url)
            }
            self = try Self.string(data, isSmartphoneURL: url)
        } else if plain.contains("<?xml ") || plain.hasPrefix("<TKNBatch") {
            self = .batch(try SDTIDBatch(parsing: bytes))
        } else if let file = try StokenFile(matching: plain) {
            self = .stoken(file)
        } else {
            self = try Self.string(plain, isSmartphoneURL: false)
        }
    }

    private static func string(_ text: String, isSmartphoneURL: Bool) throws(SecurIDError) -> SecurIDInput {
        switch text.utf8.first ?? 0 {
        case 0x30...0x39: return .numeric(try NumericCTF(text, isSmartphoneURL: isSmartphoneURL))
        case 0x41, 0x42: return .alphanumeric(try AlphanumericCTF(text))
        default: throw .format("neither a token string, nor a URL, nor a file of tokens")
        }
    }

    /// The name of the form, stable for programs.
    public var form: String {
        switch self {
        case .numeric(let string): "ctf-v\(string.version)"
        case .alphanumeric(let string): "ctf-v\(string.version)"
        case .batch: "sdtid"
        case .ctkip: "ctkip"
        case .stoken: "stokenrc"
        }
    }

    /// Whether a password is needed; `nil` when only trying tells.
    public var isProtected: Bool? {
        switch self {
        case .numeric(let string): string.isProtected
        case .alphanumeric(let string): string.isProtected
        case .stoken(let file): file.token.isProtected
        case .batch: nil
        case .ctkip: false
        }
    }

    /// Whether a device identifier is needed.
    public var isBound: Bool {
        switch self {
        case .numeric(let string): string.isBound
        case .alphanumeric(let string): string.isBound
        case .stoken(let file): file.token.isBound
        case .batch, .ctkip: false
        }
    }

    /// The serial numbers that can be read without keys.
    public var serials: [String] {
        switch self {
        case .numeric(let string): [string.serial]
        case .stoken(let file): [file.token.serial]
        case .batch(let batch): batch.serials
        case .alphanumeric, .ctkip: []
        }
    }

    /// The tokens, decrypted; none for a link, which only a server can fulfil.
    ///
    /// - Throws: What the readers of the forms throw.
    public func tokens(
        _ keys: SecurIDKeys = SecurIDKeys(), _ wanted: [String]? = nil, progress: (Int) -> Void = { _ in }
    ) throws(SecurIDError) -> [SecurIDToken] {
        let tokens: [SecurIDToken]
        switch self {
        case .numeric(let string): tokens = [try string.token(keys)]
        case .alphanumeric(let string): tokens = [try string.token(keys)]
        case .stoken(let file): tokens = [try file.token.token(keys)]
        case .batch(let batch): return try batch.tokens(keys, wanted, progress: progress)
        case .ctkip: return []
        }
        if let missing = wanted?.first(where: { serial in !tokens.contains { $0.serial == serial } }) {
            throw .noSuchToken(missing)
        }
        return tokens
    }
}

/// The data of a token string in a text.
enum CTFText {
    /// The URLs of RSA's smartphone apps.
    private static let smartphone = [
        "com.rsa.securid.iphone://ctf", "com.rsa.securid://ctf", "http://127.0.0.1/securid/ctf",
    ]

    /// What stands behind `ctfData=` up to the next separator, and whether it stood in a URL of RSA's apps; `nil` without
    /// such a mark.
    static func data(in text: String) -> (String, Bool)? {
        let bytes = Array(text.utf8)
        let lowered = bytes.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
        let mark = Array("ctfdata=".utf8)
        guard let start = lowered.indices.first(where: { lowered[$0...].starts(with: mark) }) else { return nil }
        var rest = bytes[(start + mark.count)...]
        if rest.starts(with: [0x33, 0x44]) || rest.starts(with: [0x33, 0x64]) { rest = rest.dropFirst(2) }
        let data = rest.prefix { $0 > 0x20 && $0 != 0x26 && $0 != 0x22 && $0 != 0x3C && $0 != 0x3E }
        let before = String(decoding: lowered[..<start], as: UTF8.self)
        return (String(decoding: data, as: UTF8.self), smartphone.contains { before.contains($0) })
    }
}

/// A URL in the forms that token apps register.
public struct SecurIDLink: Hashable, Sendable {
    /// What is behind the link.
    public enum Kind: String, Sendable {
        /// A token string (`ctfData`).
        case ctf
        /// A CT-KIP server (`url`).
        case ctkip
    }

    /// What the link leads to.
    public let kind: Kind
    /// The scheme, in lower case.
    public let scheme: String

    /// Recognizes `SCHEME://ctf?ctfData=…` and `SCHEME://ctkip?url=…`, and the Android form
    /// `http://127.0.0.1/securid/…`; `nil` for anything else.
    ///
    /// - Parameters:
    ///   - text: The URL.
    ///   - wanted: The scheme it has to have; `nil` for any.
    public init?(_ text: String, scheme wanted: String? = nil) {
        guard let url = URLText(text) else { return nil }
        if let wanted, wanted.lowercased() != url.scheme { return nil }
        scheme = url.scheme
        let place = url.place.hasSuffix("/") ? String(url.place.dropLast()) : url.place
        switch place {
        case "ctf", "127.0.0.1/securid/ctf":
            guard let data = url.query["ctfdata"], !data.isEmpty else { return nil }
            kind = .ctf
        case "ctkip", "127.0.0.1/securid/ctkip":
            guard let server = url.query["url"], !server.isEmpty else { return nil }
            kind = .ctkip
        default: return nil
        }
    }
}

/// The parts of a URL: scheme, host with path, and query.
struct URLText {
    let scheme: String
    /// Host and path, in lower case.
    let place: String
    /// The values by their names in lower case, percent-decoded.
    let query: [String: String]

    init?(_ text: String) {
        guard let mark = text.utf8.firstRange(of: "://".utf8) else { return nil }
        let scheme = text[..<mark.lowerBound]
        guard !scheme.isEmpty, scheme.utf8.allSatisfy({ $0.isLetterOrDigit || $0 == 0x2E || $0 == 0x2B || $0 == 0x2D })
        else { return nil }
        self.scheme = scheme.lowercased()
        let parts = text[mark.upperBound...].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        place = (parts.first ?? "").lowercased()
        var query: [String: String] = [:]
        for pair in (parts.count > 1 ? parts[1] : "").split(separator: "&") {
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard halves.count == 2, let value = Self.decoded(String(halves[1])) else { continue }
            let name = halves[0].lowercased()
            if query[name] == nil { query[name] = value }
        }
        self.query = query
    }

    /// Percent-decoding (RFC 3986 §2.1); `nil` when a percent sign stands alone or the bytes are not UTF-8.
    static func decoded(_ text: String) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == 0x25 else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let pair = try? Hex.decode(String(decoding: rest.prefix(2), as: UTF8.self)) else {
                return nil
            }
            bytes += pair
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Base 64 as it stands in a URL.
    static func encoded(_ base64: String) -> String {
        base64.replacing("+", with: "%2B").replacing("/", with: "%2F").replacing("=", with: "%3D")
    }
}

extension SecurIDLink {
    /// The URL of a token string, as an app that registers `scheme` takes it; `http` makes the Android form.
    public static func text(ctf: String, scheme: String) -> String {
        let data = URLText.encoded(ctf)
        return scheme == "http" ? "http://127.0.0.1/securid/ctf?ctfData=\(data)" : "\(scheme)://ctf?ctfData=\(data)"
    }
}
