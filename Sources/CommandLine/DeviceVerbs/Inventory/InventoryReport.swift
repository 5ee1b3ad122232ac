// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import Verbs
import YKInventory
import YKWire

/// What a key opens, in the form of a saved inventory.
struct InventoryReport: Report {
    let inventory: Inventory

    static let members: [Member<InventoryReport>] = [
        Member("format", "the name of the format of a saved inventory") { _ in Inventory.format },
        Member("formatVersion") { _ in Inventory.formatVersion },
        Member("key") { $0.inventory.key },
        Member("time", "seconds since 1970") { $0.inventory.time },
        Member("timeUTC", "the same in RFC 3339") { UTCDate.timestamp($0.inventory.time) },
        Member("timestamp", "the same as timeUTC") { UTCDate.timestamp($0.inventory.time) },
        Member("items") { $0.inventory.items },
        Member("kinds", "the kinds that were looked for") { report in
            Inventory.Kind.allCases.filter(report.inventory.kinds.contains).map(\.rawValue)
        },
        Member("gaps", "what was not read") { $0.inventory.gaps },
    ]

    /// The items by kind, with their number, and what was not read.
    var lines: [String] {
        var lines = [inventory.key.words]
        for kind in Inventory.Kind.allCases {
            let items = inventory.items.filter { $0.kind == kind }
            guard !items.isEmpty else { continue }
            lines += ["", Style.bold.around("\(kind.words) (\(items.count))")] + items.map { "  \($0.name.printable)" }
        }
        if inventory.items.isEmpty { lines += ["", "nothing that ykit can list"] }
        guard !inventory.gaps.isEmpty else { return lines }
        return lines + ["", "not read"] + inventory.gaps.map { "  " + $0.words }.asProse
    }
}

extension InventoriedKey: Report {
    static let members: [Member<InventoriedKey>] = [
        Member("name") { $0.name }, Member("serial") { $0.serial }, Member("firmware") { $0.version },
    ]

    /// Name and serial number.
    var words: String { name.printable + (serial.map { " \($0.printable)" } ?? "") }
}

extension Inventory.Item: Report {
    static let members: [Member<Inventory.Item>] = [
        Member("kind") { $0.kind },
        Member("target", "what the item opens; used to match the items of two keys") { $0.target },
        Member("name") { $0.name },
        Member("mark", "equal for the same secret or private key; not itself secret") { $0.mark },
        Member("relyingParty", "of a passkey") { $0.relyingParty },
    ]
}

extension Inventory.Kind: Reportable {}

extension Inventory.Gap: Report {
    static let members: [Member<Inventory.Gap>] = [
        Member("kind") { $0.kind },
        Member("reason", "not-requested, locked, failed or unknown") { $0.reason.rawValue },
    ]
}

extension Inventory.Kind {
    /// Its items, in the plural.
    var words: String {
        switch self {
        case .passkey: "passkeys"
        case .oath: "OATH accounts"
        case .piv: "PIV keys"
        case .openPGP: "OpenPGP keys"
        case .ssh: "SSH keys"
        case .age: "keys for age"
        case .pamU2F: "logins with pam_u2f"
        case .luks: "LUKS2 volumes"
        case .otp: "OTP slots"
        case .hsmAuth: "YubiHSM credentials"
        case .secrets: "entries of Secrets"
        }
    }

    /// How to add to a second key what only the first one has.
    var advice: String {
        switch self {
        case .passkey: "register the second key at the site: the address follows each passkey"
        case .oath: "add the account to both keys while its QR code is shown; sites show it again only for a new secret"
        case .piv: "generate a key in the same slot and have it certified; keep the first key to read old mail"
        case .openPGP: "add subkeys of the second key; a decryption key can only be copied from a backup"
        case .ssh: "'ykit ssh generate', then add the public key wherever the first one is authorized"
        case .age: "'ykit age generate', then encrypt files to both recipients"
        case .pamU2F: "'ykit fido2 register --format pam-u2f --append FILE' with the second key"
        case .luks: "'ykit luks add VOLUME' with the second key"
        case .otp: "program the slot of both keys with one secret: 'ykit otp chalresp SLOT' on each"
        case .hsmAuth: "'ykit hsmauth add' with the same key or password"
        case .secrets: "'ykit secrets add' with the same secret, while the site shows it"
        }
    }
}

extension Inventory.Gap {
    /// What was not read, and why.
    var words: String {
        switch reason {
        case .notRequested: "the \(kind.words) were not listed, which requires the PIN: --passkeys"
        case .locked: "the \(kind.words) are locked with a password"
        case .failed: "the \(kind.words) could not be read"
        case .unknown: "for some \(kind.words) the key does not report whether they are its own"
        }
    }
}
