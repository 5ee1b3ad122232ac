// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// A card on the table: commands and responses in hexadecimal, with the OATH application selected.
final class Bench {
    static let rfcSecret = Array("12345678901234567890".utf8)

    var card: VirtualCard
    var inputs = VirtualInputs(random: CountingRandom(from: 1))

    init(model: DeviceModel, aid: AID, inputs: VirtualInputs = VirtualInputs(random: CountingRandom(from: 1))) throws {
        card = VirtualCard(
            VirtualKeyState(profile: DeviceProfile(model: model, serial: 1), oath: OATHMemory(salt: [1, 2, 3, 4])))
        self.inputs = inputs
        #expect(try select(aid).hasSuffix("9000"))
    }

    /// Selects an application.
    func select(_ aid: AID) throws -> String {
        try send("00a40400" + Hex.encode([UInt8(aid.rawValue.count)] + aid.rawValue) + "00")
    }

    init(version: FirmwareVersion = FirmwareVersion(5, 7, 1), select: Bool = true) {
        card = VirtualCard(
            VirtualKeyState(
                profile: DeviceProfile(version: version, serial: 0x0102_0304),
                oath: OATHMemory(salt: [1, 2, 3, 4, 5, 6, 7, 8])))
        if select { _ = try? send("00a4040007a0000005272101") }
    }

    /// Moves the card to a contactless reader.
    func layOnReader() { card = VirtualCard(card.state, isOnReader: true) }

    /// Sends bytes as they are.
    func send(_ hex: String) throws -> String {
        let reply = card.exchange(try Hex.decode(hex.filter { $0 != " " }), inputs)
        return Hex.encode(try #require(reply))
    }

    /// Sends bytes as they are; `nil` while the key waits for a touch.
    func exchange(_ command: [UInt8]) -> [UInt8]? { card.exchange(command, inputs) }

    /// Sends a command in extended form and reads the response.
    func send(_ ins: UInt8, p1: UInt8 = 0, p2: UInt8 = 0, _ data: [UInt8] = []) throws -> ResponseAPDU {
        let command = try APDU(ins: ins, p1: p1, p2: p2, data: data).encoded(.extended)
        let reply = card.exchange(command, inputs)
        return try ResponseAPDU(decoding: #require(reply))
    }

    /// The status word of PUT.
    func put(
        _ name: String, type: UInt8 = 0x21, digits: UInt8 = 6, secret: [UInt8] = rfcSecret, rest: [UInt8] = []
    ) throws -> StatusWord {
        let data = TLV(0x71, Array(name.utf8)).encoded + TLV(0x73, [type, digits] + secret).encoded + rest
        return try send(0x01, data).status
    }

    /// The code that CALCULATE gives for a challenge, as a person reads it.
    func code(_ name: String, _ challenge: UInt64? = nil) throws -> String {
        let reply = try send(0xA2, p2: 1, Self.calculate(name, challenge.map(Self.bytes) ?? []))
        expect(reply.status, is: .ok)
        let value = try #require(TLV.list(reply.data).value(0x76))
        let number = value.dropFirst().reduce(0) { $0 << 8 | UInt64($1) }
        let digits = Int(value[0])
        let limit = (0..<digits).reduce(UInt64(1)) { product, _ in product * 10 }
        let text = String(number % limit)
        return String(repeating: "0", count: digits - text.count) + text
    }

    static func calculate(_ name: String, _ challenge: [UInt8]) -> [UInt8] {
        TLV(0x71, Array(name.utf8)).encoded + TLV(0x74, challenge).encoded
    }

    static func bytes(_ number: UInt64) -> [UInt8] {
        var writer = ByteWriter()
        writer.bigEndian(number, 8)
        return writer.bytes
    }

    static func hmac(_ key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        HashAlgorithm.sha1.hmac(key: Secret(key), message)
    }
}
