// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKAttestation
import YKCrypto
import YKManagement
import YKPIV
import YKTransport
import YKWire
import YKX509

/// A verdict on one attestation.
struct AttestationReport: Report {
    let verdict: AttestationVerdict

    static let members: [Member<Self>] =
        [
            Member(
                "result",
                "proven, unchecked, mismatch, notRooted, software, imported, compromised, unmet, unsupported or malformed"
            ) { $0.verdict.result.rawValue },
            Member("reasons", "why it is not proven") { $0.verdict.findings.map { Explanation($0).message } },
            Member("form", "piv, request, certificate, openpgp, ssh, webauthn, sign-key or step") {
                $0.verdict.form.rawValue
            },
            Member("algorithm", "of the key") { $0.algorithm },
            Member("publicKey", "PEM") { $0.verdict.key.map { PEM.encode("PUBLIC KEY", $0.encoded) } },
            Member("keyDigest", "SHA-256 of the SubjectPublicKeyInfo") { $0.verdict.keyDigest.map { Hex.encode($0) } },
        ] + stated + path

    /// What the statement says about the key and its device.
    private static let stated: [Member<Self>] = [
        Member("slot") { $0.verdict.slot },
        Member("serial") { $0.verdict.serial.map { String($0) } },
        Member("firmware") { $0.verdict.firmware?.description },
        Member("pinPolicy") { $0.verdict.pinPolicy },
        Member("touchPolicy", "never, always or cached") { $0.verdict.touchPolicy },
        Member("formFactor") { $0.verdict.formFactor?.description },
        Member("fips", "whether it belongs to the FIPS series") { $0.verdict.isFIPS },
        Member("cspn", "whether it belongs to the CSPN series") { $0.verdict.isCSPN },
        Member("generated", "whether the security key generated the key") { $0.verdict.isGenerated },
        Member("fingerprint", "of an OpenPGP key") { $0.verdict.fingerprint.map { Hex.encode($0) } },
        Member("generationTime", "of an OpenPGP key, seconds since 1970") { $0.verdict.generationTime.map { Int($0) } },
        Member("aaguid", "of a FIDO model") { $0.verdict.aaguid.map { Hex.encode($0) } },
        Member("model", "its name in the metadata") { $0.verdict.model },
    ]

    private static let path: [Member<Self>] = [
        Member("chain", "the subjects of the signers") { $0.signers.map(\.subject.description) },
        Member("root", "the subject of the trusted root") { $0.root?.subject.description },
        Member("rootsDate", "of ykit's list of roots, if it was used") { $0.rootsDate },
        Member("notShown", "presence, freshness, application or card") { $0.verdict.notShown.map(\.rawValue) },
        Member("advisories", "published flaws of the firmware that concern the key") { $0.verdict.advisories },
    ]

    private var signers: [X509Certificate] { Array(verdict.path.dropFirst()) }
    private var root: X509Certificate? { verdict.isRooted ? verdict.path.last : nil }
    private var rootsDate: String? {
        verdict.isRooted && verdict.usesOwnRoots ? AttestationChain.yubicoSource.date : nil
    }

    var algorithm: String? {
        verdict.key.flatMap { try? PublicKey(subjectPublicKeyInfo: $0.encoded) }.flatMap { key in
            PIVAlgorithm(key)?.description ?? key.otherName
        }
    }

    /// The rows of a table for people.
    var rows: [[String]] {
        var rows = [["result", verdict.result == .proven ? Style.green.around("proven") : verdict.result.rawValue]]
        rows += verdict.findings.map { ["", Explanation($0).message] }
        rows.append(["form", verdict.form.words])
        let facts: [(title: String, value: String?)] = [
            ("key", algorithm), ("SHA-256", verdict.keyDigest.map { Hex.encode($0) }), ("slot", verdict.slot),
            ("serial", verdict.serial.map { String($0) }), ("firmware", verdict.firmware?.description),
            ("PIN policy", verdict.pinPolicy), ("touch policy", verdict.touchPolicy),
            ("form factor", verdict.formFactor?.description), ("FIPS", verdict.isFIPS.map { $0 ? "yes" : "no" }),
            ("CSPN", verdict.isCSPN == true ? "yes" : nil),
            ("origin", verdict.isGenerated.map { $0 ? "generated" : "imported" }),
            ("fingerprint", verdict.fingerprint.map { Hex.encode($0) }),
            ("AAGUID", verdict.aaguid.map { Hex.encode($0) }), ("model", verdict.model?.printable),
            ("signed by", signers.isEmpty ? nil : signers.map(\.subject.description.printable).listed()),
            ("root", rootWords),
        ]
        rows += facts.compactMap { fact in fact.value.map { [fact.title, $0] } }
        rows += verdict.advisories.map { ["advisory", "\($0.title): \($0.summary)"] }
        return rows + verdict.gaps.map { ["not shown", $0] }
    }

    private var rootWords: String? {
        guard let root else { return nil }
        return root.subject.description.printable
            + (rootsDate.map { ", in ykit's list of \($0)" } ?? "")
    }
}

extension PublicKey {
    /// The name of a key that PIV does not have.
    fileprivate var otherName: String {
        switch self {
        case .rsa(let modulus, _): "rsa\(modulus.count * 8)"
        case .ec(let curve, _): "\(curve)"
        case .ed25519: "ed25519"
        case .x25519: "x25519"
        }
    }
}

/// The judge's options that several verbs have.
struct ChallengeOptions: ParsableArguments {
    @Option("--challenge <text>", help: "The challenge, as 'ykit attest challenge' prints it.") var challenge: String?

    @Option("--challenge-file <file>", help: "Read the challenge from this file.", completion: .file)
    var challengeFile: String?

    func check() throws {
        if challenge != nil, challengeFile != nil {
            throw UsageError("--challenge and --challenge-file cannot be combined")
        }
    }

    /// The challenge; `nil` without the options.
    func value() throws(Explanation) -> AttestationChallenge? {
        if let challenge { return AttestationChallenge(Array(challenge.utf8)) }
        guard let challengeFile else { return nil }
        return AttestationChallenge(try Files.read(challengeFile))
    }
}

extension AttestationVerdict {
    /// What the verdict does not show, in words.
    var gaps: [String] { notShown.map(\.words) }
}

extension AttestationVerdict.NotShown {
    fileprivate var words: String {
        switch self {
        case .presence: "this is not proof that the key is here: no challenge was signed"
        case .freshness: "the signature in it may be old: no challenge was given"
        case .application: "the application was not compared: give the public key with --for"
        case .card: "the card does not report its key, so the two were not compared"
        }
    }
}

extension AttestationVerdict.Form {
    var words: String {
        switch self {
        case .piv: "attestation of a PIV key"
        case .request: "certificate request"
        case .certificate: "certificate"
        case .openPGP: "attestation of an OpenPGP key"
        case .ssh: "attestation of an SSH credential"
        case .webAuthn: "WebAuthn registration"
        case .signingKey: "key made by previewSign"
        case .step: "ACME statement (step)"
        }
    }
}
