// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCapture
import YKCrypto
import YKProtocols
import YKTestSupport
import YKTransport
import YKWire

@testable import YKSecrets

/// What a recording holds of the secrets of the application: nothing.
struct RedactionTests {
    private static let mark = [UInt8](repeating: 0xEE, count: 40)
    private static var marked: SharedSecret { SharedSecret(Secret(mark)) }

    /// Commands with secrets of marked bytes.
    private static var commands: [APDU] {
        let record = SecretsRecord(login: "alice", password: marked, metadata: marked)
        let otp = SecretsOTP(.hotp, secret: marked, counter: 1)
        return [
            VerifyPIN(marked.value).apdu, SetPIN(marked.value).apdu,
            ChangePIN(from: marked.value, to: marked.value).apdu,
            PutEntry(NewSecretsEntry(name("entry"), otp: otp, record: record, needsTouch: true)).apdu,
            UpdateEntry(name("entry"), name: name("other"), needsTouch: true, record: record).apdu,
        ]
    }

    private static let reply: [UInt8] =
        [0x78, 1, 0x11, 0x71, 1, 0x61, 0x83, 1, 0x61, 0x84, 40] + mark + [0x85, 40] + mark

    @Test("over a card, in whole commands and in chains", arguments: [255, 16])
    func card(_ size: Int) throws {
        for command in Self.commands {
            var redactor = Redactor()
            _ = redactor.masks(command: try APDU.select(.oath).encoded(.extended), reply: [0x90, 0])
            for start in stride(from: 0, to: command.data.count, by: size) {
                let end = min(command.data.count, start + size)
                let part = try APDU(
                    cla: end < command.data.count ? 0x10 : 0, ins: command.ins, p1: command.p1, p2: command.p2,
                    data: Array(command.data[start..<end]), le: .none
                ).encoded(.extended)
                let masked = part.masked(redactor.masks(command: part, reply: [0x90, 0]).command)
                #expect(!masked.contains(0xEE), "\(Hex.encode(masked))")
            }
        }
        var redactor = Redactor()
        _ = redactor.masks(command: try APDU.select(.oath).encoded(.extended), reply: [0x90, 0])
        let get = try GetEntry(entry: name("entry")).apdu.encoded(.extended)
        let reply = Self.reply + [0x90, 0]
        let masked = reply.masked(redactor.masks(command: get, reply: reply).reply)
        #expect(!masked.contains(0xEE) && masked.prefix(11) == Self.reply.prefix(11))
    }

    @Test("over HID, in reports")
    func reports() throws {
        for command in Self.commands + [GetEntry(entry: name("entry")).apdu] {
            var redactor = Redactor()
            var sent: [UInt8] = []
            for report in try Self.reports(command.encoded(.extended)) {
                let event = redactor.redacted(Capture.Event(.written(report)))
                guard case .written(let hidden) = event.kind else { continue }
                #expect(!hidden.contains(0xEE))
                sent += hidden
            }
            #expect(command.ins < 0xB5 && command.ins > 1 || sent.contains(Self.entry))
            let answer = command.ins == SecretsProtocol.Instruction.getCredential ? [0x90, 0] + Self.reply : [0x90, 0]
            for report in try Self.reports(answer) {
                let event = redactor.redacted(Capture.Event(.delivered(report)))
                guard case .delivered(let hidden) = event.kind else { continue }
                #expect(!hidden.contains(0xEE))
            }
        }
    }

    private static let entry = UInt8(ascii: "e")

    private static func reports(_ payload: [UInt8]) throws -> [[UInt8]] {
        try CTAPHID.Message(CTAPHID.Command(rawValue: 0x70), on: .init(rawValue: 1), payload).reports()
    }

    @Test("a plan sends what reads, and neither a PIN nor a change")
    func effects() {
        let reads = [ListEntries(hasProperties: true).apdu, GetEntry(entry: name("x")).apdu]
        for command in reads { expect(OATHProtocol.effect(of: command), is: .read) }
        for command in Self.commands {
            let effect: CommandEffect = SecretsProtocol.instructions[command.ins] == nil ? .done : .write(reply: nil)
            expect(OATHProtocol.effect(of: command), is: effect)
        }
        let code = VerifyCode(entry: name("x"), code: 1).apdu
        expect(OATHProtocol.effect(of: code), is: .write(reply: nil))
        expect(OATHProtocol.effect(of: CalculateCode(entry: name("x"), challenge: []).apdu), is: .write(reply: nil))
        #expect(OATHProtocol.waiting(for: code) == .touch && OATHProtocol.waiting(for: reads[0]) == nil)
        let wrong = SecretsProtocol.verificationFailed
        expect(OATHProtocol.meaning(of: wrong, for: code), is: "wrong code")
        expect(OATHProtocol.meaning(of: wrong, for: VerifyPIN(Self.marked.value).apdu), is: "wrong PIN")
        expect(OATHProtocol.meaning(of: .notFound, for: code), is: "no such entry, or the PIN is needed")
        let update = UpdateEntry(name("x"), name: nil, needsTouch: nil, record: nil).apdu
        expect(OATHProtocol.meaning(of: .authenticationBlocked, for: update), is: "another entry has that name")
        expect(OATHProtocol.meaning(of: .wrongLength, for: update), is: nil)
    }
}
