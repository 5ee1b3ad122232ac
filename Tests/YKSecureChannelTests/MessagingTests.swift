// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKTestSupport
import YKTransport
import YKWire

@testable import YKSecureChannel

/// Key sets as text, and the messages of a session as the card's end reads them.
@Suite struct MessagingTests {
    private let scp03: Vectors

    init() throws { scp03 = try Vectors("scp03") }

    // MARK: Key sets

    private static let parts = ["000102030405060708090a0b0c0d0e0f", "F0F1F2F3F4F5F6F7F8F9FAFBFCFDFEFF"]

    @Test("key sets are read as ENC:MAC or ENC:MAC:DEK")
    func readsSets() throws {
        let two = try SCP03Keys(text: Secret(utf8: Self.parts.joined(separator: ":")))
        #expect(two.encryption.value.copyBytes() == Array(0x00...0x0F) && two.dataEncryption == nil)
        #expect(two.mac.value.copyBytes() == Array(0xF0...0xFF) && !two.isFactory)
        let three = try SCP03Keys(text: Secret(utf8: (Self.parts + [Self.parts[0]]).joined(separator: "\r\n") + "\n"))
        try expect(#require(three.dataEncryption).value.copyBytes(), is: Array(0x00...0x0F))
        let factory = "404142434445464748494a4b4c4d4e4f"
        #expect(try SCP03Keys(text: Secret(utf8: "\(factory) \(factory)")).isFactory)
    }

    @Test(
        "everything else is refused",
        arguments: [
            "", parts[0], "\(parts[0]):", parts.joined(separator: ":") + ":" + parts.joined(separator: ":"),
            "\(parts[0]):\(parts[1])0", "\(parts[0]):zz0102030405060708090a0b0c0d0e0f", "\(parts[0]):0102",
            "\(parts[0]):\(parts[1]):00", "\(parts[0]):" + String(repeating: "00", count: 1000),
        ])
    func refusesSets(_ text: String) {
        #expect(throws: SecureChannelFault.self) { try SCP03Keys(text: Secret(utf8: text)) }
    }

    // MARK: The card's end

    private func session(_ name: String) throws -> (SecureMessaging, [JSONValue]) {
        let vector = try scp03["scp03-session-\(name)"]
        let keys = SessionKeys(
            encryption: try vector.secret("s_enc"), mac: try vector.secret("s_mac"),
            responseMAC: try vector.secret("s_rmac"), dataEncryption: nil)
        let chain = try scp03["scp03-handshake-\(name)"].bytes("mac_chain_after")
        return (SecureMessaging(keys, chain: chain), try #require(vector["steps"]?.array))
    }

    private static func command(_ step: JSONValue) throws -> APDU {
        try APDU(decoding: try #require(step.frames("wire_commands").first))
    }

    @Test("the commands of a session are opened, each reply after its command")
    func opens() throws {
        var (messaging, steps) = try session("extended")
        for step in steps {
            let plain = try messaging.open(Self.command(step), .extended)
            try expect(plain.data, is: step.bytes("plain_data"))
            try expect([plain.cla], is: step.bytes("cla"))
            let reply = try messaging.unprotect(ResponseAPDU(decoding: step.bytes("wire_response")))
            try expect(reply.data, is: step.bytes("response_plain"))
        }
    }

    @Test("a changed command is not opened, wherever it was changed", arguments: 0..<10)
    func changedCommands(_ position: Int) throws {
        let (start, steps) = try session("extended")
        for place in [0, 1, 2, 3, 7, -1] {
            var messaging = start
            for (index, step) in steps.prefix(position + 1).enumerated() {
                var bytes = try #require(step.frames("wire_commands").first)
                if index == position { bytes[place < 0 ? bytes.count - 1 : place] ^= 0x20 }
                let command = try APDU(decoding: bytes)
                if index < position {
                    _ = try messaging.open(command, .extended)
                } else {
                    #expect(throws: CardError.secureChannel(.notAuthentic), "byte \(place)") {
                        try messaging.open(command, .extended)
                    }
                }
            }
        }
    }

    @Test("a command without a MAC is not opened, and replies without one are not taken")
    func missing() throws {
        var (messaging, _) = try session("extended")
        for count in 0..<8 {
            let command = APDU(cla: 0x04, ins: 0xCA, data: [UInt8](repeating: 0, count: count))
            #expect(throws: CardError.secureChannel(.notAuthentic)) { try messaging.open(command, .extended) }
            #expect(throws: CardError.secureChannel(.notAuthentic)) {
                try messaging.unprotect(ResponseAPDU(.ok, data: [UInt8](repeating: 0, count: count)))
            }
        }
        for status in [UInt16(0x6300), 0x6282] {
            #expect(throws: CardError.secureChannel(.notAuthentic)) {
                try messaging.unprotect(ResponseAPDU(StatusWord(status), data: [1]))
            }
            #expect(try messaging.unprotect(ResponseAPDU(StatusWord(status))).data.isEmpty)
        }
        #expect(try messaging.unprotect(ResponseAPDU(.referenceNotFound, data: [1, 2])).data.isEmpty)
    }

    @Test("after a command that is not known, the next is read without its MAC")
    func skips() throws {
        var (messaging, steps) = try session("extended")
        messaging.skip()
        let unverified = try messaging.open(Self.command(steps[1]), .extended, isVerified: false)
        try expect(unverified.data, is: steps[1].bytes("plain_data"))
        let reply = try ResponseAPDU(decoding: steps[1].bytes("wire_response"))
        try expect(messaging.unprotect(reply, isVerified: false).data, is: steps[1].bytes("response_plain"))
        var (strict, _) = try session("extended")
        strict.skip()
        #expect(throws: CardError.secureChannel(.notAuthentic)) { try strict.open(Self.command(steps[1]), .extended) }
    }

    @Test("data that are no whole blocks, or without padding, are not taken even where the MAC is not verified")
    func padding() throws {
        let (messaging, _) = try session("extended")
        for count in [1, 15, 17, 31] {
            #expect(throws: CardError.secureChannel(.notAuthentic)) {
                try messaging.unprotect(
                    ResponseAPDU(.ok, data: [UInt8](repeating: 0, count: count + 8)), isVerified: false)
            }
        }
        let keys = SessionKeys(
            encryption: SharedSecret(Secret([UInt8](repeating: 1, count: 16))),
            mac: SharedSecret(Secret([UInt8](repeating: 2, count: 16))),
            responseMAC: SharedSecret(Secret([UInt8](repeating: 3, count: 16))), dataEncryption: nil)
        let chain = [UInt8](repeating: 0, count: 16)
        let key = Secret([UInt8](repeating: 1, count: 16))
        let vector = try BlockCipher.aes.encrypt([0x80] + [UInt8](repeating: 0, count: 15), key: key)
        for plain in [[UInt8](repeating: 0, count: 16), [UInt8](repeating: 0x81, count: 16)] {
            let body = try AESCBC.encrypt(plain, key: key, initialisationVector: vector)
            let mac = try AESCMAC.code(chain + body + [0x90, 0x00], key: Secret([UInt8](repeating: 3, count: 16)))
            #expect(throws: CardError.secureChannel(.notAuthentic)) {
                try SecureMessaging(keys, chain: chain).unprotect(ResponseAPDU(.ok, data: body + mac.prefix(8)))
            }
        }
    }

    @Test("a session ends before its counter could begin again")
    func limit() throws {
        let (start, _) = try session("extended")
        let keys = SessionKeys(
            encryption: SharedSecret(Secret([UInt8](repeating: 1, count: 16))),
            mac: SharedSecret(Secret([UInt8](repeating: 2, count: 16))),
            responseMAC: SharedSecret(Secret([UInt8](repeating: 3, count: 16))), dataEncryption: nil)
        var last = SecureMessaging(keys, chain: start.chain, answering: SecureMessaging.commandLimit - 2)
        #expect(throws: Never.self) { try last.protect(APDU(ins: 0xA1), .extended) }
        #expect(throws: CardError.secureChannel(.ended)) { try last.protect(APDU(ins: 0xA1), .extended) }
    }

    @Test("a command of more than 65535 bytes with its MAC is not sent")
    func tooLong() throws {
        var (messaging, _) = try session("extended")
        let command = APDU(ins: 0xDB, data: [UInt8](repeating: 0, count: 0xFFFF - 8))
        #expect(throws: CardError.tooLong(during: command.label)) { try messaging.protect(command, .extended) }
    }
}
