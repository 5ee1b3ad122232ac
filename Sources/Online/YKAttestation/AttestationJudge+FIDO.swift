// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKFIDO
import YKPIV
import YKRelyingParty
import YKSSH
import YKTransport
public import YKWire
import YKX509

extension AttestationJudge {
    /// Judges an attestation of ssh-keygen: one certificate, a signature over the authenticator data and the hash of the
    /// challenge, in the format `packed`, or in that of U2F for keys without CTAP2.
    func verdict(on attestation: SSHAttestation) -> AttestationVerdict {
        var verdict = AttestationVerdict(.ssh)
        let data = attestation.authenticatorData
        verdict.take(data)
        let application = subject?.application ?? "ssh:"
        if data.rpIDHash != HashAlgorithm.sha256.hash(application.utf8) {
            if subject?.application == nil {
                verdict.notShown.append(.application)
            } else {
                verdict.note(.otherApplication)
            }
        }
        let certificates = attestation.certificate.isEmpty ? [] : [attestation.certificate]
        guard let challenge else {
            verdict.note(certificates.isEmpty ? .selfSigned : .noChallenge)
            judgePath(certificates, [], &verdict)
            return verdict
        }
        let hash = HashAlgorithm.sha256.hash(challenge.bytes)
        let packed = Self.packed(attestation, certificates)
        let isU2F = !certificates.isEmpty && data.credential?.aaguid.allSatisfy { $0 == 0 } == true
        if isU2F, (try? check.check(packed, clientDataHash: hash)) == nil {
            var older = AttestationObject(format: .fidoU2F, authenticatorData: data, statement: packed.statement)
            older.statement["alg"] = nil
            judge(older, hash, [], &verdict)
        } else {
            judge(packed, hash, [], &verdict)
        }
        return verdict
    }

    /// The attestation as an object of WebAuthn.
    private static func packed(_ attestation: SSHAttestation, _ certificates: [[UInt8]]) -> AttestationObject {
        let signer = certificates.first.flatMap { try? X509Certificate(der: $0) }
        let key = signer.flatMap { try? COSEKey(subjectPublicKeyInfo: $0.subjectPublicKeyInfo.encoded) }
        let algorithm = key?.algorithm ?? attestation.authenticatorData.credential?.publicKey.algorithm
        var statement = CBOR.Map()
        statement["alg"] = .int(algorithm?.rawValue ?? 0)
        statement["sig"] = .bytes(attestation.signature)
        if !certificates.isEmpty { statement["x5c"] = .array(certificates.map { .bytes($0) }) }
        return AttestationObject(
            format: .packed, authenticatorData: attestation.authenticatorData, statement: statement)
    }

    /// Judges a WebAuthn registration, and the key that previewSign made with it.
    func verdicts(
        on registration: AttestationEvidence.Registration, _ others: [X509Certificate]
    ) -> [AttestationVerdict] {
        guard case .registration(let object) = registration.file.content else { return [] }
        let hash = registration.file.clientDataHash
        var verdict = AttestationVerdict(.webAuthn)
        verdict.take(object.authenticatorData)
        answer(registration.file, &verdict)
        if !registration.file.isForStatedParty { verdict.note(.otherApplication) }
        judge(object, hash, others, &verdict)
        guard let key = registration.signingKey else { return [verdict] }
        var second = AttestationVerdict(.signingKey)
        second.take(key.attestationObject.authenticatorData)
        answer(registration.file, &second)
        if key.attestationObject.authenticatorData.credential?.aaguid != verdict.aaguid { second.note(.otherKey) }
        judge(key.attestationObject, hash, others, &second, signingKey: key)
        if metadata != nil { second.inherit(from: verdict) }
        return [verdict, second]
    }

    private func answer(_ file: ResponseFile, _ verdict: inout AttestationVerdict) {
        guard let challenge else { return verdict.notShown.append(.freshness) }
        let isAnswered =
            file.clientData.map { challenge.matches(clientData: $0.challenge) }
            ?? (file.clientDataHash == HashAlgorithm.sha256.hash(challenge.bytes))
        if !isAnswered { verdict.note(.otherChallenge) }
    }

    /// The check of a credential of whatever relying party.
    private var check: AttestationVerification {
        var check = AttestationVerification(rpID: "")
        check.allowsAnyRelyingParty = true
        check.requiresPresence = false
        check.allowsSHA1 = allowsSHA1
        check.clock = FixedClock(time)
        return check
    }

    /// Completes an attestation with the intermediate certificates that its key left out, as far as they are known.
    ///
    /// - Returns: The attestation with the certificates on the path to a root, without the root.
    public func completed(_ object: AttestationObject) -> AttestationObject {
        var verdict = AttestationVerdict(.webAuthn)
        judgePath(object.statement["x5c"]?.array?.compactMap(\.bytes) ?? [], [], &verdict)
        return bridged(object, verdict.path)
    }

    /// Verifies the statement, and follows its certificates to a root, or asks the metadata about its model.
    func judge(
        _ object: AttestationObject, _ hash: [UInt8], _ others: [X509Certificate], _ verdict: inout AttestationVerdict,
        signingKey: PreviewSign.GeneratedKey? = nil
    ) {
        let check = check
        do throws(VerificationProblem) {
            let trust =
                if let signingKey { try check.check(signingKey, clientDataHash: hash) } else {
                    try check.check(object, clientDataHash: hash)
                }
            switch trust {
            case .none: return verdict.note(.noStatement)
            case .selfSigned: return verdict.note(.selfSigned)
            case .certificates(let chain): judgePath(chain, others, &verdict)
            }
        } catch {
            return verdict.note(.fido(error))
        }
        guard let metadata, signingKey == nil else { return }
        judgeModel(bridged(object, verdict.path), hash, check, metadata, &verdict)
    }

    /// The object with the intermediate certificates that were found, which keys of firmware 5.7.4 leave out.
    private func bridged(_ object: AttestationObject, _ path: [X509Certificate]) -> AttestationObject {
        guard path.count > 2, object.statement["x5c"]?.array?.count == 1 else { return object }
        var object = object
        object.statement["x5c"] = .array(path.dropLast().map { .bytes($0.der) })
        return object
    }

    /// Follows certificates to a root. With metadata, those decide instead, and only the path is recorded.
    private func judgePath(_ chain: [[UInt8]], _ others: [X509Certificate], _ verdict: inout AttestationVerdict) {
        guard let first = chain.first else { return }
        let known = self.chain(.yubicoFIDO, others)
        verdict.usesOwnRoots = roots.isEmpty && metadata == nil
        var check = CertificatePathCheck(anchors: known.roots.map(\.der), at: time)
        check.allowsSHA1 = allowsSHA1
        do throws(CertificatePathCheck.Fault) {
            let path = try check.path(from: first, others: chain.dropFirst() + known.others.map(\.der))
            verdict.path = path.compactMap { try? X509Certificate(der: $0) }
            verdict.isRooted = metadata == nil
        } catch {
            verdict.path = chain.compactMap { try? X509Certificate(der: $0) }
            if metadata == nil { verdict.note(.chain(AttestationProblem(error))) }
        }
    }

    private func judgeModel(
        _ object: AttestationObject, _ hash: [UInt8], _ check: AttestationVerification, _ metadata: MetadataPolicy,
        _ verdict: inout AttestationVerdict
    ) {
        do throws(CeremonyError) {
            let (_, entry) = try metadata.assess(object, hash, check)
            verdict.model = entry?.description
            verdict.isRooted = true
        } catch {
            switch error {
            case .model(.unknown): verdict.note(.unknownModel)
            case .model(.status(let status)): verdict.note(.status(status.rawValue))
            case .attestation(let problem): verdict.note(.fido(problem))
            default: verdict.note(.status("\(error)"))
            }
        }
    }

    /// Judges a statement of the format `step`: the PIV statement in it, and the signature over the key authorization.
    func verdict(on step: StepStatement, _ evidence: AttestationEvidence) -> AttestationVerdict {
        var all: [X509Certificate] = []
        for der in step.certificates {
            do { all.append(try X509Certificate(der: der)) } catch {
                var verdict = AttestationVerdict(.step)
                verdict.note(.malformed("a certificate: \(error)"))
                return verdict
            }
        }
        var judge = self
        judge.challenge = nil
        let bench = AttestationBench(AttestationEvidence(certificates: all + evidence.certificates))
        var verdict = bench.verdict(on: all[0], .step, judge)
        guard PIVAttestation.isStatement(all[0]) else {
            verdict.note(.noStatement)
            return verdict
        }
        guard let key = all[0].publicKey, StepStatement.accepts(key) else {
            verdict.note(.unsupported("a key that step-ca does not accept"))
            return verdict
        }
        guard let challenge else { return verdict }
        verdict.notShown.removeAll { $0 == .presence }
        if !key.isValid(step.signature, for: challenge.text, .sha256) { verdict.note(.otherChallenge) }
        return verdict
    }
}

extension AttestationVerdict {
    /// Takes over what the metadata say about the credential that a signing key was made with, if the same certificate
    /// signed both.
    mutating func inherit(from credential: AttestationVerdict) {
        guard path.first == credential.path.first, !path.isEmpty else { return note(.unknownModel) }
        (isRooted, model) = (credential.isRooted, credential.model)
        for finding in credential.findings where !findings.contains(finding) { note(finding) }
    }

    mutating func take(_ data: AuthenticatorData) {
        guard let credential = data.credential else { return }
        aaguid = credential.aaguid
        key = credential.publicKey.subjectPublicKeyInfo.flatMap { try? SubjectPublicKeyInfo(der: $0) }
    }
}

extension ResponseFile {
    /// Whether the authenticator data are for the relying party that the file names, or for the origin's domain or a
    /// parent of it; true if it names neither.
    fileprivate var isForStatedParty: Bool {
        let hash = authenticatorData.rpIDHash
        func matches(_ name: some StringProtocol) -> Bool { HashAlgorithm.sha256.hash(String(name).utf8) == hash }
        if let rpID { return matches(rpID) }
        guard let origin = clientData?.origin, let host = (try? Origin(origin))?.host else { return true }
        let labels = host.split(separator: ".")
        return matches(host) || labels.indices.contains { matches(labels[$0...].joined(separator: ".")) }
    }
}
