// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKFIDO
import YKWire

/// The extensions of a registration.
struct RegistrationExtensionOptions: ParsableArguments {
    static let title = "Extension Options"

    @Flag(help: "Enable secrets derived from salts (hmac-secret).") var hmacSecret = false

    @Option(help: "When it can be used without user verification: optional, optional-with-list or required.")
    var credProtect: ProtectionChoice?

    @Flag(help: "Enable a large blob for the credential.") var largeBlob = false

    @Option(
        isBase64URL: true,
        help: ArgumentHelp("Store these bytes with the credential, hexadecimal or base64url.", valueName: "bytes"))
    var credBlob: String?

    @Flag(help: "Ask for the minimum PIN length.") var minPinLength = false

    /// When a credential may be used without user verification.
    enum ProtectionChoice: String, CaseIterable, ExpressibleByArgument {
        case optional, required
        case optionalWithList = "optional-with-list"

        var level: CredentialProtection {
            switch self {
            case .optional: .optional
            case .optionalWithList: .optionalWithList
            case .required: .required
            }
        }
    }

    /// The extension inputs in WebAuthn JSON.
    var json: JSON.Object {
        get throws(Explanation) {
            var object = JSON.Object()
            object["credProps"] = true
            if hmacSecret { object["hmacCreateSecret"] = true }
            if let credProtect {
                object["credentialProtectionPolicy"] = .string(credProtect.level.description)
                object["enforceCredentialProtectionPolicy"] = true
            }
            if largeBlob { object["largeBlob"] = ["support": "required"] }
            if let credBlob {
                object["credBlob"] = .string(Base64.encodeURL(try BytesArgument.hexOrBase64(credBlob, "--cred-blob")))
            }
            if minPinLength { object["minPinLength"] = true }
            return object
        }
    }

    /// The extension inputs for the key.
    var inputs: RegistrationExtensions {
        get throws(Explanation) {
            var inputs = RegistrationExtensions()
            inputs.createsHMACSecret = hmacSecret
            inputs.protection = credProtect?.level
            inputs.enforcesProtection = credProtect != nil
            inputs.createsLargeBlobKey = largeBlob
            inputs.blob = try credBlob.map { text throws(Explanation) in
                try BytesArgument.hexOrBase64(text, "--cred-blob")
            }
            inputs.asksMinPINLength = minPinLength
            return inputs
        }
    }
}
