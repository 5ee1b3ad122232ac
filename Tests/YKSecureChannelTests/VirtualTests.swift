// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKOATH
import YKPIV
import YKProtocols
import YKSecureChannel
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire
import YKX509

/// Channels to a virtual key, and what happens when somebody tampers with them.
@Suite struct VirtualTests {
    private static func key(
        _ version: FirmwareVersion = FirmwareVersion(5, 7, 4), transport: DeviceProfile.Transport = .usb
    ) throws -> VirtualKey {
        VirtualKey(try .new(DeviceProfile(version: version, serial: 7, transport: transport)))
    }

    private static func channel(
        _ link: sending any CardLink, _ credential: SecureChannelCredential = .scp03(.factory),
        _ form: APDU.Form? = nil
    ) throws -> sending CardChannel {
        let environment = ServiceEnvironment(timeout: .seconds(5))
        let channel = CardChannel(link: link, environment: environment)
        if let form { channel.form = form }
        channel.protect(with: SecureChannel(credential, environment: environment))
        return channel
    }

    @Test(arguments: [APDU.Form.short, .extended])
    func everyApplication(_ form: APDU.Form) throws {
        for aid in [AID.management, .oath, .piv, .otp, .hsmAuth, .fido, .securityDomain] {
            for credential in [SecureChannelCredential.scp03(.factory), .scp11(.b, trust: .unverified)] {
                let channel = try Self.channel(try Self.key().link(), credential, form)
                _ = try channel.select(aid)
                #expect(channel.secureChannel?.isOpen ?? false)
            }
        }
    }

    @Test func servicesNeedNotKnow() async throws {
        let key = try Self.key()
        let oath = try await OATHService.open(Self.channel(key.link()))
        #expect(try await oath.accounts().isEmpty)
        await oath.close()
        let piv = try await PIVService.open(Self.channel(key.link(), .scp11(.b, trust: .unverified), .short))
        _ = try await piv.report()

    }

    @Test func firmwareDecides() throws {
        #expect(throws: CardError.secureChannel(.unsupported(.oath))) {
            try Self.channel(try Self.key(FirmwareVersion(5, 6, 2)).link()).select(.oath)
        }
        #expect(throws: CardError.secureChannel(.unsupported(.piv))) {
            try Self.channel(try Self.key(FirmwareVersion(5, 2, 7)).link()).select(.piv)
        }
        #expect(throws: CardError.secureChannel(.noSuchKey(SCPKeyReference(id: 0x13, version: 0)))) {
            try Self.channel(try Self.key(FirmwareVersion(5, 7, 1)).link(), .scp11(.b, trust: .unverified)).select(.piv)
        }
        #expect(throws: Never.self) { try Self.channel(try Self.key(FirmwareVersion(5, 3, 0)).link()).select(.piv) }
    }

    @Test func wrongKeysSpendTheTriesOfTheSet() throws {
        let key = try Self.key()
        let wrong = SharedSecret(Secret([UInt8](repeating: 1, count: 16)))
        let keys = try SCP03Keys(encryption: wrong, mac: wrong, dataEncryption: nil)
        let factory = SCPKeyReference(id: 0x01, version: 0xFF)
        for _ in 0..<64 {
            #expect(throws: CardError.secureChannel(.wrongKeys(factory))) {
                try Self.channel(key.link(), .scp03(keys)).select(.securityDomain)
            }
        }
        #expect(throws: CardError.secureChannel(.blocked(SCPKeyReference(id: 0x01, version: 0)))) {
            try Self.channel(key.link(), .scp03(keys)).select(.securityDomain)
        }
        #expect(throws: CardError.secureChannel(.noSuchKey(SCPKeyReference(id: 0x01, version: 0)))) {
            try Self.channel(key.link()).select(.securityDomain)
        }
    }

    @Test func onlyTheRightAuthorityIsTrusted() throws {
        let key = try Self.key()
        let plain = CardChannel(link: key.link())
        _ = try plain.select(.securityDomain)
        let bundle = try plain.transmit(
            APDU(ins: 0xCA, p1: 0xBF, p2: 0x21, data: [0xA6, 0x04, 0x83, 0x02, 0x13, 0x01]))
        plain.rest()
        let chain = try X509Certificate.split(bundle.data)
        expect(chain.count, is: 2)
        let leaf = try X509Certificate(der: chain[1])
        let issuer = try X509Certificate(der: chain[0])
        #expect(try leaf.keyUsage == .keyAgreement && leaf.authorityKeyIdentifier == issuer.subjectKeyIdentifier)
        for trust in try [SCP11Trust.authority(chain[0]), .key(leaf.p256Point), .unverified] {
            #expect(throws: Never.self) { try Self.channel(key.link(), .scp11(.b, trust: trust)).select(.oath) }
        }
        let other = CardChannel(link: try Self.key().link())
        _ = try other.select(.securityDomain)
        let stranger = try X509Certificate.split(
            try other.transmit(APDU(ins: 0xCA, p1: 0xBF, p2: 0x21, data: [0xA6, 0x04, 0x83, 0x02, 0x13, 0x01])).data)
        let error = #expect(throws: CardError.self) {
            try Self.channel(key.link(), .scp11(.b, trust: .authority(stranger[0]))).select(.oath)
        }
        guard case .secureChannel(.untrusted) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(
            throws: CardError.secureChannel(.wrongReceipt(SCPKeyReference(id: 0x13, version: 0x01)))
        ) {
            let point = try X509Certificate(der: stranger[1]).p256Point
            _ = try Self.channel(key.link(), .scp11(.b, trust: .key(point))).select(.oath)
        }
    }

    // MARK: Tampering

    /// Changes one bit of the last byte of a command or a reply.
    private final class Tampering: ForwardingCardLink {
        let link: any CardLink
        private let change: (Int, Bool, inout [UInt8]) -> Void
        private var number = 0

        init(_ link: sending any CardLink, change: sending @escaping (Int, Bool, inout [UInt8]) -> Void) {
            self.link = link
            self.change = change
        }

        func exchange(_ command: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8] {
            var command = command
            change(number, true, &command)
            var reply = try link.exchange(command, deadline: deadline)
            change(number, false, &reply)
            number += 1
            return reply
        }
    }

    /// SELECT, INITIALIZE UPDATE and EXTERNAL AUTHENTICATE come first.
    private static let handshake = 3

    /// How a channel is opened, and with how many exchanges. SCP11b reads the card's key and certificates first.
    enum Opening: CaseIterable {
        case scp03, scp11b

        var credential: SecureChannelCredential {
            self == .scp03 ? .scp03(.factory) : .scp11(.b, trust: .unverified)
        }
        var exchanges: Int { self == .scp03 ? 3 : 5 }
    }

    @Test(
        "a bad MAC of a reply at every position of ten commands ends the channel", arguments: 0..<10, Opening.allCases)
    func badReply(_ position: Int, _ opening: Opening) throws {
        let handshake = opening.exchanges
        let link = Tampering(try Self.key().link()) { number, isCommand, bytes in
            if !isCommand, number == handshake + position { bytes[bytes.count - 3] ^= 1 }
        }
        let channel = try Self.channel(link, opening.credential, .extended)
        _ = try channel.select(.securityDomain)
        for index in 0..<10 {
            let command = APDU(ins: 0xCA, p1: 0x00, p2: index.isMultiple(of: 2) ? 0xE0 : 0x66)
            switch index {
            case ..<position: expect(try channel.transmit(command).status, is: .ok)
            case position:
                #expect(throws: CardError.secureChannel(.notAuthentic)) { try channel.transmit(command) }
            default: #expect(throws: CardError.secureChannel(.ended)) { try channel.transmit(command) }
            }
        }
        let sent = channel.exchanges
        expect(sent, is: handshake + position + 1)
        #expect(throws: Never.self) { try channel.select(.securityDomain) }
        #expect(channel.secureChannel?.isOpen ?? false)
    }

    @Test("a bad MAC of a command at every position of ten commands ends the channel of the card", arguments: 0..<10)
    func badCommand(_ position: Int) throws {
        let link = Tampering(try Self.key().link()) { number, isCommand, bytes in
            if isCommand, number == Self.handshake + position { bytes[7] ^= 1 }
        }
        let channel = try Self.channel(link, .scp03(.factory), .extended)
        _ = try channel.select(.securityDomain)
        for index in 0..<10 {
            let status = try channel.transmit(APDU(ins: 0xCA, p1: 0x00, p2: 0xE0)).status
            switch index {
            case ..<position: expect(status, is: .ok)
            case position: expect(status, is: StatusWord(0x6988))
            default: expect(status, is: .unknownClass)
            }
        }
    }

    @Test func aReplyWithoutItsMACIsRefused() throws {
        let link = Tampering(try Self.key().link()) { number, isCommand, bytes in
            if !isCommand, number == Self.handshake { bytes = [0x90, 0x00] }
        }
        let channel = try Self.channel(link)
        _ = try channel.select(.piv)
        #expect(throws: CardError.secureChannel(.notAuthentic)) { try channel.transmit(APDU(ins: 0xFD)) }
    }

    @Test func aPlainCommandIsRefusedOnceAChannelIsOpen() throws {
        let channel = try Self.channel(try Self.key().link())
        _ = try channel.select(.piv)
        #expect(throws: CardError.secureChannel(.unprotected)) {
            try channel.exchange(raw: [0x00, 0xFD, 0x00, 0x00, 0x00])
        }
    }

    @Test func aKeyOfTheFIPSSeriesOnAReaderWantsAChannel() throws {
        var profile = DeviceProfile(version: FirmwareVersion(5, 7, 4), serial: 7, formFactor: 0x81, transport: .nfc)
        profile.model = .yubiKey5FIPS
        let key = VirtualKey(try .new(profile))
        let plain = CardChannel(link: key.link())
        _ = try plain.select(.oath)
        try expect(plain.transmit(APDU(ins: 0xA1)).status, is: .conditionsNotSatisfied)
        plain.rest()
        let channel = try Self.channel(key.link(), .scp11(.b, trust: .unverified))
        _ = try channel.select(.oath)
        try expect(channel.transmit(APDU(ins: 0xA1)).status, is: .ok)
    }
}
