// SPDX-License-Identifier: Apache-2.0

import YKWire

extension FIDOSession {
    /// Waits for a touch, with the selection command if the key has it.
    func select() throws(FIDOError) {
        if isCTAP2, try info().versions.contains(where: { !Self.withoutSelection.contains($0) }) {
            do { return try send(SelectAuthenticator()) } catch .ctap(.status(.invalidCommand, _)) {}
        }
        try selectByCredential()
    }

    /// Versions without the command; all later versions have it, including unknown ones.
    private static let withoutSelection: [AuthenticatorVersion] = [.u2fV2, .fido20, .fido21Pre]

    /// Waits for a touch on a key without the selection command: an empty pinUvAuthParam makes a CTAP 2.0 key wait for
    /// a touch and then report whether a PIN is set (CTAP 2.2 §6.1.2, step 1); a U2F key creates a credential that is
    /// discarded.
    private func selectByCredential() throws(FIDOError) {
        guard isCTAP2 else { return try touchU2F() }
        var command = MakeCredential(
            clientDataHash: [UInt8](repeating: 0, count: 32), relyingParty: RelyingParty(id: "ykit.invalid"),
            user: FIDOUser(id: [0], name: "nobody"), algorithms: [.es256])
        command.auth = PINUVAuth(parameter: [], version: try pinProtocolNumber())
        do { _ = try ctap.send(command) } catch {
            let isTouched: [CTAPStatus] = [.pinNotSet, .pinInvalid, .pinAuthInvalid, .pinPolicyViolation]
            guard let status = error.status, isTouched.contains(status) else { throw FIDOError(error) }
        }
    }

    private func pinProtocolNumber() throws(FIDOError) -> UInt64 { try info().pinProtocols.first ?? 1 }
}
