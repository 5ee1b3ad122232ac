// SPDX-License-Identifier: Apache-2.0

import YKCrypto
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
