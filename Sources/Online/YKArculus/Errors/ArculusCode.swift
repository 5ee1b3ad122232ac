// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// Arculus' error codes: three digits for the card, `E0024R` and the like for the server (developer.getarculus.com,
/// error codes).
public struct ArculusCode: OpenSet {
    /// The code as written.
    public let rawValue: String
    /// Wraps a code.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The card was removed during the operation.
    public static let tagLost = ArculusCode("600")
    /// Another card error.
    public static let unknown = ArculusCode("601")
    /// The card has no credential for this.
    public static let noCredentials = ArculusCode("602")
    /// The card has credentials, but none of this user.
    public static let userNotFound = ArculusCode("603")
    /// The card did not sign.
    public static let signatureFailed = ArculusCode("604")
    /// The card was not reset.
    public static let resetFailed = ArculusCode("605")
    /// The card has no room for another credential.
    public static let storeFull = ArculusCode("606")
    /// A message was not transmitted.
    public static let transmitFailed = ArculusCode("607")
    /// No token was issued: the PIN is wrong, blocked or not set.
    public static let pinFailed = ArculusCode("608")
    /// The card's public key for the PIN was not available.
    public static let publicKeyFailed = ArculusCode("609")
    /// The new PIN was not set.
    public static let setPINFailed = ArculusCode("611")
    /// There is no contactless reader.
    public static let noReader = ArculusCode("615")
    /// The server's session has expired.
    public static let sessionExpired = ArculusCode("E0024R")
    /// The server rejected the signature.
    public static let invalidSignature = ArculusCode("E2017R")
    /// The server does not know the credential.
    public static let unknownCredential = ArculusCode("E2019R")

    /// Its published meaning, if there is one.
    public var meaning: String? { Self.meanings[self] }

    /// The code and its meaning.
    public var description: String { meaning.map { "\(rawValue) (\($0))" } ?? rawValue }

    /// The number, for numeric codes.
    public var number: Int? { rawValue.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(rawValue) : nil }

    private static let meanings: [ArculusCode: String] = [
        .tagLost: "card lost", .unknown: "unknown", .noCredentials: "no credentials",
        .userNotFound: "user not found on the card", .signatureFailed: "signature failed",
        .resetFailed: "reset failed", .storeFull: "key store full", .transmitFailed: "transmit failed",
        .pinFailed: "PIN refused", .publicKeyFailed: "no public key from the card", .setPINFailed: "PIN not set",
        .noReader: "NFC not available", .sessionExpired: "session expired", .invalidSignature: "invalid signature",
        .unknownCredential: "unknown credential",
    ]

    /// Returns the first server code in a string: a letter, four digits, a letter, as a separate word.
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
