// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKWire

/// Describes CTAP2 messages (CTAP 2.1 §6), independent of the transport.
enum CTAPNarration {
    /// Describes a request: the command byte, then a map.
    static func request(_ message: MaskedBytes) -> (String, [String]) {
        guard !message.isEmpty else { return ("CTAP request without a command", []) }
        guard let command = CTAPNames.commands[message[0]] else {
            return ("CTAP command \(Hex.encode([message[0]]))", map(message.dropFirst(1), .init("parameters")))
        }
        let parameters = message.dropFirst(1)
        let lines = map(parameters, command.request)
        let sub = subcommand(parameters, command).map { ", \($0)" } ?? ""
        return ("CTAP \(command.name)\(sub)", lines)
    }

    /// Describes a reply: the status byte, then a map whose meaning depends on the request.
    static func reply(_ message: MaskedBytes, to request: MaskedBytes) -> [String] {
        guard !message.isEmpty else { return [] }
        let status = "status \(CTAPNames.status(message[0]))"
        guard message.count > 1 else { return [status] }
        if message.count == 1 { return [status] }
        let names = CTAPNames.commands[request[0]]?.reply ?? .init("reply")
        return [status] + map(message.dropFirst(1), names)
    }

    private static func map(_ bytes: MaskedBytes, _ names: CTAPKeys) -> [String] {
        bytes.isEmpty ? [] : CBORPrinter.lines(bytes, names)
    }

    private static func subcommand(_ parameters: MaskedBytes, _ command: CTAPNames.Command) -> String? {
        guard let key = command.subcommandKey,
            let map = (try? CBOR(decoding: parameters.bytes))?.map, let number = map[key]?.unsigned
        else { return nil }
        return command.subcommands[number] ?? "subcommand \(number)"
    }
}

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

/// The keys of CTAP2 maps (CTAP 2.1 §6).
enum CTAPMaps {
    static let coseKey = CTAPKeys(
        "public key", [1: "kty", 3: "alg", -1: "crv", -2: "x", -3: "y"],
        numbers: [3: CTAPNames.algorithm, 1: { [1: "OKP", 2: "EC2", 3: "RSA"][$0] ?? "\($0)" }])

    static let makeCredential = CTAPKeys("parameters", CTAPProtocol.MakeCredential.Request.self)

    static let attestation = CTAPKeys(
        "reply", CTAPProtocol.MakeCredential.Reply.self, values: [.authData: AuthenticatorDataNarration.lines])

    static let getAssertion = CTAPKeys("parameters", CTAPProtocol.GetAssertion.Request.self)

    static let assertion = CTAPKeys(
        "reply", CTAPProtocol.GetAssertion.Reply.self, values: [.authData: AuthenticatorDataNarration.lines])

    static let info = CTAPKeys("reply", CTAPProtocol.GetInfo.Reply.self)

    static let clientPIN = CTAPKeys(
        "parameters", CTAPProtocol.ClientPIN.Request.self, inner: [.keyAgreement: coseKey],
        numbers: [.permissions: CTAPNames.permissions])

    static let clientPINReply = CTAPKeys(
        "reply", CTAPProtocol.ClientPIN.Reply.self, inner: [.keyAgreement: coseKey])

    static let credentialManagement = CTAPKeys(
        "parameters", CTAPProtocol.CredentialManagement.Request.self,
        inner: [.subCommandParams: CTAPKeys("", CTAPProtocol.CredentialManagement.Parameters.self)])

    static let credentialManagementReply = CTAPKeys(
        "reply", CTAPProtocol.CredentialManagement.Reply.self, inner: [.publicKey: coseKey])

    static let bioEnrollment = CTAPKeys(
        "parameters", CTAPProtocol.BioEnrollment.Request.self,
        inner: [.subCommandParams: CTAPKeys("", CTAPProtocol.BioEnrollment.Parameters.self)])

    static let bioEnrollmentReply = CTAPKeys(
        "reply", CTAPProtocol.BioEnrollment.Reply.self,
        inner: [.templateInfos: CTAPKeys("", CTAPProtocol.BioEnrollment.Parameters.self)])

    static let largeBlobs = CTAPKeys("parameters", CTAPProtocol.LargeBlobs.Request.self)

    static let largeBlobsReply = CTAPKeys("reply", CTAPProtocol.LargeBlobs.Reply.self)

    static let config = CTAPKeys(
        "parameters", CTAPProtocol.Config.Request.self,
        inner: [.subCommandParams: CTAPKeys("", CTAPProtocol.Config.Parameters.self)])
}

/// Describes WebAuthn authenticator data (WebAuthn L3 §6.1).
enum AuthenticatorDataNarration {
    static func lines(_ data: MaskedBytes) -> [String] {
        guard data.count >= 37 else { return [data.hex] }
        let flags = data[32]
        var lines = [
            "rpIdHash \(data[0..<32].hex)", "flags \(Hex.encode([flags])) (\(names(flags)))",
            "counter \(data[33..<37].number.map(String.init) ?? data[33..<37].hex)",
        ]
        var rest = data.dropFirst(37)
        if flags & 0x40 != 0 {
            guard rest.count >= 18 else { return lines + ["cut off: \(rest.hex)"] }
            let length = Int(rest[16]) << 8 | Int(rest[17])
            lines.append("aaguid \(rest[0..<16].hex)")
            lines.append("credential of \(length) bytes: \(rest[18..<(18 + length)].hex)")
            rest = rest.dropFirst(18 + length)
            let key = item(&rest)
            lines += CBORPrinter.lines(key, CTAPMaps.coseKey).map { "public key \($0)" }
        }
        if flags & 0x80 != 0 {
            lines += CBORPrinter.lines(item(&rest), CTAPKeys("extensions")).map { "extension \($0)" }
        }
        return lines + (rest.isEmpty ? [] : ["left over: \(rest.hex)"])
    }

    private static func names(_ flags: UInt8) -> String {
        let all: [(UInt8, String)] = [
            (0x01, "user present"), (0x04, "user verified"), (0x08, "may be backed up"), (0x10, "backed up"),
            (0x40, "credential"), (0x80, "extensions"),
        ]
        return all.filter { flags & $0.0 != 0 }.map(\.1).joined(separator: ", ")
    }

    /// Removes the first CBOR item; removes everything if it cannot be parsed.
    private static func item(_ rest: inout MaskedBytes) -> MaskedBytes {
        var cursor = CBORCursor(rest.bytes)
        let end = (try? cursor.skip()) == nil ? rest.count : cursor.position
        defer { rest = rest.dropFirst(end) }
        return rest.prefix(end)
    }
}
