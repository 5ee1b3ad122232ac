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

extension CTAPProtocol {
    /// The status codes (CTAP 2.3 §8.2).
    package enum Status {
        package static let ok: UInt8 = 0x00
        package static let invalidCommand: UInt8 = 0x01
        package static let invalidParameter: UInt8 = 0x02
        package static let invalidLength: UInt8 = 0x03
        package static let invalidSequence: UInt8 = 0x04
        package static let timeout: UInt8 = 0x05
        package static let channelBusy: UInt8 = 0x06
        package static let lockRequired: UInt8 = 0x0A
        package static let invalidChannel: UInt8 = 0x0B
        package static let cborUnexpectedType: UInt8 = 0x11
        package static let invalidCBOR: UInt8 = 0x12
        package static let missingParameter: UInt8 = 0x14
        package static let limitExceeded: UInt8 = 0x15
        package static let unsupportedExtension: UInt8 = 0x16
        package static let fingerprintDatabaseFull: UInt8 = 0x17
        package static let largeBlobStorageFull: UInt8 = 0x18
        package static let credentialExcluded: UInt8 = 0x19
        package static let processing: UInt8 = 0x21
        package static let invalidCredential: UInt8 = 0x22
        package static let userActionPending: UInt8 = 0x23
        package static let operationPending: UInt8 = 0x24
        package static let noOperations: UInt8 = 0x25
        package static let unsupportedAlgorithm: UInt8 = 0x26
        package static let operationDenied: UInt8 = 0x27
        package static let keyStoreFull: UInt8 = 0x28
        package static let unsupportedOption: UInt8 = 0x2B
        package static let invalidOption: UInt8 = 0x2C
        package static let keepaliveCancel: UInt8 = 0x2D
        package static let noCredentials: UInt8 = 0x2E
        package static let userActionTimeout: UInt8 = 0x2F
        package static let notAllowed: UInt8 = 0x30
        package static let pinInvalid: UInt8 = 0x31
        package static let pinBlocked: UInt8 = 0x32
        package static let pinAuthInvalid: UInt8 = 0x33
        package static let pinAuthBlocked: UInt8 = 0x34
        package static let pinNotSet: UInt8 = 0x35
        package static let pinUvAuthTokenRequired: UInt8 = 0x36
        package static let pinPolicyViolation: UInt8 = 0x37
        package static let pinTokenExpired: UInt8 = 0x38
        package static let requestTooLarge: UInt8 = 0x39
        package static let actionTimeout: UInt8 = 0x3A
        package static let userPresenceRequired: UInt8 = 0x3B
        package static let uvBlocked: UInt8 = 0x3C
        package static let integrityFailure: UInt8 = 0x3D
        package static let invalidSubcommand: UInt8 = 0x3E
        package static let uvInvalid: UInt8 = 0x3F
        package static let unauthorizedPermission: UInt8 = 0x40
        package static let other: UInt8 = 0x7F
        static let lastOfSpecification: UInt8 = 0xDF
    }

    /// The names of the status codes in the specification, and their meanings in a few words.
    package static let statuses: [UInt8: (name: String, meaning: String)] = [
        Status.ok: ("CTAP2_OK", "ok"),
        Status.invalidCommand: ("CTAP1_ERR_INVALID_COMMAND", "invalid command"),
        Status.invalidParameter: ("CTAP1_ERR_INVALID_PARAMETER", "invalid parameter"),
        Status.invalidLength: ("CTAP1_ERR_INVALID_LENGTH", "invalid length"),
        Status.invalidSequence: ("CTAP1_ERR_INVALID_SEQ", "invalid sequence"),
        Status.timeout: ("CTAP1_ERR_TIMEOUT", "time-out"),
        Status.channelBusy: ("CTAP1_ERR_CHANNEL_BUSY", "channel busy"),
        Status.lockRequired: ("CTAP1_ERR_LOCK_REQUIRED", "lock required"),
        Status.invalidChannel: ("CTAP1_ERR_INVALID_CHANNEL", "invalid channel"),
        Status.cborUnexpectedType: ("CTAP2_ERR_CBOR_UNEXPECTED_TYPE", "unexpected CBOR type"),
        Status.invalidCBOR: ("CTAP2_ERR_INVALID_CBOR", "invalid CBOR"),
        Status.missingParameter: ("CTAP2_ERR_MISSING_PARAMETER", "missing parameter"),
        Status.limitExceeded: ("CTAP2_ERR_LIMIT_EXCEEDED", "limit exceeded"),
        Status.unsupportedExtension: ("CTAP2_ERR_UNSUPPORTED_EXTENSION", "unsupported extension"),
        Status.fingerprintDatabaseFull: ("CTAP2_ERR_FP_DATABASE_FULL", "fingerprint database full"),
        Status.largeBlobStorageFull: ("CTAP2_ERR_LARGE_BLOB_STORAGE_FULL", "large blob storage full"),
        Status.credentialExcluded: ("CTAP2_ERR_CREDENTIAL_EXCLUDED", "credential excluded"),
        Status.processing: ("CTAP2_ERR_PROCESSING", "processing"),
        Status.invalidCredential: ("CTAP2_ERR_INVALID_CREDENTIAL", "invalid credential"),
        Status.userActionPending: ("CTAP2_ERR_USER_ACTION_PENDING", "user action pending"),
        Status.operationPending: ("CTAP2_ERR_OPERATION_PENDING", "operation pending"),
        Status.noOperations: ("CTAP2_ERR_NO_OPERATIONS", "no operations"),
        Status.unsupportedAlgorithm: ("CTAP2_ERR_UNSUPPORTED_ALGORITHM", "unsupported algorithm"),
        Status.operationDenied: ("CTAP2_ERR_OPERATION_DENIED", "operation denied"),
        Status.keyStoreFull: ("CTAP2_ERR_KEY_STORE_FULL", "key store full"),
        Status.unsupportedOption: ("CTAP2_ERR_UNSUPPORTED_OPTION", "unsupported option"),
        Status.invalidOption: ("CTAP2_ERR_INVALID_OPTION", "invalid option"),
        Status.keepaliveCancel: ("CTAP2_ERR_KEEPALIVE_CANCEL", "cancelled"),
        Status.noCredentials: ("CTAP2_ERR_NO_CREDENTIALS", "no credentials"),
        Status.userActionTimeout: ("CTAP2_ERR_USER_ACTION_TIMEOUT", "no touch in time"),
        Status.notAllowed: ("CTAP2_ERR_NOT_ALLOWED", "not allowed"),
        Status.pinInvalid: ("CTAP2_ERR_PIN_INVALID", "PIN wrong"),
        Status.pinBlocked: ("CTAP2_ERR_PIN_BLOCKED", "PIN blocked"),
        Status.pinAuthInvalid: ("CTAP2_ERR_PIN_AUTH_INVALID", "PIN/UV authentication wrong"),
        Status.pinAuthBlocked: ("CTAP2_ERR_PIN_AUTH_BLOCKED", "PIN blocked until the key is replugged"),
        Status.pinNotSet: ("CTAP2_ERR_PIN_NOT_SET", "PIN not set"),
        Status.pinUvAuthTokenRequired: ("CTAP2_ERR_PUAT_REQUIRED", "PIN needed"),
        Status.pinPolicyViolation: ("CTAP2_ERR_PIN_POLICY_VIOLATION", "PIN violates the policy"),
        Status.pinTokenExpired: ("CTAP2_ERR_PIN_TOKEN_EXPIRED", "PIN token expired"),
        Status.requestTooLarge: ("CTAP2_ERR_REQUEST_TOO_LARGE", "request too large"),
        Status.actionTimeout: ("CTAP2_ERR_ACTION_TIMEOUT", "action timed out"),
        Status.userPresenceRequired: ("CTAP2_ERR_UP_REQUIRED", "presence needed"),
        Status.uvBlocked: ("CTAP2_ERR_UV_BLOCKED", "user verification blocked"),
        Status.integrityFailure: ("CTAP2_ERR_INTEGRITY_FAILURE", "integrity failure"),
        Status.invalidSubcommand: ("CTAP2_ERR_INVALID_SUBCOMMAND", "invalid subcommand"),
        Status.uvInvalid: ("CTAP2_ERR_UV_INVALID", "user verification wrong"),
        Status.unauthorizedPermission: ("CTAP2_ERR_UNAUTHORIZED_PERMISSION", "permission missing"),
        Status.other: ("CTAP1_ERR_OTHER", "other error"),
        Status.lastOfSpecification: ("CTAP2_ERR_SPEC_LAST", "last error of the specification"),
    ]
}
