// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKWire

/// What USB devices say of themselves, and what they should not.
@Suite struct USBDescriptorsTests {
    private static let device: [UInt8] = [18, 1, 0, 2, 0, 0, 0, 64, 0x50, 0x10, 7, 4, 0x71, 5, 1, 2, 0, 1]
    private static let configuration: [UInt8] = [9, 2, 120, 0, 2, 1, 0, 0x80, 15]
    private static let fido: [UInt8] = [9, 4, 0, 0, 2, 3, 0, 0, 0, 9, 0x21, 0x10, 1, 0, 1, 0x22, 34, 0]
    private static let reader: [UInt8] =
        [9, 4, 2, 0, 3, 0x0B, 0, 0, 0] + CCID.Descriptor(features: .extendedAPDU).encoded + [
            7, 5, 2, 2, 64, 0, 0, 7, 5, 0x82, 2, 64, 0, 0, 7, 5, 0x83, 3, 8, 0, 32,
        ]

    private static var key: [UInt8] { device + configuration + fido + reader }

    @Test func aKeyWithAReader() throws {
        let key = try USBDescriptors(decoding: Self.key)
        #expect(key.vendor == 0x1050 && key.product == 0x0407 && key.release == 0x0571 && key.deviceClass == 0)
        #expect(key.interfaces.map(\.number) == [0, 2] && key.interfaces.map(\.isHID) == [true, false])
        let reader = key.interfaces[1]
        #expect(reader.isCardReader && reader.reader?.level == .extendedAPDU && reader.endpoints.count == 3)
        #expect(
            reader.endpoint(.bulk, isIn: true)?.address == 0x82 && reader.endpoint(.bulk, isIn: false)?.address == 2)
        expect(reader.endpoint(.interrupt, isIn: true)?.packetSize, is: 8)
    }

    @Test func onlyTheFirstConfigurationAndTheFirstSettingsCount() throws {
        let other: [UInt8] = [9, 4, 2, 1, 1, 0xFF, 0, 0, 0, 5, 0x24, 1, 2, 3, 7, 5, 0x84, 2, 64, 0, 0]
        let key = try USBDescriptors(decoding: Self.key + other + Self.configuration + Self.reader)
        #expect(
            key.interfaces.count == 2 && key.interfaces[1].endpoints.count == 3 && key.interfaces[1].extra.count == 1)
        let again = try USBDescriptors(decoding: Self.key + Self.reader)
        #expect(again.interfaces.count == 2 && again.interfaces[1].endpoints.count == 3)
    }

    @Test func anEarlyReaderHasAClassOfItsOwn() throws {
        var reader = Self.reader
        (reader[5], reader[10]) = (0xFF, 0xFF)
        let key = try USBDescriptors(decoding: Self.device + Self.configuration + reader)
        #expect(key.interfaces[0].isCardReader)
    }

    @Test func everyCutAndEveryLie() throws {
        let bytes = Self.key
        for count in 0..<18 {
            #expect(throws: WireError.self) { try USBDescriptors(decoding: Array(bytes.prefix(count))) }
        }
        for count in 18..<bytes.count { _ = try? USBDescriptors(decoding: Array(bytes.prefix(count))) }
        for index in bytes.indices {
            for value: UInt8 in [0, 1, 2, 0x7F, 0xFF] {
                var lie = bytes
                lie[index] = value
                _ = try? USBDescriptors(decoding: lie).interfaces.map(\.isCardReader)
            }
        }
        #expect(throws: WireError.self) { try USBDescriptors(decoding: Self.device + [0, 4]) }
        #expect(throws: WireError.self) { try USBDescriptors(decoding: Self.device + [1]) }
        #expect(throws: WireError.self) { try USBDescriptors(decoding: Self.device + [7, 5, 1, 2, 64, 0, 0]) }
        #expect(throws: WireError.self) { try USBDescriptors(decoding: [UInt8](repeating: 0, count: 70_000)) }
        #expect(throws: WireError.self) { try USBDescriptors(decoding: Self.configuration + Self.key) }
    }
}
