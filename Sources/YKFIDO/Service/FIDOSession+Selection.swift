// SPDX-License-Identifier: Apache-2.0

import YKWire

extension FIDOSession {
    /// Waits for a touch on a key that has no selection command: an empty pinUvAuthParam makes a CTAP 2.0 key wait
    /// for a touch and then say whether a PIN is set (CTAP 2.2 §6.1.2, step 1); a U2F key registers for nobody.
    func selectByCredential() throws(FIDOError) {
        guard isCTAP2 else {
            _ = try u2f { u2f throws(CTAPError) in
                try u2f.register(challengeHash: Self.nobody, applicationHash: Self.nobody)
            }
            return
        }
        var command = MakeCredential(
            clientDataHash: Self.nobody, relyingParty: RelyingParty(id: "ykit.invalid"),
            user: FIDOUser(id: [0], name: "nobody"), algorithms: [.es256])
        command.auth = PINUVAuth(parameter: [], version: try pinProtocolNumber())
        do { _ = try ctap.send(command) } catch {
            let isTouched: [CTAPStatus] = [.pinNotSet, .pinInvalid, .pinAuthInvalid, .pinPolicyViolation]
            guard let status = error.status, isTouched.contains(status) else { throw FIDOError(error) }
        }
    }

    private static var nobody: [UInt8] { [UInt8](repeating: 0, count: 32) }

    private func pinProtocolNumber() throws(FIDOError) -> UInt64 { try info().pinProtocols.first ?? 1 }
}
