// SPDX-License-Identifier: Apache-2.0

public import YKWire

extension AID {
    /// YubiHSM Auth.
    public static let hsmAuth = AID(rawValue: [0xA0, 0x00, 0x00, 0x05, 0x27, 0x21, 0x07, 0x01])
}

/// YubiHSM Auth.
package enum HSMAuthProtocol: CardVocabulary {
    package static var aid: AID { .hsmAuth }
    package static let title = "HSM Auth"

    /// The instruction bytes.
    package enum Instruction {
        package static let put: UInt8 = 0x01
        package static let delete: UInt8 = 0x02
        package static let calculate: UInt8 = 0x03
        package static let getChallenge: UInt8 = 0x04
        package static let list: UInt8 = 0x05
        package static let reset: UInt8 = 0x06
        package static let getVersion: UInt8 = 0x07
        package static let putManagementKey: UInt8 = 0x08
        package static let getManagementRetries: UInt8 = 0x09
        package static let getPublicKey: UInt8 = 0x0A
        package static let changePassword: UInt8 = 0x0B
    }

    /// The tags of the data objects.
    package enum Tag {
        package static let label: TLV.Tag = 0x71
        package static let listEntry: TLV.Tag = 0x72
        package static let credentialPassword: TLV.Tag = 0x73
        package static let algorithm: TLV.Tag = 0x74
        package static let encryptionKey: TLV.Tag = 0x75
        package static let macKey: TLV.Tag = 0x76
        package static let context: TLV.Tag = 0x77
        package static let cryptogram: TLV.Tag = 0x78
        package static let version: TLV.Tag = 0x79
        package static let touch: TLV.Tag = 0x7A
        package static let managementKey: TLV.Tag = 0x7B
        package static let publicKey: TLV.Tag = 0x7C
        package static let privateKey: TLV.Tag = 0x7D
    }

    package static let instructions: [UInt8: String] = [
        Instruction.put: "PUT", Instruction.delete: "DELETE", Instruction.calculate: "CALCULATE",
        Instruction.getChallenge: "GET CHALLENGE", Instruction.list: "LIST", Instruction.reset: "RESET",
        Instruction.getVersion: "GET VERSION", Instruction.putManagementKey: "SET MANAGEMENT KEY",
        Instruction.getManagementRetries: "GET MANAGEMENT KEY TRIES", Instruction.getPublicKey: "GET PUBLIC KEY",
        Instruction.changePassword: "CHANGE CREDENTIAL PASSWORD",
    ]

    package static let tags: [TLV.Tag: TagName] = [
        Tag.label: .text("label"), Tag.listEntry: "credential", Tag.credentialPassword: "credential password",
        Tag.algorithm: "algorithm", Tag.encryptionKey: "encryption key", Tag.macKey: "MAC key",
        Tag.context: "context", Tag.cryptogram: "response", Tag.version: "version", Tag.touch: "touch",
        Tag.managementKey: "management key", Tag.publicKey: "public key", Tag.privateKey: "private key",
    ]

    package static let carriers: [UInt8: UnselectedData] = [
        Instruction.put: .hidden, Instruction.delete: .shown, Instruction.calculate: .hidden,
        Instruction.getChallenge: .hidden, Instruction.putManagementKey: .hidden, Instruction.changePassword: .hidden,
    ]

    package static let protectedCapability: UInt32? = ManagementProtocol.Capability.hsmAuth

    package static func secrets(in command: APDU, data: [UInt8]) -> [Range<Int>] {
        let passwords: Set<TLV.Tag> = [Tag.credentialPassword, Tag.managementKey]
        switch command.ins {
        case Instruction.put:
            let keys = [Tag.encryptionKey, Tag.macKey, Tag.privateKey]
            return SecretRuns.values(of: passwords.union(keys), in: data)
        case Instruction.calculate:
            // The cryptogram together with its context allows guessing a derivation password off-line.
            return SecretRuns.values(of: passwords.union([Tag.cryptogram]), in: data)
        case Instruction.delete, Instruction.getChallenge, Instruction.putManagementKey, Instruction.changePassword:
            return SecretRuns.values(of: passwords, in: data)
        default: return []
        }
    }

    /// CALCULATE returns session keys.
    package static func secrets(inReply reply: [UInt8], to command: APDU, data: [UInt8]) -> [Range<Int>] {
        command.ins == Instruction.calculate ? SecretRuns.all(reply) : []
    }

    /// A wrong password uses up a retry, and the reply to a command with a password cannot be assumed.
    package static func effect(of command: APDU) -> CommandEffect {
        switch command.ins {
        case Instruction.list, Instruction.getVersion, Instruction.getManagementRetries, Instruction.getPublicKey: .read
        case Instruction.calculate, Instruction.getChallenge: .write(reply: nil)
        default: .done
        }
    }

    /// Credentials may require a touch.
    package static func waiting(for command: APDU) -> UserAction? {
        command.ins == Instruction.calculate ? .touch : nil
    }
}
