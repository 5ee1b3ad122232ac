// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
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
                "proven, unchecked, mismatch, notRooted, software, imported, compromised, unmet, unsupported or malformed",
                title: "result",
                line: { $0.verdict.result == .proven ? Style.green.around("proven") : $0.verdict.result.rawValue }
            ) { $0.verdict.result.rawValue },
            Member("reasons", "why it is not proven", rows: { $0.reasons.map { ["", $0] } }) { $0.reasons },
            Member(
                "form", "piv, request, certificate, openpgp, ssh, webauthn, sign-key or step", title: "form",
                line: { $0.verdict.form.words }
            ) { $0.verdict.form.rawValue },
            Member("algorithm", "of the key", title: "key") { $0.algorithm },
            Member("publicKey", "PEM") { $0.verdict.key.map { PEM.encode("PUBLIC KEY", $0.encoded) } },
            Member("keyDigest", "SHA-256 of the SubjectPublicKeyInfo", title: "SHA-256") {
                $0.verdict.keyDigest.map { Hex.encode($0) }
            },
        ] + stated + path

    /// What the statement says about the key and its device.
    private static let stated: [Member<Self>] = [
        Member("slot", title: "slot") { $0.verdict.slot },
        Member("serial", title: "serial") { $0.verdict.serial.map { String($0) } },
        Member("firmware", title: "firmware") { $0.verdict.firmware?.description },
        Member("pinPolicy", title: "PIN policy") { $0.verdict.pinPolicy },
        Member("touchPolicy", "never, always or cached", title: "touch policy") { $0.verdict.touchPolicy },
        Member("formFactor", title: "form factor") { $0.verdict.formFactor?.description },
        Member("fips", "whether it belongs to the FIPS series", title: "FIPS") { $0.verdict.isFIPS },
        Member("cspn", "whether it belongs to the CSPN series", title: "CSPN", words: { $0 ? "yes" : nil }) {
            $0.verdict.isCSPN
        },
        Member(
            "generated", "whether the security key generated the key", title: "origin",
            words: { $0 ? "generated" : "imported" }
        ) { $0.verdict.isGenerated },
        Member("fingerprint", "of an OpenPGP key", title: "fingerprint") {
            $0.verdict.fingerprint.map { Hex.encode($0) }
        },
        Member("generationTime", "of an OpenPGP key, seconds since 1970") { $0.verdict.generationTime.map { Int($0) } },
        Member("aaguid", "of a FIDO model", title: "AAGUID") { $0.verdict.aaguid.map { Hex.encode($0) } },
        Member("model", "its name in the metadata", title: "model") { $0.verdict.model },
    ]

    private static let path: [Member<Self>] = [
        Member("chain", "the subjects of the signers", title: "signed by") { $0.signers.map(\.subject.description) },
        Member("root", "the subject of the trusted root", title: "root", line: { $0.rootWords }) {
            $0.root?.subject.description
        },
        Member("rootsDate", "of ykit's list of roots, if it was used") { $0.rootsDate },
        Member("notShown", "presence, freshness, application or card") { $0.verdict.notShown.map(\.rawValue) },
        Member(
            "advisories", "published flaws of the firmware that concern the key",
            rows: { $0.verdict.advisories.map { ["advisory", "\($0.title): \($0.summary)"] } + $0.verdict.gapRows }
        ) { $0.verdict.advisories },
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

    private var reasons: [String] { verdict.findings.map { Explanation($0).message } }

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
    /// Rows with what the verdict does not show.
    var gapRows: [[String]] { notShown.map { ["not shown", $0.words] } }
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
