// SPDX-License-Identifier: Apache-2.0

import Testing
import YKProtocols
import YKTestSupport
import YKTransport
import YKWire

@testable import YKCapture

@Suite struct NarrationTests {
    @Test(arguments: Recordings.all)
    func everyEventIsExplained(name: String) throws {
        var narrator = Narrator()
        for event in try Recordings.capture(name).events {
            let narration = narrator.narrate(event)
            #expect(!narration.summary.isEmpty)
            let isMeantToBeUnknown =
                narration.summary.contains("unknown instruction ff")
                || narration.summary.contains("unknown application deadbeef")
            #expect(narration.isKnown != isMeantToBeUnknown, "line \(event.line): \(narration.summary)")
        }
    }

    /// The summaries of a recording, and its details by line.
    private func narrated(_ name: String) throws -> [Int: Narration] {
        var narrator = Narrator()
        var result: [Int: Narration] = [:]
        for event in try Recordings.capture(name).events { result[event.line] = narrator.narrate(event) }
        return result
    }

    @Test func oath() throws {
        let short = try narrated("oath/canokey-short")
        expect(short[2]?.summary, is: "the card is powered")
        expect(short[3]?.summary, is: "SELECT OATH → 9000 (ok)")
        expect(short[3]?.details, is: ["version 6.0.0", "salt e949e9f9110a381b"])
        expect(short[4]?.summary, is: "OATH LIST → 61ff (255 or more bytes to come)")
        expect(short[4]?.details.first, is: "account Issuer0:user0@example.com, TOTP SHA-1")
        expect(short[5]?.summary, is: "OATH SEND REMAINING: the rest of LIST → 9000 (ok)")
        expect(short[5]?.details.first, is: "account Issuer9:user9@example.com, TOTP SHA-1")
        expect(
            short[6]?.summary, is: "OATH CALCULATE ALL at 2025-10-09 08:53:00 UTC → 61ff (255 or more bytes to come)")
        expect(short[6]?.details.first, is: "account Issuer0:user0@example.com: code 813954")
        expect(short[7]?.details.contains("account Issuer8:user8@example.com: HOTP, no code generated"), is: true)
        expect(
            short[7]?.details.contains("account Issuer9:user9@example.com: touch needed, no code generated"), is: true)
        let locked = try narrated("oath/canokey-password-list")
        expect(locked[13]?.details.contains("algorithm of the password SHA-1"), is: true)
        expect(locked[15]?.summary, is: "OATH VALIDATE the password → 9000 (ok)")
        let set = try narrated("oath/canokey-password-set")
        expect(set[15]?.details.first, is: "key ‹secret›, TOTP SHA-1")
        let errors = try narrated("oath/canokey-errors")
        expect(errors[4]?.summary, is: "OATH CALCULATE aaa → 6984 (no such account)")
        expect(errors[7]?.summary, is: "unknown instruction ff of OATH → 6d00 (unknown instruction)")
        expect(
            errors[8]?.summary, is: "OATH GET RESPONSE, with nothing pending → 0000 (not an ISO 7816 status word)")
        expect(errors[9]?.summary.hasPrefix("OATH SELECT, malformed (1 bytes left over"), is: true)
        expect(errors[10]?.summary, is: "SELECT unknown application deadbeef → 6a82 (no such application)")
        let stall = try narrated("oath/canokey-no-le-stall")
        expect(stall[5]?.details.first, is: "no data: no progress")
        expect(stall[8]?.details.first, is: "account Issuer0:user0@example.com, TOTP SHA-1")
    }

    @Test func piv() throws {
        let short = try narrated("piv/canokey-short")
        expect(short[6]?.summary.hasPrefix("PIV GET DATA certificate of 9a (5fc105)"), is: true)
        expect(short[7]?.details.contains("certificate of 303 bytes"), is: true)
        expect(short[14]?.details.contains("PIN usage policy 4010"), is: true)
        expect(short[15]?.details.prefix(3), is: ["algorithm P-256", "PIN once, touch never", "key made on the card"])
        expect(short[18]?.details.last, is: "3 of 3 tries left")
        let errors = try narrated("piv/canokey-pin-errors")
        expect(errors[4]?.summary, is: "PIV VERIFY the PIN → 63c2 (2 tries left)")
        expect(errors[4]?.details, is: ["value ‹secret›"])
        expect(errors[7]?.summary, is: "PIV VERIFY: read the tries left of the PIN → 9000 (already verified)")
        #expect(
            errors[8]?.summary.hasPrefix("PIV GENERAL AUTHENTICATE RSA 2048 with slot 9c (signature), malformed")
                == true)
        let sign = try narrated("piv/canokey-sign-9a")
        expect(sign[7]?.details.first, is: "response wanted")
        expect(sign[8]?.summary, is: "the card is reset")
    }

    @Test func fido() throws {
        let info = try narrated("fido/canokey-info")
        expect(info[4]?.details.contains("aaguid (3): 244eb29ee0904e4981fe1f20f8d3b8f4"), is: true)
        expect(info[7]?.summary, is: "FIDO CTAP clientPIN, getPINRetries → 9000 (ok)")
        expect(info[7]?.details.last, is: "pinRetries (3): 8")
        expect(info[9]?.details.last, is: "status f1 (vendor-specific error)")
        let made = try narrated("fido/canokey-make-credential")
        expect(made[8]?.details.contains("  flags 41 (user present, credential)"), is: true)
        expect(made[8]?.details.contains("  public key alg (3): ES256"), is: true)
        let u2f = try narrated("fido/canokey-u2f-register-authenticate")
        expect(u2f[10]?.details.contains("certificate of 635 bytes"), is: true)
        expect(u2f[11]?.details.contains("counter 60"), is: true)
        expect(u2f[12]?.summary, is: "FIDO U2F authenticate, check only → 6985 (the key handle is known)")
        expect(u2f[13]?.summary.hasSuffix("6a80 (the key handle belongs to another key)"), is: true)
    }

    @Test func otherApplications() throws {
        try expect(narrated("ndef/canokey-read")[8]?.details, is: ["URI https://canokeys.org"])
        let admin = try narrated("management/canokey-admin")
        expect(admin[4]?.details, is: ["\"3.0.0-0-g26dc6e85\""])
    }

    /// A command and its reply after a SELECT.
    private func exchange(_ applet: AID, _ command: String, _ reply: String = "9000") throws -> Narration {
        var narrator = Narrator()
        let select = try APDU.select(applet).encoded(.short)
        _ = narrator.narrate(.init(.exchange(command: select, reply: [0x90, 0])))
        return narrator.narrate(.init(.exchange(command: try Hex.decode(command), reply: try Hex.decode(reply))))
    }

    static let instructions: [(AID, String, String, String)] = [
        (.oath, "00010000117103613a6273082106aabbccddeeff7802", "9000", "OATH PUT a:b → 9000 (ok)"),
        (.oath, "000200000371016100", "6984", "OATH DELETE a → 6984 (no such account)"),
        (.oath, "0003000002730000", "9000", "OATH SET CODE: remove the password → 9000 (ok)"),
        (.oath, "0004dead", "9000", "OATH RESET → 9000 (ok)"),
        (.oath, "0005000006710161710162", "9000", "OATH RENAME → 9000 (ok)"),
        (
            .oath, "00a20000077101617402aabb00", "9000",
            "OATH CALCULATE a with challenge aabb, full response → 9000 (ok)"
        ),
        (.oath, "00a300000474020102", "6a80", "OATH VALIDATE the password → 6a80 (wrong password)"),
        (.oath, "00a1000000", "6982", "OATH LIST → 6982 (locked, the password is needed)"),
        (.oath, "0001000003730101", "6a84", "OATH PUT → 6a84 (no space for another account)"),
        (.piv, "0020ff80", "9000", "PIV VERIFY: forget the PIN → 9000 (ok)"),
        (.piv, "0024008102aabb", "63c1", "PIV CHANGE REFERENCE DATA of the PUK → 63c1 (1 try left)"),
        (.piv, "002c008002aabb", "6983", "PIV RESET RETRY COUNTER of the PIN → 6983 (blocked, no tries left)"),
        (.piv, "0047009a05ac03800111", "9000", "PIV GENERATE KEY PAIR in slot 9a (authentication) → 9000 (ok)"),
        (.piv, "00db3fff075c035fc1055300", "9000", "PIV PUT DATA certificate of 9a (5fc105) → 9000 (ok)"),
        (.piv, "00f6ff8200", "9000", "PIV DELETE KEY in slot 82 (retired 1) → 9000 (ok)"),
        (.piv, "00f6829a00", "9000", "PIV MOVE KEY from slot 9a (authentication) to slot 82 (retired 1) → 9000 (ok)"),
        (.piv, "00f99a0000", "30009000", "PIV ATTEST the key in slot 9a (authentication) → 9000 (ok)"),
        (.piv, "00fa0508", "9000", "PIV SET TRIES: PIN 5, PUK 8 → 9000 (ok)"),
        (.piv, "00fb0000", "9000", "PIV RESET → 9000 (ok)"),
        (.piv, "00fe119a0306aabb", "9000", "PIV IMPORT KEY P-256 into slot 9a (authentication) → 9000 (ok)"),
        (.piv, "00fffffe050a9b02aabb", "9000", "PIV SET MANAGEMENT KEY AES-192, touch needed → 9000 (ok)"),
        (.fido, "8011110000", "9000", "FIDO cancel → 9000 (ok)"),
        (.fido, "8012010000", "9000", "FIDO end the CTAP session → 9000 (ok)"),
        (.fido, "0043000002aabb", "9000", "FIDO U2F FIPS verify PIN → 9000 (ok)"),
        (.fido, "0046000000", "9000", "FIDO U2F FIPS mode → 9000 (ok)"),
        (.fido, "0001000001aa", "6985", "FIDO U2F register → 6985 (touch needed)"),
        (.fido, "8010000000", "9000", "FIDO CTAP request without a command → 9000 (ok)"),
        (.fido, "80100000017f", "019000", "FIDO CTAP command 7f → 9000 (ok)"),
        (.fido, "801000000403a10102", "9000", "FIDO CTAP command 03 → 9000 (ok)"),
        (.management, "001d000000", "9000", "management READ CONFIG, page 0 → 9000 (ok)"),
        (.management, "001c000004030a0100", "9000", "management WRITE CONFIG → 9000 (ok)"),
        (.management, "0016110002aabb", "9000", "management SET MODE → 9000 (ok)"),
        (.management, "001f0000", "9000", "management RESET DEVICE → 9000 (ok)"),
        (.otp, "0001130000", "9000", "OTP READ CONFIG → 9000 (ok)"),
        (.otp, "0003000000", "9000", "OTP STATUS → 9000 (ok)"),
        (.otp, "0001010002aabb", "9000", "OTP CONFIGURE slot 1 → 9000 (ok)"),
        (.otp, "0002000000", "9000", "OTP READ → 9000 (ok)"),
        (.openPGP, "0020008203313233", "9000", "OpenPGP VERIFY the user PIN → 9000 (ok)"),
        (.openPGP, "002a9e9a02aabb00", "9000", "OpenPGP SIGN → 9000 (ok)"),
        (.openPGP, "00ca006e00", "9000", "OpenPGP GET DATA 6e (application data) → 9000 (ok)"),
        (.hsmAuth, "0005000000", "9000", "HSM Auth LIST → 9000 (ok)"),
        (
            .hsmAuth, "000300000571016173007300", "9000",
            "HSM Auth CALCULATE, malformed (1 bytes left over after the command at byte 11) → 9000 (ok)"
        ),
        (
            .securityDomain, "8050000002aabb", "9000",
            "Security Domain INITIALIZE UPDATE, version 0 of the keys → 9000 (ok)"
        ),
        (.canokeyAdmin, "0020000003313233", "9000", "CanoKey admin VERIFY the administration PIN → 9000 (ok)"),
        (.canokeyAdmin, "0050000000", "9000", "CanoKey admin FACTORY RESET → 9000 (ok)"),
        (.ndef, "00d6000002aabb", "9000", "NDEF UPDATE BINARY from 0 → 9000 (ok)"),
    ]

    @Test(arguments: instructions)
    func instruction(applet: AID, command: String, reply: String, summary: String) throws {
        let narration = try exchange(applet, command, reply)
        expect(narration.summary, is: summary)
        #expect(narration.isKnown)
    }

    @Test func everyInstructionOfEveryApplicationWithAnyDataAndReply() throws {
        var random = SystemRandomNumberGenerator.seeded(21)
        for applet in CardVocabularies.applications {
            var narrator = Narrator()
            let select = try APDU.select(applet.aid).encoded(.short)
            for ins in 0...UInt8.max {
                _ = narrator.narrate(.init(.exchange(command: select, reply: Self.noise(&random) + [0x90, 0])))
                for _ in 0..<6 {
                    let command = APDU(
                        cla: [0, 0x80, 0x10].randomElement(using: &random) ?? 0, ins: ins,
                        p1: .random(in: 0...255, using: &random), p2: .random(in: 0...255, using: &random),
                        data: Self.noise(&random))
                    let status: [UInt8] =
                        [[0x90, 0], [0x61, 5], [0x6A, 0x82], [0x63, 0xC1]].randomElement(using: &random) ?? []
                    let event = Capture.Event(
                        .exchange(command: try command.encoded(.short), reply: Self.noise(&random) + status))
                    #expect(!narrator.narrate(event).summary.isEmpty)
                }
            }
        }
    }

    /// Random bytes, random data objects, or random CBOR behind a command byte.
    private static func noise(_ random: inout SystemRandomNumberGenerator.Seeded) -> [UInt8] {
        let bytes = (0..<Int.random(in: 0...60, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
        switch Int.random(in: 0...2, using: &random) {
        case 0: return bytes
        case 1:
            let tags: [TLV.Tag] = [0x71, 0x72, 0x74, 0x75, 0x76, 0x7A, 0x7C, 0x7F49, 0x53, 0x01, 0x02, 0x06]
            return tags.shuffled(using: &random).prefix(3).flatMap { TLV($0, Array(bytes.prefix(12))).encoded }
        default:
            let map: CBOR = [1: .bytes(bytes), 2: ["id": .bytes(bytes)], 3: [1, -1, true], 4: ["k": [1: .text("t")]]]
            return [UInt8.random(in: 0...13, using: &random)]
                + map.encoded.prefix(Int.random(in: 1...200, using: &random))
        }
    }

    @Test func randomBytesNeverTrap() {
        var random = SystemRandomNumberGenerator.seeded(22)
        var narrator = Narrator()
        for _ in 0..<4000 {
            let (first, second) = (Self.noise(&random), Self.noise(&random))
            var event = Capture.Event(.exchange(command: first, reply: second))
            switch Int.random(in: 0...5, using: &random) {
            case 0: event.kind = .written(first + [UInt8](repeating: 0, count: 4))
            case 1: event.kind = .delivered(second)
            case 2: event.kind = .featureSet(Array(first.prefix(8)))
            case 3: event.kind = .featureGot(Array(second.prefix(8)))
            default: break
            }
            event.commandMask = [.init(offset: Int.random(in: 0...70, using: &random), length: 9)]
            _ = narrator.narrate(event)
            _ = narrator.narrate(command: first)
        }
    }

    @Test func aCommandWithoutItsReply() throws {
        var narrator = Narrator()
        expect(narrator.narrate(command: try Hex.decode("00a4040007a000000527210100")).summary, is: "SELECT OATH")
        expect(narrator.narrate(command: try Hex.decode("00a1000000")).summary, is: "OATH LIST")
        #expect(
            narrator.narrate(command: try Hex.decode("00a5000000")).summary
                == "OATH SEND REMAINING, with nothing pending")
        let put = narrator.narrate(command: try Hex.decode("000100000e7103613a6273052106aabbcc7802"))
        #expect(
            put.summary == "OATH PUT a:b" && put.details == ["TOTP SHA-1, 6 digits, secret of 3 bytes", "touch needed"])
        expect(narrator.narrate(command: [0x00, 0x77]).isKnown, is: false)
    }

    @Test func partsOfAChain() throws {
        var narrator = Narrator()
        func narrate(_ command: String) throws -> Narration {
            narrator.narrate(.init(.exchange(command: try Hex.decode(command), reply: [0x90, 0])))
        }
        _ = try narrate("00a4040005a00000030800")
        try expect(
            narrate("10db3fff055c035fc105").summary.hasPrefix("PIV part of PUT DATA certificate of 9a"), is: true)
        try expect(narrate("00db3fff0453020102").summary, is: "PIV PUT DATA certificate of 9a (5fc105) → 9000 (ok)")
        try expect(narrate("1077000001aa").isKnown, is: false)
    }

    @Test func whatHappensToTheLink() {
        var narrator = Narrator()
        let words = ["power-on", "power-off", "reset", "removed", "fail", "time"].map {
            narrator.narrate(.init(.link(.init(rawValue: $0), why: nil))).summary
        }
        #expect(words.count == 6 && Set(words).count == 6)
        let failed = narrator.narrate(.init(.link(.fail, why: "a\u{202E}b\u{85}\u{7}")))
        expect(failed.summary, is: "the link fails: \"a\\u{202e}b\\u{85}\\u0007\"")
        #expect(!narrator.narrate(.init(.link(.init(rawValue: "odd"), why: nil))).isKnown)
    }

    @Test(arguments: [
        (0, "1970-01-01 00:00:00 UTC"), (951_782_400, "2000-02-29 00:00:00 UTC"),
        (1_759_999_980, "2025-10-09 08:53:00 UTC"),
        (4_102_444_799, "2099-12-31 23:59:59 UTC"), (253_402_300_799, "9999-12-31 23:59:59 UTC"),
        (-1, "-1 s since 1970"), (Int64.max, "9223372036854775807 s since 1970"),
    ])
    func times(seconds: Int64, text: String) { expect(OATHNarration.time(seconds), is: text) }
}

@Suite struct ReportNarrationTests {
    private func padded(_ bytes: [UInt8]) -> [UInt8] { bytes + [UInt8](repeating: 0, count: max(0, 64 - bytes.count)) }

    @Test func aSessionOverHID() throws {
        var narrator = Narrator()
        let broadcast = [UInt8](repeating: 0xFF, count: 4)
        let nonce: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
        let asked = narrator.narrate(.init(.written(padded(broadcast + [0x86, 0, 8] + nonce))))
        expect(asked.summary, is: "CTAPHID INIT, broadcast, to the key: 8 bytes")
        let reply = broadcast + [0x86, 0, 17] + nonce + [9, 9, 9, 9, 2, 5, 7, 1, 5]
        let given = narrator.narrate(.init(.delivered(padded(reply))))
        expect(given.details.suffix(2), is: ["device version 5.7.1", "capabilities 05 (WINK, CBOR)"])
        let channel: [UInt8] = [9, 9, 9, 9]
        let info = narrator.narrate(.init(.written(padded(channel + [0x90, 0, 1, 4]))))
        #expect(
            info.summary == "CTAPHID CBOR, channel 09090909, to the key: 1 bytes" && info.details == ["CTAP getInfo"])
        let alive = narrator.narrate(.init(.delivered(padded(channel + [0xBB, 0, 1, 2]))))
        expect(alive.summary, is: "CTAPHID KEEPALIVE, channel 09090909, from the key: 1 bytes")
        expect(alive.details, is: ["waiting for a touch"])
        let map: CBOR = [1: ["FIDO_2_0"], 2: [], 3: .bytes(.init(repeating: 7, count: 60))]
        let message = [0] + map.encoded
        let first = narrator.narrate(
            .init(.delivered(padded(channel + [0x90, 0, UInt8(message.count)] + message.prefix(57)))))
        #expect(first.summary.hasSuffix("first 57 of \(message.count) bytes"))
        let last = narrator.narrate(.init(.delivered(padded(channel + [0] + message.dropFirst(57)))))
        #expect(
            last.summary
                == "CTAPHID continuation 0, channel 09090909, from the key: \(message.count) of \(message.count) bytes")
        expect(last.details.prefix(2), is: ["status 00 (ok)", "versions (1): [\"FIDO_2_0\"]"])
        let error = narrator.narrate(.init(.delivered(padded(channel + [0xBF, 0, 1, 6]))))
        expect(error.details, is: ["error 06 (channel busy)"])
    }

    @Test func u2fOverHID() throws {
        var narrator = Narrator()
        let channel: [UInt8] = [9, 9, 9, 9]
        let asked = narrator.narrate(.init(.written(padded(channel + [0x83, 0, 7, 0, 3, 0, 0, 0, 0, 0]))))
        expect(asked.details, is: ["U2F version"])
        let given = narrator.narrate(
            .init(.delivered(padded(channel + [0x83, 0, 8] + Array("U2F_V2".utf8) + [0x90, 0]))))
        expect(given.details, is: ["status 9000 (ok)", "speaks U2F_V2"])
        let stray = narrator.narrate(.init(.delivered(padded([1, 1, 1, 1, 0x83, 0, 2, 0x69, 0x85]))))
        expect(stray.details, is: ["status 6985 (conditions not satisfied)"])
        let lost = narrator.narrate(.init(.written(padded([1, 1, 1, 1, 0x05]))))
        #expect(lost.summary.hasSuffix("of an unknown message"))
        #expect(!narrator.narrate(.init(.written([1, 2]))).isKnown)
        #expect(!narrator.narrate(.init(.written(padded(channel + [0xF0, 0, 1, 1])))).isKnown)
    }

    @Test func aPINOverHIDIsNotShown() {
        var narrator = Narrator()
        var map = CBOR.Map()
        for (key, value) in [1: 2, 2: 3, 4: .bytes([0xEE, 0xEE]), 5: .bytes(.init(repeating: 0xEE, count: 30))]
            as [CBOR: CBOR]
        {
            map[key] = value
        }
        let message = [0x06] + CBOR.map(map).encoded
        let report = [9, 9, 9, 9, 0x90, 0, UInt8(message.count)] + message
        let narration = narrator.narrate(.init(.written(padded(report))))
        expect(narration.details.first, is: "CTAP clientPIN, setPIN")
        #expect(narration.details.contains("newPinEnc (5): ‹secret›"))
        #expect(!narration.details.joined().contains("eeee"))
    }

    @Test func slotFrames() {
        var narrator = Narrator()
        let set = { (bytes: [UInt8]) in narrator.narrate(.init(.featureSet(bytes))).summary }
        expect(set([1, 2, 3, 4, 5, 6, 7, 0x80]), is: "OTP slot frame, part 1 of 10")
        expect(set([0, 0x13, 3, 4, 0, 0, 0, 0x89]), is: "OTP slot frame, part 10 of 10: READ CONFIG")
        expect(set([0, 0, 0, 0, 0, 0, 0, 0x8F]), is: "OTP feature report set: reset")
        expect(set([0, 0, 0, 0, 0, 0, 0, 0x40]), is: "OTP feature report set: flags 40")
        var other = Narrator()
        let status = other.narrate(.init(.featureGot([0, 5, 4, 3, 7, 3, 0, 0])))
        expect(status.details, is: ["version 5.4.3", "program sequence 7", "configured: slot 1, slot 2"])
        expect(other.narrate(.init(.featureGot([1, 2, 3, 4, 5, 6, 7, 0x42]))).summary, is: "OTP reply, part 3")
        #expect(other.narrate(.init(.featureGot([0, 0, 0, 0, 0, 0, 0, 0x20]))).summary.contains("touch"))
        #expect(other.narrate(.init(.featureGot([0, 0, 0, 0, 0, 0, 0, 0x80]))).summary.contains("not yet accepted"))
        #expect(!other.narrate(.init(.featureGot([1]))).isKnown && !other.narrate(.init(.featureSet([1]))).isKnown)
    }
}
