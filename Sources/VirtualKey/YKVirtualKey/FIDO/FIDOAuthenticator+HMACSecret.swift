// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKWire

/// The input of hmac-secret: one or two salts, and the key that encrypts the answer (CTAP 2.2 §12.7).
struct SaltInput: Sendable {
    /// The decrypted salts: 32 or 64 bytes.
    let salts: [UInt8]
    let platform: CBOR.Map
    let version: PINProtocol
}

extension FIDOAuthenticator {
    private typealias Key = CTAPProtocol.HMACSecret

    /// Decrypts the salts of hmac-secret or hmac-secret-mc; `nil` if the request has neither.
    mutating func salts(_ item: CBOR?) throws(Refusal) -> SaltInput? {
        guard let item else { return nil }
        guard let map = item.map, let platform = map[Key.keyAgreement]?.map, let encrypted = map[Key.saltEnc]?.bytes,
            let proof = map[Key.saltAuth]?.bytes
        else { throw .ctap(Status.missingParameter) }
        let number = map[Key.pinUvAuthProtocol]?.unsigned ?? 1
        guard profile.pinProtocols.contains(number), let version = PINProtocol(rawValue: number) else {
            throw .ctap(Status.invalidParameter)
        }
        let shared = try sharedKey(version, try Self.fields(CBOR.map(platform).encoded))
        guard constantTimeEqual(shared.authenticate(encrypted), proof) else { throw .ctap(Status.pinAuthInvalid) }
        let salts = try decrypt(encrypted, shared)
        guard [32, 64].contains(salts.count) else { throw .ctap(Status.invalidLength) }
        return SaltInput(salts: salts, platform: platform, version: version)
    }

    /// The secrets of a credential for the salts, encrypted for the platform.
    mutating func secrets(
        _ input: SaltInput, of credential: VirtualCredential, isVerified: Bool
    ) throws(Refusal) -> CBOR {
        let shared = try sharedKey(input.version, try Self.fields(CBOR.map(input.platform).encoded))
        let secrets = stride(from: 0, to: input.salts.count, by: 32).flatMap { start in
            credential.hmacSecret(Array(input.salts[start..<(start + 32)]), isVerified: isVerified)
        }
        return .bytes(try encrypt(secrets, shared))
    }
}
