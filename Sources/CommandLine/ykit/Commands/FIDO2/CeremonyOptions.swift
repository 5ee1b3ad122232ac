// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKFIDO

/// The options common to registration and assertion: the origin, the request and the format.
struct CeremonyOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The origin, https://RP by default.", valueName: "origin")) var origin: String?

    @Option(
        help: ArgumentHelp("The WebAuthn options: a file, or - for standard input.", valueName: "file"),
        completion: .file)
    var options: String?

    @Option(help: "How --options and the answer are written: webauthn or libfido2; a registration also as pam-u2f.")
    var format: ExchangeFormat = .webauthn

    @Flag(name: .customLong("u2f"), help: "Use U2F even if the key supports FIDO2.") var usesU2F = false

    /// Refuses options that conflict.
    ///
    /// - Parameter named: The options that are required unless --options gives a file.
    func check(_ named: [(name: String, value: String?)], _ pin: PINOptions, _ global: GlobalOptions) throws {
        func names() -> String { named.map(\.name).joined(separator: " and ") }
        if options == nil, named.contains(where: { $0.value == nil }) {
            throw UsageError("say for whom: \(names()), or --options FILE")
        }
        if options != nil, named.contains(where: { $0.value != nil }) {
            throw UsageError("--options says for whom, omit \(names())")
        }
        if options != nil, format == .webauthn, origin == nil {
            throw UsageError("--options needs --origin, who asks")
        }
        if options == "-", pin.isStandardInput { throw UsageError("standard input cannot be both, PIN and options") }
        if format == .pamU2F { throw UsageError("pam-u2f is a format of registrations") }
        if format == .libfido2, global.json { throw UsageError("--format libfido2 and --json are two answers") }
    }

    /// The given origin, or else that of the relying party.
    func site(_ rp: String?) throws -> Origin {
        if let origin { return try Origin(origin) }
        do { return try Origin("https://\(rp ?? "")") } catch {
            throw Explanation.usage("'\((rp ?? "").printable)' is not a domain name such as example.com")
        }
    }
}
