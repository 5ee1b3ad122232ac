// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKTransport
import YKWire

/// One use of hmac-secret: the encrypted salts for the request, and the key to what comes back (CTAP 2.2 §12.7).
struct HMACSecretExchange: ~Copyable {
    let input: CBOR
    private let agreement: PINAgreement
    private let salts: HMACSecretSalts
    private let isRedactedReplay: Bool

    init(_ salts: HMACSecretSalts, _ session: FIDOSession) throws(FIDOError) {
        let agreement = try session.agree(isLasting: true, isReusing: true)
        let encrypted = try session.encrypt(salts.bytes, agreement.shared)
        var map: CBOR.Map = [
            1: .map(agreement.platformKey.map), 2: .bytes(encrypted),
            3: .bytes(agreement.shared.authenticate(encrypted)),
        ]
        if agreement.shared.version != .one { map[4] = .unsigned(agreement.shared.version.rawValue) }
        input = .map(map)
        self.salts = salts
        isRedactedReplay = session.ctap.environment.isRedactedReplay
        self.agreement = agreement
    }

    /// Decrypts what the key made; `nil` when it made nothing.
    func secrets(_ output: CBOR?, during name: String) throws(FIDOError) -> HMACSecrets? {
        guard let bytes = output?.bytes else { return nil }
        // The number that the secret was agreed on with is in no recording.
        if isRedactedReplay { throw .ctap(.link(.device(.replay(.overwritten("the output of hmac-secret"))))) }
        guard var plain = try? agreement.shared.decrypt(bytes), let secrets = HMACSecrets(plain, for: salts) else {
            throw .ctap(.malformed(WireError(.malformed, at: 0, "the output of hmac-secret"), during: name))
        }
        Secret.wipe(&plain)
        return secrets
    }
}
