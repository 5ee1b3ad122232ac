// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKTransport
import YKWire

extension FIDOSession {
    /// A token for these permissions: the one at hand, one for the key's own user verification, or one for the PIN.
    ///
    /// When the key's own verification fails or is blocked, the PIN is asked for, once.
    func access(_ permissions: ClientPIN.Permissions, rpID: String?) throws(FIDOError) -> FIDOToken {
        let generation = ctap.link.generation
        if let token, token.covers(permissions, rpID: rpID, generation: generation) { return token }
        let info = try info()
        var fallback: PINRequest.Fallback?
        if info.givesTokenForUV, permissions.canComeFromUV(info) {
            do { return keep(try tokenUsingUV(permissions, rpID: rpID)) } catch .userNotRecognised {
                fallback = .notRecognised
            } catch .userVerificationBlocked {
                fallback = .blocked
            }
            guard info.hasPIN else { throw fallback == .blocked ? .userVerificationBlocked : .userNotRecognised }
        }
        guard info.hasPIN else { throw info.takesPIN ? .pinNotSet : .unsupported("clientPin") }
        guard !info.mustChangePIN else { throw .pinChangeForced }
        let retries = interaction.hasPIN ? nil : try usableRetries()
        let request = PINRequest(permissions: permissions, rpID: rpID, retries: retries, fallback: fallback)
        guard let pin = interaction.pin(request) else { throw .pinNeeded }
        return keep(try token(for: pin.value, permissions, rpID: rpID))
    }

    /// The tries that are left, when a PIN can be tried at all.
    private func usableRetries() throws(FIDOError) -> PINRetries {
        let retries = try pinRetries()
        guard retries.count > 0 else { throw .pinBlocked }
        guard !retries.needsPowerCycle else { throw .pinNeedsPowerCycle }
        return retries
    }

    private func keep(_ token: FIDOToken) -> FIDOToken {
        self.token = token
        return token
    }

    /// The proof for a command over these bytes; `nil` on a key that has neither PIN nor user verification set up.
    func proof(
        over message: [UInt8], _ permissions: ClientPIN.Permissions, rpID: String? = nil
    ) throws(FIDOError) -> PINUVAuth? {
        let info = try info()
        guard info.hasPIN || info.givesTokenForUV else { return nil }
        return try access(permissions, rpID: rpID).auth(over: message)
    }
}

extension ClientPIN.Permissions {
    /// Whether the key gives these for its own user verification (CTAP 2.2 §6.5.5.7.3).
    fileprivate func canComeFromUV(_ info: AuthenticatorInfo) -> Bool {
        if contains(.bioEnrollment), info.option(.uvBioEnroll) != true { return false }
        if contains(.config), info.option(.uvAcfg) != true { return false }
        return true
    }
}
