// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKManagement
import YKOpenPGP
package import YKPIV
import YKWire
import YKX509

/// The certificates of the evidence, sorted by what they are, and the rules for statements in the form of a certificate.
struct AttestationBench {
    let evidence: AttestationEvidence
    /// PIV statements.
    let statements: [X509Certificate]
    /// OpenPGP statements.
    let openPGP: [X509Certificate]
    /// Certificates that contain a statement.
    private let containers: [X509Certificate]
    /// Everything else: devices, intermediates and roots.
    let loose: [X509Certificate]

    init(_ evidence: AttestationEvidence) {
        self.evidence = evidence
        let all = evidence.certificates
        containers = all.filter { !Self.contained(in: $0.extensions).isEmpty }
        let rest = all.filter { Self.contained(in: $0.extensions).isEmpty }
        openPGP = rest.filter { OpenPGPStatement.isStatement($0) }
        let others = rest.filter { !OpenPGPStatement.isStatement($0) }
        statements = others.filter { PIVAttestation.isStatement($0) }
        loose = others.filter { !PIVAttestation.isStatement($0) }
    }

    /// The certificates that issued none of the others.
    var ends: [X509Certificate] {
        loose.filter { one in !loose.contains { $0 != one && $0.issuer == one.subject } }
    }

    /// The certificates in the extensions for attestations: DER, or in base64 or PEM. In the certificate of F9 one of these
    /// extensions has another meaning, and no certificate.
    static func contained(in extensions: [OID: X509Certificate.Extension]) -> [X509Certificate] {
        CertificateTemplate.attestationFields.compactMap { extensions[$0]?.value }.compactMap(certificate)
    }

    private static func certificate(_ value: [UInt8]) -> X509Certificate? {
        if let certificate = try? X509Certificate(der: value) { return certificate }
        if let inner = try? TLV.list(value).value(0x04), let found = try? X509Certificate(der: inner) { return found }
        if let block = PEM.contents("CERTIFICATE", in: value).first { return try? X509Certificate(der: block) }
        let text = String(decoding: value.filter { $0 > 0x20 }, as: UTF8.self)
        return (try? Base64.decode(text)).flatMap { try? X509Certificate(der: $0) }
    }

    // MARK: Requests and certificates with a statement

    /// The statements beside requests that contain none, which are judged with these.
    func used(by requests: [CertificateRequest]) -> [X509Certificate] {
        requests.filter { Self.contained(in: $0.extensions).isEmpty }.compactMap { loneStatement(for: $0) }
    }

    private func loneStatement(for request: CertificateRequest) -> X509Certificate? {
        let own = statements.first { $0.subjectPublicKeyInfo == request.subjectPublicKeyInfo }
        return own ?? (statements.count == 1 && evidence.requests.count == 1 ? statements[0] : nil)
    }

    func requests(_ judge: AttestationJudge) -> [AttestationVerdict] {
        evidence.requests.map { request in
            let inner = Self.contained(in: request.extensions)
            let lone = inner.isEmpty ? loneStatement(for: request).map { [$0] } ?? [] : []
            var verdict = verdict(.request, request.subjectPublicKeyInfo, inner + lone, judge)
            if !request.isSigned { verdict.note(.wrongSignature) }
            // The request's own signature shows that its key existed, not that it is at hand now.
            if verdict.notShown.contains(.presence) { verdict.notShown = [.freshness] }
            return verdict
        }
    }

    func certificates(_ judge: AttestationJudge) -> [AttestationVerdict] {
        containers.map { container in
            let inner = Self.contained(in: container.extensions)
            return verdict(.certificate, container.subjectPublicKeyInfo, inner, judge)
        }
    }

    private func verdict(
        _ form: AttestationVerdict.Form, _ key: SubjectPublicKeyInfo, _ inner: [X509Certificate],
        _ judge: AttestationJudge
    ) -> AttestationVerdict {
        guard let statement = inner.first(where: PIVAttestation.isStatement) else {
            var verdict = AttestationVerdict(form)
            verdict.key = key
            verdict.note(.noStatement)
            return verdict
        }
        var verdict = verdict(on: statement, form, judge, beside: inner.filter { $0 != statement })
        if !AttestedSubject(key).matches(statement.subjectPublicKeyInfo) { verdict.note(.otherKey) }
        verdict.key = key
        return verdict
    }

    // MARK: Statements

    /// Judges a PIV statement.
    ///
    /// - Parameter inner: The certificates that came with it, in addition to the loose ones.
    func verdict(
        on statement: X509Certificate, _ form: AttestationVerdict.Form, _ judge: AttestationJudge,
        beside inner: [X509Certificate] = []
    ) -> AttestationVerdict {
        var verdict = AttestationVerdict(form)
        verdict.key = statement.subjectPublicKeyInfo
        let facts: PIVAttestation
        do { facts = try PIVAttestation(statement) } catch {
            verdict.note(.malformed("\(error)"))
            return verdict
        }
        verdict.take(facts)
        let device = trace(statement, inner, judge.chain(.yubico, inner + loose), judge, &verdict)
        if device != nil { verdict.isGenerated = true }
        if let device {
            if device.extensions[Self.fips] != nil { verdict.isFIPS = true }
            verdict.isCSPN = device.extensions[Self.cspn] != nil
        }
        if case .piv(let slot, let serial, let key)? = judge.card {
            for difference in facts.differences(statement, slot: slot, serial: serial, key: key) {
                verdict.note(AttestationFinding(difference))
            }
            if key == nil { verdict.notShown.append(.card) }
        }
        answer(statement, judge, &verdict)
        return verdict
    }

    /// Judges an OpenPGP statement.
    func verdict(
        onOpenPGP statement: X509Certificate, _ judge: AttestationJudge, beside inner: [X509Certificate] = []
    ) -> AttestationVerdict {
        var verdict = AttestationVerdict(.openPGP)
        verdict.key = statement.subjectPublicKeyInfo
        let facts: OpenPGPStatement
        do { facts = try OpenPGPStatement(statement) } catch {
            verdict.note(.malformed("\(error)"))
            return verdict
        }
        verdict.take(facts)
        _ = trace(statement, inner, judge.chain(.yubicoOpenPGP, inner + loose), judge, &verdict)
        if !facts.isGenerated { verdict.note(.imported) }
        if case .openPGP(let key)? = judge.card {
            switch statement.attests(key) {
            case true?: break
            case false?: verdict.note(.otherCardKey)
            case nil: verdict.note(.notComparable)
            }
        }
        answer(statement, judge, &verdict)
        return verdict
    }

    /// Marks the firmware of a FIPS device in the certificate of F9.
    private static let fips: OID = "1.3.6.1.4.1.41482.3.10"
    /// Marks the firmware of a CSPN device there.
    private static let cspn: OID = "1.3.6.1.4.1.41482.3.11"

    /// Finds the certificate of the key that signed a statement, and the path from there to a root. What nobody's signature
    /// covers is removed from the verdict.
    ///
    /// - Parameter inner: The certificates that came with the statement, one of which should be its signer's.
    private func trace(
        _ statement: X509Certificate, _ inner: [X509Certificate], _ chain: AttestationChain, _ judge: AttestationJudge,
        _ verdict: inout AttestationVerdict
    ) -> X509Certificate? {
        verdict.usesOwnRoots = judge.roots.isEmpty
        let signers = (inner + loose).filter { $0.publicKey.map(statement.isSigned) ?? false }
        guard !signers.isEmpty else {
            verdict.forget()
            if statement.publicKey.map(statement.isSigned) ?? false {
                verdict.note(.selfSigned)
            } else {
                let isNamed = loose.contains { $0.subject == statement.issuer }
                verdict.note(isNamed || !inner.isEmpty ? .notSignedByDevice : .noDevice)
            }
            return nil
        }
        var problem: AttestationProblem?
        for signer in signers {
            do throws(PIVError) {
                verdict.path = try chain.verify(statement, device: signer, at: judge.time)
                verdict.isRooted = true
                return signer
            } catch {
                if case .chain(let found) = error { problem = problem ?? found }
            }
        }
        verdict.path = [statement, signers[0]]
        if let problem { verdict.note(problem == .notSignedByDevice ? .notSignedByDevice : .chain(problem)) }
        return signers[0]
    }

    /// Compares the proofs with the statement's key, and with the challenge.
    private func answer(_ statement: X509Certificate, _ judge: AttestationJudge, _ verdict: inout AttestationVerdict) {
        let all = statements + openPGP + evidence.requests.flatMap { Self.contained(in: $0.extensions) }
        let isForeign = evidence.proofs.contains { proof in
            !all.contains { $0.publicKey.map(proof.isSigned) ?? false }
        }
        if isForeign { verdict.note(.wrongSignature) }
        let own = evidence.proofs.filter { proof in statement.publicKey.map(proof.isSigned) ?? false }
        guard let challenge = judge.challenge else {
            verdict.notShown.append(own.isEmpty ? .presence : .freshness)
            return
        }
        if own.isEmpty {
            if !isForeign { verdict.note(.noAnswer) }
        } else if !own.contains(where: { $0.challenge == challenge.text }) {
            verdict.note(.otherChallenge)
        }
    }
}

extension AttestationVerdict {
    /// Removes what a statement says.
    mutating func forget() {
        (slot, serial, firmware, pinPolicy, touchPolicy) = (nil, nil, nil, nil, nil)
        (formFactor, isFIPS, isCSPN, isGenerated) = (nil, nil, nil, nil)
        (fingerprint, generationTime) = (nil, nil)
    }

    mutating func take(_ facts: PIVAttestation) {
        slot = facts.slot?.description
        serial = facts.serial
        firmware = facts.firmware
        pinPolicy = facts.policies?.pin.description
        touchPolicy = facts.policies?.touch.description
        formFactor = facts.formFactor.map { FormFactor(rawValue: $0 & 0x0F) }
        isFIPS = facts.formFactor.map { $0 & 0x80 != 0 } ?? false
    }

    mutating func take(_ facts: OpenPGPStatement) {
        slot = facts.slot?.description
        serial = facts.serial
        firmware = facts.firmware
        // OpenPGP's words for the policies are mapped to those of PIV, so that a requirement applies to both.
        touchPolicy = facts.touch.map { policy in
            switch policy {
            case .off: "never"
            case .on, .fixed: "always"
            case .cached, .cachedFixed: "cached"
            default: policy.description
            }
        }
        formFactor = facts.formFactor.map { FormFactor(rawValue: $0 & 0x0F) }
        isFIPS = facts.formFactor.map { $0 & 0x80 != 0 }
        isGenerated = facts.isGenerated
        fingerprint = facts.fingerprint
        generationTime = facts.generationTime
    }
}

extension AttestationFinding {
    /// A difference between the statement and the card.
    package init(_ difference: PIVAttestation.Difference) {
        self =
            switch difference {
            case .slot(let slot): .otherSlot(slot.description)
            case .serial(let serial): .otherSerial(serial)
            case .key: .otherCardKey
            }
    }
}

extension AttestedSubject {
    init(_ key: SubjectPublicKeyInfo) { (self.key, application) = (key.encoded, nil) }
}

extension X509Certificate {
    /// Whether this certifies a public key; `nil` if its own key cannot be parsed. YubiKey 5.2 encodes a Curve25519 key
    /// as one on a curve with GnuPG's identifier, or with that identifier alone.
    func attests(_ key: PublicKey) -> Bool? {
        if let own = publicKey { return own == key }
        guard case .x25519(let bytes) = key else { return nil }
        let curve25519: OID = "1.3.6.1.4.1.3029.1.5.1"
        let algorithm = subjectPublicKeyInfo.algorithm
        guard algorithm.type == curve25519 || algorithm.parameterType == curve25519 else { return nil }
        let bits = subjectPublicKeyInfo.key
        return bits == bytes || bits == [0x40] + bytes
    }
}
