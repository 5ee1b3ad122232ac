// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKTransport
import YKWire

/// The platform's side of a key agreement: its public key for the request, and the shared secret.
struct PINAgreement: ~Copyable {
    let platformKey: COSEKey
    let shared: PINSharedKey

    /// Performs the key agreement with the key's public key (clientPIN, getKeyAgreement).
    ///
    /// - Throws: `malformed` if the public key is not a point on P-256; nothing is sent in that case.
    init(_ version: PINProtocol, with peer: COSEKey, own: borrowing P256KeyAgreement) throws(CTAPError) {
        let subcommand = ClientPIN.GetKeyAgreement(version)
        guard case .ec2(.p256, let x, let y) = peer.material else {
            throw .malformed(WireError(.malformed, at: 1, "the key's own key is not on P-256"), during: subcommand.name)
        }
        do {
            shared = try PINSharedKey(version, common: try own.shared(with: x + y))
        } catch {
            throw .malformed(WireError(.malformed, at: 1, error.description), during: subcommand.name)
        }
        let point = own.publicPoint
        platformKey = COSEKey(
            ec2: .p256, algorithm: .ecdhESHKDF256, x: Array(point.prefix(32)), y: Array(point.dropFirst(32)))
    }
}

extension CTAPSession {
    /// Agrees on a secret with the key, whose public key for this is `peer`.
    ///
    /// `isLasting` means that the data encrypted under it must stay secret permanently: the private key is then kept
    /// out of captures. Otherwise it is captured, so that a replay sends the same bytes.
    func agree(_ version: PINProtocol, with peer: COSEKey, isLasting: Bool) throws(CTAPError) -> PINAgreement {
        try PINAgreement(version, with: peer, own: try ownKey(isLasting: isLasting))
    }

    /// Encrypts for the key, with a random IV if the protocol uses one.
    func encrypt(_ plaintext: [UInt8], _ shared: borrowing PINSharedKey) throws(CTAPError) -> [UInt8] {
        let vector = try draw(shared.vectorSize, secret: false)
        do { return try shared.encrypt(plaintext, vector: vector) } catch {
            throw .malformed(WireError(.malformed, at: 0, error.description), during: "clientPIN")
        }
    }

    /// Decrypts the key's response to the named command.
    func decrypt(
        _ message: [UInt8], _ shared: borrowing PINSharedKey, during name: String
    ) throws(CTAPError) -> [UInt8] {
        do { return try shared.decrypt(message) } catch {
            throw .malformed(WireError(.malformed, at: 0, error.description), during: name)
        }
    }

    /// Draws the platform's private key; a number out of range (about one in 2^32) is hashed once.
    private func ownKey(isLasting: Bool) throws(CTAPError) -> P256KeyAgreement {
        var bytes = try draw(32, secret: isLasting)
        defer { Secret.wipe(&bytes) }
        if let key = try? P256KeyAgreement(scalar: Secret(bytes)) { return key }
        do { return try P256KeyAgreement(scalar: Secret(HashAlgorithm.sha256.hash(bytes))) } catch {
            throw .link(.device(.failed(code: 0, "no valid private key could be drawn")))
        }
    }
}

extension PINProtocol {
    /// The protocol to use with a key: the first in its list that is supported here.
    public init?(preferredBy info: AuthenticatorInfo) {
        guard let found = info.pinProtocols.lazy.compactMap(PINProtocol.init(rawValue:)).first else { return nil }
        self = found
    }
}
