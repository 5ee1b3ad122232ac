// SPDX-License-Identifier: Apache-2.0

public import YKWire

extension AID {
    /// GlobalPlatform Security Domain.
    public static let securityDomain = AID(rawValue: [0xA0, 0x00, 0x00, 0x01, 0x51, 0x00, 0x00, 0x00])
}

/// A GlobalPlatform security domain (GlobalPlatform Card Specification 2.3.1 §11).
package enum SecurityDomainProtocol: CardVocabulary {
    package static var aid: AID { .securityDomain }
    package static let title = "Security Domain"

    /// The instruction bytes.
    package enum Instruction {
        package static let performOperation: UInt8 = 0x2A
        package static let initializeUpdate: UInt8 = 0x50
        package static let externalAuthenticate: UInt8 = 0x82
        package static let internalAuthenticate: UInt8 = 0x88
        package static let getData: UInt8 = 0xCA
        package static let putKey: UInt8 = 0xD8
        package static let storeData: UInt8 = 0xE2
        package static let deleteKey: UInt8 = 0xE4
        package static let generateKey: UInt8 = 0xF1
    }

    /// The data objects of GET DATA and STORE DATA.
    package enum Tag {
        package static let keyInformation: UInt8 = 0xE0
        package static let cardRecognition: UInt16 = 0x0066
        package static let keyInformationObject: UInt16 = 0x00E0
        package static let hostAuthorities: UInt16 = 0xFF33
        package static let cardAuthorities: UInt16 = 0xFF34
        package static let certificates: UInt16 = 0xBF21
        /// Card production life cycle data.
        package static let productionData: UInt16 = 0x9F7F
        package static let allowedSerials: TLV.Tag = 0x70
        package static let controlReference: TLV.Tag = 0xA6
        package static let keyReference: TLV.Tag = 0x83
        package static let issuer: TLV.Tag = 0x42
        package static let keyIdentifier: TLV.Tag = 0xD0
        package static let keyVersion: TLV.Tag = 0xD2
    }

    package static let instructions: [UInt8: String] = [
        Instruction.performOperation: "PERFORM SECURITY OPERATION", Instruction.initializeUpdate: "INITIALIZE UPDATE",
        Instruction.externalAuthenticate: "EXTERNAL AUTHENTICATE",
        Instruction.internalAuthenticate: "INTERNAL AUTHENTICATE", Instruction.getData: "GET DATA",
        Instruction.putKey: "PUT KEY", Instruction.storeData: "STORE DATA", Instruction.deleteKey: "DELETE KEY",
        Instruction.generateKey: "GENERATE KEY",
    ]

    package static let tags: [TLV.Tag: TagName] = [
        Tag.allowedSerials: "allowed serial numbers", Tag.controlReference: "key",
        TLV.Tag(rawValue: UInt32(Tag.certificates)): "certificates", Tag.keyIdentifier: "key identifier",
        Tag.keyVersion: "key version",
    ]

    package static let carriers: [UInt8: UnselectedData] = [Instruction.putKey: .hidden]

    /// The commands of the handshakes are in class 80.
    package static func name(of command: APDU) -> String? {
        switch command.ins {
        case Instruction.initializeUpdate, Instruction.externalAuthenticate, Instruction.internalAuthenticate,
            Instruction.performOperation:
            command.cla & 0x80 == 0 ? nil : instructions[command.ins]
        default: instructions[command.ins]
        }
    }

    /// The security level of a channel with C-MAC, C-DECRYPTION, R-MAC and R-ENCRYPTION (Amendment D §7.1.2).
    package static let fullProtection: UInt8 = 0x33

    package static func secrets(in command: APDU, data: [UInt8]) -> [Range<Int>] {
        command.ins == Instruction.putKey ? SecretRuns.all(data) : []
    }

    /// A failed handshake uses up a retry, and the reply to generating a key cannot be assumed.
    package static func effect(of command: APDU) -> CommandEffect {
        switch command.ins {
        case Instruction.getData: .read
        case Instruction.storeData, Instruction.deleteKey: .done
        default: .write(reply: nil)
        }
    }

    package static func persistence(of command: APDU) -> ReplyPersistence? {
        command.ins == Instruction.getData ? .content : nil
    }
}
