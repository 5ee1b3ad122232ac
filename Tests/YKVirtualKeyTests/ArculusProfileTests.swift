// SPDX-License-Identifier: Apache-2.0

import Testing
import YKProtocols
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// The virtual key as an Arculus card.
struct ArculusProfileTests {
    private func card(_ model: DeviceModel) throws -> (VirtualKey, CardChannel) {
        let state = try VirtualKeyState.new(DeviceProfile(model: model, serial: 1))
        let inputs = VirtualInputs(touch: { _ in .notTouched })
        let key = VirtualKey(state, inputs: inputs)
        return (key, CardChannel(link: key.link(), environment: ServiceEnvironment()))
    }

    private func info(_ channel: CardChannel) throws -> CBOR.Map {
        let reply = try channel.transmit(APDU(cla: 0x80, ins: 0x10, p1: 0x80, data: [0x04]))
        expect(reply.data.first, is: 0)
        return try #require(try CBOR(decoding: Array(reply.data.dropFirst())).map)
    }

    @Test("the older card: CTAP 2.0, PIN protocol 1, U2F") func older() throws {
        let (key, channel) = try card(.arculus)
        try expect(channel.select(.fido), is: Array("U2F_V2".utf8))
        let info = try info(channel)
        expect(info[1], is: ["U2F_V2", "FIDO_2_0"])
        expect(info[3], is: .bytes(try Hex.decode("9d3df6ba282f11eda2610242ac120002")))
        expect(info[6], is: [1])
        expect(info[9], is: nil)
        expect(key.state.profile.atr.prefix(4), is: [0x3B, 0x80, 0x80, 0x01])
        try expect(channel.transmit(APDU(cla: 0x00, ins: 0x03)).data, is: Array("U2F_V2".utf8))
    }

    @Test("the P71 card: CTAP 2.1 over NFC alone, no U2F") func p71() throws {
        let (_, channel) = try card(.arculusP71)
        try expect(channel.select(.fido), is: Array("FIDO_2_0".utf8))
        let info = try info(channel)
        expect(info[1], is: ["FIDO_2_0", "FIDO_2_1"])
        expect(info[3], is: .bytes(try Hex.decode("3f59672f20aa4afeb6f47e5e916b6d98")))
        expect(info[6], is: [2, 1])
        expect(info[9], is: ["nfc"])
        try expect(channel.transmit(APDU(cla: 0x00, ins: 0x03)).status, is: .unknownInstruction)
    }

    @Test("has a FIDO application and nothing else", arguments: [DeviceModel.arculus, .arculusP71])
    func onlyFIDO(model: DeviceModel) throws {
        let (_, channel) = try card(model)
        for aid in [AID.oath, .management, .otp, .ndef, .piv] {
            #expect(throws: CardError.appletMissing(aid)) { try channel.select(aid) }
        }
    }

    @Test("nobody touches it: to be held to the reader is enough") func presence() throws {
        let (_, channel) = try card(.arculus)
        _ = try channel.select(.fido)
        let reply = try channel.transmit(APDU(cla: 0x80, ins: 0x10, p1: 0x80, data: [0x07]))
        expect(reply.data, is: [0])
    }

    @Test("is kept in a file", arguments: DeviceModel.allCases) func file(model: DeviceModel) throws {
        let state = try VirtualKeyState.new(DeviceProfile(model: model, serial: 7))
        try expect(VirtualKeyState(state.json), is: state)
        expect((state.json["device"]?["model"] != nil), is: (model != .yubiKey))
    }
}
