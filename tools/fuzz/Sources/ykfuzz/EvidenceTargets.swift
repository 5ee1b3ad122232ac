// SPDX-License-Identifier: Apache-2.0

import YKAttestation
import YKRelyingParty
import YKWire
import YKX509

/// Judges whatever a file contains, alone and with everything that can be asked for.
private func judge(_ bytes: [UInt8]) {
    var evidence = AttestationEvidence()
    guard (try? evidence.add(bytes)) != nil else { return }
    var judge = AttestationJudge(at: 1_795_000_000)
    for verdict in judge.verdicts(on: evidence) { check(verdict) }
    judge.challenge = AttestationChallenge(Array("challenge".utf8))
    judge.requirements = [.generated, .touch(["always"])]
    judge.roots = Array(evidence.certificates.suffix(1))
    judge.subject = try? AttestedSubject(parsing: bytes)
    for verdict in judge.verdicts(on: evidence) { check(verdict) }
}

private func check(_ verdict: AttestationVerdict) {
    require((verdict.result == .proven) == verdict.findings.isEmpty, "a result without a finding")
    require(verdict.result != .proven || verdict.isRooted, "proven without a root")
}

/// Only the forms of evidence that such an input begins like, so that each has a corpus of its own.
private func target(_ name: String, _ isOfForm: @escaping @Sendable ([UInt8]) -> Bool) -> FuzzTarget {
    FuzzTarget(name: "evidence-" + name) { bytes in if isOfForm(bytes) { judge(bytes) } }
}

extension FuzzTarget {
    static let evidence: [FuzzTarget] = [
        target("piv") { _ in true },
        target("request") { $0.first == 0x30 },
        target("certificate") { $0.first == 0x30 },
        target("openpgp") { _ in true },
        target("ssh") { $0.first == 0x00 },
        target("webauthn") { $0.first == UInt8(ascii: "{") },
        target("sign-key") { $0.first == UInt8(ascii: "{") },
        target("step") { ($0.first ?? 0) >= 0xA0 },
        target("capture") { $0.first == UInt8(ascii: "{") },
        FuzzTarget(name: "evidence-proof") { bytes in
            guard let proof = try? AttestationProof(decoding: bytes) else { return }
            require(proof.encoded == bytes, "a proof changes when read")
        },
        FuzzTarget(name: "evidence-require") { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            guard let list = try? AttestationRequirement.list(text) else { return }
            let again = list.map(\.description).joined(separator: ",")
            require((try? AttestationRequirement.list(again)) == list, "requirements change when written and read")
        },
    ]
}
