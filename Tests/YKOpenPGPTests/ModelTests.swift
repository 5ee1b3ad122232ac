// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKWire

@testable import YKOpenPGP

/// Names and values of the model.
struct ModelTests {
    @Test("values that nobody knows keep their numbers")
    func openSets() {
        expect(OpenPGPTouchPolicy(rawValue: 9).description, is: "policy 9")
        #expect(OpenPGPTouchPolicy.cachedFixed.description == "cached-fixed" && OpenPGPTouchPolicy.fixed.isFixed)
        #expect(OpenPGPKeyOrigin(rawValue: 7).description == "state 7" && OpenPGPKeyOrigin.none.description == "none")
        expect(OpenPGPAlgorithm(attributes: [0x13, 0x01]).description, is: "curve of an unknown identifier")
        expect(
            OpenPGPSlot.allCases.map(\.description), is: ["signature", "decryption", "authentication", "attestation"])
    }

    @Test(
        "makers are known by their numbers",
        arguments: [
            (UInt16(0x0001), "PPC Card Systems"), (0x0005, "ZeitControl"), (0x000B, "Feitian"), (0x000F, "Nitrokey"),
            (0x0011, "Token2"), (0xF1D0, "CanoKeys"), (0xF517, "FSIJ"), (0xFF00, "unmanaged serial numbers"),
            (0xFFFE, "unmanaged serial numbers"), (0x0000, "test card"), (0xFFFF, "test card"), (0x1234, nil),
        ] as [(UInt16, String?)])
    func makers(_ number: UInt16, _ name: String?) throws {
        let bytes = [UInt8(number >> 8), UInt8(truncatingIfNeeded: number)]
        let identity = try OpenPGPIdentity(aid: [0xD2, 0x76, 0, 1, 0x24, 1, 3, 4] + bytes + [0, 0, 0x12, 0x0A, 0, 0])
        #expect(identity.manufacturerName == name && identity.serial == "0000120a")
    }

    @Test("a status is another one when a number is another one")
    func status() throws {
        let bytes: [UInt8] = [1, 127, 126, 125, 3, 2, 1]
        let status = try OpenPGPPINStatus(decoding: bytes)
        expect(Set([status, try OpenPGPPINStatus(decoding: bytes)]).count, is: 1)
        for place in bytes.indices {
            var changed = bytes
            changed[place] = 0
            #expect(try OpenPGPPINStatus(decoding: changed) != status, "byte \(place)")
        }
        #expect(throws: WireError.self) { try OpenPGPPINStatus(decoding: Array(bytes.dropLast())) }
    }
}
