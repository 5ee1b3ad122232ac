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
        if let name = statuses[byte] { return "\(code) (\(name))" }
        switch byte {
        case 0xE0...0xEF: return "\(code) (error of an extension)"
        case 0xF0...0xFF: return "\(code) (error of the vendor's)"
        default: return code
        }
    }

    static func permissions(_ bits: Int64) -> String {
        let names: [(Int64, String)] = [
            (0x01, "make credential"), (0x02, "get assertion"), (0x04, "credential management"),
            (0x08, "bio enrolment"), (0x10, "large blobs"), (0x20, "config"), (0x40, "read credentials"),
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

    private static let statuses: [UInt8: String] = [
        0x00: "ok", 0x01: "invalid command", 0x02: "invalid parameter", 0x03: "invalid length",
        0x04: "invalid sequence", 0x05: "time-out", 0x06: "channel busy", 0x0A: "lock required",
        0x0B: "invalid channel", 0x11: "unexpected CBOR type", 0x12: "invalid CBOR", 0x14: "missing parameter",
        0x15: "limit exceeded", 0x16: "unsupported extension", 0x17: "fingerprint database full",
        0x18: "large blob storage full", 0x19: "credential excluded", 0x21: "processing", 0x22: "invalid credential",
        0x23: "user action pending", 0x24: "operation pending", 0x25: "no operations",
        0x26: "unsupported algorithm", 0x27: "operation denied", 0x28: "key store full",
        0x2B: "unsupported option", 0x2C: "invalid option", 0x2D: "cancelled", 0x2E: "no credentials",
        0x2F: "no touch in time", 0x30: "not allowed", 0x31: "PIN wrong", 0x32: "PIN blocked",
        0x33: "PIN/UV authentication wrong", 0x34: "PIN blocked until the key is replugged", 0x35: "PIN not set",
        0x36: "PIN needed", 0x37: "PIN against the policy", 0x38: "PIN token expired", 0x39: "request too large",
        0x3A: "action timed out", 0x3B: "presence needed", 0x3C: "user verification blocked",
        0x3D: "integrity failure", 0x3E: "invalid subcommand", 0x3F: "user verification wrong",
        0x40: "permission missing", 0x7F: "other error", 0xDF: "last error of the specification",
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
            subcommands: CTAPProtocol.ClientPIN.Subcommand.names),
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
            subcommands: CTAPProtocol.Config.Subcommand.names),
        Code.bioEnrollmentPreview: bioEnrollment("bioEnrollment (preview)"),
        Code.credentialManagementPreview: credentialManagement("credentialManagement (preview)"),
    ]

    private static func bioEnrollment(_ name: String) -> Command {
        Command(
            name: name, request: CTAPMaps.bioEnrollment, reply: CTAPMaps.bioEnrollmentReply,
            subcommandKey: CTAPProtocol.BioEnrollment.Request.subCommand.cbor,
            subcommands: CTAPProtocol.BioEnrollment.Subcommand.names)
    }

    private static func credentialManagement(_ name: String) -> Command {
        Command(
            name: name, request: CTAPMaps.credentialManagement, reply: CTAPMaps.credentialManagementReply,
            subcommandKey: CTAPProtocol.CredentialManagement.Request.subCommand.cbor,
            subcommands: CTAPProtocol.CredentialManagement.Subcommand.names)
    }
}
