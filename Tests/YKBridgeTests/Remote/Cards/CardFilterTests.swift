// SPDX-License-Identifier: Apache-2.0

import Testing
import YKProtocols
import YKTestSupport
import YKWire

@testable import YKBridge

/// What becomes of each command of a far end.
@Suite struct CardFilterTests {
    private let filter = CardFilter(RemoteApplication.allCases)

    private func verdict(_ hex: String, _ selected: RemoteApplication?) throws -> CardVerdict {
        filter.verdict(on: try APDU(decoding: try Hex.decode(hex)), selected: selected)
    }

    private func reads(_ hex: String, _ application: RemoteApplication) throws -> Bool {
        guard case .read = try verdict(hex, application) else { return false }
        return true
    }

    @Test("SELECT of what is named, by the AID here; nothing before it")
    func selection() throws {
        let names: [(String, RemoteApplication)] = [
            ("00a4040005a00000030800", .piv), ("00a404000ba000000308000010000100", .piv),
            ("00a4040007a000000527210100", .oath), ("00a4040006d2760001240100", .openpgp),
            ("00a4040c10d276000124010304000600000001000000", .openpgp),
        ]
        for (hex, application) in names {
            try expect(verdict(hex, nil), is: .select(application), "\(hex)")
            try expect(verdict(hex, .oath), is: .select(application))
            let others = CardFilter(RemoteApplication.allCases.filter { $0 != application })
            expect(others.verdict(on: try APDU(decoding: try Hex.decode(hex)), selected: nil), is: .absent(.notFound))
        }
        // Management, OTP, FIDO, security domain, YubiHSM Auth; by file, the second occurrence, no name, a short one.
        for hex in [
            "00a4040008a000000527471117", "00a4040007a0000005272001", "00a4040008a0000006472f0001",
            "00a4040008a000000151000000", "00a4040007a000000527210701", "00a40000023f00", "00a4040205a000000308",
            "00a40400", "00a4040004a0000003",
        ] { try expect(verdict(hex, nil), is: .absent(.notFound), "\(hex)") }
        for hex in ["00cb3fff055c035fc105", "00a1000000", "00ca006e00", "002000800831323334353637ff"] {
            try expect(verdict(hex, nil), is: .absent(.conditionsNotSatisfied))
        }
        for (cla, application) in [("80", RemoteApplication.piv), ("04", .openpgp), ("0c", .piv), ("01", .oath)] {
            try expect(verdict("\(cla)a4040005a000000308", application), is: .absent(.unknownClass))
        }
    }

    @Test("PIV: public objects, metadata, the version")
    func pivReads() throws {
        for hex in [
            "00cb3fff055c035fc10500", "00cb3fff055c035fc10200", "00cb3fff055c035fc10a00", "00cb3fff055c035fc12000",
            "00cb3fff035c017e00", "00f7009a00", "00f7008200", "00f7008000", "00f7009b00", "00fd000000", "00200080",
            "0020ff80",
        ] { #expect(try reads(hex, .piv), "\(hex)") }
        // The printed information, where a management key may be; fingerprints, the face, ykman's own, others.
        try expect(verdict("00cb3fff055c035fc10900", .piv), is: .refuse(.securityStatusNotSatisfied, "GET DATA"))
        for hex in [
            "00cb3fff055c035fc10300", "00cb3fff055c035fc10800", "00cb3fff055c035fff0000", "00cb3fff055c035fc12100",
            "00cb3fff00", "00cb3fff065c045fc1050000",
        ] { try expect(verdict(hex, .piv), is: .absent(.notFound), "\(hex)") }
        try expect(verdict("00cb3f00055c035fc10500", .piv), is: .absent(.incorrectP1P2))
        for hex in ["00f8000000", "00f99a0000"] { try expect(verdict(hex, .piv), is: .absent(.unknownInstruction)) }
        try expect(verdict("00f7009600", .piv), is: .absent(.referenceNotFound))
    }

    @Test("PIV: keys of the user alone, with a challenge or a point alone")
    func pivKeys() throws {
        let challenge = "7c0682008102aabb00", point = "7c0682008502aabb00"
        for slot: UInt8 in [0x9A, 0x9C, 0x9D, 0x9E, 0x82, 0x95] {
            for (data, use) in [(challenge, CardUse.pivKey(slot: slot)), (point, .pivAgreement(slot: slot))] {
                let command = try APDU(decoding: try Hex.decode("008711\(Hex.encode([slot]))08\(data)"))
                expect(filter.verdict(on: command, selected: .piv), is: .use(command, use))
            }
        }
        // What is passed on is encoded anew: another order, and lengths in longer forms.
        let plain = try APDU(decoding: try Hex.decode("0087119a08\(challenge)"))
        for data in [
            "7c068102aabb8200", "7c81068200" + "8102aabb", "7c0782008102aabb".replacing("8102", with: "818102"),
        ] {
            let command = APDU(ins: 0x87, p1: 0x11, p2: 0x9A, data: try Hex.decode(data))
            guard case .use(let sent, _) = filter.verdict(on: command, selected: .piv) else { continue }
            expect(sent.data, is: plain.data, "\(data)")
        }
        for slot in ["9b", "f9", "81", "96", "00", "80"] {
            #expect(
                try verdict("008711\(slot)08\(challenge)", .piv)
                    == .refuse(.securityStatusNotSatisfied, "GENERAL AUTHENTICATE"))
        }
        // A witness, an own response, nothing, two members of one kind, an unknown algorithm, no template.
        for hex in [
            "0087119a047c02800000", "0087119a087c068202aabb810000", "0087119a047c02820000",
            "0087119a087c0682008202aabb",
            "0087039a087c0682008102aabb", "0087119a0100", "0087119a", "0087119a067c0482008100",
            "0087119a067c0482008500",
        ] { try expect(verdict(hex, .piv), is: .absent(.incorrectParameters), "\(hex)") }
    }

    @Test("a PIN is verified for its user only, whatever was typed there")
    func pins() throws {
        let piv = CardVerdict.verify(RemotePIN(application: .piv, reference: 0x80))
        try expect(verdict("0020008008313233343536ffff", .piv), is: piv)
        try expect(verdict("0020008008000000000000000000", .piv), is: piv)
        try expect(verdict("00200080043132333400", .piv), is: .absent(.wrongLength))
        try expect(verdict("00200180", .piv), is: .absent(.incorrectP1P2))
        for hex in ["0020008108313233343536ffff", "0020009608313233343536ffff", "0020008008ffffffffffffffff"] {
            try expect(verdict(hex, .piv), is: .refuse(.securityStatusNotSatisfied, "VERIFY"))
        }
        try expect(verdict("00200000", .piv), is: .absent(.referenceNotFound))
        for reference: UInt8 in [0x81, 0x82] {
            let hex = "002000\(Hex.encode([reference]))06313233343536"
            try expect(verdict(hex, .openpgp), is: .verify(RemotePIN(application: .openpgp, reference: reference)))
            #expect(try reads("002000\(Hex.encode([reference]))", .openpgp))
        }
        #expect(try reads("00200083", .openpgp))
        try expect(
            verdict("00200083083132333435363738", .openpgp), is: .refuse(.securityStatusNotSatisfied, "VERIFY"))
    }

    @Test("OpenPGP: public objects, public keys, and three operations")
    func openPGP() throws {
        for hex in [
            "00ca004f00", "00ca006e00", "00ca006500", "00ca00c400", "00ca5f5200", "00ca7f2100", "00f1000000",
            "0047810002b60000", "0047810005a40384010100",
        ] { #expect(try reads(hex, .openpgp), "\(hex)") }
        for hex in ["00ca00f900", "00ca010300", "00ca010400", "00ca00fc00", "00ca006e0101"] {
            try expect(verdict(hex, .openpgp), is: .absent(.referenceNotFound), "\(hex)")
        }
        let uses: [(String, CardUse)] = [
            ("002a9e9a02aabb00", .openPGPSign), ("002a808602aabb00", .openPGPDecrypt),
            ("0088000002aabb00", .openPGPAuthenticate),
        ]
        for (hex, use) in uses {
            let command = try APDU(decoding: try Hex.decode(hex))
            expect(filter.verdict(on: command, selected: .openpgp), is: .use(command, use))
            try expect(verdict(String(hex.prefix(8)), .openpgp), is: .absent(.wrongLength))
        }
        try expect(verdict("0047810002b70000", .openpgp), is: .absent(.incorrectParameters))
        for hex in ["0084000008", "00a500040660045c027f21", "00cc7f2100"] {
            try expect(verdict(hex, .openpgp), is: .absent(.unknownInstruction), "\(hex)")
        }
    }

    @Test("OATH: the list, and codes for a time or a counter")
    func oath() throws {
        #expect(try reads("00a1000000", .oath))
        let one = "7101417408000000000000000100"
        let command = try APDU(decoding: try Hex.decode("00a200010d\(one)"))
        expect(filter.verdict(on: command, selected: .oath), is: .use(command, .code(account: "A")))
        let counter = try APDU(decoding: try Hex.decode("00a2000105710141740000"))
        expect(filter.verdict(on: counter, selected: .oath), is: .use(counter, .code(account: "A")))
        let all = try APDU(decoding: try Hex.decode("00a400010a7408000000000000000100"))
        expect(filter.verdict(on: all, selected: .oath), is: .use(all, .allCodes))
        // Any other challenge is for a secret that is not for codes.
        try expect(
            verdict("00a20000077101417402aabb", .oath), is: .refuse(.securityStatusNotSatisfied, "CALCULATE"))
        for hex in ["00a2000103710141", "00a200010471007400", "00a100000101", "00a20002057101417400", "00a40001"] {
            try expect(verdict(hex, .oath), is: .absent(.incorrectParameters), "\(hex)")
        }
    }

    @Test("every other instruction of every application is refused", arguments: RemoteApplication.allCases)
    func nothingElse(_ application: RemoteApplication) throws {
        let passed: [RemoteApplication: Set<UInt8>] = [
            .piv: [0x20, 0x87, 0xCB, 0xF7, 0xFD], .oath: [0xA1, 0xA2, 0xA4],
            .openpgp: [0x20, 0x2A, 0x47, 0x88, 0xCA, 0xF1],
        ]
        for ins in UInt8.min...UInt8.max where ins != 0xA4 || application == .oath {
            for parameters: UInt16 in [0, 0x80, 0xDEAD, 0x8000, 0xFF9A] {
                for data in [[], [0x01], [UInt8](repeating: 0x31, count: 8)] {
                    let command = APDU(ins: ins, parameters: parameters, data: data)
                    switch filter.verdict(on: command, selected: application) {
                    case .absent, .refuse: break
                    default: expect(passed[application]?.contains(ins), is: true, "\(application) \(ins) \(parameters)")
                    }
                }
            }
        }
        let changing: [RemoteApplication: [UInt8]] = [
            .piv: [0x24, 0x2C, 0x47, 0xDB, 0xF6, 0xFA, 0xFB, 0xFE, 0xFF], .oath: [0x01, 0x02, 0x03, 0x04, 0x05, 0xA3],
            .openpgp: [0x24, 0x2C, 0x44, 0xDA, 0xDB, 0xE6, 0xF2, 0xFB],
        ]
        for ins in changing[application] ?? [] {
            let verdict = filter.verdict(on: APDU(ins: ins, data: [1, 2]), selected: application)
            guard case .refuse(.securityStatusNotSatisfied, let name) = verdict else {
                Issue.record("\(application) \(ins): \(verdict)")
                continue
            }
            #expect(!name.isEmpty)
        }
        if application == .openpgp {
            try expect(
                verdict("0047800002b60000", .openpgp), is: .refuse(.securityStatusNotSatisfied, "GENERATE KEY PAIR"))
            #expect(
                try verdict("002a868002aabb00", .openpgp)
                    == .refuse(.securityStatusNotSatisfied, "PERFORM SECURITY OPERATION"))
        }
    }
}
