// SPDX-License-Identifier: Apache-2.0

import Arguments
import Verbs
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

/// Imports tokens.
struct SecurIDImport: Verb {
    static let about = About(
        "import",
        "Import a token: a file, a string, a link, a picture, or from a CT-KIP server.",
        discussion: """
            SOURCE is an SDTID file, a .stokenrc, a file with a token string or link, a picture (PNG, JPEG) with QR codes, \
            the string or link itself, or '-' for standard input. The first import makes the store and asks for a touch.
            """, members: ["serial", "tokens", "form", "store"])

    @Argument("source", help: "SOURCE, or - for standard input.", completion: .file) var source: String?

    @Option("--ctkip <url>", help: "Fetch the token from this CT-KIP server or link.") var ctkip: String?

    @OptionGroup var server: CTKIPOptions

    @Option("--device-id <id>", help: "The identifier of the device that the token is bound to.") var deviceId: String?

    @Option("--serial", help: "Which token of a file with several; may be repeated.") var serial: [String] = []

    @Flag("--all", help: "Import all tokens of a file with several.") var all = false

    @Option("--type", help: "How the PIN is used, when the file does not tell: pinpad, keyfob or pinless.")
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
        if (source == nil) == (ctkip == nil) { throw UsageError("name a source, or --ctkip with a server") }
        if all, !serial.isEmpty { throw UsageError("--all and --serial exclude each other") }
        if let nickname, nickname.count > SecurIDLimits.nickname || nickname.isEmpty {
            throw UsageError("a nickname has 1 to \(SecurIDLimits.nickname) characters")
        }
        try newKey.check(key)
        let readers = [source == "-", password.isStandardInput, server.code.isStandardInput, key.usesStandardInput]
        try UsageError.check(standardInput: readers)
    }

    func answer(in world: World) async throws -> Answer {
        let store = try path.tokens(world)
        var source = try await read(store.bindingID, world)
        try checkNickname(source.tokens, store)
        try checkTokens(&source.tokens, store.bindingID, world)
        let new = try store.new(source.tokens, limit: max)
        if source.hasPIN {
            world.terminal.warn(
                "the file also holds a PIN, which is not imported: give it with 'securid code --ask-pin'")
        }
        if !new.isEmpty { try await save(new, store, world) }
        return answer(source.tokens, new, store.file, source.form, world)
    }

    /// Returns the tokens, the form of the source, and whether the source holds a PIN. A file of many tokens is not kept in
    /// memory beyond this.
    private func read(
        _ own: String?, _ world: World
    ) async throws -> (tokens: [SecurIDToken], form: String, hasPIN: Bool) {
        let input = try input(world)
        let secret = try password.source.given(world.terminal)
        guard let input, input.form != "ctkip" else {
            return ([try await server.fetch(input, ctkip, world)], "ctkip", false)
        }
        let hasPIN = if case .stoken(let source) = input { source.hasPIN } else { false }
        return (try tokens(of: input, own, secret, world), input.form, hasPIN)
    }

    /// Returns the CT-KIP link itself if one was given, otherwise the content of the source.
    private func input(_ world: World) throws -> SecurIDInput? {
        if let ctkip {
            return ctkip.lowercased().contains(bytesOf: "ctkip?") ? try SecurIDInput(parsing: Array(ctkip.utf8)) : nil
        }
        return try TokenSource.read(source ?? "-", world)
    }

    /// Returns the tokens of a source that requires no server.
    private func tokens(
        of input: SecurIDInput, _ own: String?, _ given: SharedSecret?, _ world: World
    ) throws -> [SecurIDToken] {
        let wanted = try wanted(input)
        let devices = [deviceId ?? own].compactMap { $0 }
        func read(_ password: SharedSecret?) throws(SecurIDError) -> [SecurIDToken] {
            let count = wanted?.count ?? input.serials.count
            let counter = count > 20 ? Counter(world.terminal, "reading the tokens", of: count) : nil
            defer { counter?.end() }
            return try input.tokens(SecurIDKeys(password: password, deviceIDs: devices), wanted) { counter?.show($0) }
        }
        do { return try read(given) } catch {
            switch error {
            case .passwordNeeded where given == nil:
                let secret: Secret
                do { secret = try Prompt(orElse: "").secret("password of the token") } catch let failure as Explanation
                {
                    throw failure.code == "no-terminal" ? Explain.tokenPasswordNeeded : failure
                }
                return try read(SharedSecret(secret))
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
        guard input.serials.count > 1 else { return nil }
        throw SecurIDError.severalTokens(input.serials)
    }

    private func checkNickname(_ tokens: [SecurIDToken], _ store: TokenStore) throws {
        guard let nickname else { return }
        guard tokens.count == 1 else { throw Explanation.usage("--nickname names one token, not \(tokens.count)") }
        try store.check(nickname: nickname, for: tokens.first?.serial)
    }

    private func checkTokens(_ tokens: inout [SecurIDToken], _ own: String?, _ world: World) throws {
        for index in tokens.indices {
            if let type { tokens[index].type = type.type }
            if let nickname { tokens[index].nickname = nickname }
            if let expiry = tokens[index].expiry, tokens[index].isExpired(at: world.now), !allowExpired {
                throw SecurIDError.expired(serial: tokens[index].serial, expiry)
            }
            guard let bound = tokens[index].deviceID,
                !DeviceBinding.classes.contains(where: { DeviceBinding.matches($0, bound) })
            else { continue }
            if let deviceId, !DeviceBinding.matches(deviceId, bound) {
                throw SecurIDError.boundElsewhere(serial: tokens[index].serial, device: bound)
            }
            if deviceId == nil, !(own.map { DeviceBinding.matches($0, bound) } ?? false) {
                world.terminal.warn("token \(tokens[index].serial) names the device \(bound.printable)")
            }
        }
    }

    /// Seals and writes the tokens; a store without keys first gets one.
    private func save(
        _ tokens: [SecurIDToken], _ store: TokenStore, _ world: World
    ) async throws {
        let storeKey: StoreKey
        var seal: StoreSeal?
        if store.content.seals.isEmpty {
            storeKey = try StoreKey(world.environment.random)
            seal = try await world.seal(storeKey, key, newKey, besides: [], of: "token store")
            if !key.software {
                world.terminal.notice("losing this key loses the tokens: add a spare with 'ykit securid store add-key'")
            }
        } else {
            storeKey = try await world.open(store.content, key, for: "open the token store")
        }
        guard world.plan == nil else { return }
        try store.add(tokens, storeKey, seal: seal)
    }

    private func answer(
        _ tokens: [SecurIDToken], _ new: [SecurIDToken], _ file: StoreFile, _ form: String, _ world: World
    ) -> Answer {
        let added = Set(new.map(\.serial))
        var answer = Answer(
            tokens.map { token in
                added.contains(token.serial)
                    ? "imported token \(token.serial)" : "token \(token.serial) is in the store already"
            }, [:])
        answer.members["serial"] = tokens.first.map { .string($0.serial) }
        // Of many tokens the members take as much memory as the tokens.
        answer.members["tokens"] = .array(
            (world.options.json ? tokens : []).map { token in
                [
                    "serial": .string(token.serial), "added": .bool(added.contains(token.serial)),
                    "type": .string(token.type.rawValue), "digits": .int(Int64(token.digits)),
                    "interval": .int(token.interval.components.seconds),
                    "expiry": token.expiry.map { .string($0.description) } ?? .null,
                ]
            })
        answer.members["form"] = .string(form)
        answer.members["store"] = .string(file.path)
        if let duplicate = tokens.first(where: { !added.contains($0.serial) }) {
            answer.failure = Explanation(
                "duplicate", .failed, "token \(duplicate.serial) is in the store already",
                hint: "delete it first to import it again: ykit securid delete \(duplicate.serial)")
            if new.isEmpty { answer.lines = [] }
        }
        return answer
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
    static func read(_ source: String, _ world: World) throws -> SecurIDInput {
        if source != "-", isString(source) {
            world.terminal.warn(
                "a token on the command line can be seen by others; use a file, or - for standard input")
            return try SecurIDInput(parsing: Array(source.utf8))
        }
        var bytes = try Files.read(source)
        defer { Secret.wipe(&bytes) }
        guard QRReader.isImage(bytes) else { return try SecurIDInput(parsing: bytes) }
        let texts = try QRReader.interruptible.texts(in: bytes, source == "-" ? "standard input" : source.printable)
        for text in texts.dropLast() {
            if let input = try? SecurIDInput(parsing: Array(text.utf8)) { return input }
        }
        return try SecurIDInput(parsing: Array((texts.last ?? "").utf8))
    }

    /// Whether a word is a token string or link rather than a file name.
    static func isString(_ word: String) -> Bool {
        if word.contains(bytesOf: "://") || word.lowercased().contains(bytesOf: "ctfdata=") { return true }
        guard word.utf8.count >= 60, !word.contains(bytesOf: ".") else { return false }
        return word.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2D } || word.hasPrefix("Aw")
            || word.hasPrefix("BA")
    }
}
