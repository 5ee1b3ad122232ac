// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKCrypto
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

@testable import YKHSMAuth

/// The published vectors, each confirmed by two implementations.
@Suite struct VectorTests {
    private let all: [JSONValue]

    init() throws {
        let url = try #require(Bundle.module.url(forResource: "vectors/hsmauth", withExtension: "json"))
        all = try #require(try JSONValue(parsing: Array(try Data(contentsOf: url)))["vectors"]?.array)
    }

    private func vector(_ id: String) throws -> JSONValue { try #require(all.first { $0["id"]?.string == id }) }
    private func cases(_ id: String) throws -> [JSONValue] { try #require(try vector(id)["cases"]?.array) }

    @Test("keys of a password, and passwords as they are sent")
    func passwords() throws {
        for entry in try cases("derive-symmetric") {
            guard
                case .symmetric(let encryption, let mac) = try HSMAuthKey.derived(
                    from: Secret(entry.bytes("password_utf8")))
            else {
                Issue.record("not symmetric")
                continue
            }
            try expect(encryption.value.copyBytes(), is: entry.bytes("key_enc"))
            try expect(mac.value.copyBytes(), is: entry.bytes("key_mac"))
        }
        for entry in try cases("derive-asymmetric") {
            let password = try #require(entry["password"]?.string)
            guard case .p256(let number) = try HSMAuthKey.derivedP256(from: Secret(utf8: password)) else {
                Issue.record("not on P-256")
                continue
            }
            try expect(number.value.copyBytes(), is: entry.bytes("private"))
            try expect([0x04] + P256KeyAgreement(scalar: number.value).publicPoint, is: entry.bytes("public"))
        }
        for entry in try cases("credential-password") {
            let password = try Bench.password(try #require(entry["text"]?.string))
            try expect(password.copyBytes(), is: entry.bytes("bytes"))
        }
    }

    @Test("symmetric sessions", arguments: 1...3)
    func symmetricSessions(_ number: Int) async throws {
        let vector = try vector("session-symmetric-\(number)")
        let service = try await Bench.open()
        let label = try HSMAuthLabel("s")
        try await service.add(
            label, .symmetric(Secret(try vector.bytes("key_enc") + vector.bytes("key_mac"))),
            password: Bench.password("pw"), managementKey: .defaultManagementKey())
        let session = try await service.sessionKeys(
            label, hostChallenge: vector.bytes("host_challenge"), hsmChallenge: vector.bytes("hsm_challenge"),
            cryptogram: vector.bytes("hsm_cryptogram"), password: Bench.password("pw"))
        try expect(session.bytes, is: vector.bytes("response"))
        await #expect(throws: HSMAuthError.notAuthentic) {
            try await service.sessionKeys(
                label, hostChallenge: vector.bytes("host_challenge"), hsmChallenge: vector.bytes("hsm_challenge"),
                cryptogram: vector.bytes("host_cryptogram"), password: Bench.password("pw"))
        }
    }

    /// The key draws the ephemeral key of the vector.
    @Test("asymmetric sessions", arguments: 1...3)
    func asymmetricSessions(_ number: Int) async throws {
        let vector = try vector("session-asymmetric-\(number)")
        let inputs = VirtualInputs(random: FixedRandom(try vector.bytes("oce_ephemeral_private")))
        let service = try await Bench.open(inputs: inputs)
        let label = try HSMAuthLabel("a")
        try await service.add(
            label, .p256(SharedSecret(Secret(vector.bytes("oce_static_private")))), password: Bench.password("pw"),
            managementKey: .defaultManagementKey())
        try await expect(service.publicKey(of: label), is: .ec(.p256, point: vector.bytes("pk_oce")))
        for receipt in [[UInt8](repeating: 0, count: 16), try vector.bytes("receipt")] {
            let point = try await service.challenge(label, password: Bench.password("pw"))
            try expect(point, is: vector.bytes("epk_oce"))
            func keys() async throws -> HSMSessionKeys {
                try await service.sessionKeys(
                    label, hostPoint: point, hsmPoint: vector.bytes("epk_sd"), hsmKey: vector.bytes("pk_sd"),
                    receipt: receipt, password: Bench.password("pw"))
            }
            if receipt.first == 0, receipt.allSatisfy({ $0 == 0 }) {
                await #expect(throws: HSMAuthError.notAuthentic) { try await keys() }
            } else {
                let expected = try vector.bytes("s_enc") + vector.bytes("s_mac") + vector.bytes("s_rmac")
                try await expect(keys().bytes, is: expected)
            }
        }
    }

    @Test("CALCULATE exceeds a short command from labels of 18 bytes on")
    func calculateLength() throws {
        let point = [UInt8](repeating: 4, count: 65)
        for entry in try cases("calculate-length") {
            let label = try HSMAuthLabel(String(repeating: "l", count: Int(try #require(entry["label"]?.int))))
            let command = CalculateSessionKeys(
                label, hostPoint: point, hsmPoint: point, hsmKey: point, receipt: [UInt8](repeating: 0, count: 16),
                password: try Bench.password("pw"))
            expect(Int64(command.apdu.data.count), is: entry["data"]?.int)
        }
    }

    /// The service sends what another client sent, and takes the replies that it took.
    @Test("a transcript of another client")
    func transcript() async throws {
        let steps = try #require(try vector("apdu-transcript")["steps"]?.array)
        var frames: [(name: String, command: [UInt8], reply: [UInt8])] = []
        for step in steps {
            for frame in step["frames"]?.array ?? [] {
                let pair = try #require(frame.array).map { try Hex.decode(try #require($0.string)) }
                frames.append((step["step"]?.string ?? "", pair[0], pair[1]))
            }
        }
        for (name, command, reply) in frames {
            let wanted = try APDU(decoding: command)
            let log = ScriptedLink.Log()
            let service = try await Bench.open(
                ScriptedLink(log: log) { command in
                    command[1] == 0xA4 ? [0x79, 3, 5, 7, 4, 0x90, 0] : reply
                })
            let outcome = await Self.run(name, service, wanted)
            let sent = try APDU(decoding: try #require(log.commands.last))
            expect([sent.ins, sent.p1, sent.p2], is: [wanted.ins, wanted.p1, wanted.p2], "\(name)")
            expect(sent.data, is: wanted.data, "\(name)")
            let isRefused = reply.suffix(2) != [0x90, 0x00]
            expect((outcome != nil), is: isRefused, "\(name): \(String(describing: outcome))")
        }
        expect(frames.count, is: 17)
    }

    /// Runs the step, and returns the error that it ended with.
    private static func run(_ step: String, _ service: HSMAuthService, _ wanted: APDU) async -> (any Error)? {
        do {
            let (abc, asym) = (try HSMAuthLabel("abc"), try HSMAuthLabel("asym"))
            switch step {
            case "management key retries": _ = try await service.managementKeyRetries()
            case let name where name.hasPrefix("put asymmetric"):
                let number = try #require(try TLV.list(wanted.data).value(0x7D))
                try await service.add(
                    asym, .p256(SharedSecret(Secret(number))), password: Bench.password("pw"), needsTouch: true,
                    managementKey: .defaultManagementKey())
            case let name where name.hasPrefix("put"):
                let isWrong = name.contains("wrong")
                try await service.add(
                    isWrong ? HSMAuthLabel("xyz") : abc, HSMAuthKey.derived(from: Secret(utf8: "pwd")),
                    password: Bench.password("a password"), managementKey: managementKey(isWrong ? 1 : 0))
            case let name where name.hasPrefix("calculate (asymmetric)"):
                let objects = try TLV.list(wanted.data)
                let context = try #require(objects.value(0x77))
                _ = try await service.sessionKeys(
                    asym, hostPoint: Array(context[..<65]), hsmPoint: Array(context[65...]),
                    hsmKey: try #require(objects.value(0x7C)), receipt: try #require(objects.value(0x78)),
                    password: Bench.password("pw"))
            case let name where name.hasPrefix("calculate"):
                let context = try #require(try TLV.list(wanted.data).value(0x77))
                _ = try await service.sessionKeys(
                    abc, hostChallenge: Array(context[..<8]), hsmChallenge: Array(context[8...]),
                    password: Bench.password(name.contains("wrong") ? "wrong" : "a password"))
            case "list": _ = try await service.credentials()
            case "get challenge (symmetric)": _ = try await service.challenge(abc)
            case let name where name.hasPrefix("get challenge"):
                _ = try await service.challenge(asym, password: Bench.password("pw"))
            case "get public key": _ = try await service.publicKey(of: asym)
            case let name where name.hasPrefix("get public key"): _ = try await service.publicKey(of: abc)
            case "change management key":
                try await service.changeManagementKey(from: managementKey(0), to: managementKey(0x11))
            case "delete": try await service.delete(abc, managementKey: managementKey(0x11))
            case let name where name.hasPrefix("delete"):
                try await service.delete(abc, managementKey: managementKey(0x11))
            case "reset": try await service.reset()
            default: Issue.record("unknown step \(step)")
            }
            return nil
        } catch { return error }
    }

    private static func managementKey(_ byte: UInt8) throws -> HSMAuthPassword {
        try Bench.password(Hex.encode([UInt8](repeating: byte, count: 16)))
    }
}

extension HSMSessionKeys {
    /// The three keys one after the other.
    fileprivate var bytes: [UInt8] { [encryption, mac, responseMAC].flatMap { $0.value.copyBytes() } }
}

extension JSONValue {
    fileprivate func bytes(_ member: String) throws -> [UInt8] { try Hex.decode(try #require(self[member]?.string)) }
}
