// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKWire

/// A line of the allowed signers: principals, options, and the key or its authority (OpenSSH's sshsig.c).
struct SignerLine: Sendable {
    private struct Content: Sendable {
        var options: Options
        /// The key in wire format; a certificate for a line that lists one.
        var key: [UInt8]
    }

    private let principals: [UInt8]
    /// The fields after the principals, or why they cannot be read.
    private let content: Result<Content, SSHError>

    /// Reads a line; `nil` for an empty one, a comment, or one without principals.
    init?(_ line: ArraySlice<UInt8>) {
        // A line is a C string.
        var text = SignerText(line.prefix { $0 != 0 })
        text.skip(SignerText.space)
        guard let first = text.next, first != UInt8(ascii: "#"), let principals = text.principals() else { return nil }
        self.principals = principals
        content = Result { () throws(SSHError) in try Self.content(&text) }
    }

    private static func content(_ text: inout SignerText) throws(SSHError) -> Content {
        let start = text
        if let key = try? text.key() { return Content(options: Options(), key: key) }
        text = start
        var options = try text.options()
        guard text.next != nil else { throw .malformed("no key") }
        text.skip(SignerText.blank)
        let key = try text.key()
        return Content(options: try Options(&options), key: key)
    }

    /// Whether the principals include an identity.
    func names(_ identity: String) -> Bool { SSHPattern.fits(Array(identity.utf8), anyOf: principals) }

    /// Returns why the line does not allow a signature; `nil` if it does, empty if it is for a different key.
    func problem(with signature: SSHFileSignature, _ identity: String, now: UInt64) -> String? {
        let line: Content
        switch content {
        case .success(let content): line = content
        case .failure(let error): return error.description
        }
        if line.options.isAuthority {
            guard let certificate = signature.certificate, certificate.authority.blob == line.key else { return "" }
            if let problem = certificate.problem(
                principal: identity, isVerified: signature.signature.evidence.map { $0.flags & 4 != 0 }, now: now)
            {
                return problem
            }
        } else {
            guard signature.signer == line.key else { return "" }
        }
        return line.options.problem(namespace: signature.namespace, now: now)
    }

    /// The options of a line.
    private struct Options: Sendable {
        var isAuthority = false
        private var namespaces: [UInt8]?
        private var validAfter: UInt64?
        private var validBefore: UInt64?

        init() {}

        init(_ text: inout SignerText) throws(SSHError) {
            while let next = text.next, !SignerText.blank.contains(next) {
                if text.take("cert-authority") {
                    isAuthority = true
                } else if text.take("namespaces=") {
                    guard namespaces == nil else { throw .malformed("namespaces is given twice") }
                    namespaces = try text.quoted("namespaces")
                } else if text.take("valid-after=") {
                    validAfter = try Self.time(&text, "valid-after", validAfter)
                } else if text.take("valid-before=") {
                    validBefore = try Self.time(&text, "valid-before", validBefore)
                }
                guard let end = text.next, !SignerText.blank.contains(end) else { break }
                guard end == UInt8(ascii: ",") else { throw .malformed("an unknown option") }
                text.drop()
                guard text.next != nil else { throw .malformed("options ending with a comma") }
            }
            if let validAfter, let validBefore, validBefore <= validAfter {
                throw .malformed("valid-before is not later than valid-after")
            }
        }

        private static func time(
            _ text: inout SignerText, _ name: String, _ known: UInt64?
        ) throws(SSHError) -> UInt64 {
            guard known == nil else { throw .malformed("\(name) is given twice") }
            guard let time = SSHTime.seconds(try text.quoted(name)) else {
                throw .malformed("\(name) is not a time such as 20301231 or 20301231235959Z")
            }
            return time
        }

        /// Returns why a signature is not allowed; `nil` if it is.
        func problem(namespace: String, now: UInt64) -> String? {
            if let namespaces, !SSHPattern.fits(Array(namespace.utf8), anyOf: namespaces) {
                return "the key may not sign for '\(namespace)'"
            }
            if let validAfter, now < validAfter { return "the key is not valid yet" }
            if let validBefore, now > validBefore { return "the key has expired" }
            return nil
        }
    }
}

/// A cursor over a line, with the rules of quoting of OpenSSH's misc.c.
private struct SignerText {
    static let blank = Array(" \t".utf8)
    static let space = Array(" \t\r\n".utf8)
    private static let quote = UInt8(ascii: "\"")

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var next: UInt8? { rest.first }

    mutating func drop() { rest = rest.dropFirst() }

    mutating func skip(_ set: [UInt8]) { rest = rest.drop { set.contains($0) } }

    /// Reads the first word: up to white space, or to the end of a quoted part (strdelimw). `nil` without a word after
    /// it.
    mutating func principals() -> [UInt8]? {
        var word = rest.prefix { !Self.space.contains($0) && $0 != Self.quote }
        var tail = rest[word.endIndex...]
        guard let end = tail.first else { return nil }
        tail = tail.dropFirst()
        if end == Self.quote {
            guard let close = tail.firstIndex(of: Self.quote) else { return nil }
            word += tail[..<close]
            tail = tail[(close + 1)...]
        }
        rest = tail
        skip(Self.space)
        return Array(word)
    }

    /// Reads a name, without regard to case (opt_match, opt_flag).
    mutating func take(_ name: String) -> Bool {
        let start = String(decoding: rest.prefix(name.utf8.count), as: UTF8.self)
        guard start.utf8.count == name.utf8.count, start.lowercased() == name else { return false }
        rest = rest.dropFirst(name.utf8.count)
        return true
    }

    /// Reads a quoted value, in which `\"` stands for a quote (opt_dequote).
    mutating func quoted(_ name: String) throws(SSHError) -> [UInt8] {
        guard rest.first == Self.quote else { throw .malformed("the value of \(name) is not in quotes") }
        drop()
        var value: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte == Self.quote { return value }
            if byte == UInt8(ascii: "\\"), rest.first == Self.quote {
                value.append(Self.quote)
                drop()
            } else {
                value.append(byte)
            }
        }
        throw .malformed("the value of \(name) has no closing quote")
    }

    /// Reads the options: up to a blank outside quotes (sshkey_advance_past_options).
    mutating func options() throws(SSHError) -> SignerText {
        let start = rest
        var isQuoted = false
        while let byte = rest.first, isQuoted || !Self.blank.contains(byte) {
            drop()
            if byte == UInt8(ascii: "\\"), rest.first == Self.quote {
                drop()
            } else if byte == Self.quote {
                isQuoted.toggle()
            }
        }
        guard !isQuoted else { throw .malformed("options without a closing quote") }
        return SignerText(start[..<rest.startIndex])
    }

    /// Reads a key or certificate: its type and base64 (sshkey_read). Returns it in wire format.
    mutating func key() throws(SSHError) -> [UInt8] {
        let type = rest.prefix { !Self.blank.contains($0) }
        rest = rest[type.endIndex...]
        skip(Self.blank)
        let text = rest.prefix { !Self.blank.contains($0) }
        let name = String(decoding: type, as: UTF8.self)
        guard SSHPublicKey.isKnown(type: name) || SSHCertificate.isKnown(type: name) else {
            throw .malformed("no key of a known type")
        }
        // White space is skipped, but padding is required, as in b64_pton.
        let digits = String(decoding: text.filter { !Self.space.contains($0) }, as: UTF8.self)
        guard digits.utf8.count.isMultiple(of: 4), !digits.utf8.contains(where: { "-_".utf8.contains($0) }),
            let blob = try? Base64.decode(digits), !blob.isEmpty
        else {
            throw .malformed("the key is not base64")
        }
        let (found, canonical) =
            if SSHCertificate.isKnown(type: name) {
                (try SSHCertificate(blob: blob).type, blob)
            } else {
                Self.typed(try SSHPublicKey(blob: blob))
            }
        guard found == name else { throw .malformed("the key's type is not '\(name)'") }
        return canonical
    }

    private static func typed(_ key: SSHPublicKey) -> (String, [UInt8]) { (key.type, key.blob) }
}

/// The allowed signers, as `ssh-keygen -Y verify` reads them from a file (ssh-keygen(1), ALLOWED SIGNERS).
///
/// Each line is independent: one that cannot be read is skipped, and ``Verdict/notes`` says why if it names the signer.
public struct AllowedSigners: Sendable {
    /// The decision about a signature.
    public struct Verdict: Hashable, Sendable {
        /// Whether a line allows it.
        public var isAllowed = false
        /// Why lines that name the signer do not apply, each with its line number.
        public var notes: [String] = []
    }

    private let lines: [(number: Int, line: SignerLine)]

    /// Reads a file. Lines end at LF.
    public init(_ text: [UInt8]) {
        let texts = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        lines = texts.enumerated().compactMap { index, text in SignerLine(text).map { (index + 1, $0) } }
    }

    /// Decides whether an identity may make a file signature. Does not check that it is for the file and the namespace.
    ///
    /// A signature made with a certificate is allowed by a line of its authority (`cert-authority`) if the certificate
    /// is a user certificate, is valid at the time and names the identity.
    ///
    /// - Parameters:
    ///   - signature: The signature.
    ///   - identity: The signer, such as an email address.
    ///   - now: Seconds since 1970.
    public func check(_ signature: SSHFileSignature, identity: String, now: Int64) -> Verdict {
        var verdict = Verdict()
        for (number, line) in lines where line.names(identity) {
            guard let problem = line.problem(with: signature, identity, now: UInt64(clamping: now)) else {
                verdict.isAllowed = true
                return verdict
            }
            if !problem.isEmpty { verdict.notes.append("line \(number): \(problem)") }
        }
        return verdict
    }
}

/// Patterns of names as OpenSSH compares them (ssh_config(5), PATTERNS): `*` for any string, `?` for any byte.
enum SSHPattern {
    /// The longest pattern in a list, in bytes (OpenSSH's match_pattern_list).
    private static let lengthLimit = 1022

    /// Whether a text matches a comma-separated list of patterns; a match of one that begins with `!` excludes it.
    static func fits(_ text: [UInt8], anyOf list: [UInt8]) -> Bool {
        var isMatched = false
        for part in list.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            let isNegated = part.first == UInt8(ascii: "!")
            let pattern = isNegated ? part.dropFirst() : part
            guard pattern.count <= lengthLimit else { return false }
            guard fits(text[...], pattern) else { continue }
            if isNegated { return false }
            isMatched = true
        }
        return isMatched
    }

    /// Whether a text matches a pattern.
    static func fits(_ text: String, _ pattern: String) -> Bool {
        fits(Array(text.utf8)[...], Array(pattern.utf8)[...])
    }

    /// The run time grows with the product of the lengths.
    private static func fits(_ text: ArraySlice<UInt8>, _ pattern: ArraySlice<UInt8>) -> Bool {
        var (place, mark) = (text.startIndex, text.startIndex)
        var (next, star): (Int, Int?) = (pattern.startIndex, nil)
        while place < text.endIndex {
            if next < pattern.endIndex, pattern[next] == UInt8(ascii: "*") {
                (star, mark) = (next, place)
                next += 1
            } else if next < pattern.endIndex, pattern[next] == UInt8(ascii: "?") || pattern[next] == text[place] {
                next += 1
                place += 1
            } else if let star {
                mark += 1
                (next, place) = (star + 1, mark)
            } else {
                return false
            }
        }
        return pattern[next...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}

/// A time as OpenSSH's files write it (ssh-keygen(1), ALLOWED SIGNERS): `YYYYMMDD`, `YYYYMMDDHHMM` or
/// `YYYYMMDDHHMMSS`, in the system's time zone, or in UTC if followed by `Z` or `UTC`.
enum SSHTime {
    /// Returns the time in seconds since 1970; `nil` for any other text, and for times that ssh-keygen refuses.
    static func seconds(_ text: [UInt8]) -> UInt64? {
        var digits = text
        var isUTC = false
        for suffix in ["Z", "UTC"] where !isUTC && digits.count > suffix.utf8.count {
            guard String(decoding: digits.suffix(suffix.utf8.count), as: UTF8.self).uppercased() == suffix else {
                continue
            }
            digits.removeLast(suffix.utf8.count)
            isUTC = true
        }
        guard [8, 12, 14].contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        func number(_ range: Range<Int>) -> Int32 {
            range.upperBound <= digits.count ? digits[range].reduce(0) { $0 * 10 + Int32($1) - 0x30 } : 0
        }
        let (month, day) = (number(4..<6), number(6..<8))
        let (hour, minute, second) = (number(8..<10), number(10..<12), number(12..<14))
        guard (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second <= 61 else { return nil }
        var time = tm()
        (time.tm_year, time.tm_mon, time.tm_mday) = (number(0..<4) - 1900, month - 1, day)
        (time.tm_hour, time.tm_min, time.tm_sec) = (hour, minute, second)
        // As in ssh-keygen, no daylight saving time; days that a month lacks are days of the next one.
        let seconds = isUTC ? timegm(&time) : mktime(&time)
        return seconds > 0 ? UInt64(seconds) : nil
    }
}
