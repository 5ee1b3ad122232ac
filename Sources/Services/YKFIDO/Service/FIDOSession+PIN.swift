// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKTransport
import YKWire

extension FIDOSession {
    func pinRetries() throws(FIDOError) -> PINRetries { try send(ClientPIN.GetPINRetries(try pinProtocol())) }

    /// The PIN retries; `nil` if the key answers with an error or a malformed response.
    func pinRetriesIfTold() throws(FIDOError) -> PINRetries? { try ifTold { () throws(FIDOError) in try pinRetries() } }

    /// The PIN retries before a PIN is requested; throws if no PIN can be tried.
    func usablePINRetries() throws(FIDOError) -> PINRetries {
        let retries = try pinRetries()
        guard retries.count > 0 else { throw .pinBlocked }
        guard !retries.needsPowerCycle else { throw .pinNeedsPowerCycle }
        return retries
    }

    /// Sends a query whose answer is optional; `nil` if the key answers with an error or a malformed response.
    func ifTold<Value>(_ question: () throws(FIDOError) -> Value) throws(FIDOError) -> Value? {
        do { return try question() } catch {
            if error.endsSession { throw error }
            return nil
        }
    }

    /// Sets the first PIN.
    func setPIN(_ new: borrowing Secret) throws(FIDOError) {
        let info = try info()
        guard info.takesPIN else { throw .unsupported("clientPin") }
        guard !info.hasPIN else { throw .pinAlreadySet }
        let text = try checked(new, info)
        let agreement = try agree(isLasting: false)
        let encrypted = try encrypt(text.padded(), agreement.shared)
        try send(
            ClientPIN.SetPIN(
                agreement.shared.version, platformKey: agreement.platformKey, newPIN: encrypted,
                proof: agreement.shared.authenticate(encrypted)))
        accessDidChange()
    }

    /// Changes the PIN. A wrong old PIN uses up a retry.
    func changePIN(from old: borrowing Secret, to new: borrowing Secret) throws(FIDOError) {
        let info = try info()
        guard info.hasPIN else { throw .pinNotSet }
        let text = try checked(new, info)
        let known = try worthTrying(old)
        let agreement = try agree(isLasting: false)
        let encrypted = try encrypt(text.padded(), agreement.shared)
        let hash = try encrypt(known.hash(), agreement.shared)
        do {
            try send(
                ClientPIN.ChangePIN(
                    agreement.shared.version, platformKey: agreement.platformKey, newPIN: encrypted, pinHash: hash,
                    proof: agreement.shared.authenticate(encrypted + hash)))
        } catch {
            throw countingRetries(error)
        }
        accessDidChange()
    }

    /// Requests a token by PIN. A wrong PIN uses up a retry.
    func token(
        for pin: borrowing Secret, _ permissions: ClientPIN.Permissions, rpID: String?
    ) throws(FIDOError) -> FIDOToken {
        let info = try info()
        guard !pin.isEmpty else { throw .pinNeeded }
        let text = try worthTrying(pin)
        let isLasting = permissions.contains(.persistentCredentialManagementReadOnly)
        let agreement = try agree(isLasting: isLasting)
        let hash = try encrypt(text.hash(), agreement.shared)
        let isModern = info.hasPermissions
        let grant: ClientPIN.GetToken.Grant =
            isModern ? .pinWithPermissions(hash: hash, permissions, rpID: rpID) : .pin(hash: hash)
        do {
            return try token(grant, agreement, isModern ? permissions : nil, rpID: isModern ? rpID : nil)
        } catch {
            throw countingRetries(error)
        }
    }

    /// Requests a token by built-in user verification.
    func tokenUsingUV(_ permissions: ClientPIN.Permissions, rpID: String?) throws(FIDOError) -> FIDOToken {
        let agreement = try agree(isLasting: permissions.contains(.persistentCredentialManagementReadOnly))
        return try token(.userVerification(permissions, rpID: rpID), agreement, permissions, rpID: rpID)
    }

    /// Agrees on a secret with the key. With `isReusing` the key's public key of the previous agreement is reused; no
    /// PIN retry is lost if the key has generated another one since.
    func agree(isLasting: Bool, isReusing: Bool = false) throws(FIDOError) -> PINAgreement {
        let version = try pinProtocol()
        let generation = ctap.link.generation
        let known = peerKey.flatMap { $0.version == version && $0.generation == generation ? $0.key : nil }
        let peer = if isReusing, let known { known } else { try send(ClientPIN.GetKeyAgreement(version)) }
        peerKey = isReusing ? nil : (version, ctap.link.generation, peer)
        do { return try ctap.agree(version, with: peer, isLasting: isLasting) } catch { throw FIDOError(error) }
    }

    func encrypt(_ plaintext: [UInt8], _ shared: borrowing PINSharedKey) throws(FIDOError) -> [UInt8] {
        do { return try ctap.encrypt(plaintext, shared) } catch { throw FIDOError(error) }
    }

    private func token(
        _ grant: ClientPIN.GetToken.Grant, _ agreement: borrowing PINAgreement, _ permissions: ClientPIN.Permissions?,
        rpID: String?
    ) throws(FIDOError) -> FIDOToken {
        let version = agreement.shared.version
        let command = ClientPIN.GetToken(version, platformKey: agreement.platformKey, grant)
        let encrypted = try send(command)
        var bytes: [UInt8]
        do throws(CTAPError) {
            bytes = try ctap.decrypt(encrypted, agreement.shared, during: command.name)
            guard version.accepts(tokenOf: bytes.count) else {
                throw CTAPError.malformed(
                    WireError(.malformed, at: 0, "a token of \(bytes.count) bytes"), during: command.name)
            }
        } catch {
            throw FIDOError(error)
        }
        defer { Secret.wipe(&bytes) }
        return FIDOToken(
            secret: SharedSecret(Secret(bytes)), version: version, permissions: permissions, rpID: rpID,
            generation: ctap.link.generation)
    }

    private func checked(_ pin: borrowing Secret, _ info: AuthenticatorInfo) throws(FIDOError) -> PINText {
        let text = PINText(pin)
        if let problem = text.problem(minimum: info.minPINLength, maximum: info.maxPINLength) {
            throw .unsuitablePIN(problem)
        }
        return text
    }

    /// Refuses a PIN that no key accepts, since it would only use up a retry. The length is checked in bytes, because
    /// some programs count bytes when setting a PIN.
    private func worthTrying(_ pin: borrowing Secret) throws(FIDOError) -> PINText {
        let text = PINText(pin)
        let count = text.bytes.count
        guard count >= PINText.byteMinimum else {
            throw .unsuitablePIN(.tooShort(codePoints: text.codePoints, minimum: UInt64(PINText.byteMinimum)))
        }
        guard count <= PINText.byteLimit else {
            throw .unsuitablePIN(.tooLong(bytes: count, maximum: UInt64(PINText.byteLimit)))
        }
        return text
    }

    /// Adds the remaining retries to a wrong PIN error; reading them does not use up a retry.
    private func countingRetries(_ error: FIDOError) -> FIDOError {
        peerKey = nil  // Keys make another one after a wrong PIN.
        guard case .wrongPIN(nil) = error else { return error }
        return .wrongPIN(try? pinRetries())
    }
}

/// How a command proves user verification.
enum VerificationMeans {
    /// No proof.
    case none
    /// A proof made with a token.
    case token(FIDOToken)
    /// Built-in user verification in the command itself; CTAP 2.0 keys.
    case inCommand

    func auth(over hash: [UInt8]) -> PINUVAuth? {
        if case .token(let token) = self { token.auth(over: hash) } else { nil }
    }
    var option: Bool? { if case .inCommand = self { true } else { nil } }
}

extension FIDOSession {
    /// Decides whether the user must be verified (CTAP 2.2 §6.1.1, §6.2.1), and performs the verification.
    func verify(
        _ wish: UserVerification, _ permissions: ClientPIN.Permissions, rpID: String, isResident: Bool
    ) throws(FIDOError) -> VerificationMeans {
        let info = try info()
        let canVerify = permissions.canComeFromPIN(info) || info.hasBuiltInUV
        let isCreation = permissions.contains(.makeCredential)
        let keyInsists =
            info.option(.alwaysUv) == true
            || isCreation && canVerify && (isResident || info.option(.makeCredUvNotRqd) != true)
        switch wish {
        case .required where !canVerify: throw info.takesPIN ? .pinNotSet : .unsupported("uv")
        case .discouraged where !keyInsists: return .none
        case .preferred where !canVerify && !keyInsists: return .none
        default: break
        }
        guard canVerify else { throw .pinNotSet }
        if info.hasBuiltInUV, !info.hasPermissions { return .inCommand }
        return .token(try access(permissions, rpID: rpID))
    }

    /// Runs an operation with a means of user verification. If built-in verification in the command itself fails, the
    /// PIN is used.
    func verified<Value>(
        _ wish: UserVerification, _ permissions: ClientPIN.Permissions, rpID: String, isResident: Bool,
        _ body: (VerificationMeans) throws(FIDOError) -> Value
    ) throws(FIDOError) -> Value {
        let means = try verify(wish, permissions, rpID: rpID, isResident: isResident)
        do { return try body(means) } catch {
            guard case .inCommand = means, let fallback = PINRequest.Fallback(inCommand: error),
                permissions.canComeFromPIN(try info())
            else { throw error }
            return try body(.token(try access(permissions, rpID: rpID, after: fallback)))
        }
    }

    /// A token permits one credential or assertion, but large blobs may be written with it afterwards (CTAP 2.2
    /// §6.5.2.1); CTAP 2.0 tokens are unchanged.
    func tokenWasUsed() {
        guard let permissions = token?.permissions else { return }
        token = permissions.contains(.largeBlobWrite) ? token?.restricted(to: .largeBlobWrite) : nil
    }
}
