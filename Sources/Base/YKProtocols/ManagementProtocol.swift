// SPDX-License-Identifier: Apache-2.0

public import YKWire

extension AID {
    /// Yubico device management.
    public static let management = AID(rawValue: [0xA0, 0x00, 0x00, 0x05, 0x27, 0x47, 0x11, 0x17])
}

/// Yubico's device management.
package enum ManagementProtocol: CardVocabulary {
    package static var aid: AID { .management }
    package static let title = "management"

    /// The instruction bytes.
    package enum Instruction {
        /// Returns the data of the command unchanged.
        package static let echo: UInt8 = 0x01
        package static let setMode: UInt8 = 0x16
        package static let writeConfig: UInt8 = 0x1C
        package static let readConfig: UInt8 = 0x1D
        package static let resetDevice: UInt8 = 0x1F
    }

    /// P1 of SET MODE; the number of the slot command in the OTP application of a NEO.
    package static let mode = OTPCommand.deviceMode.rawValue

    /// The tags of a configuration.
    package enum Tag {
        package static let usbSupported: TLV.Tag = 0x01
        package static let serial: TLV.Tag = 0x02
        package static let usbEnabled: TLV.Tag = 0x03
        package static let formFactor: TLV.Tag = 0x04
        package static let version: TLV.Tag = 0x05
        package static let autoEject: TLV.Tag = 0x06
        package static let challengeResponseTimeout: TLV.Tag = 0x07
        package static let flags: TLV.Tag = 0x08
        static let applicationVersions: TLV.Tag = 0x09
        /// In device information whether the key is locked, in a change the new lock code.
        package static let lockCode: TLV.Tag = 0x0A
        /// The current lock code, in a change.
        package static let unlockCode: TLV.Tag = 0x0B
        package static let reboot: TLV.Tag = 0x0C
        package static let nfcSupported: TLV.Tag = 0x0D
        package static let nfcEnabled: TLV.Tag = 0x0E
        package static let iapDetection: TLV.Tag = 0x0F
        package static let moreData: TLV.Tag = 0x10
        static let freeForm: TLV.Tag = 0x11
        static let hidDelay: TLV.Tag = 0x12
        package static let partNumber: TLV.Tag = 0x13
        package static let fipsCapable: TLV.Tag = 0x14
        package static let fipsApproved: TLV.Tag = 0x15
        package static let pinComplexity: TLV.Tag = 0x16
        package static let nfcRestricted: TLV.Tag = 0x17
        package static let resetBlocked: TLV.Tag = 0x18
        package static let versionQualifier: TLV.Tag = 0x19
        package static let fingerprintVersion: TLV.Tag = 0x20
        package static let stmVersion: TLV.Tag = 0x21
    }

    /// The tags in a version qualifier.
    package enum QualifierTag {
        package static let version: TLV.Tag = 0x01
        package static let kind: TLV.Tag = 0x02
        package static let iteration: TLV.Tag = 0x03
    }

    /// The applications of a key, as bits.
    package enum Capability {
        package static let otp: UInt32 = 0x0001
        package static let u2f: UInt32 = 0x0002
        /// The smart card interface as a whole.
        package static let ccid: UInt32 = 0x0004
        package static let openPGP: UInt32 = 0x0008
        package static let piv: UInt32 = 0x0010
        package static let oath: UInt32 = 0x0020
        package static let hsmAuth: UInt32 = 0x0100
        package static let fido2: UInt32 = 0x0200
        /// Management over the smart card interface.
        package static let managementOverCCID: UInt32 = 0x0400

        /// The names of the bits.
        package static let names: [(bit: UInt32, name: String)] = [
            (otp, "OTP"), (u2f, "U2F"), (fido2, "FIDO2"), (oath, "OATH"), (piv, "PIV"), (openPGP, "OpenPGP"),
            (hsmAuth, "HSM Auth"), (ccid, "CCID"), (managementOverCCID, "management"),
        ]
    }

    package static let instructions: [UInt8: String] = [
        Instruction.echo: "ECHO", Instruction.setMode: "SET MODE", Instruction.writeConfig: "WRITE CONFIG",
        Instruction.readConfig: "READ CONFIG", Instruction.resetDevice: "RESET DEVICE",
    ]

    package static let tags: [TLV.Tag: TagName] = [
        Tag.usbSupported: "supported over USB", Tag.serial: "serial", Tag.usbEnabled: "enabled over USB",
        Tag.formFactor: "form factor", Tag.version: "version", Tag.autoEject: "auto-eject after",
        Tag.challengeResponseTimeout: "challenge-response time-out", Tag.flags: "flags",
        Tag.applicationVersions: "application versions", Tag.lockCode: "locked or lock code",
        Tag.unlockCode: "unlock code", Tag.reboot: "reboot", Tag.nfcSupported: "supported over NFC",
        Tag.nfcEnabled: "enabled over NFC", Tag.iapDetection: "iAP detection", Tag.moreData: "more data",
        Tag.freeForm: "free form", Tag.hidDelay: "HID delay", Tag.partNumber: .text("part number"),
        Tag.fipsCapable: "FIPS capable", Tag.fipsApproved: "FIPS approved", Tag.pinComplexity: "PIN complexity",
        Tag.nfcRestricted: "NFC restricted", Tag.resetBlocked: "reset blocked",
        Tag.versionQualifier: "version qualifier", Tag.fingerprintVersion: "fingerprint sensor firmware",
        Tag.stmVersion: "STM firmware",
    ]

    package static let carriers: [UInt8: UnselectedData] = [Instruction.writeConfig: .hidden]

    package static func secrets(in command: APDU, data: [UInt8]) -> [Range<Int>] {
        command.ins == Instruction.writeConfig ? lockCodes(data) : []
    }

    /// The new and the current lock code of a configuration: a length byte, then data objects.
    package static func lockCodes(_ data: [UInt8]) -> [Range<Int>] {
        SecretRuns.values(of: [Tag.lockCode, Tag.unlockCode], in: data, from: 1)
    }

    package static func effect(of command: APDU) -> CommandEffect {
        command.ins == Instruction.readConfig ? .read : .done
    }

    /// A key can be identified without its device information, too.
    package static func isOptional(_ command: APDU) -> Bool { command.ins == Instruction.readConfig }

    package static func persistence(of command: APDU) -> ReplyPersistence? {
        command.ins == Instruction.readConfig ? .content : nil
    }
}
