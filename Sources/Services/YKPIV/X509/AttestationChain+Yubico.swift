// SPDX-License-Identifier: Apache-2.0

import YKWire
import YKX509

extension AttestationChain {
    /// Trusts Yubico: PIV Root CA Serial 263751 for firmware before 5.7.4, Attestation Root 1 and its intermediates
    /// from then on, and U2F Root CA Serial 457200631, which signed the PIV certificates of some YubiKeys 4C Nano.
    public static let yubico = AttestationChain(
        roots: read([
            YubicoCertificates.pivRoot263751, YubicoCertificates.attestationRoot1, YubicoCertificates.u2fRoot457200631,
        ]),
        others: read([
            YubicoCertificates.intermediateA1, YubicoCertificates.intermediateB1, YubicoCertificates.pivA1,
            YubicoCertificates.pivB1, YubicoCertificates.pivB2,
        ]))

    /// Trusts Yubico for OpenPGP keys: its OpenPGP Attestation CA for firmware before 5.7.4, Attestation Root 1 and its
    /// intermediates from then on.
    public static let yubicoOpenPGP = AttestationChain(
        roots: read([YubicoOpenPGPCertificates.attestationCA, YubicoCertificates.attestationRoot1]),
        others: read([
            YubicoCertificates.intermediateA1, YubicoCertificates.intermediateB1, YubicoOpenPGPCertificates.openPGPA1,
            YubicoOpenPGPCertificates.openPGPB1, YubicoOpenPGPCertificates.openPGPB2,
        ]))

    /// Trusts Yubico for FIDO credentials: its U2F and FIDO roots, and Attestation Root 1 with its intermediates for
    /// firmware 5.7.4 and later, whose attestations contain only the key's own certificate.
    public static let yubicoFIDO = AttestationChain(
        roots: read([
            YubicoCertificates.u2fRoot457200631, YubicoFIDOCertificates.fidoRoot450203556,
            YubicoCertificates.attestationRoot1,
        ]),
        others: read([
            YubicoCertificates.intermediateA1, YubicoCertificates.intermediateB1, YubicoFIDOCertificates.fidoA1,
            YubicoFIDOCertificates.fidoB1, YubicoFIDOCertificates.fidoB2,
        ]))

    /// Where and when the certificates of Yubico were last compared with those that Yubico publishes.
    public static let yubicoSource = (
        date: "2026-07-30",
        address: "developers.yubico.com/PKI: yubico-ca-certs.txt, yubico-intermediate.pem"
    )

    /// Trusts the roots of another chain too.
    public func trusting(_ other: AttestationChain) -> AttestationChain {
        AttestationChain(roots: roots + other.roots, others: others + other.others)
    }

    private static func read(_ texts: [String]) -> [X509Certificate] {
        texts.compactMap { text in (try? Base64.decode(text)).flatMap { try? X509Certificate(der: $0) } }
    }
}
