// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

/// The names of CTAP2 codes (CTAP 2.1 §6, §8.2; CTAP 2.2, 2.3).
enum CTAPNames {
    /// A command: its name, its maps, and the key of its subcommand.
    struct Command: Sendable {
        let name: String
        var request = CTAPKeys("parameters")
        var reply = CTAPKeys("reply")
        var subcommandKey: CBOR?
        var subcommands: [UInt64: String] = [:]
    }

    static func status(_ byte: UInt8) -> String {
        let code = Hex.encode([byte])
        if let status = CTAPProtocol.statuses[byte] { return "\(code) (\(status.meaning))" }
        switch byte {
        case 0xE0...0xEF: return "\(code) (extension-specific error)"
        case 0xF0...0xFF: return "\(code) (vendor-specific error)"
        default: return code
        }
    }

    static func permissions(_ bits: Int64) -> String {
        let names: [(Int64, String)] = [
            (0x01, "make credential"), (0x02, "get assertion"), (0x04, "credential management"),
            (0x08, "bio enrollment"), (0x10, "large blobs"), (0x20, "config"), (0x40, "read credentials"),
        ]
        let set = names.filter { bits & $0.0 != 0 }.map(\.1)
        return "\(bits)" + (set.isEmpty ? "" : " (\(set.joined(separator: ", ")))")
    }

    static func algorithm(_ number: Int64) -> String { algorithms[number] ?? "algorithm \(number)" }

    private static let algorithms: [Int64: String] = [
        -7: "ES256", -8: "EdDSA", -9: "ESP256", -19: "Ed25519", -25: "ECDH-ES+HKDF-256", -35: "ES384", -36: "ES512",
        -37: "PS256", -47: "ES256K", -48: "ML-DSA-44", -49: "ML-DSA-65", -50: "ML-DSA-87", -51: "ESP384",
        -52: "ESP512", -53: "Ed448", -257: "RS256", -65535: "RS1",
    ]

    private typealias Code = CTAPProtocol.Command

    static let commands: [UInt8: Command] = [
        Code.makeCredential: Command(
            name: "makeCredential", request: CTAPMaps.makeCredential, reply: CTAPMaps.attestation),
        Code.getAssertion: Command(name: "getAssertion", request: CTAPMaps.getAssertion, reply: CTAPMaps.assertion),
        Code.getInfo: Command(name: "getInfo", reply: CTAPMaps.info),
        Code.clientPIN: Command(
            name: "clientPIN", request: CTAPMaps.clientPIN, reply: CTAPMaps.clientPINReply,
            subcommandKey: CTAPProtocol.ClientPIN.Request.subCommand.cbor,
            subcommands: CTAPProtocol.ClientPIN.Subcommand.namesByNumber),
        Code.reset: Command(name: "reset"),
        Code.getNextAssertion: Command(name: "getNextAssertion", reply: CTAPMaps.assertion),
        Code.bioEnrollment: bioEnrollment("bioEnrollment"),
        Code.credentialManagement: credentialManagement("credentialManagement"),
        Code.selection: Command(name: "selection"),
        Code.largeBlobs: Command(
            name: "largeBlobs", request: CTAPMaps.largeBlobs, reply: CTAPMaps.largeBlobsReply),
        Code.config: Command(
            name: "config", request: CTAPMaps.config,
            subcommandKey: CTAPProtocol.Config.Request.subCommand.cbor,
            subcommands: CTAPProtocol.Config.Subcommand.namesByNumber),
        Code.bioEnrollmentPreview: bioEnrollment("bioEnrollment (preview)"),
        Code.credentialManagementPreview: credentialManagement("credentialManagement (preview)"),
    ]

    private static func bioEnrollment(_ name: String) -> Command {
        Command(
            name: name, request: CTAPMaps.bioEnrollment, reply: CTAPMaps.bioEnrollmentReply,
            subcommandKey: CTAPProtocol.BioEnrollment.Request.subCommand.cbor,
            subcommands: CTAPProtocol.BioEnrollment.Subcommand.namesByNumber)
    }

    private static func credentialManagement(_ name: String) -> Command {
        Command(
            name: name, request: CTAPMaps.credentialManagement, reply: CTAPMaps.credentialManagementReply,
            subcommandKey: CTAPProtocol.CredentialManagement.Request.subCommand.cbor,
            subcommands: CTAPProtocol.CredentialManagement.Subcommand.namesByNumber)
    }
}
