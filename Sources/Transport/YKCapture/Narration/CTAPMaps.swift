// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// The keys of CTAP2 maps (CTAP 2.1 §6).
enum CTAPMaps {
    static let coseKey = CTAPKeys(
        "public key", [1: "kty", 3: "alg", -1: "crv", -2: "x", -3: "y"],
        numbers: [3: CTAPNames.algorithm, 1: { [1: "OKP", 2: "EC2", 3: "RSA"][$0] ?? "\($0)" }])

    static let makeCredential = CTAPKeys(
        "parameters",
        [
            1: "clientDataHash", 2: "rp", 3: "user", 4: "pubKeyCredParams", 5: "excludeList", 6: "extensions",
            7: "options", 8: "pinUvAuthParam", 9: "pinUvAuthProtocol", 10: "enterpriseAttestation",
            11: "attestationFormatsPreference",
        ])

    static let attestation = CTAPKeys(
        "reply",
        [1: "fmt", 2: "authData", 3: "attStmt", 4: "epAtt", 5: "largeBlobKey", 6: "unsignedExtensionOutputs"],
        values: [2: AuthenticatorDataNarration.lines])

    static let getAssertion = CTAPKeys(
        "parameters",
        [
            1: "rpId", 2: "clientDataHash", 3: "allowList", 4: "extensions", 5: "options", 6: "pinUvAuthParam",
            7: "pinUvAuthProtocol",
        ])

    static let assertion = CTAPKeys(
        "reply",
        [
            1: "credential", 2: "authData", 3: "signature", 4: "user", 5: "numberOfCredentials", 6: "userSelected",
            7: "largeBlobKey",
        ],
        values: [2: AuthenticatorDataNarration.lines])

    static let info = CTAPKeys(
        "reply",
        [
            0x01: "versions", 0x02: "extensions", 0x03: "aaguid", 0x04: "options", 0x05: "maxMsgSize",
            0x06: "pinUvAuthProtocols", 0x07: "maxCredentialCountInList", 0x08: "maxCredentialIdLength",
            0x09: "transports", 0x0A: "algorithms", 0x0B: "maxSerializedLargeBlobArray", 0x0C: "forcePINChange",
            0x0D: "minPINLength", 0x0E: "firmwareVersion", 0x0F: "maxCredBlobLength",
            0x10: "maxRPIDsForSetMinPINLength", 0x11: "preferredPlatformUvAttempts", 0x12: "uvModality",
            0x13: "certifications", 0x14: "remainingDiscoverableCredentials", 0x15: "vendorPrototypeConfigCommands",
            0x16: "attestationFormats", 0x17: "uvCountSinceLastPinEntry", 0x18: "longTouchForReset",
            0x19: "encIdentifier", 0x1A: "transportsForReset", 0x1B: "pinComplexityPolicy",
            0x1C: "pinComplexityPolicyURL", 0x1D: "maxPINLength", 0x1E: "encCredStoreState",
            0x1F: "authenticatorConfigCommands",
        ])

    static let clientPIN = CTAPKeys(
        "parameters",
        [
            1: "pinUvAuthProtocol", 2: "subCommand", 3: "keyAgreement", 4: "pinUvAuthParam", 5: "newPinEnc",
            6: "pinHashEnc", 9: "permissions", 10: "rpId",
        ],
        inner: [3: coseKey], numbers: [9: CTAPNames.permissions])

    static let clientPINReply = CTAPKeys(
        "reply",
        [1: "keyAgreement", 2: "pinUvAuthToken", 3: "pinRetries", 4: "powerCycleState", 5: "uvRetries"],
        inner: [1: coseKey])

    static let credentialManagement = CTAPKeys(
        "parameters",
        [1: "subCommand", 2: "subCommandParams", 3: "pinUvAuthProtocol", 4: "pinUvAuthParam"],
        inner: [2: CTAPKeys("", [1: "rpIDHash", 2: "credentialID", 3: "user"])])

    static let credentialManagementReply = CTAPKeys(
        "reply",
        [
            1: "existingResidentCredentialsCount", 2: "maxPossibleRemainingResidentCredentialsCount", 3: "rp",
            4: "rpIDHash", 5: "totalRPs", 6: "user", 7: "credentialID", 8: "publicKey", 9: "totalCredentials",
            10: "credProtect", 11: "largeBlobKey", 12: "thirdPartyPayment",
        ],
        inner: [8: coseKey])

    static let bioEnrollment = CTAPKeys(
        "parameters",
        [
            1: "modality", 2: "subCommand", 3: "subCommandParams", 4: "pinUvAuthProtocol", 5: "pinUvAuthParam",
            6: "getModality",
        ],
        inner: [3: CTAPKeys("", [1: "templateId", 2: "templateFriendlyName", 3: "timeoutMilliseconds"])])

    static let bioEnrollmentReply = CTAPKeys(
        "reply",
        [
            1: "modality", 2: "fingerprintKind", 3: "maxCaptureSamplesRequiredForEnroll", 4: "templateId",
            5: "lastEnrollSampleStatus", 6: "remainingSamples", 7: "templateInfos", 8: "maxTemplateFriendlyName",
        ],
        inner: [7: CTAPKeys("", [1: "templateId", 2: "templateFriendlyName"])])
}
