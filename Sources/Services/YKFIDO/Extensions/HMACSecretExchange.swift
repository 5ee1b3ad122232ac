// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKProtocols
import YKTransport
import YKWire

/// One use of hmac-secret: the encrypted salts of the request, and the key that decrypts the output (CTAP 2.2 §12.7).
struct HMACSecretExchange: ~Copyable {
    private typealias Key = CTAPProtocol.HMACSecret

    let input: CBOR
    private let agreement: PINAgreement
    private let salts: HMACSecretSalts
    private let isRedactedReplay: Bool

    init(_ salts: HMACSecretSalts, _ session: FIDOSession) throws(FIDOError) {
        let agreement = try session.agree(isLasting: true, isReusing: true)
        let encrypted = try session.encrypt(salts.bytes, agreement.shared)
        var map = CBOR.Map(keys: [
            Key.keyAgreement: .map(agreement.platformKey.map), Key.saltEnc: .bytes(encrypted),
            Key.saltAuth: .bytes(agreement.shared.authenticate(encrypted)),
        ])
        if agreement.shared.version != .one {
            map[Key.pinUvAuthProtocol] = .unsigned(agreement.shared.version.rawValue)
        }
        input = .map(map)
        self.salts = salts
        isRedactedReplay = session.ctap.environment.isRedactedReplay
        self.agreement = agreement
    }

    /// Decrypts the key's output; `nil` if there is none.
    func secrets(_ output: CBOR?, during name: String) throws(FIDOError) -> HMACSecrets? {
        guard let bytes = output?.bytes else { return nil }
        // No recording contains the private key of the key agreement.
        if isRedactedReplay { throw .ctap(.link(.device(.replay(.overwritten("the output of hmac-secret"))))) }
        guard var plain = try? agreement.shared.decrypt(bytes), let secrets = HMACSecrets(plain, for: salts) else {
            throw .ctap(.malformed(WireError(.malformed, at: 0, "the output of hmac-secret"), during: name))
        }
        Secret.wipe(&plain)
        return secrets
    }
}

/// One or two salts of 32 bytes, from each of which the key derives 32 secret bytes (hmac-secret, CTAP 2.2 §12.7).
public struct HMACSecretSalts: Hashable, Sendable {
    /// The first salt, 32 bytes.
    public let first: [UInt8]
    /// The second salt, 32 bytes.
    public let second: [UInt8]?

    /// Creates salts; `nil` if one is not 32 bytes.
    public init?(_ first: [UInt8], _ second: [UInt8]? = nil) {
        guard first.count == 32, second?.count ?? 32 == 32 else { return nil }
        self.first = first
        self.second = second
    }

    /// The salts of WebAuthn's prf extension: inputs of any length are hashed with a prefix, so that no site can
    /// request the secrets that other uses of the key depend on (WebAuthn Level 3 §10.1.4).
    public init(prf first: [UInt8], _ second: [UInt8]? = nil) {
        self.first = Self.prfSalt(first)
        self.second = second.map(Self.prfSalt)
    }

    private static func prfSalt(_ input: [UInt8]) -> [UInt8] {
        HashAlgorithm.sha256.hash(Array("WebAuthn PRF".utf8) + [0] + input)
    }

    var bytes: [UInt8] { first + (second ?? []) }
}

/// The secrets derived from salts, 32 bytes each.
public struct HMACSecrets: Sendable {
    /// Derived from the first salt.
    public let first: SharedSecret
    /// Derived from the second salt.
    public let second: SharedSecret?

    init?(_ bytes: [UInt8], for salts: HMACSecretSalts) {
        guard bytes.count == salts.bytes.count else { return nil }
        first = SharedSecret(Secret(bytes.prefix(32)))
        second = salts.second == nil ? nil : SharedSecret(Secret(bytes.dropFirst(32)))
    }
}
