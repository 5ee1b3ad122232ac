// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import Verbs
import YKFIDO
import YKTransport
import YKWire

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
