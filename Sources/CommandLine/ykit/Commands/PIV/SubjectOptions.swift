// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKPIV
import YKX509

/// The content of a certificate or a request.
struct SubjectOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The subject, as in CN=Alice,O=Example (RFC 4514).", valueName: "name"))
    var subject: String

    @Option(
        name: .customLong("san"),
        help: ArgumentHelp(
            "A further name: dns:example.com, email:a@example.com, uri:https://example.com, ip:192.0.2.1; may be repeated.",
            valueName: "name"))
    var alternativeNames: [String] = []

    @Option(help: "The hash of the signature: sha256, sha384, sha512 or sha1; Ed25519 has its own.")
    var hash: HashChoice = .sha256

    func template() throws(X509NameError) -> CertificateTemplate {
        CertificateTemplate(
            subject: try DistinguishedName(subject.contains("=") ? subject : "CN=" + subject),
            alternativeNames: try alternativeNames.map { name throws(X509NameError) in try AlternativeName(name) },
            hash: hash.algorithm)
    }
}
