// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKProtocols
public import YKTransport
import YKWire

/// The Secrets application of a Nitrokey 3: one-time passwords, the codes of other devices, and a password safe.
///
/// It needs no PIN unless an entry is protected with one. The PIN authorizes one command, after a touch: a method that
/// is given the PIN sends it right before its command. Every method runs a whole exchange with the key on the service's
/// own thread; concurrent calls never interleave.
public actor SecretsService: CardKeyService {
    /// The runtime of the service.
    public nonisolated let runtime: ServiceRuntime
    private let channel: CardChannel
    /// What the application reported when it was last selected.
    public private(set) var info: SecretsInfo

    private init(_ session: sending Opened, _ runtime: ServiceRuntime) {
        channel = session.channel
        info = session.info
        self.runtime = runtime
    }

    /// Selects the application on a card, or through a ``SecretsTunnel``.
    ///
    /// - Throws: `card(.appletMissing)` when the key has none, `otherApplication` when it has Yubico's OATH application
    ///   instead, `unsupported` for versions before 4.10.
    public static func open(_ channel: sending CardChannel) async throws(SecretsError) -> SecretsService {
        let (runtime, session) = try await ServiceRuntime.open(card: channel, SecretsError.card) {
            channel throws(SecretsError) in try Opened(channel)
        }
        return SecretsService(session, runtime)
    }

    /// Lets other programs use the card until the next operation.
    public func rest() { channel.rest() }

    /// The number of exchanges with the key.
    public var statistics: ServiceStatistics { ServiceStatistics(exchanges: channel.exchanges) }

    /// Closes the connection to the key.
    public func close() { channel.close() }

    // MARK: - Entries

    /// Lists the entries in the key's order (LIST): with the PIN also the protected ones.
    public func entries(pin: SharedSecret? = nil) throws(SecretsError) -> [SecretsEntry] {
        try send(ListEntries(hasProperties: has(.passwords)), pin)
    }

    /// Stores an entry (PUT); waits for a touch if the entry requires one, or for the PIN.
    ///
    /// - Throws: `entryExists`, `full`, `pinRequired` for an entry that ``NewSecretsEntry/needsPIN``, `badSecret`,
    ///   `badCode`, `badAlgorithm`, `fieldTooLong`, `unsupported`.
    public func add(_ entry: NewSecretsEntry, pin: SharedSecret? = nil) throws(SecretsError) {
        try check(entry)
        if entry.needsPIN, pin == nil { throw .pinRequired }
        // Older versions overwrite.
        if !has(.update), try entries(pin: pin).contains(where: { $0.name == entry.name }) {
            throw .entryExists(entry.name)
        }
        try send(PutEntry(entry), pin, about: entry.name)
    }

    /// Throws if this key could never store a new entry, whatever else it stores.
    public func check(_ entry: NewSecretsEntry) throws(SecretsError) {
        if let otp = entry.otp { try Self.check(otp) }
        if !entry.record.objects.isEmpty || entry.otp == nil { try require(.passwords) }
        try Self.check(entry.record)
    }

    private static func check(_ otp: SecretsOTP) throws(SecretsError) {
        let size = otp.secret.value.count
        guard otp.kind == .hmac ? size == 20 : (1...125).contains(size) else { throw .badSecret(bytes: size) }
        guard otp.algorithm == .sha1 || otp.algorithm == .sha256 && otp.kind != .hmac else { throw .badAlgorithm }
        guard (6...8).contains(otp.digits) else { throw .badCode }
    }

    private static func check(_ record: SecretsRecord) throws(SecretsError) {
        let sizes = [record.login?.utf8.count, record.password?.value.count, record.metadata?.value.count]
        for size in sizes.compactMap(\.self) where size > SecretsName.limit { throw .fieldTooLong(bytes: size) }
    }

    /// Reads login, password and metadata (GET CREDENTIAL); waits for a touch if the entry requires one.
    ///
    /// - Throws: `noSuchEntry`, `touchTimeout`, `unsupported`.
    public func content(of name: SecretsName, pin: SharedSecret? = nil) throws(SecretsError) -> SecretsContent {
        try require(.passwords)
        return try send(GetEntry(entry: name), pin, about: name)
    }

    /// Changes an entry (UPDATE CREDENTIAL), after a touch. The fields that do not change are read first, since the key
    /// replaces all of them at once.
    ///
    /// - Throws: `noSuchEntry`, `entryExists`, `wrongKind` for one that verifies codes, `touchTimeout`, `unsupported`.
    public func update(
        _ name: SecretsName, _ change: SecretsChange, pin: SharedSecret? = nil
    ) throws(SecretsError) {
        try require(.update)
        try Self.check(change.record)
        let new = change.record
        var record: SecretsRecord?
        if new.login != nil || new.password != nil || new.metadata != nil {
            let old = try content(of: name, pin: pin).record
            record = SecretsRecord(
                login: new.login ?? old.login, password: new.password ?? old.password,
                metadata: new.metadata ?? old.metadata)
        }
        let command = UpdateEntry(name, name: change.name, needsTouch: change.needsTouch, record: record)
        do { try send(command, pin, about: name) } catch .entryExists {
            throw .entryExists(change.name ?? name)
        }
    }

    /// Deletes an entry (DELETE), after a touch.
    ///
    /// - Throws: `noSuchEntry`, `touchTimeout`.
    public func delete(_ name: SecretsName, pin: SharedSecret? = nil) throws(SecretsError) {
        try send(DeleteEntry(entry: name), pin, about: name)
    }

    // MARK: - Codes

    /// Calculates the code for a time (CALCULATE); waits for a touch if the entry requires one.
    ///
    /// - Parameters:
    ///   - time: In seconds since 1970; by default now.
    ///   - period: In seconds. The key does not store it.
    /// - Throws: `noSuchEntry`, `wrongKind`, `touchTimeout`.
    public func code(
        of name: SecretsName, at time: Int64? = nil, period: Int64 = 30, pin: SharedSecret? = nil
    ) throws(SecretsError) -> String {
        let period = max(1, period)
        let time = time ?? channel.environment.clock.now
        let step = time >= 0 ? time / period : (time - (period - 1)) / period
        var writer = ByteWriter(capacity: 8)
        writer.bigEndian(UInt64(bitPattern: step), 8)
        return try send(CalculateCode(entry: name, challenge: writer.bytes), pin, about: name)
    }

    /// Calculates the next code of a counter-based entry and advances its counter (CALCULATE).
    ///
    /// - Throws: `noSuchEntry`, `wrongKind`, `touchTimeout`.
    public func nextCode(of name: SecretsName, pin: SharedSecret? = nil) throws(SecretsError) -> String {
        try send(CalculateCode(entry: name, challenge: []), pin, about: name)
    }

    /// Verifies a code of another device (VERIFY CODE), which the key also shows with its LED. The counter advances
    /// past a correct code.
    ///
    /// - Throws: `wrongCode`, `badCode`, `noSuchEntry`, `wrongKind`, `touchTimeout`.
    public func verify(
        _ code: String, of name: SecretsName, pin: SharedSecret? = nil
    ) throws(SecretsError) {
        guard (6...8).contains(code.utf8.count), code.utf8.allSatisfy({ (48...57).contains($0) }),
            let number = UInt32(code)
        else { throw .badCode }
        try send(VerifyCode(entry: name, code: number), pin, about: name)
    }

    // MARK: - PIN

    /// Verifies the PIN (VERIFY PIN), after a touch, and gives up the access that it granted.
    ///
    /// - Throws: `wrongPIN`, `pinBlocked`, `noPIN`, `touchTimeout`.
    public func verify(pin: SharedSecret) throws(SecretsError) {
        try authorize(pin)
        try select()
    }

    /// Sets the first PIN (SET PIN), after a touch.
    ///
    /// - Throws: `pinExists`, `badPIN`, `touchTimeout`.
    public func setPIN(_ pin: SharedSecret) throws(SecretsError) {
        try Self.check(pin)
        guard !info.hasPIN else { throw .pinExists }
        try lifted { () throws(CardError) in try channel.send(SetPIN(pin.value)) }
        try select()
    }

    /// Changes the PIN (CHANGE PIN), after a touch.
    ///
    /// - Throws: `wrongPIN`, `pinBlocked`, `noPIN`, `badPIN`, `touchTimeout`.
    public func changePIN(from old: SharedSecret, to new: SharedSecret) throws(SecretsError) {
        try Self.check(new)
        try checkTries(old)
        try withTries { () throws(SecretsError) in
            try lifted { () throws(CardError) in try channel.send(ChangePIN(from: old.value, to: new.value)) }
        }
        try select()
    }

    /// Deletes all entries and the PIN (RESET), after a touch; it requires no PIN.
    public func reset() throws(SecretsError) {
        try lifted { () throws(CardError) in try channel.send(ResetSecrets()) }
        try select()
    }

    private static func check(_ pin: SharedSecret) throws(SecretsError) {
        guard (1...SecretsName.limit).contains(pin.value.count) else { throw .badPIN(bytes: pin.value.count) }
    }

    /// Refuses a PIN that could only cost a try, or have no effect.
    private func checkTries(_ pin: SharedSecret) throws(SecretsError) {
        try Self.check(pin)
        guard info.hasPIN else { throw .noPIN }
        guard info.pinRetries != 0 else { throw .pinBlocked }
    }

    private func authorize(_ pin: SharedSecret) throws(SecretsError) {
        try checkTries(pin)
        try withTries { () throws(SecretsError) in
            try lifted { () throws(CardError) in try channel.send(VerifyPIN(pin.value)) }
        }
    }

    /// Adds the tries that are left, which only SELECT reports, to the refusal of a PIN.
    private func withTries(_ body: () throws(SecretsError) -> Void) throws(SecretsError) {
        do { try body() } catch {
            guard case .wrongPIN = error else { throw error }
            try select()
            throw info.pinRetries == 0 ? .pinBlocked : .wrongPIN(triesLeft: info.pinRetries)
        }
    }

    // MARK: - Exchanges

    /// Reads again what the application reports about itself.
    private func select() throws(SecretsError) {
        info = try Opened.select(channel)
    }

    private func has(_ feature: SecretsFeature) -> Bool { info.version >= feature.firstVersion }

    private func require(_ feature: SecretsFeature) throws(SecretsError) {
        guard has(feature) else { throw .unsupported(feature, has: info.version) }
    }

    /// Sends a command, right after the PIN if one is given.
    private func send<Command: CardCommand>(
        _ command: Command, _ pin: SharedSecret?, about entry: SecretsName? = nil
    ) throws(SecretsError) -> Command.Response {
        if let pin { try authorize(pin) }
        return try lifted(about: entry) { () throws(CardError) in try channel.send(command) }
    }

    private func lifted<Value>(
        about entry: SecretsName? = nil, _ body: () throws(CardError) -> Value
    ) throws(SecretsError) -> Value {
        do { return try body() } catch { throw SecretsError(error, about: entry) }
    }
}

/// A channel with the application selected.
private final class Opened {
    let channel: CardChannel
    let info: SecretsInfo

    init(_ channel: sending CardChannel) throws(SecretsError) {
        info = try Self.select(channel)
        self.channel = channel
        let isNamed = channel.identity.reader.lowercased().contains(bytesOf: "nitrokey")
        guard info.isDistinct || isNamed else { throw .otherApplication }
        guard info.version >= SecretsFeature.application.firstVersion else {
            throw .unsupported(.application, has: info.version)
        }
        channel.onReselect = { [unowned channel] _ throws(CardError) in channel.continuation = ISO7816.getResponse }
    }

    /// Selects the application. Its firmware continues long replies with GET RESPONSE, unlike Yubico's application.
    static func select(_ channel: CardChannel) throws(SecretsError) -> SecretsInfo {
        do {
            let reply = try channel.select(.oath)
            channel.continuation = ISO7816.getResponse
            return try lift({ CardError.malformed($0, during: "SELECT") }) { () throws(WireError) in
                try SecretsInfo(selectReply: reply)
            }
        } catch { throw .card(error) }
    }
}
