// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

/// What the FIDO application keeps without power.
package struct FIDOMemory: Hashable, Sendable {
    /// 32 random bytes, drawn at first use and anew at each reset: the keys of credentials that the key does not
    /// remember are made of them.
    package var seed: [UInt8] = []
    /// The attestation key's private number, drawn at first use for the key's life.
    package var attestationKey: [UInt8] = []
    /// The attestation certificate, DER; empty before it is needed first.
    package var certificate: [UInt8] = []
    /// How often anything was signed.
    package var counter: UInt32 = 0
    /// The first 16 bytes of the PIN's SHA-256.
    package var pinHash: [UInt8]?
    /// How many code points the PIN has.
    package var pinLength: UInt64 = 0
    /// Wrong PINs that are left.
    package var pinRetries = FIDOMemory.allRetries
    /// The shortest PIN, in code points.
    package var minPINLength: UInt64 = 4
    /// Relying parties that are told the shortest PIN length.
    package var minPINReaders: [String] = []
    /// Whether the PIN has to be changed.
    package var mustChangePIN = false
    /// Whether the user is verified whatever was asked for.
    package var alwaysUV = false
    /// Whether enterprise attestation is enabled.
    package var enterpriseAttestation = false
    /// The credentials that the key remembers, the oldest first.
    package var credentials: [VirtualCredential] = []
    /// The array of large blobs with its checksum.
    package var largeBlobs = FIDOMemory.noLargeBlobs

    /// Wrong PINs that a fresh key takes.
    static let allRetries = 8
    /// The most credentials that it remembers.
    static let credentialLimit = 100
    /// The longest array of large blobs, in bytes.
    static let largeBlobLimit = 4096
    /// An empty array with its checksum (CTAP 2.2 §6.10.1).
    static let noLargeBlobs: [UInt8] = [
        0x80, 0x76, 0xBE, 0x8B, 0x52, 0x8D, 0x00, 0x75, 0xF7, 0xAA, 0xE9, 0x8D, 0x6F, 0xA5, 0x7A, 0x6D, 0x3C,
    ]

    package init() {}

    /// Draws what is drawn at first use.
    mutating func prepare(_ world: VirtualWorld) throws(Refusal) {
        if seed.isEmpty { seed = try world.draw(32) }
        guard certificate.isEmpty else { return }
        attestationKey = try world.draw(32)
        do {
            let attestation = SelfSignedAttestation(
                key: try SigningKey(p256: Secret(attestationKey)), aaguid: FIDOAuthenticator.aaguid,
                serial: Array(seed.prefix(8)))
            certificate = try attestation.certificate()
        } catch { throw .status(.memoryFailure) }
    }

    /// What is left after a reset: the attestation.
    var afterReset: FIDOMemory {
        var fresh = FIDOMemory()
        fresh.attestationKey = attestationKey
        fresh.certificate = certificate
        return fresh
    }
}
