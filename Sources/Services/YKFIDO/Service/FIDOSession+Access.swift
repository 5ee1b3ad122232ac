// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKTransport
import YKWire

extension FIDOSession {
    /// A token for these permissions: the one at hand, one for the key's own user verification, or one for the PIN.
    ///
    /// When the key's own verification fails or is blocked, the PIN is asked for, once; `fallback` says that it was
    /// tried already.
    func access(
        _ permissions: ClientPIN.Permissions, rpID: String?, after fallback: PINRequest.Fallback? = nil
    ) throws(FIDOError) -> FIDOToken {
        let generation = ctap.link.generation
        if let token, token.covers(permissions, rpID: rpID, generation: generation) { return token }
        let info = try info()
        var fallback = fallback
        if fallback == nil, info.givesTokenForUV, permissions.canComeFromUV(info) {
            do { return keep(try tokenUsingUV(permissions, rpID: rpID)) } catch {
                fallback = PINRequest.Fallback(error)
                guard fallback != nil, permissions.canComeFromPIN(info) else { throw error }
            }
        }
        return keep(try tokenUsingPIN(permissions, rpID: rpID, fallback))
    }

    private func tokenUsingPIN(
        _ permissions: ClientPIN.Permissions, rpID: String?, _ fallback: PINRequest.Fallback?
    ) throws(FIDOError) -> FIDOToken {
        let info = try info()
        guard info.hasPIN else { throw info.takesPIN ? .pinNotSet : .unsupported("clientPin") }
        guard !info.mustChangePIN else { throw .pinChangeForced }
        let retries = interaction.hasPIN ? nil : try usableRetries()
        let request = PINRequest(permissions: permissions, rpID: rpID, retries: retries, fallback: fallback)
        guard let pin = try ask(request) else { throw .pinNeeded }
        return try token(for: pin.value, permissions, rpID: rpID)
    }

    private func ask(_ request: PINRequest) throws(FIDOError) -> SharedSecret? {
        let pin = interaction.pin
        do { return try ServiceRuntime.ask(ctap.environment.cancellation) { await pin(request) } } catch {
            throw .ctap(.link(.device(error)))
        }
    }

    /// The tries that are left, when a PIN can be tried at all.
    private func usableRetries() throws(FIDOError) -> PINRetries {
        let retries = try pinRetries()
        guard retries.count > 0 else { throw .pinBlocked }
        guard !retries.needsPowerCycle else { throw .pinNeedsPowerCycle }
        return retries
    }

    private func keep(_ token: FIDOToken) -> FIDOToken {
        tokensGiven += 1
        if token.isPersistent { persistentToken = token } else { self.token = token }
        return token
    }

    /// Does what a token is shown for. One of an earlier operation may have expired since, or another program may have
    /// got one, which makes ours worthless: then the work is done once more, with a new one.
    func withAccess<Value>(_ body: () throws(FIDOError) -> Value) throws(FIDOError) -> Value {
        let (hadToken, given) = (token != nil, tokensGiven)
        do { return try body() } catch {
            guard error.saysTokenIsWorthless else { throw error }
            token = nil
            guard hadToken, tokensGiven == given else { throw error }
            return try body()
        }
    }

    /// Sends a command with a proof over these bytes.
    ///
    /// On a key that has neither PIN nor user verification set up there is none. Some keys want one all the same, and
    /// say so with different codes (CanoKey: 33 for large blobs, 36 for credentials): then a PIN has to be set.
    func authorized<Value>(
        over message: [UInt8], _ permissions: ClientPIN.Permissions,
        _ body: (PINUVAuth?) throws(FIDOError) -> Value
    ) throws(FIDOError) -> Value {
        try withAccess { () throws(FIDOError) in
            let auth = try proof(over: message, permissions)
            do throws(FIDOError) { return try body(auth) } catch {
                guard auth == nil, error.wantsProof, try info().takesPIN else { throw error }
                throw .pinNotSet
            }
        }
    }

    /// The proof for a command over these bytes; `nil` on a key that has neither PIN nor user verification set up.
    private func proof(
        over message: [UInt8], _ permissions: ClientPIN.Permissions
    ) throws(FIDOError) -> PINUVAuth? {
        let info = try info()
        guard info.hasPIN || info.givesTokenForUV else { return nil }
        return try access(permissions, rpID: nil).auth(over: message)
    }
}

extension FIDOError {
    /// Whether the key does not take a proof under a token (any more). What clientPIN refuses was no such proof, and a
    /// PIN is not sent a second time.
    fileprivate var saysTokenIsWorthless: Bool {
        guard case .ctap(.status(let status, let command)) = self, !command.hasPrefix("clientPIN") else { return false }
        return status == .pinAuthInvalid || status == .pinTokenExpired
    }
}

extension FIDOError {
    /// Whether a key refused a command because it came without a proof.
    fileprivate var wantsProof: Bool {
        switch self {
        case .pinNeeded: true
        case .ctap(.status(let status, _)): [.pinAuthInvalid, .missingParameter].contains(status)
        default: false
        }
    }
}

extension PINRequest.Fallback {
    /// Why the PIN does now, when the key's own verification failed with this; `nil` when the PIN is no way out.
    init?(_ error: FIDOError) {
        switch error {
        case .userNotRecognised: self = .notRecognised
        case .userVerificationBlocked: self = .blocked
        default: return nil
        }
    }
}

extension ClientPIN.Permissions {
    /// Whether the key gives these for its PIN (CTAP 2.2 §6.4, noMcGaPermissionsWithClientPin).
    func canComeFromPIN(_ info: AuthenticatorInfo) -> Bool {
        let isCeremony = contains(.makeCredential) || contains(.getAssertion)
        return info.hasPIN && !(isCeremony && info.option(.noMcGaPermissionsWithClientPin) == true)
    }

    /// Whether the key gives these for its own user verification (CTAP 2.2 §6.5.5.7.3).
    fileprivate func canComeFromUV(_ info: AuthenticatorInfo) -> Bool {
        if contains(.persistentCredentialManagementReadOnly), info.hasPIN { return false }
        if contains(.bioEnrollment), info.option(.uvBioEnroll) != true { return false }
        if contains(.config), info.option(.uvAcfg) != true { return false }
        return true
    }
}
