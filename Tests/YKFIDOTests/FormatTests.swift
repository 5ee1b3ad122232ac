// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKTestSupport
import YKWire

@testable import YKFIDO

/// COSE keys, authenticator data, attestation objects, getInfo and the array of large blobs as bytes.
struct FormatTests {
    private static let keys: [COSEKey] = [
        COSEKey(ec2: .p256, algorithm: .es256, x: .init(repeating: 1, count: 32), y: .init(repeating: 2, count: 32)),
        COSEKey(ec2: .p384, algorithm: .es384, x: .init(repeating: 1, count: 48), y: .init(repeating: 2, count: 48)),
        COSEKey(ec2: .p521, algorithm: .es512, x: .init(repeating: 1, count: 66), y: .init(repeating: 2, count: 66)),
        COSEKey(okp: .ed25519, algorithm: .edDSA, x: .init(repeating: 3, count: 32)),
        COSEKey(rsaModulus: .init(repeating: 4, count: 256), exponent: [1, 0, 1], algorithm: .rs256),
    ]

    @Test(arguments: keys)
    func keysComeBack(_ key: COSEKey) throws {
        try expect(COSEKey(decoding: key.encoded), is: key)
        for count in 0..<key.encoded.count {
            #expect(throws: WireError.self) { try COSEKey(decoding: Array(key.encoded.prefix(count))) }
        }
    }

    @Test func keepsUnknownKeys() throws {
        let map: CBOR = [1: 7, 3: -48, -1: .bytes([1, 2, 3])]
        let key = try COSEKey(decoding: map.encoded)
        expect(key.algorithm, is: .mlDSA44)
        expect(key.material, is: .other(type: 7))
        expect(key.encoded, is: map.encoded)
        #expect(throws: VerificationProblem.badKey("ML-DSA: not a public key")) { try key.verify([], over: []) }
    }

    @Test(arguments: [31, 33, 0])
    func refusesOddCoordinates(_ count: Int) {
        let map: CBOR = [
            1: 2, 3: -7, -1: 1, -2: .bytes(.init(repeating: 1, count: count)),
            -3: .bytes(.init(repeating: 1, count: 32)),
        ]
        #expect(throws: WireError.self) { try COSEKey(decoding: map.encoded) }
    }

    private static let data = AuthenticatorData(
        rpIDHash: .init(repeating: 9, count: 32), flags: [.userPresent, .userVerified], counter: 0x0102_0304,
        credential: .init(aaguid: .init(repeating: 5, count: 16), id: [1, 2, 3], publicKey: keys[0]),
        extensions: ["credProtect": 2])

    @Test func authenticatorDataComesBack() throws {
        let bytes = Self.data.bytes
        try expect(AuthenticatorData(decoding: bytes), is: Self.data)
        for count in 0..<bytes.count {
            #expect(throws: WireError.self) { try AuthenticatorData(decoding: Array(bytes.prefix(count))) }
        }
        #expect(throws: WireError.self) { try AuthenticatorData(decoding: bytes + [0]) }
        for position in bytes.indices {
            for value: UInt8 in [0xFF, 0x7F, 0x5F, 0xBF] {
                var changed = bytes
                changed[position] = value
                _ = try? AuthenticatorData(decoding: changed)
            }
        }
        var backedUp = bytes
        backedUp[32] |= 0x10
        #expect(throws: WireError.self) { try AuthenticatorData(decoding: backedUp) }
    }

    @Test func attestationObjectComesBack() throws {
        let object = AttestationObject(format: .packed, authenticatorData: Self.data, statement: ["alg": -7])
        try expect(AttestationObject(decoding: object.encoded), is: object)
        for count in 0..<object.encoded.count {
            #expect(throws: WireError.self) { try AttestationObject(decoding: Array(object.encoded.prefix(count))) }
        }
    }

    @Test func getInfoKeepsWhatIsUnknown() throws {
        let map: CBOR = [
            1: ["FIDO_2_3", "FIDO_9_9"], 3: .bytes(.init(repeating: 0, count: 16)), 4: ["rk": true, "odd": false],
            10: [["type": "public-key", "alg": -7], ["type": "other", "alg": 1]], 0x1D: 20, 0x1F: [1, 2, 3], 99: "new",
        ]
        let info = try GetInfo().decode(CBOR.Fields(decoding: map.encoded, "getInfo"))
        expect(info.map[99], is: "new")
        expect(info.versions, is: [.fido23, AuthenticatorVersion(rawValue: "FIDO_9_9")])
        expect(info.option(AuthenticatorOption(rawValue: "odd")), is: false)
        expect(info.algorithms, is: [.es256])
        #expect(info.maxMessageSize == 1024 && info.minPINLength == 4 && info.maxPINLength == 20)
        expect(info.configCommands, is: [1, 2, 3])
        expect(info.attestationFormats, is: [.packed])
        #expect(info.malformedMembers.isEmpty)
    }

    @Test func namesEveryStatus() {
        expect(CTAPStatus.pinInvalid.description, is: "31 (CTAP2_ERR_PIN_INVALID)")
        expect(CTAPStatus(rawValue: 0xE5).description, is: "e5 (an extension's error)")
        expect(CTAPStatus(rawValue: 0xF5).description, is: "f5 (a vendor's error)")
        expect(CTAPStatus(rawValue: 0x70).description, is: "70")
    }

    @Test func messagesAreCanonical() throws {
        let commands: [any CTAPCommand] = [
            MakeCredential(
                clientDataHash: hash, relyingParty: RelyingParty(id: "a", name: "b"),
                user: FIDOUser(id: [1], name: "n", displayName: "d")),
            GetAssertion(rpID: "a", clientDataHash: hash, allowList: [CredentialDescriptor(id: [1])]), GetInfo(),
            LargeBlobs.Get(offset: 0, count: 960), ClientPIN.GetPINRetries(), ClientPIN.GetKeyAgreement(.two),
            AuthenticatorConfig(.toggleAlwaysUV, auth: PINUVAuth(parameter: [1], version: 2)),
        ]
        for command in commands where command.message.count > 1 {
            _ = try CBOR(decoding: Array(command.message.dropFirst()), .strict)
        }
        let vendor = AuthenticatorConfig(.vendor([1: 0x1234, 2: "on"]), auth: nil)
        expect(Hex.encode(vendor.message), is: "0da20118ff02a2011912340262" + "6f6e")
        expect(vendor.name, is: "config vendorPrototype")
        expect(Hex.encode(GetInfo().message), is: "04")
        expect(Hex.encode(ClientPIN.GetKeyAgreement(.two).message), is: "06a201020202")
    }
}
