// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

extension FIDOSession {
    /// Creates a credential with CTAP2.
    func register(_ request: RegistrationRequest) throws(FIDOError) -> Registration {
        let info = try info()
        if request.isResident, info.option(.rk) != true { throw .unsupported("rk") }
        try request.extensions.check(info)
        try checkAlsoExcluded(request)
        let rpID = request.relyingParty.id
        var permissions: ClientPIN.Permissions = .makeCredential
        if !request.excludeList.isEmpty { permissions.insert(.getAssertion) }
        return try verified(
            request.userVerification, permissions, rpID: rpID, isResident: request.isResident
        ) { means throws(FIDOError) in try register(request, means, info) }
    }

    private func register(
        _ request: RegistrationRequest, _ means: VerificationMeans, _ info: AuthenticatorInfo
    ) throws(FIDOError) -> Registration {
        let rpID = request.relyingParty.id
        var command = MakeCredential(
            clientDataHash: request.clientDataHash,
            relyingParty: RelyingParty(id: rpID, name: request.relyingParty.name?.shortName),
            user: request.user.withShortNames, algorithms: request.algorithms)
        command.excludeList = try fitting(request.excludeList, rpID: rpID, means)
        command.isResident = request.isResident ? true : nil
        command.verifiesUser = means.option
        command.auth = means.auth(over: request.clientDataHash)
        command.enterpriseAttestation = request.enterpriseAttestation
        command.attestationFormats = request.attestationFormats
        return try register(command, request.extensions, info)
    }

    private func register(
        _ command: MakeCredential, _ extensions: RegistrationExtensions, _ info: AuthenticatorInfo
    ) throws(FIDOError) -> Registration {
        var command = command
        defer { tokenWasUsed() }
        guard let salts = extensions.salts, info.extensions.contains("hmac-secret-mc") else {
            command.extensions = extensions.input(info, hmacSecret: nil)
            return try registration(try send(command), command, extensions, secrets: nil)
        }
        let exchange = try HMACSecretExchange(salts, self)
        command.extensions = extensions.input(info, hmacSecret: exchange.input)
        let response = try send(command)
        let output = response.authenticatorData.extensions?["hmac-secret-mc"]
        return try registration(
            response, command, extensions, secrets: try exchange.secrets(output, during: command.name))
    }

    private func registration(
        _ response: MakeCredential.Response, _ command: MakeCredential, _ extensions: RegistrationExtensions,
        secrets: HMACSecrets?
    ) throws(FIDOError) -> Registration {
        let isResident = command.isResident ?? false
        if isResident { infoDidChange() }
        try response.authenticatorData.check(isFor: command.relyingParty.id, during: command.name)
        let signingKey: PreviewSign.GeneratedKey?
        do { signingKey = try response.signingKey(extensions.signingKey) } catch {
            throw .ctap(.malformed(error, during: command.name))
        }
        let outputs = RegistrationExtensionOutputs(
            response.authenticatorData.extensions, unsigned: response.unsignedExtensions, secrets: secrets,
            signingKey: signingKey)
        return Registration(response: response, extensions: outputs, isResident: isResident)
    }

    /// Looks for excluded credentials that were created for the other identifier; a match is revealed only after a
    /// touch (WebAuthn Level 3 §10.1.2).
    private func checkAlsoExcluded(_ request: RegistrationRequest) throws(FIDOError) {
        guard let other = request.alsoExcludedFor, try has(request.excludeList, for: other) else { return }
        try select()
        throw .credentialExcluded
    }
}

extension AuthenticatorData {
    /// Refuses a response for another relying party.
    func check(isFor rpID: String, during name: String) throws(FIDOError) {
        guard rpIDHash == HashAlgorithm.sha256.hash(rpID.utf8) else {
            throw .ctap(.malformed(WireError(.malformed, at: 0, "an answer for another relying party"), during: name))
        }
    }
}

/// What a new discoverable credential would replace: a key keeps one for each relying party and account (CTAP 2.2
/// §6.1.2, makeCredential).
public enum Replacement: Hashable, Sendable {
    /// Nothing.
    case none
    /// The credential with this identifier.
    case credential(CredentialDescriptor)
    /// The key cannot report it: it has no PIN or fingerprint that would unlock its list, or refuses to search without
    /// a touch.
    case unknown
}

extension FIDOService {
    /// Returns what a new discoverable credential for this relying party and account would replace. Changes nothing and
    /// requires no touch.
    ///
    /// Asks credential management if the key has it, which requires the PIN or a fingerprint. Otherwise requests an
    /// assertion without user presence from all credentials of the relying party.
    ///
    /// - Parameters:
    ///   - rpID: The relying party's identifier.
    ///   - userID: The account's identifier.
    /// - Throws: `pinNeeded`, `wrongPIN` and others.
    public func replacement(for rpID: String, userID: [UInt8]) throws(FIDOError) -> Replacement {
        guard session.isCTAP2, try session.info().option(.rk) == true else { return .none }
        return try session.withAccess { () throws(FIDOError) in try session.replacement(for: rpID, userID: userID) }
    }
}

extension FIDOSession {
    fileprivate func replacement(for rpID: String, userID: [UInt8]) throws(FIDOError) -> Replacement {
        let info = try info()
        if info.hasCredentialManagement, info.hasPIN || info.givesTokenForUV {
            let hash = HashAlgorithm.sha256.hash(rpID.utf8)
            let stored: [StoredCredential] = try list(
                first: .firstCredential(rpIDHash: hash), next: .nextCredential, total: \.total)
            return stored.first { $0.user.id == userID }.map { .credential($0.id) } ?? .none
        }
        let isVerified = info.hasPIN || info.hasBuiltInUV
        var request = AssertionRequest(rpID: rpID, clientDataHash: [UInt8](repeating: 0, count: 32))
        request.requiresPresence = false
        request.userVerification = isVerified ? .required : .discouraged
        let found: [Assertion]
        do { found = try assert(request) } catch {
            switch error {
            case .noCredentials: return isVerified ? .none : .unknown
            case .ctap(.status), .unsupported: return .unknown
            default: throw error
            }
        }
        let same = found.first { $0.response.user?.id == userID }
        if let same { return .credential(same.credential) }
        // Without user verification a key does not reveal credentials of protection levels 2 and 3.
        return isVerified ? .none : .unknown
    }

    /// The credentials of a list to send: all of them if they fit the key's limits, otherwise those that the key has,
    /// found without a touch.
    func fitting(
        _ list: [CredentialDescriptor], rpID: String, _ means: VerificationMeans
    ) throws(FIDOError) -> [CredentialDescriptor] {
        let possible = try possible(list)
        guard possible.count > (try listLimit()) || Self.size(possible) > ctap.messageLimit - 640 else {
            return possible
        }
        return try found(possible, rpID: rpID, means).map { [$0] } ?? []
    }

    /// The one credential of a list that the key has, found without a touch.
    func sole(
        _ list: [CredentialDescriptor], rpID: String, _ means: VerificationMeans
    ) throws(FIDOError) -> [CredentialDescriptor] {
        let possible = try possible(list)
        guard possible.count > 1 else { return possible }
        return try found(possible, rpID: rpID, means).map { [$0] } ?? []
    }

    /// Returns whether the key reports, without touch and user verification, that it has one of these.
    func has(_ list: [CredentialDescriptor], for rpID: String) throws(FIDOError) -> Bool {
        do { return try found(try possible(list), rpID: rpID, .none) != nil } catch .pinNeeded { return false }
    }

    private func possible(_ list: [CredentialDescriptor]) throws(FIDOError) -> [CredentialDescriptor] {
        let longest = try info().maxCredentialIDLength ?? UInt64(AuthenticatorData.credentialIDLimit)
        return list.filter { $0.id.count <= Int(clamping: longest) }
    }

    /// Maximum number of credentials in a list, at least one. CTAP 2.0 keys do not report it; some refuse long lists
    /// (Solo 4 those with more than 20).
    private func listLimit() throws(FIDOError) -> Int {
        max(1, Int(clamping: try info().maxCredentialsInList ?? Self.unsaidListLimit))
    }

    private static let unsaidListLimit: UInt64 = 8

    private func found(
        _ list: [CredentialDescriptor], rpID: String, _ means: VerificationMeans
    ) throws(FIDOError) -> CredentialDescriptor? {
        for batch in batches(list, most: try listLimit()) {
            if let hit = try known(batch, rpID: rpID, means) { return hit }
        }
        return nil
    }

    /// The credential of a batch that the key has, found without a touch (CTAP 2.2 §6.1.1, pre-flight).
    private func known(
        _ batch: [CredentialDescriptor], rpID: String, _ means: VerificationMeans
    ) throws(FIDOError) -> CredentialDescriptor? {
        let hash = [UInt8](repeating: 0, count: 32)
        var command = GetAssertion(rpID: rpID, clientDataHash: hash, allowList: batch)
        command.requiresPresence = false
        command.auth = means.auth(over: hash)
        do {
            let response = try send(command)
            guard let credential = response.credential else { return batch.count == 1 ? batch[0] : nil }
            return batch.first { $0.id == credential.id }
        } catch .noCredentials {
            return nil
        }
    }

    private func batches(_ list: [CredentialDescriptor], most: Int) -> [[CredentialDescriptor]] {
        var batches: [[CredentialDescriptor]] = []
        for entry in list {
            let fits = batches.last.map {
                $0.count < most && Self.size($0 + [entry]) <= ctap.messageLimit - 256
            }
            if fits == true, let last = batches.indices.last {
                batches[last].append(entry)
            } else {
                batches.append([entry])
            }
        }
        return batches
    }

    private static func size(_ list: [CredentialDescriptor]) -> Int { CBOR.array(list.map(\.cbor)).encoded.count }
}
