// SPDX-License-Identifier: Apache-2.0

import YKCrypto
public import YKFIDO
public import YKKeys
public import YKPIV
public import YKSSH
import YKWire

/// A credential stored on a key for SSH, which means that its relying party begins with `ssh:`.
public struct SSHCredential: Sendable {
    /// The credential as the key lists it.
    public let remembered: DiscoverableCredential
    /// Its key file, which holds no secret.
    public let file: SecurityKeyFile

    /// The file name that `ssh-keygen -K` uses: type, application and user, without characters that paths do not allow.
    private var plainName: String {
        let type = file.publicKey.type.contains(bytesOf: "ed25519") ? "ed25519" : "ecdsa"
        let application = (file.publicKey.application ?? "").dropFirst("ssh:".count)
        let isPath = ["/", "..", "\\"].contains { user.contains(bytesOf: $0) }
        let parts = [String(application), isPath ? Hex.encode(userBytes) : user].filter { !$0.isEmpty }
        let name = (["id_\(type)_sk_rk"] + parts).joined(separator: "_")
        return String(name.map { $0 == "/" || $0.unicodeScalars.contains { $0.isHazardous } ? "_" : $0 })
    }

    /// Returns the names of the key files of all credentials of a key, in the same order: those that `ssh-keygen -K`
    /// uses, with the beginning of the identifier's SHA-256 where several would have the same name.
    public static func fileNames(of all: [SSHCredential]) -> [String] {
        let names = all.map(\.plainName)
        return all.indices.map { index in
            let name = names[index]
            guard names.filter({ $0 == name }).count > 1 else { return name }
            let mark = HashAlgorithm.sha256.hash(all[index].remembered.credential.id.id).prefix(8)
            return "\(name)_\(Hex.encode(Array(mark)))"
        }
    }

    /// The user's identifier as text, or in hexadecimal if it is not text; empty if all bytes are zero.
    public var user: String {
        guard let text = String(validating: userBytes, as: UTF8.self),
            !text.unicodeScalars.contains(where: { $0.isHazardous || $0.value < 0x20 || $0.value == 0x7F })
        else { return Hex.encode(userBytes) }
        return text
    }

    /// The user's identifier without the zero bytes with which `ssh-keygen` fills it.
    private var userBytes: [UInt8] {
        var bytes = remembered.credential.user.id
        while bytes.last == 0 { bytes.removeLast() }
        return bytes
    }

    /// Returns the SSH credentials stored on a key; requires the PIN.
    ///
    /// - Throws: `FIDOError`.
    public static func all(of service: FIDOService) async throws -> [SSHCredential] {
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
}

extension SSHCredential: NamedEntry {
    package static func wholeTests(_ name: String) -> [(SSHCredential) -> Bool] {
        [{ $0.file.publicKey.application == name || $0.file.publicKey.application == "ssh:\(name)" }]
            + tests(DiscoverableCredential.wholeTests(name))
    }

    package static func partTests(_ part: String) -> [(SSHCredential) -> Bool] {
        tests(DiscoverableCredential.partTests(part))
    }

    private static func tests(_ tests: [(DiscoverableCredential) -> Bool]) -> [(SSHCredential) -> Bool] {
        tests.map { test in { test($0.remembered) } }
    }
}

extension FIDOService {
    /// Signs data with the credential of a key file (PROTOCOL.u2f of OpenSSH), and verifies the signature.
    ///
    /// - Throws: `FIDOError`: `noCredentials` if the credential is on another key, `verification` if the key's
    ///   signature is wrong; `SSHError` for a signature in a different form.
    public func sign(_ data: [UInt8], with file: SecurityKeyFile) throws -> SSHSignature {
        var request = AssertionRequest(
            rpID: file.publicKey.application ?? "", clientDataHash: HashAlgorithm.sha256.hash(data),
            allowList: [CredentialDescriptor(id: file.handle)])
        request.userVerification = file.flags.contains(.verificationRequired) ? .required : .discouraged
        request.requiresPresence = file.flags.contains(.touchRequired)
        guard let signed = try assert(request).first else { throw FIDOError.noCredentials }
        let response = signed.response.authenticatorData
        let signature = try SSHSignature(
            signed.response.signature, by: file.publicKey,
            evidence: SSHSignature.Evidence(flags: response.flags.rawValue, counter: response.counter))
        guard signature.isValid(for: data, by: file.publicKey) else {
            throw FIDOError.verification(.badSignature)
        }
        return signature
    }
}

/// A key in a PIV slot that SSH can use.
public struct SSHSlotKey: Sendable {
    /// The slot.
    public let slot: PIVSlot
    /// The public key.
    public let key: SSHPublicKey
    /// The slot and the card's serial number, which distinguish the keys of several cards.
    public let comment: String
    /// When the key requires the PIN; `nil` if the card does not report it.
    public let pinPolicy: PINPolicy?

    /// The key as an agent lists it.
    public var identity: SSHIdentity { SSHIdentity(publicKey: key, comment: comment) }

    /// The signing slots; 9D is for decryption.
    public static let slots = [PIVSlot.authentication, .signature, .cardAuthentication] + PIVSlot.retired

    /// Returns the keys in a card's slots, according to its metadata or certificates.
    ///
    /// - Parameter serial: The serial number of the card, for the comments.
    public static func all(of service: PIVService, serial: UInt32?) async throws(PIVError) -> [SSHSlotKey] {
        all(try await service.keys(in: slots), serial: serial)
    }

    /// Returns the keys of a card that SSH can use.
    public static func all(_ keys: [PIVSlotKey], serial: UInt32?) -> [SSHSlotKey] {
        let name = serial.map { " \($0)" } ?? ""
        return keys.compactMap { slot in
            guard slots.contains(slot.slot), let key = SSHPublicKey(slot.publicKey) else { return nil }
            return SSHSlotKey(
                slot: slot.slot, key: key, comment: "PIV \(slot.slot)\(name)", pinPolicy: slot.policies?.pin)
        }
    }
}
