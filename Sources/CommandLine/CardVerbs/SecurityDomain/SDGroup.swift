// SPDX-License-Identifier: Apache-2.0

import Arguments
import Verbs
import YKPIV
import YKSecureChannel
import YKSecurityDomain
import YKTransport
import YKWire
import YKX509

/// Commands for the Security Domain.
struct SDGroup: ParsableCommand {
    static let about = About(
        "sd", "Security Domain: the keys of secure channels.",
        discussion: """
            A key is written KIND,VERSION: 03,1 for an SCP03 set, 11a,1 11b,1 11c,1 for a private key of SCP11, ca,1 or \
            0x20,1 to 0x2f,1 for a CA of host certificates. Reading needs no secure channel; changes need one that \
            proves who this host is, --scp 03 or --scp 11a.
            """,
        subcommands: [SDInfo.self, SDKeys.self, SDData.self, SDReset.self])
}

/// Commands for the keys of the Security Domain.
struct SDKeys: ParsableCommand {
    static let about = About(
        "keys", "Keys of the Security Domain.",
        subcommands: [
            SDKeysList.self, SDKeysGenerate.self, SDKeysImport.self, SDKeysExport.self, SDKeysDelete.self,
            SDKeysSetAllowList.self,
        ])
}

extension World {
    /// Opens the Security Domain of the selected key.
    func openSecurityDomain() async throws -> SecurityDomainService {
        try await SecurityDomainService.open(try connect(), isPlanned: plan != nil)
    }
}

/// The information about one key.
struct SecurityDomainKey {
    let reference: SCPKeyReference
    var authority: [UInt8]?
    var certificates: [String] = []

    var row: [String] {
        let identifier = authority.map { "CA key identifier \(Hex.encode($0))" } ?? ""
        let chain = certificates.isEmpty ? "" : "certificate of \(certificates.last ?? "")"
        let facts = [chain, identifier].filter { !$0.isEmpty }.listed()
        return [reference.typed, reference.purpose] + (facts.isEmpty ? [] : [facts])
    }

    var json: JSONValue {
        var object = JSONValue.Object()
        object["key"] = .string(reference.typed)
        object["kid"] = .int(Int64(reference.id))
        object["kvn"] = .int(Int64(reference.version))
        object["purpose"] = .string(reference.purpose)
        object["factory"] = .bool(reference.id == 0x01 && reference.version == 0xFF)
        object["caKeyIdentifier"] = authority.map { .string(Hex.encode($0)) } ?? .null
        object["certificates"] = .array(certificates.map(JSONValue.string))
        return .object(object)
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
                    (try? X509Certificate(der: $0).subject.description.printable) ?? "an unreadable one"
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
        "info", "Show the protocols and keys for secure channels.", members: ["protocols", "keys"])

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openSecurityDomain()
        let protocols = try await service.protocols().map(\.description)
        let keys = try await service.report()
        var answer = Answer(
            Table.details([["protocols", protocols.listed()]] + keys.map(\.row)),
            ["protocols": .array(protocols.map(JSONValue.string)), "keys": .array(keys.map(\.json))])
        if keys.contains(where: { $0.reference.version == 0xFF }) {
            answer.lines.append(
                "with the public factory set anybody can manage these keys; replace it: "
                    + "ykit --scp 03 sd keys import 03,1 FILE")
        }
        return answer
    }
}

/// Reads a data object.
struct SDData: Verb {
    static let about = About(
        "data", "Read a data object by its tag, such as 0066 or 9f7f, in hexadecimal.", members: ["tag", "data"])

    @Argument("tag", help: "The tag, four hexadecimal digits.") var tag: String

    @Option("--key", help: "The key whose object is meant, where there are several.") var key: SCPKeyArgument?

    func answer(in world: World) async throws -> Answer {
        guard tag.utf8.count == 4, let number = UInt16(tag, radix: 16) else {
            throw Explanation.usage("a tag has four hexadecimal digits, not '\(tag.printable)'")
        }
        let service = try await world.openSecurityDomain()
        let control = key.map { [0xA6, 0x04, 0x83, 0x02] + $0.reference.bytes } ?? []
        let data = try await service.data(number, control)
        return Answer(Hex.encode(data), ["tag": .string(tag.lowercased()), "data": .string(Hex.encode(data))])
    }
}

/// Resets the Security Domain to its default keys.
struct SDReset: Verb {
    static let about = About(
        "reset", "Delete all keys and restore the factory keys.",
        discussion: """
            The key is made to block every key of its Security Domain by failed attempts, without a secure channel. \
            Keys that were stored before the key was delivered are lost as well. Other applications are not touched.
            """, members: ["deleted", "keys"])

    @OptionGroup var confirmation: Confirmation

    func answer(in world: World) async throws -> Answer {
        if world.options.channel.isWanted {
            throw Explanation.usage("a reset is done without a secure channel", hint: "omit --scp")
        }
        let service = try await world.openSecurityDomain()
        let before = try await service.references()
        let names = before.map { "\($0.typed) (\($0.purpose))" }.listed()
        try confirmation.ask(
            typing: "reset", "this deletes all keys for secure channels, \(names), and makes those of a new key",
            in: world)
        try await service.reset()
        let after = try await service.report()
        return Answer(
            ["the keys for secure channels are those of a new key"] + Table.details(after.map(\.row)),
            ["deleted": .array(before.map { .string($0.typed) }), "keys": .array(after.map(\.json))])
    }
}
