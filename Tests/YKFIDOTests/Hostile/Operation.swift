// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKFIDO
import YKWire

/// Something that a service does, and the good answers to the messages that it sends for it.
struct Operation: CustomTestStringConvertible, Sendable {
    /// An answer: a map, or nothing.
    enum Answer: Sendable {
        case map(CBOR.Map)
        case nothing

        var reply: [UInt8] {
            switch self {
            case .map(let map): CBOR.map(map).reply
            case .nothing: [0x00]
            }
        }
    }

    let name: String
    let answers: [Answer]
    let run: @Sendable (FIDOService) async throws -> Void

    init(_ name: String, _ answers: [Answer], _ run: @escaping @Sendable (FIDOService) async throws -> Void) {
        self.name = name
        self.answers = [.map(Self.info)] + answers
        self.run = run
    }

    var testDescription: String { name }

    /// Opens a service on a key that gives these replies, and does it.
    func play(_ replies: [[UInt8]], _ log: ScriptedKey.Log = .init()) async throws {
        try await run(try await FIDOService.open(ScriptedKey(replies, log: log)))
    }

    static let id: CBOR = ["id": .bytes([1, 2, 3]), "type": "public-key"]
    static let point = COSEKey(
        ec2: .p256, algorithm: .es256, x: .init(repeating: 1, count: 32), y: .init(repeating: 2, count: 32))

    /// A key with everything, without a PIN: then nothing has to be proved.
    static let info: CBOR.Map = [
        1: ["FIDO_2_1", "U2F_V2"], 2: ["credProtect"], 3: .bytes(.init(repeating: 7, count: 16)),
        4: [
            "rk": true, "clientPin": false, "pinUvAuthToken": true, "credMgmt": true, "bioEnroll": false,
            "largeBlobs": true, "authnrCfg": true, "alwaysUv": false, "ep": false,
        ], 5: 1200, 6: [2, 1], 7: 8, 8: 128, 9: ["usb"], 10: [["alg": -7, "type": "public-key"]], 11: 4096, 12: false,
        13: 4, 14: 328_705, 15: 32, 16: 1, 17: 3, 18: 2, 19: ["FIDO": 1], 20: 24, 21: [1], 22: ["packed"], 23: 0,
        24: false, 25: .bytes(.init(repeating: 1, count: 32)), 26: ["usb"], 27: false, 28: .bytes([0x61]), 29: 63,
        30: .bytes(.init(repeating: 1, count: 32)), 31: [1, 2, 3, 4],
    ]

    /// The same with an option switched on.
    static func info(_ option: String) -> CBOR.Map {
        var options = info[4]?.map ?? .init()
        options[.text(option)] = true
        return info.with(4, .map(options))
    }

    private static let rpHash = HashAlgorithm.sha256.hash("example.com".utf8)
    static let made: CBOR.Map = [
        1: "packed",
        2: .bytes(
            AuthenticatorData(
                rpIDHash: rpHash, flags: .userPresent, counter: 1,
                credential: .init(aaguid: .init(repeating: 7, count: 16), id: [1, 2, 3], publicKey: point),
                extensions: ["credProtect": 1]
            ).bytes), 3: ["alg": -7, "sig": .bytes(.init(repeating: 3, count: 70))], 4: false,
        5: .bytes(.init(repeating: 1, count: 32)), 6: ["x": 1],
    ]
    static let signed: CBOR.Map = [
        1: id, 2: .bytes(AuthenticatorData(rpIDHash: rpHash, flags: .userPresent, counter: 2).bytes),
        3: .bytes(.init(repeating: 3, count: 70)), 4: ["id": .bytes([1]), "name": "alice"], 6: false,
        7: .bytes(.init(repeating: 1, count: 32)), 8: ["x": 1],
    ]
    static let party: CBOR.Map = [3: ["id": "example.com"], 4: .bytes(rpHash)]
    static let stored: CBOR.Map = [
        6: ["id": .bytes([1]), "name": "alice"], 7: id, 8: .map(point.map), 10: 1,
        11: .bytes(.init(repeating: 1, count: 32)), 12: false,
    ]
    static let blobs: CBOR.Map = {
        let content = CBOR.array([]).encoded
        return [1: .bytes(content + HashAlgorithm.sha256.hash(content).prefix(16))]
    }()
}

extension CBOR.Map {
    /// The map with one more pair.
    func with(_ key: CBOR, _ value: CBOR) -> CBOR.Map {
        var map = self
        map[key] = value
        return map
    }
}
