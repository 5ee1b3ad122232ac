// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKCrypto
import YKPIV
import YKSecureChannel
import YKSecurityDomain
import YKTransport
import YKUse
import YKWire
import YKX509

/// Lists the keys.
struct SDKeysList: Verb {
    static let about = About(
        "List the keys.",
        examples: [Example("ykit sd keys list")])
    static let answer = Shape(Item<[SecurityDomainKey]>("keys"))

    func run(in run: Run) async throws -> Outcome<[SecurityDomainKey]> {
        let keys = try await run.openSecurityDomain().report()
        return Outcome(keys, Table.lines(keys.map(\.row)))
    }
}

/// The key to replace.
struct ReplacedKeyOptions: ParsableArguments {
    @Option("--replace <version>", help: "Replace the key of the same kind that has this version.") var replace: String?

    /// The version of the key to replace; 0 for none.
    var version: UInt8 {
        get throws(Explanation) {
            guard let replace else { return 0 }
            guard let number = SCPKeyArgument.number(replace), number > 0 else {
                throw .usage("--replace takes a version from 1 to 127")
            }
            return number
        }
    }
}

/// Generates a key pair.
struct SDKeysGenerate: Verb {
    static let about = About(
        "Generate an SCP11 key pair on the key.",
        discussion: """
            The public key is written to a file. Others can use the key once it has a certificate: have one issued, \
            and store it with 'ykit sd keys import KEY FILE', where the file holds certificates only.
            """,
        examples: [Example("ykit --scp 03 sd keys generate 11a,2 public.pem")])
    static let answer = Shape(
        Item<SCPKeyReference>("reference", "as it is typed") { $0.typed },
        Item<PublicKey>("publicKey", "PEM") { $0.pem }, Item<String>("output"))

    @Argument("key", help: "The new key: 11a,VERSION, 11b,VERSION or 11c,VERSION.") var key: SCPKeyArgument

    @Argument("file", help: "The file to write the public key to, - for standard output.", completion: .file)
    var file = "-"

    @OptionGroup var replaced: ReplacedKeyOptions
    @OptionGroup var replacing: OutputOptions

    func run(in run: Run) async throws -> Outcome<(SCPKeyReference, PublicKey, String)> {
        let output = try FileOutput(file, isText: true, force: replacing.force, run)
        let service = try await run.openSecurityDomain()
        let point = try await service.generate(key.reference, replacing: try replaced.version)
        let made = PublicKey.ec(.p256, point: point)
        var outcome = Outcome(
            (key.reference, made, file), "generated \(key.reference.typed); public key written to \(file)")
        output.keep(Array(made.pem.utf8), &outcome.answer, run.terminal)
        return outcome
    }
}

/// Imports a key.
struct SDKeysImport: Verb {
    static let about = About(
        "Store a key, or the certificates of a key.",
        discussion: """
            For 03,VERSION the file holds ENC:MAC:DEK, each key in 32 hexadecimal digits, and may be omitted: the keys \
            are then prompted for. For 11a, 11b and 11c it holds a private key on P-256, its certificates or both. For \
            a CA it holds its certificate. Storing the first SCP03 set deletes the public factory set.
            """,
        examples: [Example("ykit --scp 03 sd keys import 03,1 scp03.keys")])
    typealias Reported = (reference: SCPKeyReference, certificates: Int?, authority: [UInt8]?, keys: [SCPKeyReference])
    static let answer = Shape<Reported>(
        Member("reference", "as it is typed") { $0.reference.typed },
        Member("certificateCount", "how many were stored") { $0.certificates },
        Member("caKeyIdentifier", "in hexadecimal") { $0.authority.map { Hex.encode($0) } },
        Member("references", "the keys now present") { $0.keys.map(\.typed) })

    @Argument("key", help: "The key: 03,VERSION, 11a,VERSION, 11b,VERSION, 11c,VERSION or ca,VERSION.")
    var key: SCPKeyArgument

    @Argument("file", help: "The file, - for standard input.", completion: .input) var file: String?

    @OptionGroup var replaced: ReplacedKeyOptions
    @OptionGroup var confirmation: Confirmation
    @OptionGroup var fileOptions: FilePasswordOptions

    func run(in run: Run) async throws -> Outcome<Reported> {
        switch key.reference.id {
        case 0x01: return try await storeSet(run)
        case 0x11, 0x13, 0x15: return try await storePrivateKey(run)
        default: return try await storeAuthority(run)
        }
    }

    private func storeSet(_ run: Run) async throws -> Outcome<Reported> {
        let keys: SCP03Keys
        if let file {
            var bytes = try Files.read(file)
            defer { Secret.wipe(&bytes) }
            keys = try SCP03Keys(given: Secret(bytes))
        } else {
            let given = try run.terminal.secret(
                "new SCP03 keys, ENC:MAC:DEK", isNew: true, orElse: "give a file with the keys")
            keys = try SCP03Keys(given: given.value)
        }
        if keys.isFactory { throw Explanation.usage("these are the factory keys, which are public") }
        let version = try replaced.version
        let service = try await run.openSecurityDomain()
        if try await service.references().contains(SCPKeyReference(id: 0x01, version: 0xFF)) {
            try confirmation.ask(
                typing: "replace",
                "this deletes the factory SCP03 set; if you lose the new keys, only 'ykit sd reset' "
                    + "restores access", in: run)
        }
        try await service.put(keys, as: key.reference, replacing: version)
        return try await done(run, service, ["stored the SCP03 set \(key.reference.typed)"])
    }

    private func storePrivateKey(_ run: Run) async throws -> Outcome<Reported> {
        let content = try read(run)
        var point: [UInt8]?
        var number: SharedSecret?
        if let privateKey = content.privateKey {
            guard case .ec(.p256, let own) = privateKey.publicKey else { throw Self.wrongCurve }
            (point, number) = (own, try privateKey.scalar())
        } else if case .ec(.p256, let own) = content.certificates.last?.publicKey {
            point = own
        }
        let chain = point.map { content.certificates.chain(to: $0) } ?? []
        guard number != nil || !chain.isEmpty else {
            throw Explanation("no-private-key", .notFound, "the file holds neither a private key nor certificates")
        }
        let root = content.certificates.first { $0.issuer == $0.subject }
        let identifier = try root.flatMap { try X509Certificate(reading: $0.der).subjectKeyIdentifier }
        let version = try replaced.version
        let service = try await run.openSecurityDomain()
        var lines: [String] = []
        if let number {
            try await service.put(privateKey: number, as: key.reference, replacing: version)
            lines.append("stored the private key \(key.reference.typed)")
        }
        if !chain.isEmpty {
            try await run.after(lines) {
                try await service.store(certificates: chain.map(\.der), of: key.reference)
            }
            lines.append("stored \(chain.count) certificates of \(key.reference.typed)")
        }
        if let identifier {
            try await run.after(lines) { try await service.store(authority: identifier, of: key.reference) }
            lines.append("stored the key identifier of their CA, \(Hex.encode(identifier))")
        }
        return try await done(run, service, lines, certificates: chain.count, authority: identifier)
    }

    private func storeAuthority(_ run: Run) async throws -> Outcome<Reported> {
        let content = try read(run)
        guard
            let certificate = content.certificates.first(where: { $0.issuer == $0.subject })
                ?? content.certificates.first
        else { throw Explanation("no-certificate", .notFound, "the file holds no certificate of a CA") }
        guard case .ec(.p256, let point) = certificate.publicKey else { throw Self.wrongCurve }
        let identifier = try X509Certificate(reading: certificate.der).subjectKeyIdentifier
        let version = try replaced.version
        let service = try await run.openSecurityDomain()
        try await service.put(authority: point, as: key.reference, replacing: version)
        var lines = ["stored the public key of \(certificate.subject.description.printable) as \(key.reference.typed)"]
        if let identifier {
            try await run.after(lines) { try await service.store(authority: identifier, of: key.reference) }
            lines.append("stored its key identifier, \(Hex.encode(identifier))")
        }
        return try await done(run, service, lines, authority: identifier)
    }

    private func read(_ run: Run) throws -> KeyFile {
        guard let file else { throw Explanation.usage("give the file with the key or certificates") }
        return try fileOptions.read(file, run)
    }

    private static var wrongCurve: Explanation { .usage("the key of the file is not on P-256") }

    /// Returns the outcome with the keys after the change.
    private func done(
        _ run: Run, _ service: SecurityDomainService, _ lines: [String], certificates: Int? = nil,
        authority: [UInt8]? = nil
    ) async throws -> Outcome<Reported> {
        let keys = try await run.after(lines) { try await service.references() }
        let report = (
            reference: key.reference, certificates: certificates, authority: authority, keys: keys
        )
        return Outcome(report, lines)
    }
}

extension Run {
    /// Takes a step after those that these lines describe.
    fileprivate nonisolated(nonsending) func after<Value>(
        _ lines: [String], _ step: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
        if lines.isEmpty { return try await step() }
        return try await afterChange(lines.listed(), hint: "ykit sd keys list", step)
    }
}

/// Exports certificates.
struct SDKeysExport: Verb {
    static let about = About(
        "Write the certificates of a private key as PEM, the key's own first.",
        examples: [Example("ykit sd keys export 11b,1 certificates.pem")])
    typealias Reported = (reference: SCPKeyReference, pem: String, output: String)
    static let answer = Shape<Reported>(
        Member("reference", "as it is typed") { $0.reference.typed },
        Member("pem", "the certificates") { $0.pem },
        Member("output") { $0.output })

    @Argument("key", help: "The key: 11a,VERSION, 11b,VERSION or 11c,VERSION.") var key: SCPKeyArgument

    @Argument("file", help: "The file to write the certificates to, - for standard output.", completion: .file)
    var file = "-"

    @OptionGroup var replacing: OutputOptions

    func run(in run: Run) async throws -> Outcome<Reported> {
        let output = try FileOutput(file, isText: true, force: replacing.force, run)
        let service = try await run.openSecurityDomain()
        let chain = try await service.certificates(of: key.reference)
        guard !chain.isEmpty else {
            throw Explanation("no-certificate", .notFound, "\(key.reference.typed) has no certificates")
        }
        let pem = chain.reversed().map { PEM.encode("CERTIFICATE", $0) }.joined()
        return try output.put(
            Array(pem.utf8), of: (reference: key.reference, pem: pem, output: file),
            "certificates of \(key.reference.typed) written to \(file)")
    }
}

/// Deletes keys.
struct SDKeysDelete: Verb {
    static let about = About(
        "Delete a key, or with version 0 all keys of a kind.",
        discussion: "When the last key is deleted, the factory keys return: the public SCP03 set.",
        examples: [Example("ykit --scp 03 sd keys delete 11b,1")])
    typealias Reported = (deleted: [SCPKeyReference], keys: [SCPKeyReference])
    static let answer = Shape<Reported>(
        Member("deleted", "as they are typed") { $0.deleted.map(\.typed) },
        Member("references", "the remaining keys") { $0.keys.map(\.typed) })

    @Argument("key", help: "The key: KIND,VERSION.") var key: SCPKeyArgument

    @OptionGroup var confirmation: Confirmation

    func run(in run: Run) async throws -> Outcome<Reported> {
        let wanted = key.reference
        let service = try await run.openSecurityDomain()
        let all = try await service.references()
        let found = all.filter { $0.id == wanted.id && (wanted.version == 0 || $0.version == wanted.version) }
        guard !found.isEmpty else { throw SecurityDomainError.noSuchKey(wanted) }
        // A key set is identified by its version alone, which other keys may share.
        if wanted.id == 0x01, let other = all.first(where: { $0.version == wanted.version && $0.id != 0x01 }) {
            throw Explanation(
                "same-version", .policy,
                "an SCP03 set is deleted by its version, which \(other.typed) (\(other.purpose)) also has",
                hint: "delete that key first, or replace the set: ykit sd keys import 03,VERSION --replace "
                    + "\(wanted.version) FILE")
        }
        let left = all.filter { !found.contains($0) }
        let names = found.map { "\($0.typed) (\($0.purpose))" }.listed()
        if left.isEmpty {
            try confirmation.ask(
                typing: "delete", "this deletes the last key, \(names): the public factory keys return", in: run)
        } else {
            let rest = left.map { "\($0.typed) (\($0.purpose))" }.listed()
            try confirmation.ask("\(names) would be permanently lost, and the key keeps \(rest): continue?", in: run)
        }
        try await service.delete(
            id: wanted.id, version: wanted.version == 0 ? nil : wanted.version, evenLast: left.isEmpty)
        let keys =
            try await run.perform {
                try await run.after(["deleted \(names)"]) { try await service.references() }
            } ?? left
        return Outcome(
            (deleted: found, keys: keys),
            ["deleted \(names)"] + keys.map { "\($0.typed) remains (\($0.purpose))" })
    }
}

/// Restricts which certificates of a CA are accepted.
struct SDKeysSetAllowList: Verb {
    static let about = About(
        "Limit which certificates of a CA open a channel, by serial number.",
        discussion: """
            Every certificate in a host's chain must then have one of these serial numbers, in decimal, or in \
            hexadecimal after 0x. Without serial numbers the limit is removed.
            """,
        examples: [Example("ykit --scp 03 sd keys set-allowlist ca,1 0x1002 0x1003")])
    static let answer = Shape(
        Item<SCPKeyReference>("reference", "as it is typed") { $0.typed },
        Item<[String]>("serials", "in hexadecimal after 0x; empty without a limit"))

    @Argument("key", help: "The CA: ca,VERSION or 0x20,VERSION to 0x2f,VERSION.") var key: SCPKeyArgument

    @Argument("serials", help: "Serial numbers.") var serials: [String] = []

    func run(in run: Run) async throws -> Outcome<(SCPKeyReference, [String])> {
        let numbers = try serials.map { text throws(Explanation) in try Self.number(text) }
        let service = try await run.openSecurityDomain()
        try await service.store(allowedSerials: numbers, of: key.reference)
        let texts = numbers.map { "0x" + Hex.encode($0) }
        return Outcome(
            (key.reference, texts),
            numbers.isEmpty
                ? "every certificate of \(key.reference.typed) is accepted"
                : "\(key.reference.typed) accepts certificates \(texts.listed())")
    }

    /// Parses a serial number, most significant byte first; at most 20 bytes (RFC 5280 §4.1.2.2).
    private static func number(_ text: String) throws(Explanation) -> [UInt8] {
        let wrong = Explanation.usage("'\(text.printable)' is not a serial number such as 4098 or 0x1002")
        if text.lowercased().hasPrefix("0x") || text.contains(bytesOf: ":") {
            let digits = text.lowercased().hasPrefix("0x") ? String(text.dropFirst(2)) : text.filter { $0 != ":" }
            guard let bytes = try? Hex.decode(digits.count.isMultiple(of: 2) ? digits : "0" + digits),
                (1...20).contains(bytes.count)
            else { throw wrong }
            return bytes
        }
        guard let number = UInt64(text) else { throw wrong }
        let bytes = stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt64($0)) }
        let digits = Array(bytes.drop { $0 == 0 })
        return digits.isEmpty ? [0] : digits
    }
}
