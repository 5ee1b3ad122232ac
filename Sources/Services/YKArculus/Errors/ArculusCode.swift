// SPDX-License-Identifier: Apache-2.0

/// How Arculus numbers what went wrong: three digits for the card, `E0024R` and the like for the server
/// (developer.getarculus.com, error codes). An open set: unknown codes are kept.
public struct ArculusCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The code as it is written.
    public let rawValue: String
    /// Wraps a code.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Wraps a code.
    init(_ rawValue: String) { self.rawValue = rawValue }

    /// The card was taken away in the middle.
    public static let tagLost = ArculusCode("600")
    /// Something else with the card.
    public static let unknown = ArculusCode("601")
    /// The card has no credential for this.
    public static let noCredentials = ArculusCode("602")
    /// The card has credentials, none is this user's.
    public static let userNotFound = ArculusCode("603")
    /// The card did not sign.
    public static let signatureFailed = ArculusCode("604")
    /// The card was not reset.
    public static let resetFailed = ArculusCode("605")
    /// The card has no room for another credential.
    public static let storeFull = ArculusCode("606")
    /// A message did not get through.
    public static let transmitFailed = ArculusCode("607")
    /// The PIN gave no token: it is wrong, blocked or not set.
    public static let pinFailed = ArculusCode("608")
    /// The card's public key for the PIN was not to be had.
    public static let publicKeyFailed = ArculusCode("609")
    /// The new PIN was not set.
    public static let setPINFailed = ArculusCode("611")
    /// There is no reader for contactless cards.
    public static let noReader = ArculusCode("615")
    /// The server has forgotten what was begun.
    public static let sessionExpired = ArculusCode("E0024R")
    /// The server does not accept the signature.
    public static let invalidSignature = ArculusCode("E2017R")
    /// The server does not know the credential.
    public static let unknownCredential = ArculusCode("E2019R")

    /// What it means, where that is published.
    public var meaning: String? { Self.meanings[self] }

    /// The code, and what it means.
    public var description: String { meaning.map { "\(rawValue) (\($0))" } ?? rawValue }

    /// The number, for codes that are one.
    public var number: Int? { rawValue.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(rawValue) : nil }

    private static let meanings: [ArculusCode: String] = [
        .tagLost: "card lost", .unknown: "unknown", .noCredentials: "no credentials",
        .userNotFound: "user not found on the card", .signatureFailed: "signature failed",
        .resetFailed: "reset failed", .storeFull: "key store full", .transmitFailed: "transmit failed",
        .pinFailed: "PIN refused", .publicKeyFailed: "no public key from the card", .setPINFailed: "PIN not set",
        .noReader: "NFC not available", .sessionExpired: "session expired", .invalidSignature: "invalid signature",
        .unknownCredential: "unknown credential",
    ]

    /// The first code of a server in a text: a letter, four digits, a letter, as a word of its own.
    public static func find(in text: String) -> ArculusCode? {
        for word in text.split(whereSeparator: { !($0.isASCII && ($0.isLetter || $0.isNumber)) }) {
            let bytes = Array(word.utf8)
            guard bytes.count == 6, isCapital(bytes[0]), isCapital(bytes[5]) else { continue }
            if bytes[1...4].allSatisfy({ (0x30...0x39).contains($0) }) { return ArculusCode(String(word)) }
        }
        return nil
    }

    private static func isCapital(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) }
}
