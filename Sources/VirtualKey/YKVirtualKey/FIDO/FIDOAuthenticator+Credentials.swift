// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

extension FIDOAuthenticator {
    /// credentialManagement (CTAP 2.2 §6.8).
    mutating func credentialManagement(_ fields: CBOR.Fields) throws(Refusal) -> CBOR? {
        let (subcommand, parameters) = try Self.read { () throws(WireError) in
            (try fields.required(1, .unsigned), try fields.optional(2, .map))
        }
        if subcommand == 3 || subcommand == 5 { return try nextListed() }
        power.listing = []
        try authorise(fields, subcommand, parameters)
        switch subcommand {
        case 1:
            let count = memory.credentials.count
            return [1: .int(Int64(count)), 2: .int(Int64(FIDOMemory.credentialLimit - count))]
        case 2: return try listRelyingParties()
        case 4: return try listCredentials(parameters?[1]?.bytes)
        case 6:
            let index = try index(parameters)
            memory.credentials.remove(at: index)
        case 7: try rename(parameters)
        default: throw .ctap(0x3E)
        }
        return nil
    }

    private mutating func authorise(
        _ fields: CBOR.Fields, _ subcommand: UInt64, _ parameters: CBOR.Map?
    ) throws(Refusal) {
        let proof = try Self.read { () throws(WireError) in try fields.optional(4, .bytes) }
        guard let proof else { throw .ctap(0x36) }
        let message =
            [UInt8(truncatingIfNeeded: subcommand)] + (parameters.map { CBOR.map($0).encoded } ?? [])
        let version = try pinProtocol(fields, at: 3)
        if ctap >= .v23, !memory.persistentToken.isEmpty, [1, 2, 4].contains(subcommand),
            constantTimeEqual(version.authenticate(message, key: Secret(memory.persistentToken)), proof)
        {
            return
        }
        try check(proof: proof, version, over: message, permission: 0x04)
        if subcommand < 4, power.token?.rpID != nil, power.token?.isLegacy == false { throw .ctap(0x33) }
    }

    private mutating func nextListed() throws(Refusal) -> CBOR {
        guard !power.listing.isEmpty else { throw .ctap(0x30) }
        let next = power.listing.removeFirst()
        guard let item = try? CBOR(decoding: next) else { throw .ctap(0x7F) }
        return item
    }

    /// Stores all answers but the first for the next subcommands; the first includes their number.
    private mutating func list(_ answers: [CBOR.Map], total: CBOR) throws(Refusal) -> CBOR {
        guard var first = answers.first else { throw .ctap(0x2E) }
        first[total] = .int(Int64(answers.count))
        power.listing = answers.dropFirst().map { CBOR.map($0).encoded }
        return .map(first)
    }

    private mutating func listRelyingParties() throws(Refusal) -> CBOR {
        var seen: Set<String> = []
        let answers: [CBOR.Map] = memory.credentials.compactMap { credential in
            guard seen.insert(credential.rpID).inserted else { return nil }
            return [3: ["id": .text(credential.rpID)], 4: .bytes(credential.rpIDHash)]
        }
        return try list(answers, total: 5)
    }

    private mutating func listCredentials(_ rpIDHash: [UInt8]?) throws(Refusal) -> CBOR {
        guard let rpIDHash else { throw .ctap(0x14) }
        var answers: [CBOR.Map] = []
        for credential in memory.credentials where credential.rpIDHash == rpIDHash {
            var user: CBOR.Map = ["id": .bytes(credential.userID)]
            user["name"] = credential.userName.map(CBOR.text)
            user["displayName"] = credential.displayName.map(CBOR.text)
            var answer: CBOR.Map = [
                6: .map(user), 7: ["id": .bytes(credential.id), "type": "public-key"],
                8: .map(try credential.publicKey().map), 10: .unsigned(credential.protection),
            ]
            answer[11] = credential.largeBlobKey.map(CBOR.bytes)
            answer[12] = .bool(credential.allowsPayment)
            answers.append(answer)
        }
        return try list(answers, total: 9)
    }

    private func index(_ parameters: CBOR.Map?) throws(Refusal) -> Int {
        guard let id = parameters?[2]?.map?["id"]?.bytes else { throw .ctap(0x14) }
        guard let index = memory.credentials.firstIndex(where: { $0.id == id }) else { throw .ctap(0x2E) }
        return index
    }

    private mutating func rename(_ parameters: CBOR.Map?) throws(Refusal) {
        let index = try index(parameters)
        guard let user = parameters?[3]?.map else { throw .ctap(0x14) }
        guard user["id"]?.bytes == memory.credentials[index].userID else { throw .ctap(0x02) }
        memory.credentials[index].userName = user["name"]?.text
        memory.credentials[index].displayName = user["displayName"]?.text
    }
}
