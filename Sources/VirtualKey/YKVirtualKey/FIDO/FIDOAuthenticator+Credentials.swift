// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKWire

extension FIDOAuthenticator {
    private typealias Key = CTAPProtocol.CredentialManagement.Request
    private typealias Parameter = CTAPProtocol.CredentialManagement.Parameters
    private typealias Reply = CTAPProtocol.CredentialManagement.Reply
    private typealias Subcommand = CTAPProtocol.CredentialManagement.Subcommand

    /// credentialManagement (CTAP 2.2 §6.8).
    mutating func credentialManagement(_ fields: CBOR.Fields) throws(Refusal) -> CBOR? {
        let (subcommand, parameters) = try Self.read { () throws(WireError) in
            (
                try fields.required(Reply.existingResidentCredentialsCount, .unsigned),
                try fields.optional(Reply.maxPossibleRemainingResidentCredentialsCount, .map)
            )
        }
        let known = Subcommand(rawValue: subcommand)
        if let known, [.enumerateRPsGetNextRP, .enumerateCredentialsGetNextCredential].contains(known) {
            return try nextListed(known)
        }
        power.listing = nil
        let party = try authorise(fields, subcommand, parameters)
        switch known {
        case .getCredsMetadata:
            let count = memory.credentials.count
            let room = max(0, profile.credentialLimit - count)
            return .map(
                CBOR.Map(keys: [
                    Reply.existingResidentCredentialsCount: .int(Int64(count)),
                    Reply.maxPossibleRemainingResidentCredentialsCount: .int(Int64(room)),
                ]))
        case .enumerateRPsBegin: return try listRelyingParties()
        case .enumerateCredentialsBegin:
            guard let rpIDHash = parameters?[Parameter.rpIDHash]?.bytes else { throw .ctap(Status.missingParameter) }
            try permit(rpIDHash, by: party)
            return try listCredentials(rpIDHash)
        case .deleteCredential: memory.credentials.remove(at: try index(parameters, party))
        case .updateUserInformation: try rename(parameters, party)
        default: throw .ctap(Status.invalidSubcommand)
        }
        return nil
    }

    /// Returns the relying party that the token is for; `nil` if it is for all.
    private mutating func authorise(
        _ fields: CBOR.Fields, _ subcommand: UInt64, _ parameters: CBOR.Map?
    ) throws(Refusal) -> String? {
        let proof = try Self.read { () throws(WireError) in try fields.optional(Reply.rpIDHash, .bytes) }
        guard let proof else { throw .ctap(Status.pinUvAuthTokenRequired) }
        let message =
            [UInt8(truncatingIfNeeded: subcommand)] + (parameters.map { CBOR.map($0).encoded } ?? [])
        let version = try pinProtocol(fields, at: Key.pinUvAuthProtocol.cbor)
        if ctap >= .v23, !memory.persistentToken.isEmpty, Self.reading.contains(subcommand),
            constantTimeEqual(version.authenticate(message, key: Secret(memory.persistentToken)), proof)
        {
            return nil
        }
        try check(proof: proof, version, over: message, permission: 0x04)
        guard let party = power.token?.rpID else { return nil }
        guard subcommand >= Subcommand.enumerateCredentialsBegin.rawValue else { throw .ctap(Status.pinAuthInvalid) }
        return party
    }

    /// Refuses another relying party's credentials to a token that is for one (CTAP 2.2 §6.8.4 to §6.8.6).
    private func permit(_ rpIDHash: [UInt8], by party: String?) throws(Refusal) {
        guard let party, HashAlgorithm.sha256.hash(party.utf8) != rpIDHash else { return }
        throw .ctap(Status.pinAuthInvalid)
    }

    /// The subcommands that a persistent token permits.
    private static let reading = [
        Subcommand.getCredsMetadata, .enumerateRPsBegin, .enumerateCredentialsBegin,
    ].map(\.rawValue)

    private mutating func nextListed(_ subcommand: Subcommand) throws(Refusal) -> CBOR {
        guard var listing = power.listing, listing.next == subcommand, !listing.answers.isEmpty else {
            throw .ctap(Status.notAllowed)
        }
        let next = listing.answers.removeFirst()
        power.listing = listing
        return .map(next)
    }

    /// Stores all answers but the first for the next subcommands; the first includes their number.
    private mutating func list(
        _ answers: [CBOR.Map], total: CTAPProtocol.CredentialManagement.Reply, next: Subcommand
    ) throws(Refusal) -> CBOR {
        guard var first = answers.first else { throw .ctap(Status.noCredentials) }
        first[total] = .int(Int64(answers.count))
        power.listing = .init(next: next, answers: Array(answers.dropFirst()))
        return .map(first)
    }

    private mutating func listRelyingParties() throws(Refusal) -> CBOR {
        var seen: Set<String> = []
        let answers: [CBOR.Map] = memory.credentials.compactMap { credential in
            guard seen.insert(credential.rpID).inserted else { return nil }
            return CBOR.Map(keys: [
                Reply.rp: ["id": .text(credential.rpID)], Reply.rpIDHash: .bytes(credential.rpIDHash),
            ])
        }
        return try list(answers, total: Reply.totalRPs, next: .enumerateRPsGetNextRP)
    }

    private mutating func listCredentials(_ rpIDHash: [UInt8]) throws(Refusal) -> CBOR {
        var answers: [CBOR.Map] = []
        for credential in memory.credentials where credential.rpIDHash == rpIDHash {
            var user: CBOR.Map = ["id": .bytes(credential.userID)]
            user["name"] = credential.userName.map(CBOR.text)
            user["displayName"] = credential.displayName.map(CBOR.text)
            var answer = CBOR.Map(keys: [
                Reply.user: .map(user), Reply.credentialID: ["id": .bytes(credential.id), "type": "public-key"],
                Reply.publicKey: .map(try credential.publicKey().map),
                Reply.credProtect: .unsigned(credential.protection),
            ])
            answer[Reply.largeBlobKey] = credential.largeBlobKey.map(CBOR.bytes)
            if ctap >= .v23 { answer[Reply.thirdPartyPayment] = .bool(credential.allowsPayment) }
            answers.append(answer)
        }
        return try list(answers, total: Reply.totalCredentials, next: .enumerateCredentialsGetNextCredential)
    }

    private func index(_ parameters: CBOR.Map?, _ party: String?) throws(Refusal) -> Int {
        guard let id = parameters?[Parameter.credentialID]?.map?["id"]?.bytes else {
            throw .ctap(Status.missingParameter)
        }
        guard let index = memory.credentials.firstIndex(where: { $0.id == id }) else {
            throw .ctap(Status.noCredentials)
        }
        try permit(memory.credentials[index].rpIDHash, by: party)
        return index
    }

    private mutating func rename(_ parameters: CBOR.Map?, _ party: String?) throws(Refusal) {
        let index = try index(parameters, party)
        guard let user = parameters?[Parameter.user]?.map else { throw .ctap(Status.missingParameter) }
        guard user["id"]?.bytes == memory.credentials[index].userID else { throw .ctap(Status.invalidParameter) }
        memory.credentials[index].userName = user["name"]?.text
        memory.credentials[index].displayName = user["displayName"]?.text
    }
}
