// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKFIDO
import YKKeys
import YKLUKS
import YKWire

/// Lists what opens a volume.
struct LUKSList: Verb {
    static let uses: GlobalUse = [.device, .virtual]
    static let about = About(
        "Show which key opens which key slot of a volume.",
        discussion: """
            Each key that is plugged in is asked which credentials are its own, without a touch or PIN. For other \
            keys, the token may contain the serial number.
            """,
        examples: [Example("ykit luks list /dev/sda2")])

    @OptionGroup var place: LUKSPlace

    func run(in run: Run) async throws -> Outcome<LUKSListing> {
        let volume = try place.open()
        var (attached, warnings) = ([Int: LUKSKeyName](), volume.warnings)
        var keys: [Key] = []
        if volume.metadata.tokens.contains(where: \.isOfKey) {
            do { keys = try await run.keys.all() } catch {
                try run.checkInterrupted()
                warnings.append(Warning(Explanation(error)) { "no key was asked: \($0)" })
            }
        }
        for key in keys {
            let name = LUKSKeyName(key)
            do {
                let own = try await key.ownTokens(volume.metadata.tokens)
                for token in own { attached[token.number] = name }
                if let warning = Self.warning(of: own, name) { warnings.append(warning) }
            } catch {
                try run.checkInterrupted()
                warnings.append(Warning(Explanation(error)) { "\(name.words) was not asked: \($0)" })
            }
        }
        warnings += Self.twins(volume.metadata.tokens.filter { attached[$0.number] == nil })
        let listing = LUKSListing(volume, attached)
        var outcome = Outcome(listing, listing.lines)
        outcome.answer.warnings = warnings
        return outcome
    }

    /// The warning about a key that is enrolled more than once: it is not a spare.
    private static func warning(of own: [LUKSToken], _ name: LUKSKeyName) -> Warning? {
        let kinds = Dictionary(grouping: own, by: \.kindName).values.filter { $0.count > 1 }
        guard let tokens = kinds.first else { return nil }
        let numbers = tokens.map { "\($0.number)" }.joined(separator: " and ")
        return Warning(
            "same-key", "tokens \(numbers) are for the same key, \(name.words): remove one with 'ykit luks remove'")
    }

    /// Warnings about keys that are not plugged in, as far as their tokens name them.
    private static func twins(_ tokens: [LUKSToken]) -> [Warning] {
        tokens.indices.compactMap { index in
            guard let twin = tokens[..<index].first(where: { $0.isOfSameKey(as: tokens[index]) }) else { return nil }
            let name = twin.keyWords.map { ", \($0)" } ?? ""
            return Warning(
                "same-key", "tokens \(twin.number) and \(tokens[index].number) are for the same key\(name)")
        }
    }
}

/// The name of a key that is plugged in.
struct LUKSKeyName: Report {
    let name: String
    let serial: String?

    init(_ key: Key) { (name, serial) = (key.name, key.serial) }

    init(_ details: KeyDetails) { (name, serial) = (details.name, details.serial) }

    var words: String { [name.printable, serial?.printable].compactMap(\.self).joined(separator: " ") }

    static let members: [Member<Self>] = [
        Member("name") { $0.name }, Member("serial", "null if the key does not report it") { $0.serial },
    ]
}

/// The key slots of a volume, and what opens them.
struct LUKSListing: Report {
    /// A key slot with one of its tokens.
    struct Entry: Report {
        let slot: LUKS2Metadata.Keyslot
        let token: LUKSToken?
        let attached: LUKSKeyName?

        private var credential: SystemdToken? { if case .fido2(let token)? = token?.kind { token } else { nil } }
        private var card: SystemdPKCS11Token? { if case .pkcs11(let token)? = token?.kind { token } else { nil } }

        static let members: [Member<Self>] = [
            Member("keyslot") { $0.slot.number },
            Member("opensVolume", "false for a slot with a key other than the volume's") { $0.slot.opensVolume },
            Member("kdf") { $0.slot.kdf },
            Member("kind", "fido2, pkcs11, recovery, other, or passphrase for a slot without a token") {
                $0.token?.kindName ?? "passphrase"
            },
            Member("token", "its number") { $0.token?.number },
            Member("type", "of the token") { $0.token?.type },
            Member("name", "of the key, as the token has it") { $0.token?.name },
            Member("serial", "of the key, as the token has it") { $0.token?.serial },
            Member("attachedKey", "the key that is plugged in and opens the slot") { $0.attached },
            Member(ifKnown: "credentialId", "of fido2") { $0.credential.map { Base64.encodeURL($0.credential) } },
            Member(ifKnown: "verified", "of fido2: whether the PIN is required") { $0.credential?.isVerified },
            Member(ifKnown: "touch", "of fido2: whether a touch is required") { $0.credential?.needsTouch },
            Member(ifKnown: "uri", "of pkcs11") { $0.card?.uri },
        ]

        var cells: [String] {
            guard let token else { return ["\(slot.number)", slot.words] }
            let key = attached.map { $0.words + ", plugged in" } ?? token.keyWords
            return ["\(slot.number)", token.words] + (key.map { [$0] } ?? [])
        }
    }

    let uuid: String
    let label: String
    let entries: [Entry]

    static let members: [Member<Self>] = [
        Member("uuid") { $0.uuid }, Member("label") { $0.label.isEmpty ? nil : $0.label },
        Member("keyslots") { $0.entries },
    ]

    init(_ volume: LUKSVolume, _ attached: [Int: LUKSKeyName]) {
        (uuid, label) = (volume.header.uuid, volume.header.label)
        entries = volume.metadata.keyslots.flatMap { slot in
            let tokens = volume.metadata.tokens(of: slot.number)
            if tokens.isEmpty { return [Entry(slot: slot, token: nil, attached: nil)] }
            return tokens.map { Entry(slot: slot, token: $0, attached: attached[$0.number]) }
        }
    }

    var lines: [String] {
        let title = [uuid, label].filter { !$0.isEmpty }.map(\.printable).joined(separator: " ")
        return [title] + Table.lines([["slot", "opened by", "key"]] + entries.map(\.cells))
    }
}

extension LUKS2Metadata.Keyslot {
    fileprivate var words: String {
        guard let kdf else { return "not a passphrase" }
        return opensVolume ? "passphrase or key file (\(kdf.printable))" : "a key other than the volume's"
    }
}
