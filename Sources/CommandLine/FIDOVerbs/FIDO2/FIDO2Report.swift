// SPDX-License-Identifier: Apache-2.0

import TerminalIO
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

/// The response to getInfo, for people.
struct AuthenticatorDescription {
    let info: AuthenticatorInfo
    let profile: FIDOLinkProfile
    let pin: PINRetries?
    let uv: Int?

    var lines: [String] {
        let rows = identity + pinRows + storage + rules
        return Table.details(rows.filter { $0.count > 1 && !$0[1].isEmpty }) + ["", "options"]
            + Table.details(optionRows)
    }

    private var identity: [[String]] {
        [
            ["model (AAGUID)", Hex.uuid(info.aaguid)],
            ["protocols", info.versions.map { $0.rawValue.printable }.listed()],
            ["reached over", profile.carrier == .hid ? "HID" : "a smart card"],
            ["transports", Self.list(info.transports)],
            ["firmware", info.firmwareVersion.map { "\($0)\(Self.dotted($0))" } ?? ""],
            ["device version", profile.deviceVersion?.description ?? ""],
            ["extensions", Self.list(info.extensions)],
            ["algorithms", info.algorithms.map { $0.description }.listed()],
            ["attestation", info.attestationFormats.map { $0.rawValue.printable }.listed()],
            ["certifications", Self.list((info.certifications?.entries ?? []).map(Self.certification))],
        ]
    }

    private var pinRows: [[String]] {
        let unit = "to \(info.maxPINLength) bytes"
        return [
            ["PIN", pinState],
            ["PIN length", info.takesPIN ? "\(info.minPINLength) characters \(unit)" : ""],
            ["PIN rules", info.hasPINComplexityPolicy == true ? "simple PINs are refused\(policyPage)" : ""],
            ["PIN protocols", info.pinProtocols.map(String.init).listed()],
            ["own verification", uvState],
            ["", ""],
        ]
    }

    private var pinState: String {
        guard info.takesPIN else { return "this key has none" }
        guard info.hasPIN else { return "not set" }
        let forced = info.mustChangePIN ? ", must be changed before anything else works" : ""
        guard let pin else { return "set" + forced }
        if pin.count == 0 { return "set, permanently blocked: only a reset removes it" }
        let replug = pin.needsPowerCycle ? ", the key must be re-inserted first" : ""
        return "set, \(Tries.left(pin.count))\(replug)\(forced)"
    }

    private var policyPage: String {
        guard let bytes = info.pinComplexityPolicyURL, let text = String(validating: bytes, as: UTF8.self) else {
            return ""
        }
        return ", see \(text.printable)"
    }

    private var uvState: String {
        guard info.option(.uv) != nil else { return "" }
        let means = Self.modalities.filter { (info.uvModality ?? 0) & $0.0 != 0 }.map(\.1).listed()
        let state = info.hasBuiltInUV ? "set up" : "not set up"
        return [state, means, uv.map { $0 == 0 ? "blocked, the PIN unblocks it" : Tries.left($0) } ?? ""]
            .filter { !$0.isEmpty }.listed()
    }

    private var storage: [[String]] {
        [
            ["room for credentials", info.remainingCredentials.map { "\($0) more" } ?? ""],
            ["large blobs", info.maxLargeBlobArray.map { "\($0) bytes" } ?? ""],
            ["blob in a credential", info.maxCredentialBlobLength.map { "\($0) bytes" } ?? ""],
            ["longest message", "\(info.maxMessageSize) bytes"],
            ["longest list", info.maxCredentialsInList.map { "\($0) credentials" } ?? ""],
            ["longest credential", info.maxCredentialIDLength.map { "\($0) bytes" } ?? ""],
        ]
    }

    private var rules: [[String]] {
        let long =
            info.needsLongTouchForReset == true
            ? "a touch of \(info.longTouchSeconds) seconds" : info.needsLongTouchForReset == false ? "a touch" : ""
        let over = info.transportsForReset.isEmpty ? "" : "over \(Self.list(info.transportsForReset))"
        return [
            ["reset", [long, over].filter { !$0.isEmpty }.listed()],
            ["RP IDs for PIN length", info.maxRPIDsForMinPINLength.map { "up to \($0) relying parties" } ?? ""],
        ]
    }

    private var optionRows: [[String]] {
        info.options.map { option in
            [
                "  " + option.name.printable, option.value ? "yes" : "no",
                OptionDescriptions.meaning(option.name, option.value),
            ]
        }
    }

    private static let modalities: [(UInt64, String)] = [
        (0x01, "touch"), (0x02, "fingerprint"), (0x04, "PIN typed on the key"), (0x08, "voice"), (0x10, "face"),
        (0x20, "location"), (0x40, "eye"), (0x80, "pattern drawn on the key"),
        (0x100, "hand"), (0x800, "PIN"), (0x1000, "pattern"),
    ]

    private static func list(_ names: [String]) -> String { names.map { $0.printable }.listed() }

    private static func certification(_ entry: CBOR.Map.Entry) -> String {
        "\(entry.key.text ?? "\(entry.key)") \(entry.value.unsigned.map(String.init) ?? "\(entry.value)")"
    }

    /// The bytes of a version in the encoding most vendors use.
    private static func dotted(_ version: UInt64) -> String {
        guard version > 0xFFFF, version <= 0xFF_FFFF else { return "" }
        return " (\(version >> 16).\(version >> 8 & 0xFF).\(version & 0xFF))"
    }
}

/// Describes the options of a key (CTAP 2.3 §6.4, options).
enum OptionDescriptions {
    /// The meaning of an option; empty for unknown ones.
    static func meaning(_ name: String, _ value: Bool) -> String {
        guard let words = meanings.first(where: { $0.key == name })?.value else { return "" }
        return value ? words.yes : words.no
    }

    private static let meanings: KeyValuePairs<String, (yes: String, no: String)> = [
        "rk": ("stores credentials (passkeys)", "stores no credentials"),
        "up": ("waits for a touch", "does not wait for a touch"),
        "uv": ("verifies its user itself", "can verify its user itself, once set up"),
        "plat": ("is built into this machine", "roaming (not built into a machine)"),
        "clientPin": ("a PIN is set", "no PIN is set"),
        "pinUvAuthToken": ("grants permissions one by one", "grants all permissions at once"),
        "noMcGaPermissionsWithClientPin": (
            "the PIN does not apply to credentials", "the PIN also applies to credentials"
        ),
        "largeBlobs": ("stores large blobs", "stores no large blobs"),
        "ep": ("enterprise attestation is enabled", "enterprise attestation can be enabled"),
        "bioEnroll": ("fingerprints are enrolled", "fingerprints can be enrolled"),
        "userVerificationMgmtPreview": (
            "fingerprints are enrolled (preview)", "fingerprints can be enrolled (preview)"
        ),
        "uvBioEnroll": ("a fingerprint is enough to enroll others", "enrolling fingerprints requires the PIN"),
        "authnrCfg": ("can be configured", "cannot be configured"),
        "uvAcfg": ("a fingerprint is enough to configure it", "configuring it requires the PIN"),
        "credMgmt": ("lists and deletes its credentials", "does not list its credentials"),
        "perCredMgmtRO": ("issues a persistent token to list credentials", "issues no persistent token"),
        "credentialMgmtPreview": ("lists and deletes its credentials (preview)", "does not list its credentials"),
        "setMinPINLength": ("the minimum PIN length can be set", "the minimum PIN length cannot be set"),
        "makeCredUvNotRqd": (
            "creates non-discoverable credentials without the PIN",
            "creates credentials only with the PIN, once one is set"
        ),
        "alwaysUv": ("always verifies its user", "verifies its user on request"),
        "makeCredUvNotRequired": ("creates credentials without the PIN", "creates credentials only with the PIN"),
    ]
}
