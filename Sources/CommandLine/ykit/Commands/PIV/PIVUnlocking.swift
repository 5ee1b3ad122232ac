// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKCrypto
import YKHardware
import YKKeys
import YKPIV
import YKTransport
import YKWire
import YKX509

/// Authenticates to a PIV application before an operation: with the PIN, a fingerprint or the management key. A verb
/// asks for each of them once.
struct PIVUnlocking {
    let world: World
    let service: PIVService
    let pin: PINOptions
    /// The serial number of the key, for a verb that may use several.
    let key: String?
    var isVerified = false
    /// Provides the PIN instead of the options.
    var source: ((PIVService, String) async throws -> PIVPIN)?
    /// Whether a PIN that an earlier program verified is good for keys with the policy "once", and is left verified for
    /// the next program.
    var sharesPIN = false
    /// The PIN, once the card has accepted it.
    private var held: HeldPIN?
    /// The metadata of the slots that were prepared, on cards that have it.
    private var known: [PIVSlot: SlotMetadata] = [:]

    init(_ world: World, _ service: PIVService, _ pin: PINOptions, key: String? = nil) {
        self.world = world
        self.service = service
        self.pin = pin
        self.key = key
    }

    /// Where the PIN may come from, without a prompt.
    var given: SecretInput.Source { world.source(of: .piv, pin, key: key) }

    /// Returns the same unlocking before its PIN was given.
    func beforePIN() -> PIVUnlocking {
        var unlocking = self
        unlocking.held = nil
        unlocking.isVerified = false
        return unlocking
    }

    /// Verifies the PIN, unless that is already done.
    mutating func verify(for reason: String) async throws {
        if isVerified { return }
        try await send(try await code(for: reason))
    }

    /// Returns the PIN, given or asked for.
    private func code(for reason: String) async throws -> PIVPIN {
        if let source { return try await source(service, reason) }
        return try await world.pivPIN(pin, of: service, for: reason, key: key)
    }

    private mutating func send(_ pin: consuming PIVPIN) async throws {
        try await service.verify(pin.copy())
        hold(pin)
    }

    /// Stores a PIN that the card has accepted.
    mutating func hold(_ pin: consuming PIVPIN) {
        held = HeldPIN(pin: pin)
        isVerified = true
    }

    /// Performs the verification that a slot requires before its key is used, and returns the key's properties.
    ///
    /// The PIN is verified last, since some policies require it immediately before the operation. If the card does not
    /// report the policy, the PIN is verified for all slots except 9E, and there only if one is given.
    mutating func prepare(
        _ slot: PIVSlot, _ kind: PIVAlgorithm?, _ operation: PIVOperation, for reason: String
    ) async throws -> KeyUse {
        try await prepare(slot, kind, operation, for: reason) { _ in }.use
    }

    /// Reads an input in addition.
    ///
    /// - Parameter read: Reads the input, and refuses what a key of this type cannot use. It runs before the PIN is asked
    ///   for or sent, but after it is read from standard input, which may hold both.
    mutating func prepare<Input>(
        _ slot: PIVSlot, _ kind: PIVAlgorithm?, _ operation: PIVOperation, for reason: String,
        reading read: (PIVAlgorithm) throws -> Input
    ) async throws -> (use: KeyUse, input: Input) {
        world.terminal.purpose(reason)
        let (metadata, algorithm, key) = try await properties(of: slot, kind)
        guard algorithm.fits(operation) else { throw PIVError.unfit(algorithm, for: operation) }
        let use = KeyUse(slot: slot, algorithm: algorithm, touch: metadata?.policies.touch, key: key)
        let input: Input
        let policy = try await policy(of: slot, metadata)
        if policy == .once, sharesPIN, !isVerified, world.plan == nil {
            isVerified = try await service.isPINVerified()
        }
        switch policy {
        case .never?: input = try read(algorithm)
        case .matchOnce?, .matchAlways?:
            input = try read(algorithm)
            try await match(for: reason)
        case nil where slot == .cardAuthentication && !given.isGiven: input = try read(algorithm)
        case .once? where isVerified: input = try read(algorithm)
        default:
            if let held {
                // Other commands may have come in between.
                input = try read(algorithm)
                try await service.verify(held.pin.copy())
            } else if isVerified || !pin.isStandardInput {
                input = try read(algorithm)
                try await verify(for: reason)
            } else {
                let pin = try await code(for: reason)
                input = try read(algorithm)
                try await send(pin)
            }
        }
        if policy == .once, sharesPIN { await service.leavePINVerified() }
        return (use, input)
    }

    /// Returns the properties of a key: from metadata, otherwise the given algorithm, or the public key by which the slot
    /// is known. A card that reports no key may be wrong about it, so the certificate counts as well.
    private mutating func properties(
        of slot: PIVSlot, _ kind: PIVAlgorithm?
    ) async throws -> (SlotMetadata?, PIVAlgorithm, PublicKey?) {
        if let metadata = known[slot] { return (metadata, metadata.algorithm, metadata.publicKey) }
        let state = try await service.keyState(of: slot)
        if let metadata = state.metadata {
            known[slot] = metadata
            return (metadata, metadata.algorithm, metadata.publicKey)
        }
        if let kind { return (nil, kind, nil) }
        let key: PublicKey?
        if case .absent = state {
            do { key = try await service.certificate(slot).publicKey } catch {
                guard case .noSuchObject = error else { throw error }
                throw PIVError.noKey(slot)
            }
        } else {
            key = try await service.publicKey(slot)
        }
        guard let key, let algorithm = PIVAlgorithm(key) else { throw PIVError.unknownKey(slot) }
        return (nil, algorithm, key)
    }

    /// The PIN policy as the card reports it; where PINs are shared, otherwise as the certificate states it.
    private func policy(of slot: PIVSlot, _ metadata: SlotMetadata?) async throws -> PINPolicy? {
        guard metadata == nil, sharesPIN, let certificate = try? await service.certificate(slot) else {
            return metadata?.policies.pin
        }
        return KeyPolicies(certificate)?.pin
    }

    /// Verifies a fingerprint; falls back to the PIN if it is not recognized.
    private mutating func match(for reason: String) async throws {
        if isVerified || world.plan != nil { return }
        world.terminal.say("put a finger on the key's sensor")
        do {
            _ = try await service.verifyFingerprint()
            isVerified = true
        } catch {
            switch error {
            case .wrong(.fingerprint, _), .blocked(.fingerprint):
                world.terminal.notice("not recognised, the PIN will do")
            default: throw error
            }
            try await verify(for: reason)
        }
    }
}

/// A PIN that the card has accepted, wiped at the end of the verb.
private final class HeldPIN: Sendable {
    let pin: PIVPIN

    init(pin: consuming PIVPIN) { self.pin = pin }
}

/// The key to use.
struct KeyUse {
    let slot: PIVSlot
    let algorithm: PIVAlgorithm
    /// When it requires a touch; `nil` if the card does not report it.
    let touch: TouchPolicy?
    /// Its public key, if the card reports it.
    let key: PublicKey?

    /// Uses the key; prompts for a touch while the key waits for one.
    func touching<Result>(_ world: World, _ body: () async throws -> Result) async throws -> Result {
        guard touch != .never, world.plan == nil else { return try await body() }
        guard touch == nil else { return try await TouchPrompt.during(world.terminal, body) }
        let prompt = TouchPrompt(world.terminal, "touch the key if it blinks")
        defer { prompt.end() }
        return try await body()
    }
}

extension PIVAlgorithm {
    /// Whether keys of this type support the operation; keys of unknown type do not.
    fileprivate func fits(_ operation: PIVOperation) -> Bool {
        switch operation {
        case .sign: self != .x25519
        case .decrypt: modulusSize != nil
        case .derive: curve != nil || self == .x25519
        }
    }
}

/// The management key, and the PIN that may protect it.
struct PIVManagementOptions: ParsableArguments {
    @Flag(
        "--no-mutual",
        help: "Do not require that the card proves to know the management key, for cards that cannot.")
    var noMutual = false

    @OptionGroup var managementKey: ManagementKeyOptions
    @OptionGroup var pin: PINOptions

    /// Authenticates with the management key.
    @discardableResult
    func unlock(_ service: PIVService, for reason: String, _ world: World) async throws -> PIVUnlocking {
        if noMutual { await service.waiveProof() }
        var unlocking = PIVUnlocking(world, service, pin)
        try await unlocking.manage(managementKey, for: reason)
        return unlocking
    }
}

extension PIVUnlocking {
    /// Authenticates with the management key: the given one, else the default one, with a warning, if the card still
    /// has it, else the PIN-protected one, else one that is asked for.
    mutating func manage(_ options: ManagementKeyOptions, for reason: String) async throws {
        world.terminal.purpose(reason)
        let metadata = try await service.managementKeyMetadata()
        let source = world.ofThisKey(options.source, key: key)
        switch try SecretInput.given(source, world.terminal) {
        case .secret(let text): return try await authenticate(text, metadata)
        case .none: break
        }
        if metadata?.isDefault != false, try await useDefault(metadata) { return }
        if try await service.isManagementKeyProtected() { return try await useProtected(for: reason) }
        guard world.plan == nil else { throw stopped }
        let prompt = try Prompt(orElse: source.hint)
        let kind = try await service.findManagementKeyType()
        prompt.tell(
            "to \(reason), \(world.keyWords) asks for its management key: \(kind), \((kind.keySize ?? 24) * 2) digits")
        try await authenticate(try prompt.secret("management key"), metadata)
    }

    /// Tries the default key, which uses no retries; returns whether it was correct.
    private mutating func useDefault(_ metadata: ManagementKeyMetadata?) async throws -> Bool {
        do {
            try await authenticate(ManagementKey.defaultKey(), metadata)
        } catch {
            switch error {
            case PIVError.wrongManagementKey where metadata?.isDefault != true: return false
            case PIVError.managementKeyLength where metadata?.isDefault != true: return false
            default: throw error
            }
        }
        guard !world.options.strict else {
            throw Explanation("management-key-default", .policy, Self.isDefault)
        }
        world.terminal.warn(Self.isDefault)
        return true
    }

    static let isDefault =
        "the management key is still the default; set another with "
        + "'ykit piv access change-management-key --generate --protect'"

    /// Uses the PIN-protected key; a plan sends no PIN, so it stops here.
    private mutating func useProtected(for reason: String) async throws {
        guard world.plan == nil else { throw stopped }
        let pin = try await world.pivPIN(
            pin, of: service, for: "use its management key and \(reason)", key: key)
        try await service.authenticate(withProtectedKeyOf: pin.copy())
        hold(pin)
    }

    private func authenticate(_ text: borrowing Secret, _ metadata: ManagementKeyMetadata?) async throws {
        try await authenticate(ManagementKey(try HexSecret.decode(text)), metadata)
    }

    private func authenticate(_ key: consuming ManagementKey, _ metadata: ManagementKeyMetadata?) async throws {
        guard metadata?.touch != .never, metadata != nil else { return try await service.authenticate(with: key) }
        let prompt = TouchPrompt(world.terminal)
        defer { prompt.end() }
        try await service.authenticate(with: key)
    }

    private var stopped: Explanation {
        world.plan?.stop()
        return Explanation("plan", .failed, "the plan ends here")
    }
}

/// Secrets in hexadecimal.
enum HexSecret {
    /// Decodes the bytes; ignores spaces and colons.
    static func decode(_ text: borrowing Secret) throws -> Secret {
        var digits = text.copyBytes().filter { !Array(" :".utf8).contains($0) }
        defer { Secret.wipe(&digits) }
        guard var bytes = try? Hex.decode(String(decoding: digits, as: UTF8.self)), !bytes.isEmpty else {
            throw Explanation.usage("a management key is written in hexadecimal digits: 32, 48 or 64 of them")
        }
        defer { Secret.wipe(&bytes) }
        return Secret(bytes)
    }
}

extension World {
    /// The timeout for generating an RSA key, unless the user sets one.
    static let generationPatience = Duration.seconds(300)

    /// Opens the PIV application of the selected key, or of one of other keys, with a longer timeout for key generation.
    func openPIV(isPatient: Bool = false, of keys: Keys? = nil) async throws -> PIVService {
        try await PIVService.open(try connect(isPatient ? Self.generationPatience : nil, of: keys))
    }

    /// Returns a PIN, given or asked for; reads the remaining retries before a prompt.
    ///
    /// - Parameter key: The serial number of the key, for a verb that may use several.
    func pivPIN(
        _ options: PINOptions, of service: PIVService, for reason: String, key: String? = nil
    ) async throws -> PIVPIN {
        try await code(.pin, source(of: .piv, options, key: key), of: service, for: reason)
    }

    /// Returns the PUK in the same way.
    func pivPUK(_ options: PUKOptions, of service: PIVService, for reason: String) async throws -> PIVPIN {
        try await code(.puk, options.source, of: service, for: reason)
    }

    private func code(
        _ reference: PIVReference, _ source: SecretInput.Source, of service: PIVService, for reason: String
    ) async throws -> PIVPIN {
        if plan != nil { return try PIVPIN(Secret(utf8: "planning")) }
        switch try SecretInput.given(source, terminal) {
        case .secret(let secret): return try PIVPIN(secret)
        case .none: break
        }
        let name = reference == .pin ? "PIN" : "PUK"
        let tries = try await service.tries(of: reference)
        if tries?.isBlocked == true { throw PIVError.blocked(reference) }
        let prompt = try Prompt(orElse: source.hint)
        prompt.tell("to \(reason), \(keyWords) asks for its \(name)" + Self.words(tries))
        return try PIVPIN(try prompt.neededSecret(name, "an empty \(name) is never sent"))
    }

    private static func words(_ tries: PINMetadata?) -> String {
        guard let tries else { return "" }
        return "; " + Tries.next(tries.triesLeft) + (tries.isDefault == true ? ", it is still the default" : "")
    }
}

extension SecretInput.Source {
    /// Returns a new PIN or PUK, given or asked for twice.
    func newCode(_ name: String, _ world: World) throws -> PIVPIN {
        if world.plan != nil { return try PIVPIN(Secret(utf8: "planning")) }
        switch try SecretInput.given(self, world.terminal) {
        case .secret(let secret): return try PIVPIN(secret)
        case .none:
            let prompt = try Prompt(orElse: hint)
            prompt.tell("a \(name) has 6 to 8 characters")
            return try PIVPIN(try prompt.newSecret("new \(name)", "an empty \(name) is not a \(name)"))
        }
    }
}
