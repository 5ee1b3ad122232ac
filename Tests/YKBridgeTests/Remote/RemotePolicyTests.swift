// SPDX-License-Identifier: Apache-2.0

import Testing
import YKFIDO
import YKInteraction
import YKProtocols
import YKTestSupport
import YKVirtualKey
import YKWire

@testable import YKBridge

/// What a far end may do.
struct RemotePolicyTests {
    private func policy(_ sites: [String] = [], always: [String] = []) throws -> RemotePolicy {
        var policy = RemotePolicy()
        policy.allowed = try sites.map { try #require(NamePattern($0)) }
        policy.allowedAlways = try always.map { try #require(NamePattern($0)) }
        return policy
    }

    private func decision(_ message: [UInt8], _ policy: RemotePolicy = RemotePolicy()) throws -> RemotePolicy.Decision {
        policy.decision(on: try RemoteRequest(message))
    }

    @Test("sites on the web are asked for each time; nothing else, unless it is named")
    func asks() throws {
        for site in ["example.com", "a.b.example", "localhost", "xn--bcher-kva.example"] {
            try expect(decision(CTAP.register(site)), is: .proceed(asks: true), "\(site)")
            try expect(decision(CTAP.signIn(site)), is: .proceed(asks: true), "\(site)")
            try expect(decision(CTAP.signIn(site, up: false)), is: .refuse(0x2E, .probe), "\(site)")
        }
        for site in [
            "ssh:", "ssh:work", "pam://lab", "io.systemd.cryptsetup", "io.systemd.home", "age-encryption.org",
            "ykit:store", "ykit:approve", "fido2luks", "Example.com", "example.com ", "exаmple.com", "", "?",
            "https://example.com", "1.2.3.4",
        ] {
            try expect(decision(CTAP.register(site)), is: .refuse(0x27, .localSecret), "\(site)")
            try expect(decision(CTAP.signIn(site)), is: .refuse(0x27, .localSecret), "\(site)")
            try expect(decision(CTAP.signIn(site, up: false)), is: .refuse(0x2E, .probe), "\(site)")
        }
    }

    @Test("with sites named, no others; those that are named may also be looked for without a touch")
    func named() throws {
        let some = try policy(["example.com", "*.test.example", "ssh:*"], always: ["quiet.example"])
        for site in ["example.com", "a.test.example", "ssh:", "ssh:work"] {
            try expect(decision(CTAP.signIn(site), some), is: .proceed(asks: true), "\(site)")
            try expect(decision(CTAP.signIn(site, up: false), some), is: .proceed(asks: false), "\(site)")
        }
        try expect(decision(CTAP.register("quiet.example"), some), is: .proceed(asks: false))
        try expect(decision(CTAP.signIn("other.example"), some), is: .refuse(0x27, .otherSite))
        try expect(decision(CTAP.signIn("pam://lab"), some), is: .refuse(0x27, .localSecret))
        try expect(decision(CTAP.signIn("other.example", up: false), some), is: .refuse(0x2E, .probe))
        // A site that is used without a question does not exclude others.
        let quiet = try policy(always: ["quiet.example"])
        try expect(decision(CTAP.signIn("other.example"), quiet), is: .proceed(asks: true))
        try expect(decision(CTAP.signIn("quiet.example"), quiet), is: .proceed(asks: false))
    }

    @Test("what the far end may not do, and what it may read")
    func commands() throws {
        for (command, name) in [
            (0x07, "reset"), (0x09, "bioEnrollment"), (0x0A, "credentialManagement"), (0x0C, "largeBlobs"),
            (0x0D, "config"), (0x40, "bioEnrollment"), (0x41, "credentialManagement"),
        ] as [(UInt8, String)] {
            try expect(decision([command, 0xA0]), is: .refuse(0x30, .command(name)))
        }
        for (subcommand, name) in [
            (3, "setPIN"), (4, "changePIN"), (5, "getPinToken"), (6, "getPinUvAuthTokenUsingUvWithPermissions"),
            (9, "getPinUvAuthTokenUsingPinWithPermissions"),
        ] as [(UInt64, String)] {
            try expect(decision(CTAP.pin(subcommand)), is: .refuse(0x30, .command("clientPIN \(name)")))
        }
        for subcommand: UInt64 in [1, 2, 7] {
            try expect(decision(CTAP.pin(subcommand)), is: .proceed(asks: false))
        }
        try expect(RemoteRequest(CTAP.pin(2)).action, is: .read(CTAP.pin(2)))
        // The tries are nobody's at the far end: always as of a new key.
        try expect(RemoteRequest(CTAP.pin(1)).action, is: .answer([0, 0xA1, 3, 8]))
        try expect(RemoteRequest(CTAP.pin(7)).action, is: .answer([0, 0xA1, 5, 3]))
        try expect(decision(CTAP.select), is: .proceed(asks: true))
        try expect(decision(CTAP.next), is: .proceed(asks: false))
        try expect(RemoteRequest(CTAP.register(proof: [])).action, is: .select(status: 0x35))
        try expect(RemoteRequest(CTAP.signIn(proof: [])).action, is: .select(status: 0x35))
    }

    @Test(
        "a search has a hash of the near end's own, and nothing else of the far end's but the site and the credentials")
    func search() throws {
        var map = try #require(try CBOR(decoding: Array(CTAP.signIn(credential: [9], up: false).dropFirst())).map)
        map[4] = ["hmac-secret": true]
        map[3] = [["id": .bytes([9]), "type": "public-key", "more": 1]]
        guard case .search(let search) = try RemoteRequest(CTAP.message(0x02, map)).action else {
            throw RemoteError.lost
        }
        #expect(search.site == "example.com" && !search.isVerified)
        #expect(
            search.message
                == CTAP.message(
                    0x02,
                    [
                        1: "example.com", 2: .bytes([UInt8](repeating: 0, count: 32)),
                        3: [["id": .bytes([9]), "type": "public-key"]], 5: ["up": false],
                    ]))
        let answer = CTAP.message(0, [1: 1, 2: 2, 3: 3, 4: ["id": .bytes([1])], 5: 2])
        expect(CredentialSearch.answer(answer), is: CTAP.message(0, [1: 1, 2: 2, 3: 3]))
        expect(CredentialSearch.answer([0x2E]), is: [0x2E])
    }

    @Test("malformed messages are refused before anything is decided")
    func malformed() throws {
        var rows: [([UInt8], UInt8)] = [
            ([], 0x03), ([0x50], 0x01), ([0x42, 1], 0x01), ([0x01], 0x12), ([0x01, 0xA0], 0x14), ([0x02, 0xA0], 0x14),
            ([0x02, 0x80], 0x12), ([0x06, 0xA0], 0x14), (CTAP.pin(99), 0x3E), (CTAP.register(proof: [1]), 0x33),
            (CTAP.signIn(proof: [UInt8](repeating: 0, count: 16)), 0x33),
            (CTAP.message(0x02, [1: "a.example", 2: .bytes([1])]), 0x02),
            (CTAP.message(0x02, [1: 7, 2: .bytes([UInt8](repeating: 0, count: 32))]), 0x11),
        ]
        var map = try #require(try CBOR(decoding: Array(CTAP.register().dropFirst())).map)
        map[7] = ["up": false]
        rows.append((CTAP.message(0x01, map), 0x2C))
        map[7] = nil
        for (key, value) in [
            (2, ["id": "example.com", "name": 1]), (3, ["id": .bytes([1]), "name": .bytes([1])]), (4, [1]), (5, ["x"]),
        ] as [(Int64, CBOR)] {
            var other = map
            other[.int(key)] = value
            rows.append((CTAP.message(0x01, other), 0x11))
        }
        for (message, status) in rows {
            #expect(throws: RemoteRequest.Malformed(status: status)) { try RemoteRequest(message) }
        }
    }

    @Test("the key gets what is known, and nothing else")
    func rebuilt() throws {
        var map = try #require(try CBOR(decoding: Array(CTAP.register(isResident: true).dropFirst())).map)
        map[3] = ["id": .bytes([1]), "name": "alice", "icon": "x"]
        map[5] = [["id": .bytes([9]), "type": "public-key"]]
        map[6] = ["hmac-secret": true, "largeBlobKey": true, "minPinLength": true, "credProtect": 2]
        map[7] = ["rk": true, "uv": true, "other": true]
        map[10] = 2
        map[99] = "unknown"
        guard case .register(let ceremony) = try RemoteRequest(CTAP.message(0x01, map)).action else {
            throw RemoteError.lost
        }
        expect(ceremony.verification, is: .required)
        expect(Set(ceremony.parameters.entries.map(\.key)), is: [1, 2, 3, 4, 5, 6, 7])
        expect(ceremony.parameters[3], is: ["id": .bytes([1]), "name": "alice"])
        expect(ceremony.parameters[6], is: ["credProtect": 2, "hmac-secret": true])
        expect(ceremony.parameters[7], is: ["rk": true])
        let secret = CTAP.message(
            0x02, [1: "a.example", 2: .bytes([UInt8](repeating: 0, count: 32)), 4: ["hmac-secret": [1: 2]]])
        try expect(RemoteRequest(secret).ceremony, is: .deriveSecret(site: "a.example"))
    }

    @Test(
        "a key is shown as one that verifies its user itself and takes no PIN", arguments: FIDOFeatures.Version.allCases
    )
    func presented(_ version: FIDOFeatures.Version) async throws {
        for pin in [nil, "73519024"] {
            let key = try await version.key(pin: pin)
            let service = try await FIDOService.open(hid: key.reportLink(), environment: .instant)
            let own = try await service.info()
            let answer = PresentedInfo.answer(own)
            expect(answer[0], is: 0)
            let shown = try AuthenticatorInfo(CBOR.Fields(decoding: Array(answer.dropFirst()), "getInfo"))
            #expect(shown.versions == [.fido20] && shown.malformedMembers.isEmpty)
            expect(shown.option(.uv), is: (pin == nil ? nil : true))
            #expect(!shown.takesPIN && !shown.hasPermissions && shown.aaguid == [UInt8](repeating: 0, count: 16))
            #expect(shown.option(.rk) == own.option(.rk) && !shown.hasCredentialManagement)
            #expect(shown.firmwareVersion == nil && shown.remainingCredentials == nil)
            expect(shown.option(.makeCredUvNotRqd), is: nil)
            // CTAP 2.0 has one protocol, and Firefox 153 names no other without a token.
            expect(shown.pinProtocols, is: shown.extensions.contains("hmac-secret") ? [1] : [])
            #expect(Set(shown.extensions).isSubset(of: ["credProtect", "hmac-secret", "hmac-secret-mc", "credBlob"]))
            await service.close()
        }
    }
}
