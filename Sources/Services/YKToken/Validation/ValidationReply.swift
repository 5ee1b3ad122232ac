// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKWire

/// The reply of a validation server (Validation Protocol 2.0, "Response").
public struct ValidationReply: Hashable, Sendable {
    /// The status of the password.
    public let status: ValidationStatus
    /// All other values, by name.
    public let values: [String: String]
    /// The signed values, as one line, and the signature.
    private let signed: String
    private let signature: [UInt8]?

    /// Maximum size of a reply, in bytes.
    public static let limit = 8192

    /// Parses lines of `name=value`; throws for a repeated name, too many bytes, or a missing status.
    public init(parsing bytes: [UInt8]) throws(WireError) {
        guard bytes.count <= Self.limit else { throw WireError(.tooLarge, at: Self.limit, "a reply of this size") }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw WireError(.malformed, at: 0, "a reply that is not text")
        }
        var values: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { continue }
            let name = parts[0].trimmed
            guard values.updateValue(parts[1].trimmed, forKey: name) == nil else {
                throw WireError(.duplicate, at: 0, "'\(name)' occurs twice")
            }
        }
        guard let status = values["status"] else { throw WireError(.missing, at: 0, "a reply without a status") }
        self.status = ValidationStatus(rawValue: status)
        signature = values.removeValue(forKey: "h").flatMap { try? Base64.decode($0) }
        signed = ValidationSignature.line(values.map { ($0.key, $0.value) })
        values["status"] = nil
        self.values = values
    }

    /// Whether it has a signature, whoever made it.
    var hasSignature: Bool { signature != nil }

    /// Returns whether it is signed with the client's key.
    public func isSigned(by key: SharedSecret) -> Bool {
        guard let signature else { return false }
        return constantTimeEqual(HashAlgorithm.sha1.hmac(key: key.value, Array(signed.utf8)), signature)
    }

    /// Returns whether it answers this request: it repeats the password and the nonce.
    public func answers(_ request: ValidationRequest) -> Bool {
        values["otp"] == "\(request.otp)" && values["nonce"] == request.nonce
    }

    /// The counter that the server read from the password, if it reported it.
    public var counter: OTPCounter? {
        guard let use = values["sessioncounter"].flatMap(UInt16.init),
            let session = values["sessionuse"].flatMap(UInt8.init)
        else { return nil }
        return OTPCounter(use: use, session: session)
    }
}
