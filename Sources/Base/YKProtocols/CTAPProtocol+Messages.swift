// SPDX-License-Identifier: Apache-2.0

/// The keys of each message's maps, named as in the specification (CTAP 2.3 §6).
extension CTAPProtocol {
    /// authenticatorMakeCredential (§6.1).
    package enum MakeCredential {
        package enum Request: Int64, CTAPKey {
            case clientDataHash = 1
            case rp
            case user
            case pubKeyCredParams
            case excludeList
            case extensions
            case options
            case pinUvAuthParam
            case pinUvAuthProtocol
            case enterpriseAttestation
            case attestationFormatsPreference

            package static let names = [
                "clientDataHash", "rp", "user", "pubKeyCredParams", "excludeList", "extensions", "options",
                "pinUvAuthParam", "pinUvAuthProtocol", "enterpriseAttestation", "attestationFormatsPreference",
            ]
        }

        package enum Reply: Int64, CTAPKey {
            case fmt = 1
            case authData
            case attStmt
            case epAtt
            case largeBlobKey
            case unsignedExtensionOutputs

            package static let names = [
                "fmt", "authData", "attStmt", "epAtt", "largeBlobKey", "unsignedExtensionOutputs",
            ]
        }
    }

    /// authenticatorGetAssertion and authenticatorGetNextAssertion (§6.2, §6.3).
    package enum GetAssertion {
        package enum Request: Int64, CTAPKey {
            case rpId = 1
            case clientDataHash
            case allowList
            case extensions
            case options
            case pinUvAuthParam
            case pinUvAuthProtocol

            package static let names = [
                "rpId", "clientDataHash", "allowList", "extensions", "options", "pinUvAuthParam", "pinUvAuthProtocol",
            ]
        }

        package enum Reply: Int64, CTAPKey {
            case credential = 1
            case authData
            case signature
            case user
            case numberOfCredentials
            case userSelected
            case largeBlobKey
            case unsignedExtensionOutputs

            package static let names = [
                "credential", "authData", "signature", "user", "numberOfCredentials", "userSelected", "largeBlobKey",
                "unsignedExtensionOutputs",
            ]
        }
    }

    /// The input of the extensions hmac-secret and hmac-secret-mc (§12.7).
    package enum HMACSecret: Int64, CTAPKey {
        case keyAgreement = 1
        case saltEnc
        case saltAuth
        case pinUvAuthProtocol

        package static let names = ["keyAgreement", "saltEnc", "saltAuth", "pinUvAuthProtocol"]
    }

    /// The extension previewSign (WebAuthn's sign extension, version 4 of 2025-08-21).
    package enum PreviewSign {
        /// makeCredential has alg and flags, getAssertion the others.
        package enum Input: Int64, CTAPKey {
            case kh = 2
            case alg
            case flags
            case tbs = 6
            case args

            package static let names = ["kh", "alg", "flags", "tbs", "args"]
        }

        /// The signed outputs, and the attestation object of the unsigned one.
        package enum Output: Int64, CTAPKey {
            case alg = 3
            case flags
            case sig = 6
            case attObj

            package static let names = ["alg", "flags", "sig", "attObj"]
        }

        /// The parts of the attestation object.
        package typealias Attestation = MakeCredential.Reply
    }

    /// authenticatorGetInfo (§6.4).
    package enum GetInfo {
        package enum Reply: Int64, CTAPKey {
            case versions = 1
            case extensions
            case aaguid
            case options
            case maxMsgSize
            case pinUvAuthProtocols
            case maxCredentialCountInList
            case maxCredentialIdLength
            case transports
            case algorithms
            case maxSerializedLargeBlobArray
            case forcePINChange
            case minPINLength
            case firmwareVersion
            case maxCredBlobLength
            case maxRPIDsForSetMinPINLength
            case preferredPlatformUvAttempts
            case uvModality
            case certifications
            case remainingDiscoverableCredentials
            case vendorPrototypeConfigCommands
            case attestationFormats
            case uvCountSinceLastPinEntry
            case longTouchForReset
            case encIdentifier
            case transportsForReset
            case pinComplexityPolicy
            case pinComplexityPolicyURL
            case maxPINLength
            case encCredStoreState
            case authenticatorConfigCommands

            package static let names = [
                "versions", "extensions", "aaguid", "options", "maxMsgSize", "pinUvAuthProtocols",
                "maxCredentialCountInList", "maxCredentialIdLength", "transports", "algorithms",
                "maxSerializedLargeBlobArray", "forcePINChange", "minPINLength", "firmwareVersion", "maxCredBlobLength",
                "maxRPIDsForSetMinPINLength", "preferredPlatformUvAttempts", "uvModality", "certifications",
                "remainingDiscoverableCredentials", "vendorPrototypeConfigCommands", "attestationFormats",
                "uvCountSinceLastPinEntry", "longTouchForReset", "encIdentifier", "transportsForReset",
                "pinComplexityPolicy", "pinComplexityPolicyURL", "maxPINLength", "encCredStoreState",
                "authenticatorConfigCommands",
            ]
        }
    }

    /// authenticatorClientPIN (§6.5).
    package enum ClientPIN {
        package enum Request: Int64, CTAPKey {
            case pinUvAuthProtocol = 1
            case subCommand
            case keyAgreement
            case pinUvAuthParam
            case newPinEnc
            case pinHashEnc
            case permissions = 9
            case rpId

            package static let names = [
                "pinUvAuthProtocol", "subCommand", "keyAgreement", "pinUvAuthParam", "newPinEnc", "pinHashEnc",
                "permissions", "rpId",
            ]
        }

        package enum Reply: Int64, CTAPKey {
            case keyAgreement = 1
            case pinUvAuthToken
            case pinRetries
            case powerCycleState
            case uvRetries

            package static let names = [
                "keyAgreement", "pinUvAuthToken", "pinRetries", "powerCycleState", "uvRetries",
            ]
        }

        package enum Subcommand: UInt64, CTAPSubcommand {
            case getPINRetries = 1
            case getKeyAgreement
            case setPIN
            case changePIN
            case getPinToken
            case getPinUvAuthTokenUsingUvWithPermissions
            case getUVRetries
            case getPinUvAuthTokenUsingPinWithPermissions = 9

            package static let names = [
                "getPINRetries", "getKeyAgreement", "setPIN", "changePIN", "getPinToken",
                "getPinUvAuthTokenUsingUvWithPermissions", "getUVRetries", "getPinUvAuthTokenUsingPinWithPermissions",
            ]
        }
    }

    /// authenticatorBioEnrollment and its preview (§6.7).
    package enum BioEnrollment {
        package enum Request: Int64, CTAPKey {
            case modality = 1
            case subCommand
            case subCommandParams
            case pinUvAuthProtocol
            case pinUvAuthParam
            case getModality

            package static let names = [
                "modality", "subCommand", "subCommandParams", "pinUvAuthProtocol", "pinUvAuthParam", "getModality",
            ]
        }

        /// The parameters of subcommands; the first two also describe a template in a list.
        package enum Parameters: Int64, CTAPKey {
            case templateId = 1
            case templateFriendlyName
            case timeoutMilliseconds

            package static let names = ["templateId", "templateFriendlyName", "timeoutMilliseconds"]
        }

        package enum Reply: Int64, CTAPKey {
            case modality = 1
            case fingerprintKind
            case maxCaptureSamplesRequiredForEnroll
            case templateId
            case lastEnrollSampleStatus
            case remainingSamples
            case templateInfos
            case maxTemplateFriendlyName

            package static let names = [
                "modality", "fingerprintKind", "maxCaptureSamplesRequiredForEnroll", "templateId",
                "lastEnrollSampleStatus", "remainingSamples", "templateInfos", "maxTemplateFriendlyName",
            ]
        }

        package enum Subcommand: UInt64, CTAPSubcommand {
            case enrollBegin = 1
            case enrollCaptureNextSample
            case cancelCurrentEnrollment
            case enumerateEnrollments
            case setFriendlyName
            case removeEnrollment
            case getFingerprintSensorInfo

            package static let names = [
                "enrollBegin", "enrollCaptureNextSample", "cancelCurrentEnrollment", "enumerateEnrollments",
                "setFriendlyName", "removeEnrollment", "getFingerprintSensorInfo",
            ]
        }
    }

    /// authenticatorCredentialManagement and its preview (§6.8).
    package enum CredentialManagement {
        package enum Request: Int64, CTAPKey {
            case subCommand = 1
            case subCommandParams
            case pinUvAuthProtocol
            case pinUvAuthParam

            package static let names = ["subCommand", "subCommandParams", "pinUvAuthProtocol", "pinUvAuthParam"]
        }

        package enum Parameters: Int64, CTAPKey {
            case rpIDHash = 1
            case credentialID
            case user

            package static let names = ["rpIDHash", "credentialID", "user"]
        }

        package enum Reply: Int64, CTAPKey {
            case existingResidentCredentialsCount = 1
            case maxPossibleRemainingResidentCredentialsCount
            case rp
            case rpIDHash
            case totalRPs
            case user
            case credentialID
            case publicKey
            case totalCredentials
            case credProtect
            case largeBlobKey
            case thirdPartyPayment

            package static let names = [
                "existingResidentCredentialsCount", "maxPossibleRemainingResidentCredentialsCount", "rp", "rpIDHash",
                "totalRPs", "user", "credentialID", "publicKey", "totalCredentials", "credProtect", "largeBlobKey",
                "thirdPartyPayment",
            ]
        }

        package enum Subcommand: UInt64, CTAPSubcommand {
            case getCredsMetadata = 1
            case enumerateRPsBegin
            case enumerateRPsGetNextRP
            case enumerateCredentialsBegin
            case enumerateCredentialsGetNextCredential
            case deleteCredential
            case updateUserInformation

            package static let names = [
                "getCredsMetadata", "enumerateRPsBegin", "enumerateRPsGetNextRP", "enumerateCredentialsBegin",
                "enumerateCredentialsGetNextCredential", "deleteCredential", "updateUserInformation",
            ]
        }
    }

    /// authenticatorLargeBlobs (§6.10).
    package enum LargeBlobs {
        package enum Request: Int64, CTAPKey {
            case get = 1
            case set
            case offset
            case length
            case pinUvAuthParam
            case pinUvAuthProtocol

            package static let names = ["get", "set", "offset", "length", "pinUvAuthParam", "pinUvAuthProtocol"]
        }

        package enum Reply: Int64, CTAPKey {
            case config = 1

            package static let names = ["config"]
        }

        /// An entry of the array (§6.10.3).
        package enum Entry: Int64, CTAPKey {
            case ciphertext = 1
            case nonce
            case origSize

            package static let names = ["ciphertext", "nonce", "origSize"]
        }
    }

    /// authenticatorConfig (§6.11).
    package enum Config {
        /// The same keys as those of credentialManagement.
        package typealias Request = CredentialManagement.Request

        /// The parameters of setMinPINLength.
        package enum Parameters: Int64, CTAPKey {
            case newMinPINLength = 1
            case minPinLengthRPIDs
            case forceChangePin
            case pinComplexityPolicy

            package static let names = [
                "newMinPINLength", "minPinLengthRPIDs", "forceChangePin", "pinComplexityPolicy",
            ]
        }

        package enum Subcommand: UInt64, CTAPSubcommand {
            case enableEnterpriseAttestation = 1
            case toggleAlwaysUv
            case setMinPINLength
            case enableLongTouchForReset
            case vendorPrototype = 255

            package static let names = [
                "enableEnterpriseAttestation", "toggleAlwaysUv", "setMinPINLength", "enableLongTouchForReset",
                "vendorPrototype",
            ]
        }
    }
}
