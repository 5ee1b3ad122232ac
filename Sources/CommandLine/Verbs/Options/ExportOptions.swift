// SPDX-License-Identifier: Apache-2.0

package import Arguments
package import YKCrypto
package import YKPIV
import YKWire
package import YKX509

/// The destination and format of a public key.
package struct PublicKeyExport: ParsableArguments {
    /// The members that ``write(_:of:algorithm:comment:to:)`` adds to an answer.
    package static let members = ["slot", "algorithm", "format", "publicKey", "output"]

    @Argument("file", help: "Where the public key goes, - for standard output.", completion: .file) package var file =
        "-"

    @Option("--format", help: "How the public key is written: pem, der, ssh or age.") package var format:
        PublicKeyFormat = .pem

    @Option("--comment", help: "The comment at the end of an SSH line.") package var comment: String?

    @OptionGroup package var replacing: OutputOptions

    package init() {}

    /// Opens the destination.
    package func output(_ world: World) throws(Explanation) -> FileOutput {
        try FileOutput(file, isText: format.isText, force: replacing.force, world)
    }

    /// Writes the public key of a slot.
    ///
    /// - Parameters:
    ///   - algorithm: The name of its algorithm, if it has one.
    ///   - usual: The comment unless the user chose one.
    package func write(
        _ key: PublicKey, of slot: any CustomStringConvertible, algorithm: String?, comment usual: String,
        to output: FileOutput
    ) throws(Explanation) -> Answer {
        let bytes = try format.encode(key, comment: comment ?? usual)
        var answer = Answer("the public key of \(slot) is in \(file)", [:])
        try output.put(bytes, &answer)
        answer.members["slot"] = .string(slot.description)
        answer.members["algorithm"] = algorithm.map(JSONValue.string) ?? .null
        answer.members["format"] = .string(format.rawValue)
        answer.members["publicKey"] = format.json(bytes)
        answer.members["output"] = .string(file)
        return answer
    }
}

/// The destination and format of a certificate.
package struct CertificateExport: ParsableArguments {
    /// The members that ``write(_:of:to:)`` adds to an answer.
    package static let members = ["slot", "format", "certificate", "output"]

    @Argument("file", help: "Where the certificate goes, - for standard output.", completion: .file) package var file =
        "-"

    @Option("--format", help: "How the certificate is written: pem, der or ssh.") package var format:
        CertificateFormat = .pem

    @OptionGroup package var replacing: OutputOptions

    package init() {}

    /// Opens the destination.
    package func output(_ world: World) throws(Explanation) -> FileOutput {
        try FileOutput(file, isText: format.isText, force: replacing.force, world)
    }

    /// Writes the certificate of a slot.
    package func write(
        _ certificate: X509Certificate, of slot: any CustomStringConvertible, to output: FileOutput
    ) throws(Explanation) -> Answer {
        var answer = Answer("the certificate of \(slot) is in \(file)", [:])
        try output.put(format.encode(certificate), &answer)
        answer.members["slot"] = .string(slot.description)
        answer.members["format"] = .string(format.rawValue)
        answer.members["certificate"] = try format.json(certificate)
        answer.members["output"] = .string(file)
        return answer
    }
}

/// The certificates that an attestation may lead to.
package struct TrustedCertificates: ParsableArguments {
    @Option("--root <file>", help: "Trusted certificates, PEM; may be repeated.") package var root: [String] = []

    @Option("--intermediate <file>", help: "Intermediate certificates, PEM; may be repeated.")
    var intermediate: [String] = []

    package init() {}

    /// Whether the vendor's certificates are not trusted, but those that were named.
    package var areNamed: Bool { !root.isEmpty }

    /// Returns the certificates that were named, or those of a vendor with the intermediate ones that were named.
    package func chain(orElse vendor: AttestationChain) throws -> AttestationChain {
        let named = AttestationChain(
            roots: try root.flatMap(KeyFile.certificates), others: try intermediate.flatMap(KeyFile.certificates))
        return areNamed ? named : vendor.trusting(named)
    }
}
