// SPDX-License-Identifier: Apache-2.0

package import YKWire

/// The Secrets application of a Nitrokey 3, which has the AID of Yubico's OATH application, and that application's
/// commands in addition to its own. Both share the vocabulary of ``OATHProtocol``, since a SELECT does not tell them
/// apart.
package enum SecretsProtocol {
    package static let title = "Secrets"

    /// The vendor command of CTAPHID that carries its commands (trussed-secrets-app, docs/ctaphid.md).
    package static let vendorCommand: UInt8 = 0x70

    /// The instruction bytes (trussed-secrets-app, docs/ctaphid.md).
    package enum Instruction {
        package static let put = OATHProtocol.Instruction.put
        package static let delete = OATHProtocol.Instruction.delete
        package static let reset = OATHProtocol.Instruction.reset
        package static let list = OATHProtocol.Instruction.list
        package static let calculate = OATHProtocol.Instruction.calculate
        package static let sendRemaining = OATHProtocol.Instruction.sendRemaining
        package static let verifyCode: UInt8 = 0xB1
        package static let verifyPIN: UInt8 = 0xB2
        package static let changePIN: UInt8 = 0xB3
        package static let setPIN: UInt8 = 0xB4
        package static let getCredential: UInt8 = 0xB5
        package static let updateCredential: UInt8 = 0xB7
    }

    /// The tags of the data objects.
    package enum Tag {
        package static let name = OATHProtocol.Tag.name
        package static let listEntry = OATHProtocol.Tag.nameList
        package static let key = OATHProtocol.Tag.key
        package static let challenge = OATHProtocol.Tag.challenge
        package static let response = OATHProtocol.Tag.fullResponse
        package static let truncatedResponse = OATHProtocol.Tag.truncatedResponse
        package static let noResponse = OATHProtocol.Tag.noResponse
        /// In PUT it is followed by one byte, without a length; elsewhere it has one.
        package static let property = OATHProtocol.Tag.property
        package static let version = OATHProtocol.Tag.version
        package static let initialCounter = OATHProtocol.Tag.initialCounter
        package static let pin: TLV.Tag = 0x80
        package static let newPIN: TLV.Tag = 0x81
        package static let pinRetries: TLV.Tag = 0x82
        package static let login: TLV.Tag = 0x83
        package static let password: TLV.Tag = 0x84
        package static let metadata: TLV.Tag = 0x85
        package static let serial: TLV.Tag = 0x8F
    }

    /// The commands that Yubico's application does not have.
    package static let instructions: [UInt8: String] = [
        Instruction.verifyCode: "VERIFY CODE", Instruction.verifyPIN: "VERIFY PIN",
        Instruction.changePIN: "CHANGE PIN", Instruction.setPIN: "SET PIN",
        Instruction.getCredential: "GET CREDENTIAL", Instruction.updateCredential: "UPDATE CREDENTIAL",
    ]

    /// The names of the data objects that Yubico's application does not have, and of the account name.
    package static let tags: [TLV.Tag: TagName] = [
        Tag.name: .text("name"), Tag.pin: "PIN", Tag.newPIN: "new PIN", Tag.pinRetries: "PIN tries",
        Tag.login: .text("login"), Tag.password: "password", Tag.metadata: "metadata", Tag.serial: "serial number",
    ]

    /// Whether the reply to SELECT is this application's, which has data objects of its own.
    package static func isSelected(_ reply: [UInt8]) -> Bool {
        guard let objects = try? TLV.list(reply) else { return false }
        return objects.contains { $0.tag == Tag.serial && $0.value.count == 4 || $0.tag == Tag.pinRetries }
    }

    /// The status word of a PIN or a code that is wrong.
    package static let verificationFailed = StatusWord(0x6300)

    package static let carriers: [UInt8: UnselectedData] = [
        Instruction.verifyPIN: .hidden, Instruction.changePIN: .hidden, Instruction.setPIN: .hidden,
        Instruction.updateCredential: .hidden,
    ]

    private static let secretTags: Set<TLV.Tag> = [Tag.pin, Tag.newPIN, Tag.password, Tag.metadata]

    /// PINs, and the passwords and notes of entries.
    package static func secrets(in command: APDU, data: [UInt8]) -> [Range<Int>] {
        let isPut = command.ins == Instruction.put
        return SecretRuns.values(of: secretTags, in: data, bare: isPut ? Tag.property : nil)
    }

    /// The password and the note of an entry, and the answer to a challenge, which has the instruction of PUT.
    package static func secrets(inReply reply: [UInt8], to command: APDU) -> [Range<Int>] {
        switch command.ins {
        case Instruction.getCredential: SecretRuns.values(of: secretTags, in: reply)
        case Instruction.put: SecretRuns.all(reply)
        default: []
        }
    }

    /// All but one of these commands wait for a touch, and no PIN or code can be assumed to be right.
    package static func effect(of command: APDU) -> CommandEffect {
        switch command.ins {
        case Instruction.getCredential: .read
        default: instructions[command.ins] == nil ? .done : .write(reply: nil)
        }
    }

    /// A touch is required before a PIN is compared, and before anything changes.
    package static func waiting(for command: APDU) -> UserAction? { instructions[command.ins] == nil ? nil : .touch }

    package static func meaning(of status: StatusWord, for command: APDU) -> String? {
        switch (status, command.ins) {
        case (verificationFailed, Instruction.verifyCode): "wrong code"
        case (verificationFailed, Instruction.verifyPIN), (verificationFailed, Instruction.changePIN): "wrong PIN"
        case (.notFound, Instruction.getCredential), (.notFound, Instruction.updateCredential),
            (.notFound, Instruction.verifyCode):
            "no such entry, or the PIN is needed"
        case (.authenticationBlocked, Instruction.updateCredential): "another entry has that name"
        default: nil
        }
    }
}
