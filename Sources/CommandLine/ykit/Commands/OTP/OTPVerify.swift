// SPDX-License-Identifier: Apache-2.0

import Arguments
import Glibc
import YKCrypto
import YKHardware
import YKToken
import YKTransport
import YKWire

/// Verifies a Yubico OTP, with the slot's AES key or through validation servers.
struct OTPVerify: Verb {
    static let about = About(
        "verify", "Check a Yubico OTP with its AES key, or by asking a validation server.",
        discussion: """
            With the AES key the password is opened, its CRC and identities are checked, and its counter is written down \
            before it is accepted: no password is accepted twice. With --server a server is asked that speaks the \
            validation protocol 2.0; the key is then the client's, in base 64, and both sides sign. Servers are asked one \
            after the other until one says yes or no.

            The key comes from --key-file, --key-stdin, --key-fd, YKIT_OTP_KEY (a slot's) or YKIT_API_KEY (a client's), \
            or is asked for. Without an argument the password is read from the terminal: touch the key.
            """,
        members: [
            "publicId", "useCounter", "sessionUse", "timestamp", "random", "previous", "server", "status", "store",
        ])

    @Argument(help: "The password, or - for a line of standard input.") var password: String?

    @OptionGroup var key: TokenKeyOptions

    @Option(help: ArgumentHelp("The public identity that the key must have, in modhex.", valueName: "modhex"))
    var publicId: String?

    @Option(
        help: ArgumentHelp("The file of accepted counters, which reveals replays.", valueName: "file"),
        completion: .file)
    var store: String?

    @Option(help: ArgumentHelp("Ask this validation server; may be repeated.", valueName: "url"))
    var server: [String] = []

    @Option(help: ArgumentHelp("The client ID at the validation servers.", valueName: "number")) var client: UInt32?

    @Option(help: ArgumentHelp("How many other servers have to confirm, in percent.", valueName: "percent"))
    var syncLevel: Int?

    func check() throws {
        if server.isEmpty, client != nil || syncLevel != nil {
            throw UsageError("--client and --sync-level belong to --server.")
        }
        if !server.isEmpty, client == nil { throw UsageError("--server needs --client NUMBER.") }
        if !server.isEmpty, store != nil { throw UsageError("The servers keep what was accepted, not --store.") }
        if let syncLevel, !(0...100).contains(syncLevel) { throw UsageError("--sync-level is 0 to 100.") }
        if password == "-", key.keyStdin {
            throw UsageError("Standard input has one line: the password or the key.")
        }
    }

    func answer(in world: World) async throws -> Answer {
        let expected = try publicId.map { try Self.modhex($0) }
        let line = try TypedToken.line(password).trimmed
        let otp: YubicoOTP
        do { otp = try YubicoOTP(parsing: line) } catch { throw TokenError.malformed(error) }
        if let expected, expected != otp.publicID { throw TokenError.otherPublicID(otp.publicID) }
        return server.isEmpty ? try open(otp, expected, world) : try await ask(otp, world)
    }

    private func open(_ otp: YubicoOTP, _ expected: [UInt8]?, _ world: World) throws -> Answer {
        let text = try key.read("YKIT_OTP_KEY", "AES key of the slot (32 hexadecimal digits)", world.terminal)
        let slot = try SlotKey.find(otp, in: text)
        let file = CounterFile(try store ?? Self.usualStore())
        let verdict = try OTPVerifier(store: file).verify(
            otp, key: slot.key.value, publicID: expected ?? slot.publicID, privateID: slot.privateID)
        let block = verdict.block
        let counter = "use \(block.counter.use).\(block.counter.session)"
        let last = verdict.previous.map { ", the last one was \($0.use).\($0.session)" } ?? ", the first one"
        var answer = Answer("good: \(Self.name(otp)), \(counter)\(last)", [:])
        answer.members["publicId"] = .string(Modhex.encode(otp.publicID))
        answer.members["useCounter"] = .int(Int64(block.counter.use))
        answer.members["sessionUse"] = .int(Int64(block.sessionUse))
        answer.members["timestamp"] = .int(Int64(block.timestamp))
        answer.members["random"] = .int(Int64(block.random))
        answer.members["previous"] = verdict.previous.map {
            ["useCounter": .int(Int64($0.use)), "sessionUse": .int(Int64($0.session))]
        }
        answer.members["store"] = .string(file.path)
        return answer
    }

    private func ask(_ otp: YubicoOTP, _ world: World) async throws -> Answer {
        let text = try key.given("YKIT_API_KEY", world.terminal)
        let validation = ValidationClient(
            servers: server, client: client ?? 0, key: try text.map { try Self.base64($0) },
            transport: HTTPValidation(client: try world.http()), environment: world.environment)
        let patience = Duration.seconds(max(1, Int(world.selection.timeout) / server.count))
        let (reply, server) = try await validation.verify(otp, syncLevel: syncLevel, timeout: patience)
        var answer = Answer("good: \(Self.name(otp)), says \(server.printable)", [:])
        if text == nil { answer.warnings.append("without the client's key nothing but TLS says who answered") }
        answer.members["publicId"] = .string(Modhex.encode(otp.publicID))
        answer.members["server"] = .string(server)
        answer.members["status"] = .string(reply.status.rawValue)
        answer.members["useCounter"] = reply.counter.map { .int(Int64($0.use)) }
        answer.members["sessionUse"] = reply.counter.map { .int(Int64($0.session)) }
        answer.members["timestamp"] = reply.values["timestamp"].flatMap(Int64.init).map(JSON.int)
        return answer
    }

    private static func name(_ otp: YubicoOTP) -> String {
        otp.publicID.isEmpty ? "a key without a public identity" : "key \(Modhex.encode(otp.publicID))"
    }

    private static func modhex(_ text: String) throws -> [UInt8] {
        guard let id = try? Modhex.decode(text), id.count <= 16 else {
            throw Explanation.usage("--public-id takes up to 32 letters of modhex, not '\(text.printable)'")
        }
        return id
    }

    private static func base64(_ text: SharedSecret) throws -> SharedSecret {
        var bytes = text.value.copyBytes()
        defer { Secret.wipe(&bytes) }
        guard var key = try? Base64.decode(String(decoding: bytes, as: UTF8.self).trimmed), !key.isEmpty else {
            throw Explanation.usage("the key of the client is not base 64")
        }
        defer { Secret.wipe(&key) }
        return SharedSecret(Secret(key))
    }

    /// The default path, in ykit's state folder, which is created if needed.
    private static func usualStore() throws -> String {
        let folder = try UserFolder.state.required()
        do { try UserFolder.makeWritable(folder) } catch { throw Files.explained(error) }
        return folder + "/otp-counters.json"
    }
}
