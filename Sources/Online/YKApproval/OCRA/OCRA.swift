// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKWire

/// The inputs of an OCRA response. Inputs that the suite does not use are refused rather than ignored.
public struct OCRAInput: Sendable {
    /// The challenges: one, or the two of mutual authentication in the order of the answering side (RFC 6287 §7.2).
    public var challenges: [String]
    /// The counter.
    public var counter: UInt64?
    /// The PIN, whose hash is authenticated.
    public var pin: SharedSecret?
    /// Session information, at most as long as in the suite; padded with leading zeros.
    public var session: [UInt8]?
    /// The time, in seconds since 1970.
    public var time: Int64?

    /// Creates the input for one challenge.
    public init(_ challenge: String) { challenges = [challenge] }
}

extension OCRASuite {
    /// Size of an encoded challenge in bytes.
    static let challengeSize = 128

    /// Creates a response (RFC 6287 §5, §7).
    ///
    /// - Parameters:
    ///   - key: The shared secret.
    ///   - input: The inputs that the suite requires.
    /// - Returns: Decimal digits, or the whole HMAC in hexadecimal digits for a suite of 0 digits.
    /// - Throws: `malformed` if an input is missing, is not part of the suite, or does not have the suite's format.
    public func response(_ key: borrowing Secret, _ input: OCRAInput) throws(ApprovalError) -> String {
        guard !key.isEmpty else { throw .malformed("OCRA: the secret is empty") }
        let hmac = hash.hmac(key: key, try message(input))
        return digits == 0
            ? Hex.encode(hmac) : OneTimePassword.decimal(OneTimePassword.number(of: hmac), digits: digits)
    }

    /// The authenticated data: suite, zero byte, counter, challenge, hash of the PIN, session information, time step.
    func message(_ input: OCRAInput) throws(ApprovalError) -> [UInt8] {
        func check(_ isGiven: Bool, _ isAsked: Bool, _ what: String) throws(ApprovalError) {
            guard isGiven != isAsked else { return }
            throw .malformed("OCRA: \(description) " + (isAsked ? "needs a \(what)" : "has no \(what)"))
        }
        try check(input.counter != nil, hasCounter, "counter")
        try check(input.pin != nil, pinHash != nil, "PIN")
        try check(input.session != nil, sessionLength != nil, "session")
        try check(input.time != nil, timeStep != nil, "time")
        var writer = ByteWriter(capacity: 256)
        writer.append(Array(description.utf8) + [0])
        if let counter = input.counter { writer.bigEndian(counter, 8) }
        let challenge = try bytes(of: input.challenges)
        writer.append(challenge + [UInt8](repeating: 0, count: Self.challengeSize - challenge.count))
        if let pin = input.pin, let pinHash {
            var bytes = pin.value.copyBytes()
            defer { Secret.wipe(&bytes) }
            writer.append(pinHash.hash(bytes))
        }
        if let session = input.session, let sessionLength {
            guard session.count <= sessionLength else {
                throw .malformed("OCRA: session information is longer than \(sessionLength) bytes")
            }
            writer.append([UInt8](repeating: 0, count: sessionLength - session.count) + session)
        }
        if let time = input.time, let timeStep {
            guard time >= 0 else { throw .malformed("OCRA: the time is before 1970") }
            writer.bigEndian(UInt64(time / timeStep), 8)
        }
        return writer.bytes
    }

    /// The challenges as bytes, without the trailing zeros.
    private func bytes(of challenges: [String]) throws(ApprovalError) -> [UInt8] {
        guard (1...2).contains(challenges.count) else { throw .malformed("OCRA: there must be one or two challenges") }
        for challenge in challenges where !(1...challengeLength).contains(challenge.utf8.count) {
            throw .malformed("OCRA: a challenge has 1 to \(challengeLength) characters")
        }
        let text = challenges.joined()
        switch format {
        case .alphanumeric:
            guard text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
                throw .malformed("OCRA: the challenge has characters outside ASCII")
            }
            return Array(text.utf8)
        case .hexadecimal:
            let even = text.utf8.count.isMultiple(of: 2) ? text : text + "0"
            do { return try Hex.decode(even) } catch { throw .malformed("OCRA: the challenge is not hexadecimal") }
        case .numeric:
            guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
                throw .malformed("OCRA: the challenge is not decimal")
            }
            return Self.leftAligned(decimal: text)
        }
    }

    /// Converts a decimal number to hexadecimal digits without leading zeros, with a trailing zero after an odd number
    /// of digits.
    private static func leftAligned(decimal text: String) -> [UInt8] {
        var digits: [UInt8] = [0]  // Hexadecimal digits, least significant first.
        for character in text.utf8 {
            var carry = character - 0x30
            for index in digits.indices {
                let value = digits[index] * 10 + carry
                digits[index] = value & 15
                carry = value >> 4
            }
            if carry > 0 { digits.append(carry) }
        }
        digits.reverse()
        if !digits.count.isMultiple(of: 2) { digits.append(0) }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    /// Returns the challenge for a text to be signed, as a server computes it: the hash in hexadecimal digits.
    ///
    /// - Parameters:
    ///   - text: The text to sign, for example a payment.
    ///   - hash: The hash function used by the server.
    /// - Throws: `malformed` if the suite's challenge cannot hold the hash.
    public func challenge(for text: String, _ hash: HashAlgorithm) throws(ApprovalError) -> String {
        guard format == .hexadecimal, challengeLength >= hash.digestSize * 2 else {
            throw .malformed("OCRA: \(description) has no room for the hash of a text")
        }
        return Hex.encode(hash.hash(Array(text.utf8)))
    }
}

/// An account that answers challenges or signs texts offline; its secret is in the sealed part of its record.
public struct OCRAAccount: Hashable, Sendable {
    /// The common fields of all accounts.
    public var account: ApprovalAccount
    /// The suite of its codes.
    public let suite: OCRASuite
    /// The counter of the next code, for a suite with one.
    public var counter: UInt64 = 0

    /// Creates an account.
    ///
    /// - Parameters:
    ///   - name: The display name.
    ///   - serial: The serial number of the server's token; if it is unknown, the name is used instead.
    public init(_ suite: OCRASuite, name: String, serial: String?, issuer: String, added: Int64) {
        self.suite = suite
        account = ApprovalAccount(
            .ocra, name: name, serial: serial ?? name, issuer: issuer, server: "offline", added: added)
        account.details = details
    }

    /// Reads an account from the store; `nil` if it is of a different type or malformed.
    public init?(_ account: ApprovalAccount) {
        guard account.kind == .ocra, let suite = account.details["suite"]?.string.flatMap({ try? OCRASuite($0) }),
            let counter = account.details["counter"]?.int.flatMap(UInt64.init(exactly:)), counter < UInt64(Int64.max)
        else { return nil }
        (self.account, self.suite, self.counter) = (account, suite, counter)
    }

    /// The account in the form for the store.
    public var stored: ApprovalAccount { account.with(details) }

    /// Returns whether a string can be the serial number of a token.
    public static func isSerial(_ text: String) -> Bool { PushLink.isSerial(text) }

    private var details: JSONValue.Object {
        var object = JSONValue.Object()
        object["suite"] = .string(suite.description)
        object["counter"] = .int(Int64(clamping: counter))
        return object
    }
}
