// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKSecureChannel
import YKSecurityDomain
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

struct SecurityDomainTests {
    @Test("keys of secure channels are the old or the new ones", arguments: SecurityDomainOperations.all)
    func nothingIsLost(_ operation: Operation) async throws { try await operation.proveNothingIsLost() }
}

/// What the Security Domain does in more than one exchange, the handshake of its channel included.
enum SecurityDomainOperations {
    static let own = SCPKeyReference(id: 0x01, version: 1)
    static let pair = SCPKeyReference(id: 0x11, version: 3)
    static let ca = SCPKeyReference(id: 0x10, version: 3)

    static func set() throws -> SCP03Keys {
        let keys = (1...3).map { SharedSecret(Secret([UInt8](repeating: $0, count: 16))) }
        return try SCP03Keys(encryption: keys[0], mac: keys[1], dataEncryption: keys[2])
    }

    static func open(
        _ link: sending any CardLink, _ keys: SCP03Keys? = .factory
    ) async throws -> SecurityDomainService {
        let channel = channel(link)
        if let keys { channel.protect(with: SecureChannel(.scp03(keys), environment: .instant(ScatteredRandom()))) }
        return try await SecurityDomainService.open(channel)
    }

    static func references(_ key: VirtualKey) async throws -> [SCPKeyReference] {
        try await open(key.link(), nil).keys().map(\.reference)
    }

    /// Somebody who has one of the two sets can manage the keys.
    static func isManaged(_ key: VirtualKey) async throws {
        for (index, keys) in [SCP03Keys.factory, try set()].enumerated() {
            do {
                return try await open(key.link(), keys).store(authority: [1], of: pair)
            } catch SecurityDomainError.card(.secureChannel) where index == 0 {} catch SecurityDomainError.noSuchKey {
                return
            }
        }
    }

    static func point() throws -> [UInt8] {
        [0x04] + (try P256KeyAgreement(scalar: Secret([UInt8](repeating: 5, count: 32)))).publicPoint
    }

    static func replace(_ link: sending any CardLink) async throws { try await open(link).put(set(), as: own) }

    /// Generates the key unless it is there.
    static func generate(_ link: sending any CardLink) async throws {
        let service = try await open(link)
        if try await service.keys().contains(where: { $0.reference == pair }) { return }
        _ = try await service.generate(pair)
    }

    static func store(_ link: sending any CardLink) async throws {
        let service = try await open(link)
        if try await !service.keys().contains(where: { $0.reference == ca }) {
            try await service.put(authority: point(), as: ca)
        }
        try await service.store(authority: [7, 7], of: ca)
        try await service.store(allowedSerials: [[1], [2]], of: ca)
    }

    static let all: [Operation] = [
        Operation(
            name: "replace the factory's set", version: FirmwareVersion(5, 7, 4), run: { try await replace($0) },
            holds: { try await isManaged($0) },
            again: { key in
                if try await references(key).contains(own) { return }
                try await replace(key.link())
            }, isDone: { _ = try await open($0.link(), set()).keys() }),
        Operation(
            name: "generate a key", version: FirmwareVersion(5, 7, 4), run: { try await generate($0) },
            holds: { try await isManaged($0) },
            isDone: { try require(try await references($0).contains(pair), "the key") }),
        Operation(
            name: "delete a key", version: FirmwareVersion(5, 7, 4), prepare: { try await generate($0.link()) },
            run: { link in
                let service = try await open(link)
                guard try await service.keys().contains(where: { $0.reference == pair }) else { return }
                try await service.delete(id: pair.id, version: pair.version)
            }, holds: { try await isManaged($0) },
            isDone: { try require(try await !references($0).contains(pair), "the deletion") }),
        Operation(
            name: "import an authority", version: FirmwareVersion(5, 7, 4), isComposed: true,
            run: { try await store($0) },
            holds: { try await isManaged($0) },
            isDone: { key in
                try require(
                    try await open(key.link(), nil).authorities(ofCard: false) == [ca: [7, 7]], "its identifier")
            }),
        Operation(
            name: "reset", version: FirmwareVersion(5, 7, 4),
            prepare: { key in
                try await generate(key.link())
                try await store(key.link())
                try await replace(key.link())
            }, run: { try await open($0, nil).reset() },
            holds: { key in
                let copy = VirtualKey(key.state, inputs: Operation.inputs)
                try await open(copy.link(), nil).reset()
                try await isManaged(copy)
            },
            isDone: { key in
                try require(
                    try await references(key).map(\.description) == [
                        "0x01/0xff", "0x02/0xff", "0x03/0xff", "0x13/0x01",
                    ],
                    "the factory's keys")
                _ = try await open(key.link()).keys()
            }),
    ]
}
