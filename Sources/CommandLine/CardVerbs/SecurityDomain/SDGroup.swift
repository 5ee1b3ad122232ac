// SPDX-License-Identifier: Apache-2.0

package import Arguments
import TerminalIO
import Verbs
import YKSecureChannel
import YKSecurityDomain
import YKTransport
import YKWire
import YKX509

/// Commands for the Security Domain.
package struct SDGroup: ParsableCommand {
    package static let about = About(
        "Security Domain: the keys of secure channels.",
        discussion: """
            A key is written KIND,VERSION: 03,1 for an SCP03 set, 11a,1 11b,1 11c,1 for a private key of SCP11, ca,1 \
            or 0x20,1 to 0x2f,1 for a CA of host certificates. Reading needs no secure channel; changes need one that \
            authenticates the host, --scp 03 or --scp 11a.
            """,
        subcommands: ["info": SDInfo.self, "keys": SDKeys.self, "data": SDData.self, "reset": SDReset.self],
        examples: [Example("ykit sd info")])

    package init() {}
}

/// Commands for the keys of the Security Domain.
struct SDKeys: ParsableCommand {
    static let about = About(
        "Keys of the Security Domain.",
        subcommands: [
            "list": SDKeysList.self, "generate": SDKeysGenerate.self, "import": SDKeysImport.self,
            "export": SDKeysExport.self, "delete": SDKeysDelete.self, "set-allowlist": SDKeysSetAllowList.self,
        ],
        examples: [Example("ykit sd keys list")])
}

extension Run {
    /// Opens the Security Domain of the selected key.
    func openSecurityDomain() async throws -> SecurityDomainService {
        try await open(SecurityDomainService.self)
    }
}

/// The information about one key.
struct SecurityDomainKey: Report {
    let reference: SCPKeyReference
    var authority: [UInt8]?
    var certificates: [String] = []
    static let members: [Member<SecurityDomainKey>] = [
        Member("reference", "as it is typed") { $0.reference.typed },
        Member("kid", "the key identifier") { $0.reference.id },
        Member("kvn", "the key version number") { $0.reference.version },
        Member("purpose") { $0.reference.purpose },
        Member("factory") { $0.reference.id == 0x01 && $0.reference.version == 0xFF },
        Member("caKeyIdentifier", "in hexadecimal") { $0.authority.map { Hex.encode($0) } },
        Member("certificates", "their subjects") { $0.certificates },
    ]

    var row: [String] {
        let identifier = authority.map { "CA key identifier \(Hex.encode($0))" } ?? ""
        let chain = certificates.isEmpty ? "" : "certificate of \(certificates.last ?? "")"
        let facts = [chain, identifier].filter { !$0.isEmpty }.listed()
        return [reference.typed, reference.purpose] + (facts.isEmpty ? [] : [facts])
    }
}

extension SecurityDomainService {
    /// Returns the keys, with a key set as one entry.
    func references() throws(SecurityDomainError) -> [SCPKeyReference] {
        try keys().map(\.reference).filter { ![0x02, 0x03].contains($0.id) }
    }

    /// Returns the keys and the data of each.
    func report() throws(SecurityDomainError) -> [SecurityDomainKey] {
        let references = try references()
        guard references.contains(where: { $0.id != 0x01 }) else { return references.map { .init(reference: $0) } }
        let authorities = try authorities(ofCard: false).merging(authorities(ofCard: true)) { first, _ in first }
        var report: [SecurityDomainKey] = []
        for reference in references {
            var key = SecurityDomainKey(reference: reference, authority: authorities[reference])
            if [0x11, 0x13, 0x15].contains(reference.id) {
                key.certificates = try certificates(of: reference).map {
                    (try? X509Certificate(der: $0).subject.description.printable) ?? "an unreadable certificate"
                }
            }
            report.append(key)
        }
        return report
    }
}

/// Shows the content of the Security Domain.
struct SDInfo: Verb {
    static let about = About(
        "Show the protocols and keys for secure channels.",
        examples: [Example("ykit sd info")])
    static let answer = Shape(Item<[String]>("protocols"), Item<[SecurityDomainKey]>("keys"))

    func run(in run: Run) async throws -> Outcome<([String], [SecurityDomainKey])> {
        let service = try await run.openSecurityDomain()
        let protocols = try await service.protocols().map(\.description)
        let keys = try await service.report()
        var lines = Table.details([["protocols", protocols.listed()]] + keys.map(\.row))
        if keys.contains(where: { $0.reference.version == 0xFF }) {
            lines.append(
                "anyone can manage these keys with the public factory key set; replace it: "
                    + "ykit --scp 03 sd keys import 03,1 FILE")
        }
        return Outcome((protocols, keys), lines)
    }
}

/// Reads a data object.
struct SDData: Verb {
    static let about = About(
        "Read a data object by its tag, such as 0066 or 9f7f, in hexadecimal.",
        examples: [Example("ykit sd data 0066")])
    static let answer = Shape(
        Item<String>("tag", "in hexadecimal"), Item<[UInt8]>("data", "in hexadecimal") { Hex.encode($0) })

    @Argument("tag", help: "The tag, four hexadecimal digits.") var tag: String

    @Option("--key", help: "The key that the object belongs to, if there are several.") var key: SCPKeyArgument?

    func run(in run: Run) async throws -> Outcome<(String, [UInt8])> {
        guard tag.utf8.count == 4, let number = UInt16(tag, radix: 16) else {
            throw Explanation.usage("a tag must have four hexadecimal digits, not '\(tag.printable)'")
        }
        let service = try await run.openSecurityDomain()
        let control = key.map { [0xA6, 0x04, 0x83, 0x02] + $0.reference.bytes } ?? []
        let data = try await service.data(number, control)
        return Outcome((tag.lowercased(), data), Hex.encode(data))
    }
}

/// Resets the Security Domain to its default keys.
struct SDReset: Verb {
    static let about = About(
        "Delete all keys and restore the factory keys.",
        discussion: """
            Every key of the Security Domain is blocked by failed attempts, without a secure channel. Keys stored \
            before delivery are lost as well. Other applications are not affected.
            """,
        examples: [Example("ykit sd reset")])
    static let answer = Shape(
        Item<[SCPKeyReference]>("deleted", "as they are typed") { $0.map(\.typed) },
        Item<[SecurityDomainKey]>("keys", "the keys now present"))

    @OptionGroup var confirmation: Confirmation

    func run(in run: Run) async throws -> Outcome<([SCPKeyReference], [SecurityDomainKey])> {
        if run.options.channel.scp != nil {
            throw Explanation.usage("a reset is not possible through a secure channel", hint: "omit --scp")
        }
        let service = try await run.openSecurityDomain()
        let before = try await service.references()
        let names = before.map { "\($0.typed) (\($0.purpose))" }.listed()
        try confirmation.ask(
            typing: "reset", "this deletes all keys for secure channels, \(names), and restores the factory keys",
            in: run)
        try await run.showing("resetting the Security Domain") { try await service.reset() }
        let after = try await service.report()
        return Outcome(
            (before, after),
            ["the secure channel keys are the factory default again"] + Table.details(after.map(\.row)))
    }
}
