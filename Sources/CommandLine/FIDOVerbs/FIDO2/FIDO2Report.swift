// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import Verbs
import YKFIDO
import YKTransport
import YKWire

/// What the FIDO application reports about itself.
struct FIDO2Report: Report {
    /// What a key reveals only to the holder of a persistent token.
    struct Secrets {
        let identifier: [UInt8]?
        let credentialStoreState: [UInt8]?

        init(_ info: AuthenticatorInfo, _ token: FIDOToken) {
            identifier = info.identifier(for: token)
            credentialStoreState = info.credentialStoreState(for: token)
        }
    }

    let profile: FIDOLinkProfile
    /// `nil` for a key without FIDO2.
    var info: AuthenticatorInfo? {
        didSet { values = info?.members ?? [] }
    }
    var pinRetries: PINRetries?
    var uvRetries: Int?
    var secrets: Secrets?
    /// The file that a persistent token was written to.
    var tokenFile: String?
    private var values: [(name: String, value: JSONValue)] = []

    init(profile: FIDOLinkProfile) { self.profile = profile }

    static let members: [Member<Self>] =
        [
            Member("interface", "hid or card") { $0.profile.carrier == .hid ? "hid" : "card" },
            Member("deviceVersion", "as the transport reports it") { $0.profile.deviceVersion?.description },
            Member("ctap2") { $0.info != nil }, Member("u2f") { $0.profile.hasU2F },
            Member("firmware", "the version, as other verbs report it; null if the key does not report one") {
                $0.firmware
            },
            Member("hasPin") { $0.info?.hasPIN },
        ]
        + AuthenticatorInfo.memberNames.map { name in
            Member(name, form: forms[name] ?? .any) { $0.values.first { $0.name == name }?.value }
        }
        + [
            Member("pinRetries") { $0.pinRetries?.count }, Member("uvRetries") { $0.uvRetries },
            Member("identifier", "with a token") { $0.secrets?.identifier.map { Base64.encodeURL($0) } },
            Member("credentialStoreState", "with a token") {
                $0.secrets?.credentialStoreState.map { Base64.encodeURL($0) }
            },
            Member("token", "the file that was written") { $0.tokenFile },
        ]

    /// The forms of the members of the reply (CTAP 2.3 §6.4).
    private static let forms: [String: JSONForm] = {
        let texts = ["versions", "extensions", "transports", "attestationFormats", "transportsForReset"]
        let numbers = [
            "maxMsgSize", "maxCredentialCountInList", "maxCredentialIdLength", "maxSerializedLargeBlobArray",
            "minPINLength", "firmwareVersion", "maxCredBlobLength", "maxRPIDsForSetMinPINLength",
            "preferredPlatformUvAttempts", "uvModality", "remainingDiscoverableCredentials",
            "uvCountSinceLastPinEntry", "maxPINLength",
        ]
        let lists = ["pinUvAuthProtocols", "vendorPrototypeConfigCommands", "authenticatorConfigCommands"]
        let flags = ["forcePINChange", "longTouchForReset", "pinComplexityPolicy"]
        let bytes = ["aaguid", "encIdentifier", "encCredStoreState", "pinComplexityPolicyURL"]
        let algorithm = [MemberForm("alg", "the number of COSE", .integer), MemberForm("name", "", .text)]
        var forms: [String: JSONForm] = [
            "options": .dictionary(.flag), "certifications": .dictionary(.integer),
            "algorithms": .list(.object(algorithm)), "unknown": .dictionary(.any),
        ]
        for name in texts { forms[name] = .list(.text) }
        for name in numbers { forms[name] = .integer }
        for name in lists { forms[name] = .list(.integer) }
        for name in flags { forms[name] = .flag }
        for name in bytes { forms[name] = .text }
        return forms
    }()

    /// The firmware version of three numbers, from the transport or the reply.
    private var firmware: String? {
        if let version = profile.deviceVersion { return version.description }
        guard case .int(let number)? = values.first(where: { $0.name == "firmwareVersion" })?.value,
            (0x10000...0xFF_FFFF).contains(number)
        else { return nil }
        return "\(number >> 16).\(number >> 8 & 0xFF).\(number & 0xFF)"
    }

    var lines: [String] {
        guard let info else { return [] }
        let description = AuthenticatorDescription(info: info, profile: profile, pin: pinRetries, uv: uvRetries)
        guard let secrets else { return description.lines }
        let rows = [("identifier", secrets.identifier), ("credential state", secrets.credentialStoreState)]
        return description.lines + [""] + Table.details(rows.map { [$0, $1.map { Hex.encode($0) } ?? "not reported"] })
    }
}
