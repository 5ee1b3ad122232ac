// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKProtocols
import YKTestSupport
import YKTransport
import YKWire

@testable import YKSecureChannel

/// The published vectors, each confirmed by two implementations.
@Suite struct VectorTests {
    private let scp03: Vectors
    private let scp11: Vectors

    init() throws {
        scp03 = try Vectors("scp03")
        scp11 = try Vectors("scp11")
    }

    @Test(arguments: ["scp03-kdf-1", "scp03-kdf-2", "scp03-kdf-3"])
    func sessionKeys(_ id: String) throws {
        let vector = try scp03[id]
        let keys = try SCP03Keys(
            encryption: vector.secret("key_enc"), mac: vector.secret("key_mac"),
            dataEncryption: vector.secret("key_dek"))
        let context = try vector.bytes("context")
        let session = try SessionKeys(keys, context: context)
        try expect(session.encryption.value.copyBytes(), is: vector.bytes("s_enc"))
        try expect(session.mac.value.copyBytes(), is: vector.bytes("s_mac"))
        try expect(session.responseMAC.value.copyBytes(), is: vector.bytes("s_rmac"))
        try expect(session.cryptogram(.cardCryptogram, context: context), is: vector.bytes("card_cryptogram"))
        try expect(session.cryptogram(.hostCryptogram, context: context), is: vector.bytes("host_cryptogram"))
    }

    @Test func keyDerivationX963() throws {
        for entry in try #require(try scp11["x963-sha256"]["cases"]?.array) {
            let output = try HashAlgorithm.sha256.x963(
                Secret(entry.bytes("z")), sharedInfo: entry.bytes("shared_info"),
                length: Int(try #require(entry["length"]?.int)))
            try expect(output.copyBytes(), is: entry.bytes("output"))
        }
    }

    @Test func keyCheckValues() throws {
        for entry in try #require(try scp03["scp03-kcv"]["cases"]?.array) {
            try expect(SCP03Keys.checkValue(of: Secret(entry.bytes("key"))), is: entry.bytes("kcv"))
        }
    }

    /// The handshake and ten commands through the whole channel, byte for byte.
    @Test(arguments: ["short", "extended"])
    func session03(_ name: String) throws {
        let form: APDU.Form = name == "short" ? .short : .extended
        let handshake = try scp03["scp03-handshake-\(name)"]
        let steps = try #require(try scp03["scp03-session-\(name)"]["steps"]?.array)
        var script = [
            ScriptedLink.Step(command: try APDU.select(.securityDomain).encoded(form), reply: [0x90, 0x00]),
            .init(
                command: try handshake.bytes("initialize_update_command"),
                reply: try handshake.bytes("initialize_update_response")),
            .init(
                command: try handshake.bytes("external_authenticate_command"),
                reply: try handshake.bytes("external_authenticate_response")),
        ]
        for step in steps { script += try Self.script(step) }
        let log = ScriptedLink.Log()
        let environment = ServiceEnvironment(random: FixedRandom(try handshake.bytes("host_challenge")))
        let channel = CardChannel(link: ScriptedLink(script, form, log: log), environment: environment)
        channel.protect(with: SecureChannel(.scp03(.factory), environment: environment))
        _ = try channel.select(.securityDomain)
        for step in steps {
            let response = try channel.transmit(try Self.apdu(step))
            try expect(response.data, is: step.bytes("response_plain"), "\(step["note"]?.string ?? "")")
            let status = try step.bytes("wire_response").suffix(2)
            expect([response.status.sw1, response.status.sw2], is: Array(status))
        }
        expect(log.commands.count, is: script.count)
    }

    /// The frames of a step: those of the command, then the GET RESPONSEs that collect a long reply.
    private static func script(_ step: JSONValue) throws -> [ScriptedLink.Step] {
        let commands = try step.frames("wire_commands")
        let replies = try step.frames("wire_frames")
        let rest = replies.dropFirst(commands.count).map {
            ScriptedLink.Step(command: [0x00, 0xC0, 0x00, 0x00], reply: $0)
        }
        return zip(commands, replies).map { ScriptedLink.Step(command: $0, reply: $1) } + rest
    }

    private static func apdu(_ step: JSONValue) throws -> APDU {
        let header = try step.bytes("cla") + step.bytes("ins") + step.bytes("p1") + step.bytes("p2")
        return APDU(
            cla: header[0], ins: header[1], p1: header[2], p2: header[3], data: try step.bytes("plain_data"),
            le: .none)
    }

    @Test(arguments: ["b-extended", "b-short", "a-extended", "a-short", "c-extended"])
    func session11(_ name: String) throws {
        let vector = try scp11["scp11-\(name)"]
        let form: APDU.Form = name.hasSuffix("short") ? .short : .extended
        var script = [ScriptedLink.Step(command: try APDU.select(.securityDomain).encoded(form), reply: [0x90, 0x00])]
        if vector["perform_security_operation"] != nil {
            script += try vector.frames("perform_security_operation").map {
                .init(command: $0, reply: [0x90, 0x00])
            }
        }
        script.append(
            .init(
                command: try vector.bytes("authenticate_command"), reply: try vector.bytes("authenticate_response")))
        let steps = try #require(vector["steps"]?.array)
        for step in steps {
            script.append(.init(command: try step.bytes("wire_command"), reply: try step.bytes("wire_response")))
        }
        let log = ScriptedLink.Log()
        let environment = ServiceEnvironment(random: FixedRandom(try vector.bytes("oce_ephemeral_private")))
        let channel = CardChannel(link: ScriptedLink(script, form, log: log), environment: environment)
        channel.protect(with: SecureChannel(try Self.credential(vector), environment: environment))
        _ = try channel.select(.securityDomain)
        let opened = try #require(channel.secureChannel as? SecureChannel)
        try expect(opened.dataEncryption?.value.copyBytes(), is: vector.bytes("session_dek"))
        for step in steps {
            let header = try step.bytes("plain_command")
            let response = try channel.transmit(
                APDU(
                    cla: header[0], ins: header[1], p1: header[2], p2: header[3], data: step.bytes("plain_data"),
                    le: .none))
            try expect(response.data, is: step.bytes("response_plain"))
        }
        expect(log.commands.count, is: script.count)
    }

    private static func credential(_ vector: JSONValue) throws -> SecureChannelCredential {
        let (kid, kvn) = (try vector.bytes("kid")[0], try vector.bytes("kvn")[0])
        let variant = try #require(SCP11Variant.allCases.first { $0.keyID == kid })
        let host =
            variant.authenticatesHost
            ? try SCP11HostKey(
                privateKey: vector.secret("oce_static_private"), certificates: vector.frames("oce_certificates"),
                authority: SCPKeyReference(id: 0x10, version: 0x03)) : nil
        return .scp11(variant, version: kvn, host: host, trust: .key(try vector.bytes("sd_static_public")))
    }

    // MARK: What has to be refused

    @Test func repliesToJudge() throws {
        let vector = try scp03["scp03-negative"]
        let keys = SessionKeys(
            encryption: try vector.secret("s_enc"), mac: try vector.secret("s_enc"),
            responseMAC: try vector.secret("s_rmac"), dataEncryption: nil)
        for entry in try #require(vector["cases"]?.array) {
            let messaging = SecureMessaging(keys, chain: try vector.bytes("mac_chain"), answering: 1)
            let reply = try ResponseAPDU(decoding: entry.bytes("wire_response"))
            if entry["expect"]?.string?.hasPrefix("accept") ?? false {
                #expect(try messaging.unprotect(reply).data.isEmpty)
            } else {
                #expect(throws: CardError.secureChannel(.notAuthentic), "\(entry["case"]?.string ?? "")") {
                    try messaging.unprotect(reply)
                }
            }
        }
    }

    @Test func noProofIsSentAfterAWrongCardCryptogram() throws {
        let vector = try scp03["scp03-negative-card-cryptogram"]
        let log = ScriptedLink.Log()
        let link = ScriptedLink(
            [
                .init(command: try APDU.select(.oath).encoded(.short), reply: [0x90, 0x00]),
                .init(command: [0x80, 0x50], reply: try vector.bytes("initialize_update_response")),
            ], .short, log: log)
        let environment = ServiceEnvironment(random: FixedRandom(try vector.bytes("host_challenge")))
        let channel = CardChannel(link: link, environment: environment)
        channel.protect(with: SecureChannel(.scp03(.factory), environment: environment))
        let factory = SCPKeyReference(id: 0x01, version: 0xFF)
        #expect(throws: CardError.secureChannel(.wrongKeys(factory))) { try channel.select(.oath) }
        #expect(throws: CardError.secureChannel(.ended)) { try channel.transmit(APDU(ins: 0xA1)) }
        expect(log.commands.count, is: 2)
    }

    @Test func receiptsToJudge() throws {
        let base = try scp11["scp11-b-extended"]
        let reference = SCPKeyReference(id: 0x13, version: 0x03)
        for entry in try #require(try scp11["scp11-negative"]["cases"]?.array) {
            let point =
                entry["wrong_sd_static_public"] == nil
                ? try base.bytes("sd_static_public") : try entry.bytes("wrong_sd_static_public")
            let log = ScriptedLink.Log()
            let link = ScriptedLink(
                [
                    .init(command: try APDU.select(.piv).encoded(.extended), reply: [0x90, 0x00]),
                    .init(command: [0x80, 0x88], reply: try entry.bytes("authenticate_response")),
                ], .extended, log: log)
            let environment = ServiceEnvironment(random: FixedRandom(try base.bytes("oce_ephemeral_private")))
            let channel = CardChannel(link: link, environment: environment)
            channel.protect(
                with: SecureChannel(.scp11(.b, version: 3, trust: .key(point)), environment: environment))
            let error = #expect(throws: CardError.self) { try channel.select(.piv) }
            switch error {
            case .secureChannel(.wrongReceipt(reference)), .malformed(_, "SCP11 key agreement"): break
            default: Issue.record("\(entry["case"]?.string ?? ""): \(String(describing: error))")
            }
            expect(log.commands.count, is: 2)
        }
    }

    @Test func valuesOfADevice() throws {
        let vector = try scp03["scp03-public-1"]
        let session = SessionKeys(
            encryption: try vector.secret("resp_key"), mac: try vector.secret("s_mac"),
            responseMAC: try vector.secret("rmac_key"), dataEncryption: nil)
        #expect(
            try session.cryptogram(.hostCryptogram, context: vector.bytes("context"))
                == vector.bytes("host_cryptogram"))
        let messaging = SecureMessaging(
            session, chain: try vector.bytes("rmac_chain"), answering: try UInt32(#require(vector["resp_counter"]?.int))
        )
        let reply = ResponseAPDU(.ok, data: try vector.bytes("resp_cipher") + vector.bytes("rmac"))
        try expect(messaging.unprotect(reply).data, is: vector.bytes("resp_plain"))
    }
}
