// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKCrypto
import YKFIDO
import YKKeys
import YKPIV
import YKSSH
import YKWire
import YKX509

/// Commands for SSH.
struct SSHGroup: ParsableCommand {
    static let about = About(
        "ssh", "Keys for OpenSSH: PIV slots, FIDO credentials, an agent for both.",
        discussion: """
            A FIDO credential is made and kept as OpenSSH does it: a key file that holds no secret, or a credential that \
            the key remembers and 'ssh-keygen -K' finds. Signatures are those of 'ssh-keygen -Y'.
            """,
        subcommands: [
            SSHKeys.self, SSHGenerate.self, SSHDownload.self, SSHDelete.self, SSHSign.self, SSHVerify.self,
            SSHAgentVerb.self,
        ])
}

/// A key in a PIV slot that SSH can use.
struct SSHSlotKey {
    let slot: PIVSlot
    let key: SSHPublicKey
    let comment: String
    /// When the key requires the PIN; `nil` if the card does not report it.
    let pinPolicy: PINPolicy?

    var identity: SSHIdentity { SSHIdentity(publicKey: key, comment: comment) }

    var json: JSONValue {
        var object = key.jsonMembers(comment)
        object["slot"] = .string(slot.description)
        return .object(object)
    }

    /// The signing slots; 9D is for decryption.
    static let slots = [PIVSlot.authentication, .signature, .cardAuthentication] + PIVSlot.retired

    /// Returns the keys in a card's slots, according to its metadata or certificates.
    static func all(of service: PIVService, serial: UInt32?) async throws -> [SSHSlotKey] {
        all(try await service.keys(in: slots), serial: serial)
    }

    /// Returns those of a card's keys that SSH can use.
    static func all(_ keys: [PIVSlotKey], serial: UInt32?) -> [SSHSlotKey] {
        let name = serial.map { " \($0)" } ?? ""
        return keys.compactMap { slot in
            guard slots.contains(slot.slot), let key = SSHPublicKey(slot.publicKey) else { return nil }
            return SSHSlotKey(
                slot: slot.slot, key: key, comment: "PIV \(slot.slot)\(name)", pinPolicy: slot.policies?.pin)
        }
    }
}

extension SSHPublicKey {
    func jsonMembers(_ comment: String) -> JSONValue.Object {
        var object = JSONValue.Object()
        object["type"] = .string(type)
        object["line"] = .string(line(comment: comment))
        object["fingerprint"] = .string(fingerprint)
        object["comment"] = .string(comment)
        object["application"] = application.map(JSONValue.string) ?? .null
        return object
    }
}

/// A credential stored on a key for SSH, which means that its relying party begins with `ssh:`.
struct SSHCredential {
    let remembered: DiscoverableCredential
    let file: SecurityKeyFile

    /// The file name that `ssh-keygen -K` uses: type, application and user, without characters that paths do not allow.
    var fileName: String {
        let type = file.publicKey.type.contains(bytesOf: "ed25519") ? "ed25519" : "ecdsa"
        let application = (file.publicKey.application ?? "").dropFirst("ssh:".count)
        let parts = [String(application), user].filter { !$0.isEmpty }
        let name = (["id_\(type)_sk_rk"] + parts).joined(separator: "_")
        return String(name.map { $0 == "/" || $0.unicodeScalars.contains { $0.isHazardous } ? "_" : $0 })
    }

    /// The user's identifier as text, if it is valid text.
    private var user: String {
        var bytes = remembered.credential.user.id
        while bytes.last == 0 { bytes.removeLast() }
        guard bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }

    var words: String { "\(file.publicKey.application ?? "")\(user.isEmpty ? "" : ", user '\(user.printable)'")" }

    var json: JSONValue {
        var object = file.publicKey.jsonMembers(file.comment)
        object["credentialId"] = .string(remembered.id)
        object["verifyRequired"] = .bool(file.flags.contains(.verificationRequired))
        return .object(object)
    }

    /// Returns those stored on a key; requires the PIN.
    static func all(of service: FIDOService) async throws -> [SSHCredential] {
        let builtIn = try await service.info().hasBuiltInUV
        return try await service.discoverableCredentials().compactMap { remembered in
            let application = remembered.relyingParty.id
            guard application.lowercased().hasPrefix("ssh:"),
                let key = SSHPublicKey(cose: remembered.credential.publicKey, application: application)
            else { return nil }
            var flags: SecurityKeyFile.Flags = [.touchRequired, .resident]
            if remembered.credential.protection == .required, !builtIn { flags.insert(.verificationRequired) }
            return SSHCredential(
                remembered: remembered,
                file: SecurityKeyFile(
                    publicKey: key, flags: flags, handle: remembered.credential.id.id, comment: application))
        }
    }

    /// Returns the credential for a query: by its identifier, application or user, or by part of one.
    static func one(_ query: String, in all: [SSHCredential], _ world: World) throws -> SSHCredential {
        let exact = all.filter {
            $0.file.publicKey.application == query || $0.file.publicKey.application == "ssh:\(query)"
        }
        if let only = exact.first, exact.count == 1 { return only }
        let found = try DiscoverableCredential.one(query, in: all.map(\.remembered), world)
        guard let one = all.first(where: { $0.remembered.id == found.id }) else {
            throw Explanation(
                "no-such-credential", .notFound, "the key stores no credential '\(query.printable)' for SSH")
        }
        return one
    }
}
