// SPDX-License-Identifier: Apache-2.0

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
