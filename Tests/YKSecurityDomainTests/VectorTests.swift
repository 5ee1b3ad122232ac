// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKCrypto
import YKSecureChannel
import YKTestSupport
import YKTransport
import YKWire

@testable import YKSecurityDomain

/// The published vectors, each confirmed by two implementations.
@Suite struct VectorTests {
    private let all: [JSONValue]

    init() throws {
        let url = try #require(Bundle.module.url(forResource: "vectors/security-domain", withExtension: "json"))
        all = try #require(try JSONValue(parsing: Array(try Data(contentsOf: url)))["vectors"]?.array)
    }

    private func vector(_ id: String) throws -> JSONValue { try #require(all.first { $0["id"]?.string == id }) }

    @Test("an SCP03 set is stored encrypted, and its check values are compared")
    func putSet() throws {
        let vector = try vector("scp03-put-key-aes")
        let keys = try ["key_enc", "key_mac", "key_dek"].map { try vector.secret($0) }
        let command = try PutSecurityKey.set(
            SCPKeyReference(id: 0x01, version: 3), keys, replacing: 0, under: vector.secret("session_dek"))
        try expect(Self.head(command.apdu), is: vector.bytes("command"))
        try expect(command.apdu.data, is: vector.bytes("data"))
        let reply = try vector.bytes("expected_response")
        for place in reply.indices {
            var wrong = reply
            wrong[place] ^= 1
            var reader = ByteReader(wrong)
            #expect(!command.decode(&reader))
        }
        var reader = ByteReader(reply)
        #expect(command.decode(&reader))
    }

    @Test("private keys are stored encrypted, those of CAs in the clear")
    func putKeys() throws {
        let vector = try vector("scp11-put-key-ec")
        let own = try PutSecurityKey.privateKey(
            SCPKeyReference(id: 0x13, version: 5), vector.secret("private_scalar").value, replacing: 0,
            under: vector.secret("session_dek"))
        try expect(Self.head(own.apdu), is: vector.bytes("private_command"))
        try expect(own.apdu.data, is: vector.bytes("private_data"))
        let authority = PutSecurityKey.authority(
            SCPKeyReference(id: 0x10, version: 5), try vector.bytes("public_point"), replacing: 0)
        try expect(Self.head(authority.apdu), is: vector.bytes("public_command"))
        try expect(authority.apdu.data, is: vector.bytes("public_data"))
        for command in [own, authority] {
            var reader = ByteReader(try vector.bytes("expected_response"))
            #expect(command.decode(&reader))
            var other = ByteReader([0x06])
            #expect(!command.decode(&other))
        }
    }

    @Test("allow lists and the identifiers of CAs")
    func storeData() throws {
        let serials: [[UInt8]] = [
            [0x01], [0x7F], [0x80], try Hex.decode("7f4971b0ad51f84c9da9928b2d5fef5e16b2920a"), [0xFF, 0x00],
        ]
        let (first, second) = (SCPKeyReference(id: 0x10, version: 3), SCPKeyReference(id: 0x11, version: 3))
        let identifier = Array(UInt8(0)..<20)
        let commands = [
            StoreSecurityData.allowList(first, serials), .allowList(first, []), .authority(first, identifier),
            .authority(second, identifier),
        ]
        let cases = try #require(try vector("sd-store-data")["cases"]?.array)
        expect(cases.count, is: commands.count)
        for (entry, command) in zip(cases, commands) {
            expect(Self.head(command.apdu), is: [0x00, 0xE2, 0x90, 0x00])
            try expect(command.apdu.data, is: entry.bytes("data"), "\(entry["name"]?.string ?? "")")
        }
    }

    private static func head(_ apdu: APDU) -> [UInt8] { [apdu.cla, apdu.ins, apdu.p1, apdu.p2] }
}

extension JSONValue {
    fileprivate func bytes(_ member: String) throws -> [UInt8] { try Hex.decode(try #require(self[member]?.string)) }
    fileprivate func secret(_ member: String) throws -> SharedSecret { SharedSecret(Secret(try bytes(member))) }
}
