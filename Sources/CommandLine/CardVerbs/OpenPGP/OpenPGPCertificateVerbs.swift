// SPDX-License-Identifier: Apache-2.0

import Arguments
import Verbs
import YKCrypto
import YKOpenPGP
import YKPIV
import YKWire
import YKX509

/// Commands for certificates.
struct OpenPGPCertificatesGroup: ParsableCommand {
    static let about = About(
        "certificates", "Certificates of the slots.",
        subcommands: [
            OpenPGPImportCertificate.self, OpenPGPExportCertificate.self, OpenPGPDeleteCertificate.self,
        ])
}

/// Imports a certificate into a slot.
struct OpenPGPImportCertificate: Verb {
    static let about = About(
        "import", "Import a certificate from a file into a slot.",
        discussion: """
            The file is PEM, DER or PKCS#12. Of several certificates the one that belongs to the key in the slot is \
            imported, or, without a key there, the one that issued no other.
            """,
        members: ["slot", "certificate"])

    @Argument("slot", help: "The slot.") var slot: OpenPGPSlot

    @Argument("file", help: "The file with the certificate, - for standard input.", completion: .file) var file: String

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var fileOptions: FilePasswordOptions
    @OptionGroup var admin: AdminPINOptions

    func answer(in world: World) async throws -> Answer {
        let content = try fileOptions.certificates(file, world)
        let service = try await world.openOpenPGP()
        var answer = Answer("put a certificate into \(slot)", [:])
        let key = try? await service.publicKey(slot)
        let certificate = try content.certificate(for: key, in: file)
        if let key, certificate.publicKey != key {
            answer.warnings.append("the certificate is of another key than the one in the slot")
        }
        try await service.checkRoom(for: certificate.der)
        try await world.askToReplaceCertificate(slot, service, confirmation)
        try await world.administer(admin, service, for: "store a certificate")
        try await service.putCertificate(certificate.der, slot)
        answer.lines += Table.details(certificate.rows(at: world.now))
        answer.members["slot"] = .string(slot.description)
        answer.members["certificate"] = certificate.json
        return answer
    }
}

/// Exports a certificate.
struct OpenPGPExportCertificate: Verb {
    static let about = About(
        "export", "Write the certificate of a slot. No PIN is required.", members: CertificateExport.members)

    @Argument("slot", help: "The slot.") var slot: OpenPGPSlot

    @OptionGroup var export: CertificateExport

    func answer(in world: World) async throws -> Answer {
        let output = try export.output(world)
        let service = try await world.openOpenPGP()
        return try export.write(try X509Certificate(reading: try await service.certificate(slot)), of: slot, to: output)
    }
}

/// Deletes a certificate.
struct OpenPGPDeleteCertificate: Verb {
    static let about = About("delete", "Delete the certificate of a slot; its key stays.", members: ["slot"])

    @Argument("slot", help: "The slot.") var slot: OpenPGPSlot

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var admin: AdminPINOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openOpenPGP()
        _ = try await service.certificate(slot)
        try confirmation.ask("the certificate of \(slot) would be lost; go on?", in: world)
        try await world.administer(admin, service, for: "delete a certificate")
        try await service.deleteCertificate(slot)
        return Answer("the certificate of \(slot) is deleted", ["slot": .string(slot.description)])
    }
}

/// Creates an attestation for a key that was generated on the card.
struct OpenPGPAttest: Verb {
    static let about = About(
        "attest", "Have a YubiKey certify that it generated the key of a slot.",
        discussion: """
            The key writes the statement over the slot's certificate. It is checked that the attestation key signed it, \
            that it is on the key in the slot, and that the attestation key is one of Yubico's: where it is not, there \
            is a warning. With --root the attestation key has to be one of those, or the exit code is 8.
            """, members: ["slot", "certificate", "output", "device", "chain", "rooted", "reason"])

    @Argument("slot", help: "The slot.") var slot: OpenPGPSlot

    @OptionGroup var trusted: TrustedCertificates

    @Argument("file", help: "Where the statement goes, - for standard output.", completion: .file) var file = "-"

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var pin: PINOptions

    func answer(in world: World) async throws -> Answer {
        let chain = try trusted.chain(orElse: .yubicoOpenPGP)
        let output = try FileOutput(file, isText: true, force: confirmation.force, world)
        let service = try await world.openOpenPGP()
        try await world.askToReplaceCertificate(slot, service, confirmation)
        let pin = try await world.openPGPPIN(pin.source, .user, of: service, for: "attest a key")
        try await world.verify(pin, for: .signing, on: service)
        let statement = try await world.touchingOpenPGP(.attestation, service) {
            try X509Certificate(reading: try await service.attest(slot))
        }
        let device = try X509Certificate(reading: try await service.certificate(.attestation))
        let isOnKey = try await statement.attests(service.publicKey(slot))
        guard isOnKey ?? true else { throw Self.wrong("another key") }
        guard device.publicKey.map(statement.isSigned) ?? false else { throw Self.wrong("another signature") }
        var answer = Answer("the statement on \(slot) is in \(file)", [:])
        try output.put(Array(statement.pem.utf8), &answer)
        answer.members["slot"] = .string(slot.description)
        answer.members["certificate"] = .string(statement.pem)
        answer.members["output"] = .string(file)
        answer.members["device"] = .string(device.pem)
        judge(statement, device, chain, at: world.now, &answer)
        if isOnKey == nil { self.answer(&answer, isNotOn: statement) }
        return answer
    }

    /// Reports that the key in the statement cannot be compared with the card's; an error only if roots were given.
    private func answer(_ answer: inout Answer, isNotOn statement: X509Certificate) {
        let type = statement.subjectPublicKeyInfo.algorithm.type
        let words = "the key in the statement cannot be compared with the card's: it has the unknown form \(type)"
        guard trusted.areNamed, answer.failure == nil else {
            answer.warnings.append(words)
            return
        }
        answer.members["rooted"] = false
        answer.members["reason"] = .string(words)
        answer.failure = Explanation("not-comparable", .authentication, words)
    }

    /// Checks whether the attestation key comes from a vendor; this affects the result only if roots were given.
    private func judge(
        _ statement: X509Certificate, _ device: X509Certificate, _ chain: AttestationChain, at now: Int64,
        _ answer: inout Answer
    ) {
        do throws(PIVError) {
            let path = try chain.verify(statement, device: device, at: now)
            answer.members["chain"] = .array(path.dropFirst().map { .string($0.subject.description) })
            answer.members["rooted"] = .bool(true)
            answer.members["reason"] = .null
        } catch {
            guard case .chain(let problem) = error else { return }
            let reason = Explain.chain(problem)
            answer.members["chain"] = .array([.string(device.subject.description)])
            answer.members["rooted"] = .bool(false)
            answer.members["reason"] = .string(reason.message)
            if trusted.areNamed {
                answer.failure = reason
            } else {
                answer.warnings.append("the attestation key is not one of Yubico's: \(reason.message)")
            }
        }
    }

    private static func wrong(_ words: String) -> Explanation {
        Explanation("not-authentic", .authentication, "the statement has \(words) than it should have")
    }
}

extension X509Certificate {
    /// Whether this is on a public key; `nil` if its key has a form that cannot be read. YubiKey 5.2 writes a Curve25519 key
    /// as one on a curve with GnuPG's identifier, or with that identifier alone.
    fileprivate func attests(_ key: PublicKey) -> Bool? {
        if let own = publicKey { return own == key }
        guard case .x25519(let bytes) = key else { return nil }
        let curve25519: OID = "1.3.6.1.4.1.3029.1.5.1"
        let algorithm = subjectPublicKeyInfo.algorithm
        guard algorithm.type == curve25519 || algorithm.parameterType == curve25519 else { return nil }
        let bits = subjectPublicKeyInfo.key
        return bits == bytes || bits == [0x40] + bytes
    }
}

extension World {
    /// Asks before overwriting a certificate.
    fileprivate func askToReplaceCertificate(
        _ slot: OpenPGPSlot, _ service: OpenPGPService, _ confirmation: Confirmation
    ) async throws {
        do { _ = try await service.certificate(slot) } catch {
            guard case .noCertificate = error else { throw error }
            return
        }
        try confirmation.ask("\(slot) has a certificate, it would be replaced; go on?", in: self)
    }
}
