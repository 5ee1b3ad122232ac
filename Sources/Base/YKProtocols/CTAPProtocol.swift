// SPDX-License-Identifier: Apache-2.0

import YKWire

/// CTAP2 messages (CTAP 2.2 §6): a command byte and a CBOR map out, a status byte and a CBOR map back.
package enum CTAPProtocol {
    /// The command bytes (CTAP 2.2 §6.1 to §6.12; from 40 on those of drafts).
    package enum Command {
        package static let makeCredential: UInt8 = 0x01
        package static let getAssertion: UInt8 = 0x02
        package static let getInfo: UInt8 = 0x04
        package static let clientPIN: UInt8 = 0x06
        package static let reset: UInt8 = 0x07
        package static let getNextAssertion: UInt8 = 0x08
        package static let bioEnrollment: UInt8 = 0x09
        package static let credentialManagement: UInt8 = 0x0A
        package static let selection: UInt8 = 0x0B
        package static let largeBlobs: UInt8 = 0x0C
        package static let config: UInt8 = 0x0D
        package static let bioEnrollmentPreview: UInt8 = 0x40
        package static let credentialManagementPreview: UInt8 = 0x41
    }

    /// The request keys whose values are secret, or determine which others are.
    package enum Key {
        package static let makeCredentialExtensions: Int64 = 6
        package static let getAssertionExtensions: Int64 = 4
        package static let pinSubcommand: Int64 = 2
        package static let pinKeyAgreement: Int64 = 3
        package static let pinAuthentication: Int64 = 4
        package static let newPIN: Int64 = 5
        package static let pinHash: Int64 = 6
        package static let managementAuthentication: Int64 = 4
        package static let authenticatorData: Int64 = 2
        package static let signature: Int64 = 3
    }

    /// The subcommands of clientPIN (CTAP 2.2 §6.5.5).
    package enum PINSubcommand {
        package static let getRetries: UInt64 = 1
        package static let getKeyAgreement: UInt64 = 2
        package static let setPIN: UInt64 = 3
        package static let changePIN: UInt64 = 4
        package static let getToken: UInt64 = 5
        package static let getTokenByUV: UInt64 = 6
        package static let getUVRetries: UInt64 = 7
        package static let getTokenByPIN: UInt64 = 9
    }

    /// What the user has to do while the key waits.
    package enum Waiting: Hashable, Sendable {
        /// Touch the key.
        case touch
        /// Put a finger on the sensor, to be enrolled.
        case enrolment
        /// Put an enrolled finger on the sensor.
        case fingerprint
    }

    /// What the user may have to do before the key answers a message; `nil` for messages that never wait.
    package static func waiting(for message: [UInt8]) -> Waiting? {
        switch message.first {
        case Command.makeCredential, Command.getAssertion, Command.reset, Command.selection: .touch
        case Command.bioEnrollment, Command.bioEnrollmentPreview: .enrolment
        case Command.clientPIN where subcommand(message, key: 2) == PINSubcommand.getTokenByUV: .fingerprint
        default: nil
        }
    }

    /// Whether a message reads or changes the key; unknown messages count as changes.
    package static func effect(of message: [UInt8]) -> CommandEffect {
        let parameters = (try? CBOR(decoding: Array(message.dropFirst())))?.map
        let done = CommandEffect.write(reply: [0x00])
        switch message.first {
        case Command.getInfo: return .read
        case Command.clientPIN:
            switch parameters?[2]?.unsigned {
            case PINSubcommand.getRetries, PINSubcommand.getKeyAgreement, PINSubcommand.getUVRetries: return .read
            case PINSubcommand.setPIN, PINSubcommand.changePIN: return done
            default: return .write(reply: nil)
            }
        case Command.reset, Command.selection, Command.config: return done
        // Deleting and updating a credential.
        case Command.credentialManagement, Command.credentialManagementPreview:
            return [6, 7].contains(parameters?[1]?.unsigned) ? done : .write(reply: nil)
        // Reading the modality and the sensor's properties changes nothing; cancelling, renaming and removing do.
        case Command.bioEnrollment, Command.bioEnrollmentPreview:
            if parameters?[6] != nil || parameters?[2]?.unsigned == 7 { return .read }
            return [3, 5, 6].contains(parameters?[2]?.unsigned) ? done : .write(reply: nil)
        case Command.largeBlobs: return parameters?[1] != nil ? .read : done
        default: return .write(reply: nil)
        }
    }

    private static func subcommand(_ message: [UInt8], key: CBOR) -> UInt64? {
        (try? CBOR(decoding: Array(message.dropFirst())))?.map?[key]?.unsigned
    }
}
