// SPDX-License-Identifier: Apache-2.0

import YKWire

/// CTAP2 messages (CTAP 2.3 §6): a command byte and a CBOR map out, a status byte and a CBOR map back.
package enum CTAPProtocol {
    /// The command bytes (CTAP 2.3 §6.1 to §6.12; from 40 on those of drafts).
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

    /// What the user may have to do before the key answers a message; `nil` for messages that never wait.
    package static func waiting(for message: [UInt8]) -> UserAction? {
        switch message.first {
        case Command.makeCredential, Command.getAssertion, Command.reset, Command.selection: .touch
        case Command.bioEnrollment, Command.bioEnrollmentPreview: .enrolment
        case Command.clientPIN:
            parameters(message)?.subcommand(ClientPIN.Request.subCommand)
                == ClientPIN.Subcommand.getPinUvAuthTokenUsingUvWithPermissions ? .fingerprint : nil
        default: nil
        }
    }

    /// Whether a message reads or changes the key; unknown messages count as changes.
    package static func effect(of message: [UInt8]) -> CommandEffect {
        let parameters = parameters(message)
        let done = CommandEffect.write(reply: [0x00])
        switch message.first {
        case Command.getInfo: return .read
        case Command.clientPIN:
            let subcommand: ClientPIN.Subcommand? = parameters?.subcommand(ClientPIN.Request.subCommand)
            switch subcommand {
            case .getPINRetries, .getKeyAgreement, .getUVRetries: return .read
            case .setPIN, .changePIN: return done
            default: return .write(reply: nil)
            }
        case Command.reset, Command.selection: return done
        // A change is read back afterwards, and that reply cannot be assumed.
        case Command.config: return .write(reply: nil)
        case Command.credentialManagement, Command.credentialManagementPreview:
            let subcommand: CredentialManagement.Subcommand? =
                parameters?.subcommand(CredentialManagement.Request.subCommand)
            switch subcommand {
            case .deleteCredential, .updateUserInformation: return done
            default: return .write(reply: nil)
            }
        case Command.bioEnrollment, Command.bioEnrollmentPreview:
            // Reading the modality and the sensor's properties changes nothing.
            if parameters?[BioEnrollment.Request.getModality] != nil { return .read }
            let subcommand: BioEnrollment.Subcommand? = parameters?.subcommand(BioEnrollment.Request.subCommand)
            switch subcommand {
            case .getFingerprintSensorInfo: return .read
            case .cancelCurrentEnrollment, .setFriendlyName, .removeEnrollment: return done
            default: return .write(reply: nil)
            }
        case Command.largeBlobs: return parameters?[LargeBlobs.Request.get] != nil ? .read : done
        default: return .write(reply: nil)
        }
    }

    /// Whether a report can do without the answer to a message: the number of retries or of credentials. Before a PIN is
    /// sent the retries must be known.
    package static func isOptional(_ message: [UInt8]) -> Bool {
        let parameters = parameters(message)
        switch message.first {
        case Command.clientPIN:
            let subcommand: ClientPIN.Subcommand? = parameters?.subcommand(ClientPIN.Request.subCommand)
            return subcommand == .getPINRetries || subcommand == .getUVRetries
        case Command.credentialManagement, Command.credentialManagementPreview:
            let subcommand: CredentialManagement.Subcommand? =
                parameters?.subcommand(CredentialManagement.Request.subCommand)
            return subcommand == .getCredsMetadata
        default: return false
        }
    }

    private static func parameters(_ message: [UInt8]) -> CBOR.Map? {
        (try? CBOR(decoding: Array(message.dropFirst())))?.map
    }
}

extension CBOR.Map {
    fileprivate func subcommand<Subcommand: CTAPSubcommand>(_ key: some CTAPKey) -> Subcommand? {
        self[key]?.unsigned.flatMap(Subcommand.init)
    }
}
