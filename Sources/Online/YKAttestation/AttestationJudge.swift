// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKManagement
public import YKPIV
public import YKRelyingParty
public import YKWire
public import YKX509

/// Judges attestations of all forms by the same rules.
public struct AttestationJudge: Sendable {
    /// The trusted roots; if empty, those of Yubico.
    public var roots: [X509Certificate] = []
    /// Intermediate certificates, in addition to Yubico's and those in the evidence.
    public var intermediates: [X509Certificate] = []
    /// The metadata that FIDO models must be listed in.
    public var metadata: MetadataPolicy?
    /// The key that the attestation should be for.
    public var subject: AttestedSubject?
    /// The challenge that should have been answered.
    public var challenge: AttestationChallenge?
    /// What a verdict must meet besides.
    public var requirements: [AttestationRequirement] = []
    /// What the card that returned the statement reports apart from it.
    public var card: Card?
    /// Whether to accept signatures with SHA-1, as TPMs of many Windows computers make (RS1).
    public var allowsSHA1 = false
    /// The time at which roots and intermediates must be valid, in seconds since 1970.
    public var time: Int64

    /// What a card reports apart from an attestation.
    public enum Card: Sendable {
        /// A PIV card: the slot that was asked for, its serial number, and the key in the slot.
        case piv(slot: PIVSlot, serial: UInt32?, key: PublicKey?)
        /// An OpenPGP card: the key in the slot.
        case openPGP(key: PublicKey)
    }

    /// Creates a judge that trusts Yubico.
    public init(at time: Int64) { self.time = time }

    /// Judges everything that files contain.
    ///
    /// - Returns: A verdict on each statement, request and registration, in this order; for certificates without any
    ///   statement, one on each that issued none of the others. It is empty only for empty evidence.
    public func verdicts(on evidence: AttestationEvidence) -> [AttestationVerdict] {
        let bench = AttestationBench(evidence)
        var verdicts = bench.requests(self) + bench.certificates(self)
        let used = Set(bench.used(by: evidence.requests))
        verdicts += bench.statements.filter { !used.contains($0) }.map { bench.verdict(on: $0, .piv, self) }
        verdicts += bench.openPGP.map { bench.verdict(onOpenPGP: $0, self) }
        verdicts += evidence.ssh.map { verdict(on: $0) }
        verdicts += evidence.registrations.flatMap { self.verdicts(on: $0, evidence.certificates) }
        verdicts += evidence.steps.map { verdict(on: $0, evidence) }
        if verdicts.isEmpty { verdicts = bench.ends.map { unattested($0) } }
        return verdicts.map { finished($0) }
    }

    /// Judges a PIV statement that a card returned, with the certificate of its device.
    public func verdict(
        on statement: X509Certificate, device: X509Certificate, proofs: [AttestationProof] = []
    ) -> AttestationVerdict {
        let bench = AttestationBench(AttestationEvidence(certificates: [statement, device], proofs: proofs))
        return finished(bench.verdict(on: statement, .piv, self, beside: [device]))
    }

    /// Judges an OpenPGP statement that a card returned, with the certificate of its attestation key.
    public func verdict(onOpenPGP statement: X509Certificate, device: X509Certificate) -> AttestationVerdict {
        let bench = AttestationBench(AttestationEvidence(certificates: [statement, device]))
        return finished(bench.verdict(onOpenPGP: statement, self, beside: [device]))
    }

    /// Adds what depends on the finished verdict only.
    private func finished(_ verdict: AttestationVerdict) -> AttestationVerdict {
        var verdict = verdict
        if let subject, let key = verdict.key, !subject.matches(key) { verdict.note(.notExpectedKey) }
        for finding in requirements.compactMap({ $0.finding(in: verdict) }) { verdict.note(finding) }
        verdict.advisories = verdict.flaws
        return verdict
    }

    /// Judges the attestation of a FIDO credential; its ceremony is verified apart from that.
    ///
    /// - Parameters:
    ///   - object: The attestation object of the registration.
    ///   - clientDataHash: SHA-256 of the client data.
    public func verdict(on object: AttestationObject, clientDataHash: [UInt8]) -> AttestationVerdict {
        var verdict = AttestationVerdict(.webAuthn)
        verdict.take(object.authenticatorData)
        judge(object, clientDataHash, [], &verdict)
        return finished(verdict)
    }

    private func unattested(_ certificate: X509Certificate) -> AttestationVerdict {
        var verdict = AttestationVerdict(.certificate)
        verdict.key = certificate.subjectPublicKeyInfo
        verdict.note(.noStatement)
        return verdict
    }

    /// The chain for a vendor's forms: its roots if no others are given, and in any case its intermediate certificates,
    /// which firmware 5.7.4 leaves out.
    func chain(_ vendor: AttestationChain, _ others: [X509Certificate]) -> AttestationChain {
        AttestationChain(
            roots: roots.isEmpty ? vendor.roots : roots, others: intermediates + vendor.others + others)
    }
}

extension AttestationVerdict {
    /// The published flaws of the firmware that concern the key.
    var flaws: [KnownFlaw] {
        guard let firmware else { return [] }
        let application: Capability
        switch form {
        case .piv, .request, .certificate, .step: application = .piv
        case .openPGP: application = .openPGP
        case .ssh, .webAuthn, .signingKey: application = .fido2
        }
        var info = DeviceInfo(version: firmware, usb: application)
        info.formFactor = formFactor ?? .unknown
        info.isFIPSSeries = isFIPS ?? false
        let isRSA = key?.algorithm.type == "1.2.840.113549.1.1.1"
        return KnownFlaw.of(info).filter { flaw in
            switch flaw.name {
            case KnownFlaw.roca: isRSA
            case KnownFlaw.eucleak: !isRSA
            case KnownFlaw.resetCode: false
            default: true
            }
        }
    }
}
