// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKCTKIP
import YKCrypto
import YKHTTP
import YKKeys
import YKSecurID
import YKStore
import YKTokenStore
import YKTransport
import YKWire

enum TokenPassword: ExposedSecretKind {
    static let name = SecretName("password", "password", "YKIT_SECURID_PASSWORD")
    static let title = OATHPassword.title
    static let names = OATHPassword.names
}

/// A token of a source.
struct ImportedToken: Report {
    let token: SecurIDToken
    let isAdded: Bool

    static let members: [Member<ImportedToken>] = [
        Member("serial") { $0.token.serial },
        Member("added", "whether it was not yet in the store") { $0.isAdded },
        Member("type", "pinpad, keyfob or pinless") { $0.token.type.rawValue },
        Member("digits") { $0.token.digits },
        Member("interval", "in seconds") { $0.token.interval.components.seconds },
        Member("expiry", "the date; null if there is none") { $0.token.expiry?.description },
    ]
}

/// Imports tokens.
struct SecurIDImport: Verb {
    static let about = About(
        "Import a token: a file, a string, a link, a picture, or from a CT-KIP server.",
        discussion: """
            SOURCE is an SDTID file, a .stokenrc, a file with a token string or link, a picture (PNG, JPEG) with QR \
            codes, the string or link itself, or '-' for standard input. The first import creates the store and \
            requires a touch.
            """,
        examples: [
            Example("ykit securid import token.txt"),
            Example("ykit securid import --ctkip https://ctkip.example.com/service"),
        ])
    typealias Reported = (tokens: [SecurIDToken], added: Set<String>, form: String, store: String)
    static let answer = Shape<Reported>(
        Member("serial", "of the first token") { $0.tokens.first?.serial },
        Member("tokens") { imported in
            imported.tokens.map { ImportedToken(token: $0, isAdded: imported.added.contains($0.serial)) }
        },
        Member("form") { $0.form }, Member("store") { $0.store })

    @Argument("source", help: "SOURCE, or - for standard input.", completion: .input) var source: String?

    @Option("--ctkip <url>", help: "Fetch the token from this CT-KIP server or link.") var ctkip: String?

    @OptionGroup var server: CTKIPOptions

    @Option("--device-id <id>", help: "The identifier of the device that the token is bound to.") var deviceId: String?

    @Option("--serial", help: "The token to import from a file with several; may be repeated.")
    var serial: [String] = []

    @Flag("--all", help: "Import all tokens from a file with several.") var all = false

    @Option("--type", help: "How the PIN is used, if the file does not say: pinpad, keyfob or pinless.")
    var type: TokenTypeChoice?

    @Option("--nickname <name>", help: "A name for the token, up to 32 characters.") var nickname: String?

    @Flag("--allow-expired", help: "Import a token that has expired.") var allowExpired = false

    @Option("--max <n>", help: "The maximum number of tokens in the store (default: 10).")
    var max = SecurIDLimits.tokens

    @OptionGroup var password: ExposedSecretOptions<TokenPassword>
    @OptionGroup var path: StorePathOptions
    @OptionGroup var key: StoreKeyOptions
    @OptionGroup var newKey: NewStoreKeyOptions

    func check() throws {
        if (source == nil) == (ctkip == nil) { throw UsageError("give a source, or --ctkip with a server") }
        if all, !serial.isEmpty { throw UsageError("--all and --serial cannot be combined") }
        if let nickname, nickname.count > SecurIDLimits.nickname || nickname.isEmpty {
            throw UsageError("a nickname must have 1 to \(SecurIDLimits.nickname) characters")
        }
        try newKey.check(key)
    }

    func run(in run: Run) async throws -> Outcome<Reported> {
        let store = try path.tokens(run)
        var source = try await read(store.bindingID, run)
        try checkNickname(source.tokens, store)
        try checkTokens(&source.tokens, store.bindingID, run)
        let new = try store.new(source.tokens, limit: max)
        if source.hasPIN {
            run.terminal.warn(
                "pin-not-imported",
                "the file also holds a PIN, which is not imported: give it with 'securid code --ask-pin'")
        }
        if !new.isEmpty { try await save(new, store, run) }
        var outcome = outcome(source.tokens, new, store.file, source.form)
        if source.unreadable > 0, outcome.answer.failure == nil {
            outcome.answer.failure = .malformed("\(source.unreadable) more token links cannot be read")
        }
        return outcome
    }

    /// What was read of a source.
    private struct Content {
        var tokens: [SecurIDToken]
        let form: String
        var hasPIN = false
        /// The number of token links that cannot be read.
        var unreadable = 0
    }

    /// Reads the source. It is not kept in memory afterwards, since it may hold many tokens.
    private func read(_ own: String?, _ run: Run) async throws -> Content {
        let input = try input(run)
        let secret = try password.source.given(run.terminal)
        guard let input, input.form != "ctkip" else {
            return Content(tokens: [try await server.fetch(input, ctkip, run)], form: "ctkip")
        }
        let hasPIN = if case .stoken(let source) = input { source.hasPIN } else { false }
        return Content(
            tokens: try tokens(of: input, own, secret, run), form: input.form, hasPIN: hasPIN,
            unreadable: input.unreadableCount)
    }

    /// Returns the CT-KIP link itself if one was given, otherwise the content of the source.
    private func input(_ run: Run) throws -> SecurIDInput? {
        if let ctkip {
            return ctkip.lowercased().contains(bytesOf: "ctkip?") ? try SecurIDInput(parsing: Array(ctkip.utf8)) : nil
        }
        return try TokenSource.read(source ?? "-", run)
    }

    /// Returns the tokens of a source that requires no server.
    private func tokens(
        of input: SecurIDInput, _ own: String?, _ given: SharedSecret?, _ run: Run
    ) throws -> [SecurIDToken] {
        let wanted = try wanted(input)
        let devices = [deviceId ?? own].compactMap { $0 }
        func read(_ password: SharedSecret?) throws(SecurIDError) -> [SecurIDToken] {
            let count = wanted?.count ?? input.count
            let counter = count > 20 ? Counter(run.terminal, "reading the tokens", of: count) : nil
            defer { counter?.end() }
            return try input.tokens(SecurIDKeys(password: password, deviceIDs: devices), wanted) { counter?.show($0) }
        }
        do { return try read(given) } catch {
            switch error {
            case .passwordNeeded where given == nil:
                guard run.hasPerson else { throw SecurIDError.passwordNeeded }
                return try read(run.terminal.secret("password of the token", orElse: ""))
            case .wrongPassword where given != nil && input.isProtected == nil:
                // A file does not say whether it has a password; an unnecessary one does no harm.
                guard let tokens = try? read(nil) else { throw error }
                return tokens
            case .wrongDevice where deviceId == nil: throw SecurIDError.deviceNeeded
            default: throw error
            }
        }
    }

    private func wanted(_ input: SecurIDInput) throws -> [String]? {
        if all { return nil }
        if !serial.isEmpty { return serial }
        guard input.count > 1 else { return nil }
        throw SecurIDError.severalTokens(input.serials)
    }

    private func checkNickname(_ tokens: [SecurIDToken], _ store: TokenStore) throws {
        guard let nickname else { return }
        guard tokens.count == 1 else { throw Explanation.usage("--nickname applies to one token, not \(tokens.count)") }
        try store.check(nickname: nickname, for: tokens.first?.serial)
    }

    private func checkTokens(_ tokens: inout [SecurIDToken], _ own: String?, _ run: Run) throws {
        for index in tokens.indices {
            if let type { tokens[index].type = type.type }
            if let nickname { tokens[index].nickname = nickname }
            if let expiry = tokens[index].expiry, tokens[index].isExpired(at: run.now), !allowExpired {
                throw SecurIDError.expired(serial: tokens[index].serial, expiry)
            }
            guard let bound = tokens[index].deviceID,
                !DeviceBinding.classes.contains(where: { DeviceBinding.matches($0, bound) })
            else { continue }
            if let deviceId, !DeviceBinding.matches(deviceId, bound) {
                throw SecurIDError.boundElsewhere(serial: tokens[index].serial, device: bound)
            }
            if deviceId == nil, !(own.map { DeviceBinding.matches($0, bound) } ?? false) {
                run.terminal.warn(
                    "bound-to-device", "token \(tokens[index].serial) names the device \(bound.printable)")
            }
        }
    }

    /// Seals and writes the tokens; a store without keys first gets one.
    private func save(
        _ tokens: [SecurIDToken], _ store: TokenStore, _ run: Run
    ) async throws {
        let storeKey: StoreKey
        var seal: StoreSeal?
        if store.content.seals.isEmpty {
            storeKey = try StoreKey(run.environment.random)
            seal = try await run.seal(storeKey, key, newKey, besides: [], of: "token store")
            if !key.software {
                run.terminal.notice("losing this key loses the tokens: add a spare with 'ykit securid store add-key'")
            }
        } else {
            storeKey = try await run.open(store.content, key, for: "open the token store")
        }
        try run.endPlan("add \(tokens.count) token\(tokens.count == 1 ? "" : "s") to \(store.file.path.printable)")
        try store.add(tokens, storeKey, seal: seal)
    }

    private func outcome(
        _ tokens: [SecurIDToken], _ new: [SecurIDToken], _ file: StoreFile, _ form: String
    ) -> Outcome<Reported> {
        let added = Set(new.map(\.serial))
        let lines = tokens.map { token in
            added.contains(token.serial)
                ? "imported token \(token.serial)" : "token \(token.serial) is already in the store"
        }
        var outcome = Outcome((tokens: tokens, added: added, form: form, store: file.path), lines)
        if let duplicate = tokens.first(where: { !added.contains($0.serial) }) {
            outcome.answer.failure = Explanation(
                "duplicate", .failed, "token \(duplicate.serial) is already in the store",
                hint: "delete it first to import it again: ykit securid delete \(duplicate.serial)")
            if new.isEmpty { outcome.answer.lines = [] }
        }
        return outcome
    }
}

/// How the token uses a PIN.
enum TokenTypeChoice: String, CaseIterable, ExpressibleByArgument {
    case pinpad, keyfob, pinless

    var type: SecurIDTokenType {
        switch self {
        case .pinpad: .pinpad
        case .keyfob: .keyfob
        case .pinless: .pinless
        }
    }
}

/// The source of tokens.
enum TokenSource {
    /// Reads a file, an image, standard input, or the string itself.
    static func read(_ source: String, _ run: Run) throws -> SecurIDInput {
        if source != "-", isString(source) {
            run.terminal.warn(
                "exposed-secret",
                "a token on the command line can be seen by others; use a file, or - for standard input")
            return try SecurIDInput(parsing: Array(source.utf8))
        }
        var bytes = try Files.read(source)
        defer { Secret.wipe(&bytes) }
        guard QRReader.isImage(bytes) else {
            do { return try SecurIDInput(parsing: bytes) } catch { throw Explanation(error).in(file: source) }
        }
        let texts = try run.terminal.qrReader.texts(in: bytes, source == "-" ? "standard input" : source.printable)
        let inputs = texts.compactMap { try? SecurIDInput(parsing: Array($0.utf8)) }
        guard !inputs.isEmpty else { return try SecurIDInput(parsing: Array((texts.last ?? "").utf8)) }
        guard let joined = SecurIDInput.joined(inputs) else {
            throw Explanation(
                "several-codes", .usage, "the picture has \(inputs.count) QR codes with tokens",
                hint: "crop it to one of them")
        }
        return joined
    }

    /// Whether a word is a token string or link rather than a file name.
    static func isString(_ word: String) -> Bool {
        if word.contains(bytesOf: "://") || word.lowercased().contains(bytesOf: "ctfdata=") { return true }
        guard word.utf8.count >= 60, !word.contains(bytesOf: ".") else { return false }
        return word.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2D } || word.hasPrefix("Aw")
            || word.hasPrefix("BA")
    }
}

enum ActivationSecret: SecretKind {
    static let name = SecretName("code", "activation code", "YKIT_ACTIVATION_CODE")
}

/// The options for provisioning a token from a CT-KIP server.
struct CTKIPOptions: ParsableArguments {
    @OptionGroup var code: SecretOptions<ActivationSecret>

    @OptionGroup var server: ServerTrustOptions

    /// Fetches a token; the store's key is not used until the server has answered.
    func fetch(
        _ input: SecurIDInput?, _ address: String?, _ run: Run
    ) async throws -> SecurIDToken {
        let link: CTKIPLink? = if case .ctkip(let link)? = input { link } else { nil }
        let url = try HTTPURL(link?.server ?? address ?? "")
        var code = link?.code
        if self.code.isGiven || code == nil { code = try read(run) }
        guard let code else { throw SecurIDError.activationCode }
        try run.refusePlan("--plan cannot contact the server, which accepts the activation code only once")
        let trust = try server.trust(run, risk: "read the activation code")
        var client = CTKIPClient(try run.http(), run.environment.random)
        client.trust = trust
        client.timeout = run.environment.timeout
        let progress = Progress(run.terminal, "waiting for the server")
        defer { progress.end() }
        return try await client.token(from: url, code)
    }

    private func read(_ run: Run) throws -> ActivationCode {
        let secret = try code.source.read(run.terminal, asking: "activation code")
        var bytes = secret.copyBytes()
        defer { Secret.wipe(&bytes) }
        return try ActivationCode(String(decoding: bytes, as: UTF8.self))
    }
}
