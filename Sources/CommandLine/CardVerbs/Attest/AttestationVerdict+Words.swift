// SPDX-License-Identifier: Apache-2.0

import YKAttestation

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
