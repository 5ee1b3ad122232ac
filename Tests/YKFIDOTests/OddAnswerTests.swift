// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKFIDO
import YKTestSupport
import YKTransport
import YKWire

/// Keys whose answers are odd in one place: that place is passed over, and the rest is right.
struct OddAnswerTests {
    private func open(
        _ info: CBOR.Map = Operation.info, _ replies: [[UInt8]] = [], _ log: ScriptedKey.Log = .init()
    ) async throws -> FIDOService {
        try await FIDOService.open(ScriptedKey([CBOR.map(info).reply] + replies, log: log))
    }

    @Test("a member of getInfo of another type is passed over, and named")
    func passesOverOddMembers() async throws {
        for entry in Operation.info.entries {
            for value in Poison.values where value.kindName != entry.value.kindName {
                let info = try await open(Operation.info.with(entry.key, value)).info()
                expect(info.malformedMembers.count, is: 1, "key \(entry.key) is \(value.kindName)")
                expect(info.map[entry.key], is: value)
                if entry.key != 3 { expect(info.aaguid, is: [UInt8](repeating: 7, count: 16)) }
                if entry.key != 4 { expect(info.option(.rk), is: true) }
                if entry.key != 6 { expect(info.pinProtocols, is: [2, 1]) }
            }
        }
        #expect(try await open().info().malformedMembers.isEmpty)
    }

    @Test(
        "a list in getInfo with an element of another type is passed over", arguments: [1, 2, 6, 9, 10, 21, 22, 26, 31])
    func passesOverOddElements(_ key: Int64) async throws {
        let info = try await open(Operation.info.with(.int(key), [.null])).info()
        expect(info.malformedMembers.count, is: 1)
        expect(info.option(.rk), is: true)
    }

    @Test(arguments: [nil, CBOR.bytes([1, 2, 3])])
    func anAAGUIDThatIsNoneIsZero(_ value: CBOR?) async throws {
        var map = Operation.info
        map[3] = value
        let info = try await open(map).info()
        expect(info.aaguid, is: [UInt8](repeating: 0, count: 16))
        expect(info.malformedMembers, is: ["aaguid"])
    }

    @Test("a limit of zero is absent, since it would exclude everything")
    func limitsOfZeroAreAbsent() async throws {
        var map = Operation.info
        for key: Int64 in [5, 7, 8, 11, 13, 29] { map[.int(key)] = 0 }
        let info = try await open(map).info()
        #expect(info.maxMessageSize == 1024 && info.maxCredentialsInList == nil && info.maxCredentialIDLength == nil)
        #expect(info.maxLargeBlobArray == nil && info.minPINLength == 4 && info.maxPINLength == 63)
        #expect(info.malformedMembers.isEmpty)
    }

    @Test("an allow list is sent to a key whose longest credential is 0")
    func sendsListsToAKeyWithoutALimit() async throws {
        let log = ScriptedKey.Log()
        let service = try await open(Operation.info.with(8, 0), [CBOR.map(Operation.signed).reply], log)
        var request = AssertionRequest(
            rpID: "example.com", clientDataHash: hash, allowList: [CredentialDescriptor(id: [1, 2, 3])])
        request.userVerification = .discouraged
        try await expect(service.assert(request).count, is: 1)
        let sent = try CBOR(decoding: Array(try #require(log.messages.last).dropFirst()))
        expect(sent.map?[3], is: [["id": .bytes([1, 2, 3]), "type": "public-key"]])
    }

    @Test("a list without its length is read until the key refuses", arguments: [[0x30], [0x2E], [0x01]] as [[UInt8]])
    func readsListsWithoutTotal(_ end: [UInt8]) async throws {
        let (party, stored) = (CBOR.map(Operation.party).reply, CBOR.map(Operation.stored).reply)
        let log = ScriptedKey.Log()
        let service = try await open(Operation.info, [party, party, end, stored, stored, stored, end], log)
        let parties = try await service.relyingParties()
        expect(parties.count, is: 2)
        try await expect(service.credentials(of: parties[0]).count, is: 3)
        expect(log.messages.count, is: 8)
    }

    @Test("a list without its length that is cut off is not taken for complete")
    func doesNotTakeALostKeyForTheEnd() async throws {
        let service = try await open(Operation.info, [CBOR.map(Operation.party).reply])
        await #expect(throws: FIDOError.ctap(.link(.device(.removed)))) { try await service.relyingParties() }
    }

    @Test("a list of no relying parties, as keys report it", arguments: [CBOR.map([5: 0]).reply, [0x2E]])
    func readsEmptyLists(_ reply: [UInt8]) async throws {
        #expect(try await open(Operation.info, [reply]).relyingParties().isEmpty)
    }

    @Test("a stored credential whose public key has no algorithm is listed")
    func listsKeysWithoutAlgorithm() async throws {
        var point = Operation.point.map
        point[3] = nil
        let stored = CBOR.map(Operation.stored.with(8, .map(point)).with(9, 1)).reply
        let service = try await open(Operation.info, [CBOR.map(Operation.party.with(5, 1)).reply, stored])
        let parties = try await service.relyingParties()
        let credentials = try await service.credentials(of: parties[0])
        #expect(credentials.count == 1 && credentials[0].publicKey.algorithm == nil)
        let absent = CBOR.map(Operation.stored.with(9, 1).with(8, 1)).reply
        let other = try await open(Operation.info, [CBOR.map(Operation.party.with(5, 1)).reply, absent])
        let party = try await other.relyingParties()
        await #expect(throws: FIDOError.self) { try await other.credentials(of: party[0]) }
    }

    @Test("a key that supports only unknown PIN protocols opens, and says so where one is needed")
    func opensWithUnknownPINProtocols() async throws {
        var map = Operation.info("clientPin")
        map[6] = [3]
        let log = ScriptedKey.Log()
        let service = try await open(map, [], log)
        try await expect(service.info().pinProtocols, is: [3])
        await #expect(throws: FIDOError.unsupported("pinUvAuthProtocols")) { try await service.pinRetries() }
        expect(log.messages.count, is: 1)
    }

    @Test("a large-blob key that is not listed comes from an assertion")
    func findsALargeBlobKeyByAssertion() async throws {
        let info = Operation.info.with(2, ["largeBlobKey"])
        var stored = Operation.stored.with(9, 1)
        stored[11] = nil
        let replies = [CBOR.map(Operation.party.with(5, 1)).reply, CBOR.map(stored).reply]
        for (answer, isThere) in [(Operation.signed, true), (Operation.signed.without(7), false)] {
            let log = ScriptedKey.Log()
            let service = try await open(info, replies + [CBOR.map(answer).reply], log)
            let party = try #require(try await service.relyingParties().first)
            let credential = try #require(try await service.credentials(of: party).first)
            let key = try await service.largeBlobKey(of: credential, rpID: party.relyingParty.id)
            expect(key?.value.copyBytes(), is: (isThere ? [UInt8](repeating: 1, count: 32) : nil))
            let sent = try CBOR(decoding: Array(try #require(log.messages.last).dropFirst())).map
            #expect(sent?[4] == ["largeBlobKey": true] && sent?[3] == [Operation.id])
        }
        let listed = StoredListing.replies
        let service = try await open(info, listed)
        let party = try #require(try await service.relyingParties().first)
        let credential = try #require(try await service.credentials(of: party).first)
        #expect(try await service.largeBlobKey(of: credential, rpID: party.relyingParty.id) != nil)
    }

    private enum StoredListing {
        static let replies = [
            CBOR.map(Operation.party.with(5, 1)).reply, CBOR.map(Operation.stored.with(9, 1)).reply,
        ]
    }
}

extension CBOR.Map {
    /// The map with one pair less.
    fileprivate func without(_ key: CBOR) -> CBOR.Map {
        var map = self
        map[key] = nil
        return map
    }
}
