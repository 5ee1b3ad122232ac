// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import Glibc
import TerminalIO
import Verbs
import YKCrypto
import YKHTTP
import YKHardware
import YKInteraction
import YKToken
import YKTransport
import YKWire

/// A Yubico OTP that was accepted.
struct AcceptedOTP: Report {
    let publicID: [UInt8]
    var counter: OTPCounter?
    var timestamp: Int64?
    var random: UInt16?
    var previous: OTPCounter?
    var server: String?
    var status: String?
    var store: String?

    static let members: [Member<AcceptedOTP>] = [
        Member("publicId", "in modhex") { Modhex.encode($0.publicID) },
        Member("useCounter") { $0.counter?.use },
        Member("sessionUse") { $0.counter?.session },
        Member("timestamp") { $0.timestamp },
        Member("random", "null with a server") { $0.random },
        Member("previous", "of the previously accepted password") { $0.previous },
        Member("server", "that accepted it") { $0.server },
        Member("status", "of the server") { $0.status },
        Member("store", "the file of accepted counters") { $0.store },
    ]
}

extension OTPCounter: Report {
    static let members: [Member<OTPCounter>] = [
        Member("useCounter") { $0.use },
        Member("sessionUse") { $0.session },
    ]
}

/// Verifies a Yubico OTP, with the slot's AES key or through validation servers.
struct OTPVerify: Verb {
    static let uses: GlobalUse = .server
    static let about = About(
        "Check a Yubico OTP with its AES key, or by asking a validation server.",
        discussion: """
            With the AES key, the password is decrypted, its CRC and identities are checked, and its counter is stored \
            before it is accepted: no password is accepted twice. With --server, a server that supports the validation \
            protocol 2.0 is asked; the key is then the client's, in base64, and both sides sign. Servers are tried in \
            order until one accepts or rejects the password.

            The key comes from --key-file, --key-stdin, --key-fd, YKIT_OTP_KEY (a slot's) or YKIT_API_KEY (a \
            client's), or from a prompt. Without an argument the password is read from the terminal: touch the key.
            """,
        examples: [Example("ykit otp verify dteffujehknhfjbrjnlnldnhcujvddbikngjrtgh --key-file aes.key")])

    @Argument("password", help: "The password, or - for a line of standard input.", completion: .inputText)
    var password: String?

    @OptionGroup var key: TokenKeyOptions

    @Option("--public-id <modhex>", help: "The public identity that the key must have, in modhex.")
    var publicId: String?

    @Option("--store <file>", help: "The file of accepted counters, which detects replays.") var store: String?

    @Option("--server <url>", help: "Ask this validation server; may be repeated.") var server: [String] = []

    @Option("--client <number>", help: "The client ID at the validation servers.") var client: UInt32?

    @Option("--sync-level <percent>", help: "The percentage of other servers that must confirm.") var syncLevel: Int?

    func check() throws {
        if server.isEmpty, client != nil || syncLevel != nil {
            throw UsageError("--client and --sync-level require --server")
        }
        if !server.isEmpty, client == nil { throw UsageError("--server requires --client NUMBER") }
        if !server.isEmpty, store != nil {
            throw UsageError("--store cannot be combined with --server, which records what was accepted")
        }
        if let syncLevel, !(0...100).contains(syncLevel) { throw UsageError("--sync-level must be 0 to 100") }
    }

    func run(in run: Run) async throws -> Outcome<AcceptedOTP> {
        let expected = try publicId.map { try Self.modhex($0) }
        let line = try TypedToken.line(password, run.terminal).trimmed
        let otp: YubicoOTP
        do { otp = try YubicoOTP(parsing: line) } catch { throw TokenError.malformed(error) }
        if let expected, expected != otp.publicID { throw TokenError.otherPublicID(otp.publicID) }
        return server.isEmpty ? try open(otp, expected, run) : try await ask(otp, run)
    }

    private func open(_ otp: YubicoOTP, _ expected: [UInt8]?, _ run: Run) throws -> Outcome<AcceptedOTP> {
        let text = try key.read("YKIT_OTP_KEY", "AES key of the slot (32 hexadecimal digits)", run.terminal)
        let slot = try Self.slot(of: otp, in: text)
        let file = CounterFile(try store ?? Self.usualStore(run))
        try run.endPlan("check the password, and record its counter in \(file.path.printable)")
        let verdict = try OTPVerifier(store: file).verify(
            otp, key: slot.key.value, publicID: expected ?? slot.publicID, privateID: slot.privateID)
        let block = verdict.block
        let counter = "use \(block.counter.use).\(block.counter.session)"
        let last = verdict.previous.map { ", the last one was \($0.use).\($0.session)" } ?? ", the first one"
        return Outcome(
            AcceptedOTP(
                publicID: otp.publicID, counter: block.counter, timestamp: Int64(block.timestamp),
                random: block.random, previous: verdict.previous, store: file.path),
            "good: \(Self.name(otp)), \(counter)\(last)")
    }

    private static func slot(of otp: YubicoOTP, in text: SharedSecret) throws(Explanation) -> YubicoOTPKey {
        let keys = YubicoOTPKey.all(in: text)
        if keys.isEmpty { throw .usage("no AES key found: 32 hexadecimal digits are expected") }
        guard let key = YubicoOTPKey.matching(otp, among: keys) else {
            throw Explanation(
                "no-such-key", .notFound,
                "none of the \(keys.count) given keys belongs to '\(Modhex.encode(otp.publicID))'")
        }
        return key
    }

    private func ask(_ otp: YubicoOTP, _ run: Run) async throws -> Outcome<AcceptedOTP> {
        let text = try key.given("YKIT_API_KEY", run.terminal)
        let validation = ValidationClient(
            servers: server, client: client ?? 0, key: try text.map { try Self.base64($0) },
            transport: HTTPValidation(client: try run.http()), environment: run.environment)
        let patience = Duration.seconds(max(1, Int(run.options.seconds) / server.count))
        let (reply, server) = try await validation.verify(otp, syncLevel: syncLevel, timeout: patience)
        var outcome = Outcome(
            AcceptedOTP(
                publicID: otp.publicID, counter: reply.counter,
                timestamp: reply.values["timestamp"].flatMap { Int64($0) }, server: server,
                status: reply.status.rawValue),
            "good: \(Self.name(otp)), says \(server.printable)")
        if text == nil {
            outcome.answer.warnings = [
                Warning("no-client-key", "without the client's key only TLS authenticates the server")
            ]
        }
        return outcome
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
            throw Explanation.usage("the client's key is not base64")
        }
        defer { Secret.wipe(&key) }
        return SharedSecret(Secret(key))
    }

    /// The default path, in ykit's state folder, which is created if needed.
    private static func usualStore(_ run: Run) throws -> String {
        let folder = try UserFolder.state.required(run.stage.variables)
        try UserFolder.makeWritable(folder)
        return folder + "/otp-counters.json"
    }
}

/// Queries validation servers over HTTP.
struct HTTPValidation: ValidationTransport {
    let client: any HTTPClient

    func get(
        _ address: String, limit: Int, timeout: Duration
    ) async throws(ValidationTransportError) -> (status: Int, body: [UInt8]) {
        // HTTPURL's error repeats the address, which contains the password.
        guard let url = try? HTTPURL(address) else {
            throw ValidationTransportError(
                "its address is invalid: expected https://host/path, or http:// on this machine")
        }
        var request = HTTPRequest(get: url)
        request.limit = limit
        request.timeout = timeout
        request.secrets = HTTPSecrets(request: ["otp"], answer: ["otp"])
        do {
            let response = try await client.send(request)
            return (response.status, response.body)
        } catch {
            throw ValidationTransportError(error.reason)
        }
    }
}

extension HTTPError {
    /// The error without the address.
    fileprivate var reason: String {
        if case .redirected(_, let status) = self {
            "it redirects (\(status)), and redirects are not followed"
        } else {
            "\(self)"
        }
    }
}

/// The source of the key that decrypts a password.
struct TokenKeyOptions: ParsableArguments {
    static let title = "Key Options"

    @Flag("--key-stdin", help: "Read the key from standard input, one line.") var keyStdin = false

    @Option("--key-fd <n>", help: "Read the key from this open file descriptor.") var keyFd: Int32?

    @Option(
        "--key-file <file>",
        help: "Read the key from this file: the key alone, or CSV lines with public identity, private identity and key."
    )
    var keyFile: String?

    func check() throws {
        guard [keyStdin, keyFd != nil, keyFile != nil].count(where: { $0 }) < 2 else {
            throw UsageError("give the key in only one way")
        }
    }

    /// Returns the text that contains the key; `nil` if the user must be asked.
    func given(_ variable: String, _ terminal: Terminal) throws -> SharedSecret? {
        if let keyFile {
            var bytes = try Files.read(keyFile)
            defer { Secret.wipe(&bytes) }
            return SharedSecret(Secret(bytes))
        }
        let source = SecretInput.Source(
            isStandardInput: keyStdin, descriptor: keyFd, variable: variable, hint: "")
        return try source.given(terminal)
    }

    /// Returns the text that contains the key, given or asked for.
    func read(_ variable: String, _ question: String, _ terminal: Terminal) throws -> SharedSecret {
        if let given = try given(variable, terminal) { return given }
        let hint = "give it with --key-file FILE, --key-stdin, --key-fd N or \(variable)"
        return try terminal.secret(question, orElse: hint)
    }
}

/// Identifies the kind of password that a key typed.
struct OTPParse: Verb {
    static let uses: GlobalUse = []
    static let about = About(
        "Show the fields of a one-time password that a key typed.",
        discussion: "Without an argument the password is read from the terminal: touch the key. Nothing is checked.",
        examples: [Example("ykit otp parse ccccccbchvthlivuitriujjifivbvtrjkjfirllluurj")])
    static let answer = Shape(Item<OTPToken>("token"))

    @Argument("password", help: "The password, or - for a line of standard input.", completion: .inputText)
    var password: String?

    func run(in run: Run) throws -> Outcome<OTPToken> {
        let token = try TypedToken.read(password, run.terminal)
        return Outcome(token, token.details)
    }
}

/// A one-time password that a key types now, or that was typed earlier and is passed as text.
struct TypedToken {
    /// Returns the line that contains it: the argument, a line of standard input for `-`, or else one typed at the
    /// terminal.
    static func line(_ argument: String?, _ terminal: Terminal) throws -> String {
        if let argument, argument != "-" { return argument }
        let secret =
            argument == nil
            ? try terminal.secret(
                "touch the key", orElse: "give the password as an argument, or with - on standard input")
            : SharedSecret(try SecretInput.line(from: 0))
        let bytes = secret.value.copyBytes()
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads the password from a line.
    static func read(_ argument: String?, _ terminal: Terminal) throws -> OTPToken {
        guard let token = OTPToken(typed: try line(argument, terminal)) else {
            throw Explanation.usage("there is no password", hint: "touch the key, or give one")
        }
        return token
    }
}
