// SPDX-License-Identifier: Apache-2.0

import Testing
import YKManagement
import YKProtocols
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// A key whose NFC is restricted, on a contactless reader.
struct NFCRestrictionTests {
    private func key(_ change: (inout VirtualKeyState) -> Void) -> VirtualKey {
        var state = VirtualKeyState.demonstration()
        state.profile.transport = .nfc
        change(&state)
        return VirtualKey(state)
    }

    private func channel(_ key: VirtualKey, _ faults: String = "") throws -> CardChannel {
        CardChannel(link: FaultyLink(key.link(), plan: try FaultPlan(parsing: faults)))
    }

    @Test("its tag is all there is, and tells so")
    func restricted() throws {
        let key = key { $0.management.isNFCRestricted = true }
        #expect(try NFCRestriction.isActive(channel(key)))
        for aid in [AID.oath, .management, .otp, .fido, .piv] {
            #expect(throws: CardError.appletMissing(aid)) { try channel(key).select(aid) }
        }
        #expect(throws: ManagementError.nfcRestricted) { try DeviceIdentity.read(channel(key)) }
    }

    @Test("other keys and tags are not, whatever they answer")
    func others() throws {
        #expect(try !NFCRestriction.isActive(channel(key { _ in })))
        try expect(DeviceIdentity.read(channel(key { _ in })).maker, is: .yubico)
        let restricted = key { $0.management.isNFCRestricted = true }
        for faults in ["on 00a40400: status 6a82", "on 00a4000c: status 6a82", "on 00b00000: status 6982"] {
            #expect(try !NFCRestriction.isActive(channel(restricted, faults)))
        }
        let inPort = key {
            $0.management.isNFCRestricted = true
            $0.profile.transport = .usb
        }
        let channel = try channel(inPort)
        #expect(try !NFCRestriction.isActive(channel) && channel.exchanges == 0)
    }

    @Test("it begins with the next power-up, so that the write can be read back")
    func written() async throws {
        let key = key { _ in }
        let service = try await ManagementService.open(CardChannel(link: key.link()))
        var change = DeviceConfiguration()
        change.restrictsNFC = true
        let outcome = try await service.write(change)
        #expect(outcome.unconfirmed.isEmpty && outcome.info.isNFCRestricted)
        let again = VirtualKey(key.state)
        #expect(try NFCRestriction.isActive(channel(again)))
    }
}
