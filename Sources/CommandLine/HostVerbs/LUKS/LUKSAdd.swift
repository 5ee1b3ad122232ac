// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKCrypto
import YKFIDO
import YKKeys
import YKLUKS
import YKPIV
import YKTransport
import YKWire

/// Enrolls a key.
struct LUKSAdd: Verb {
    static let uses: GlobalUse = [.device, .virtual, .plan]
    static let about = About(
        "Let a key open a volume.",
        discussion: """
            Creates a FIDO2 credential that derives a passphrase, adds a key slot with it, and writes the token from \
            which 'ykit luks key' and systemd-cryptsetup derive it again. Two touches are required. The volume is \
            unlocked with a passphrase, a file, or a key that opens it already.
            """,
        examples: [
            Example("sudo ykit luks add /dev/sda2", "Enroll the key that is plugged in."),
            Example("sudo ykit luks add /dev/sda2 --piv 9d", "Enroll the key in a PIV slot."),
            Example(
                "sudo ykit luks add /dev/sda2 --device 23456789 --unlock-with 12345678",
                "Enroll a spare key; the first one unlocks the volume."),
        ])

    @OptionGroup var place: LUKSPlace

    @OptionGroup var agreement: Agreement
    @OptionGroup var unlocking: LUKSUnlocking
    @OptionGroup var key: LUKSNewKey

    func run(in run: Run) async throws -> Outcome<LUKSEnrolled> {
        let volume = try place.open(isChanged: true)
        let cryptsetup = try volume.cryptsetup(run)
        let prepared = try await key.prepare(volume, run)
        if let own = prepared.own.first {
            try agreement.ask(
                "this key already opens \(volume.name) with token \(own.number), "
                    + "and enrolling it again adds no spare: enroll it?",
                in: run)
        }
        try key.plan(volume, run)
        try run.endPlan(nil)
        let present = try await unlocking.open(volume, cryptsetup, in: run)
        let enrollment = try await key.enroll(prepared, volume, run)
        let added = try run.showing("adding a key slot to \(volume.name)") {
            try volume.changing { () throws(LUKSError) in
                try enrollment.add(to: volume.path, volume.metadata, present: present, cryptsetup)
            }
        }
        let report = LUKSEnrolled(volume, enrollment, prepared.name, slot: added.slot, token: added.token)
        return Outcome(report, "\(prepared.name.words) opens key slot \(added.slot) of \(volume.name)")
    }
}

/// A key that was enrolled.
struct LUKSEnrolled: Report {
    let uuid: String
    let kind: String
    let key: LUKSKeyName
    let slot: Int
    let token: Int
    let credential: [UInt8]?
    /// The slot that was removed, and the backup that contains it.
    var removed: (slot: Int, backup: String)?

    init(_ volume: LUKSVolume, _ enrollment: LUKSEnrollment, _ key: LUKSKeyName, slot: Int, token: Int) {
        (uuid, self.key, self.slot, self.token) = (volume.header.uuid, key, slot, token)
        if case .fido2(let token) = enrollment.kind {
            (kind, credential) = ("fido2", token.credential)
        } else {
            (kind, credential) = ("pkcs11", nil)
        }
    }

    static let members: [Member<Self>] = [
        Member("uuid") { $0.uuid }, Member("keyslot") { $0.slot }, Member("token", "its number") { $0.token },
        Member("kind", "fido2 or pkcs11") { $0.kind }, Member("key") { $0.key },
        Member("credentialId", "of fido2") { $0.credential.map(Base64.encodeURL) },
        Member("removedKeyslot", "by 'replace'") { $0.removed?.slot },
        Member("backup", "of the header, by 'replace'") { $0.removed?.backup },
    ]
}

/// The key that is to open a volume.
struct LUKSNewKey: ParsableArguments {
    static let title = "Key Options"

    @Option(
        "--piv <slot>",
        help:
            "Use the key in this PIV slot, RSA, P-256 or P-384, instead of a new FIDO2 credential; systemd supports "
            + "elliptic curves from version 255 on."
    )
    var slot: PIVSlot?

    @Option(
        "--uv", among: VerificationChoice.ofSecrets,
        help: "User verification, by PIN or fingerprint: required or discouraged. Each gives a different secret.")
    var uv: VerificationChoice?

    @OptionGroup var pin: PINOptions

    func check() throws {
        if slot != nil, uv != nil { throw UsageError("--uv is for FIDO2; a PIV slot has its own policy") }
    }

    private var isVerified: Bool { uv ?? .required == .required }

    /// The steps of a plan.
    func plan(_ volume: LUKSVolume, _ run: Run) throws {
        let (keyslot, token) = try volume.changing { () throws(LUKSError) in
            (try volume.metadata.freeKeyslot(), try volume.metadata.freeToken())
        }
        let what =
            slot.map { "derive a passphrase with the key in slot \($0)" }
            ?? "create a credential for \(SystemdToken.defaultRPID), and derive a passphrase with it"
        run.describe(what)
        run.describe("add key slot \(keyslot) to \(volume.name)", ["cryptsetup luksAddKey"])
        run.describe("prove that it opens the volume", ["cryptsetup open --test-passphrase"])
        run.describe("write token \(token)", ["cryptsetup token import"])
    }

    /// What is known about the key before it is used: its name, and the volume's tokens that are already its own.
    struct Prepared {
        let name: LUKSKeyName
        let own: [LUKSToken]
        fileprivate let fido: FIDOService?
        fileprivate let piv: (service: PIVService, key: PublicKey)?
    }

    /// Opens the key, and refuses one that cannot derive a passphrase. Nothing is changed yet.
    func prepare(_ volume: LUKSVolume, _ run: Run) async throws -> Prepared {
        let key = try await run.foundKey()
        let name = LUKSKeyName(KeyDetails(try await key.identity()))
        if let slot {
            let service = try await run.openPIV()
            let publicKey = try await service.publicKey(slot)
            guard SystemdPKCS11Token.suits(publicKey) else { throw LUKSError.unfitKey }
            if try await unlessRefused({ try await service.certificate(slot) }) == nil {
                run.terminal.warn(
                    "no-certificate",
                    "slot \(slot) has no certificate, without which PKCS#11 modules may not show its key to systemd")
            }
            let own = volume.metadata.tokens.filter { token in
                guard case .pkcs11(let found) = token.kind else { return false }
                return token.serial != nil && token.serial == name.serial && found.slot == slot
            }
            return Prepared(name: name, own: own, fido: nil, piv: (service, publicKey))
        }
        let service = try await run.openFIDO(pin, for: "enroll it for \(volume.name)")
        try await checkFIDO(service)
        let own = try await run.perform { try await service.ownTokens(volume.metadata.tokens) } ?? []
        return Prepared(name: name, own: own, fido: service, piv: nil)
    }

    private func checkFIDO(_ service: FIDOService) async throws {
        guard await service.hasCTAP2, try await service.info().extensions.contains("hmac-secret") else {
            throw Explanation(
                "not-supported", .notSupported, "the key cannot open volumes: it has no hmac-secret extension",
                hint: "use a FIDO2 key, or a PIV slot with --piv 9d")
        }
        let info = try await service.info()
        if isVerified, !info.hasPIN, !info.givesTokenForUV {
            var missing = Explanation(FIDOError.pinNotSet)
            missing.hint = "ykit fido2 pin set; or without a PIN: --uv discouraged"
            throw missing
        }
        // systemd 252 does not request user verification if the token says that it is not required.
        if !isVerified, info.option(.alwaysUv) == true {
            throw Explanation(
                "not-supported", .notSupported, "this key always verifies the user, so the token must require it",
                hint: "--uv required")
        }
    }

    /// Derives the key's passphrase; requires touches.
    func enroll(_ key: Prepared, _ volume: LUKSVolume, _ run: Run) async throws -> LUKSEnrollment {
        let (kind, secret) =
            if let fido = key.fido { try await credential(fido, volume, run) } else {
                try await card(key, volume, run)
            }
        return LUKSEnrollment(kind, secret: secret, name: key.name.name, serial: key.name.serial)
    }

    private func credential(
        _ service: FIDOService, _ volume: LUKSVolume, _ run: Run
    ) async throws -> (LUKSToken.Kind, SharedSecret) {
        let wanted = SystemdToken(
            rpID: SystemdToken.defaultRPID, credential: [],
            salt: try run.environment.random.draw(32, secret: false), isVerified: isVerified, needsTouch: true)
        let uuid = volume.header.uuid
        let user = uuid.isEmpty ? nil : FIDOUser(id: Array(uuid.utf8), name: uuid, displayName: volume.data)
        run.announce("a credential for \(volume.name), then its passphrase")
        let token = try await service.createCredential(for: wanted, of: user, random: run.environment.random)
        let secret = try await service.secret(of: token)
        await service.close()
        return (.fido2(token), secret)
    }

    private func card(
        _ key: Prepared, _ volume: LUKSVolume, _ run: Run
    ) async throws -> (LUKSToken.Kind, SharedSecret) {
        guard let (service, publicKey) = key.piv, let slot, let kind = PIVAlgorithm(publicKey) else {
            throw LUKSError.unfitKey
        }
        let (token, secret) = try SystemdPKCS11Token.enrolling(
            publicKey, uri: SystemdPKCS11Token.uri(of: slot, serial: key.name.serial), random: run.environment.random)
        let derived = try await run.piv(service, pin).secret(
            of: token, slot, kind, for: "prove that it opens \(volume.name)")
        await service.close()
        guard derived.value == secret.value else {
            throw Explanation.malformedReply("the key in slot \(slot) does not derive the secret of its public key")
        }
        return (.pkcs11(token), secret)
    }
}
