// SPDX-License-Identifier: Apache-2.0

package import YKWire

/// A GlobalPlatform security domain (GlobalPlatform Card Specification 2.3.1 §11).
package enum SecurityDomainProtocol: CardVocabulary {
    package static var aid: AID { .securityDomain }

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

    package static func secrets(in command: APDU, data: [UInt8]) -> [Range<Int>] {
        command.ins == Instruction.putKey ? SecretRuns.all(data) : []
    }
}
