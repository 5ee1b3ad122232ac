// SPDX-License-Identifier: Apache-2.0

public import YKCrypto

/// An OCRA suite: inputs and format of a response (RFC 6287 §6): `OCRA-1:HOTP-SHA256-8:C-QN08-PSHA1-S064-T1M`.
public struct OCRASuite: Hashable, Sendable, CustomStringConvertible {
    /// The format of a challenge.
    public enum Format: Character, Hashable, Sendable, CaseIterable {
        /// Decimal digits.
        case numeric = "N"
        /// Letters and digits, or other ASCII characters.
        case alphanumeric = "A"
        /// Hexadecimal digits.
        case hexadecimal = "H"
    }

    /// The suite as written, which is part of the authenticated data.
    public let description: String
    /// The hash function of the HMAC.
    public let hash: HashAlgorithm
    /// The number of digits in a response: 4 to 10, or 0 for the whole HMAC.
    public let digits: Int
    /// Whether a counter is authenticated.
    public let hasCounter: Bool
    /// The format of the challenge.
    public let format: Format
    /// Maximum length of a challenge in characters, 4 to 64.
    public let challengeLength: Int
    /// The hash function of the PIN, if the suite uses one.
    public let pinHash: HashAlgorithm?
    /// The length of the session information in bytes, if the suite uses it.
    public let sessionLength: Int?
    /// The time step in seconds, if the suite uses the time.
    public let timeStep: Int64?

    /// Reads a suite.
    ///
    /// - Parameter text: The suite in upper case, at most 64 characters.
    /// - Throws: `malformed` with the invalid part.
    public init(_ text: String) throws(ApprovalError) {
        func fault(_ reason: String) -> ApprovalError { .malformed("OCRA suite: \(reason)") }
        guard text.utf8.count <= 64 else { throw fault("longer than 64 characters") }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "OCRA-1" else { throw fault("not OCRA-1:FUNCTION:INPUT") }
        let function = parts[1].split(separator: "-", omittingEmptySubsequences: false)
        guard function.count == 3, function[0] == "HOTP", let hash = Self.hash(function[1]) else {
            throw fault("the function is HOTP-SHA1-N, HOTP-SHA256-N or HOTP-SHA512-N")
        }
        guard let digits = Self.number(function[2], in: 0...10), digits == 0 || digits >= 4 else {
            throw fault("a response has 4 to 10 digits, or 0 for the whole HMAC")
        }
        var inputs = parts[2].split(separator: "-", omittingEmptySubsequences: false)[...]
        hasCounter = inputs.first == "C"
        if hasCounter { inputs = inputs.dropFirst() }
        guard let challenge = inputs.popFirst(), challenge.first == "Q",
            let format = challenge.dropFirst().first.flatMap(Format.init), challenge.utf8.count == 4,
            let length = Self.number(challenge.dropFirst(2), in: 4...64)
        else { throw fault("the challenge is QN, QA or QH with 04 to 64") }
        var rest = inputs
        func take(_ mark: Character) -> Substring? {
            guard let first = rest.first, first.first == mark else { return nil }
            rest = rest.dropFirst()
            return first.dropFirst()
        }
        let pin = take("P")
        pinHash = pin.flatMap(Self.hash)
        if pin != nil, pinHash == nil { throw fault("the PIN's hash is SHA1, SHA256 or SHA512") }
        let session = take("S")
        // TiQR's servers write S alone for the default of 64 bytes (RFC 6287 §6.3).
        sessionLength = session.flatMap { text in
            text.isEmpty ? 64 : text.utf8.count == 3 ? Self.number(text, in: 1...512) : nil
        }
        if session != nil, sessionLength == nil { throw fault("session information has S001 to S512 bytes") }
        let time = take("T")
        timeStep = time.flatMap(Self.timeStep)
        if time != nil, timeStep == nil { throw fault("a time step is T1S to T59S, T1M to T59M or T1H to T48H") }
        guard rest.isEmpty else { throw fault("an input is unknown, repeated or out of order") }
        (description, self.hash, self.digits, self.format, challengeLength) = (text, hash, digits, format, length)
    }

    private static func hash(_ name: Substring) -> HashAlgorithm? {
        switch name {
        case "SHA1": .sha1
        case "SHA256": .sha256
        case "SHA512": .sha512
        default: nil
        }
    }

    private static func number(_ text: Substring, in range: ClosedRange<Int>) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text).flatMap { range.contains($0) ? $0 : nil }
    }

    private static func timeStep(_ text: Substring) -> Int64? {
        let (unit, limit): (Int, Int)
        switch text.last {
        case "S": (unit, limit) = (1, 59)
        case "M": (unit, limit) = (60, 59)
        case "H": (unit, limit) = (3600, 48)
        default: return nil
        }
        return number(text.dropLast(), in: 1...limit).map { Int64($0 * unit) }
    }
}
