// SPDX-License-Identifier: Apache-2.0

import YKCrypto
public import YKFIDO
import YKHardware
public import YKManagement
public import YKOTP
public import YKSecrets
public import YKTransport

/// A key with all its interfaces, as found by ``KeyRing``; opens its applications.
///
/// ``KeyRing/selected`` is a key that has not been looked for: it is searched for when an application is opened, and
/// only as far as that application requires.
public struct Key: Sendable {
    /// The interfaces, and the details read when the key was found; `nil` for a key that has not been looked for.
    public let attached: AttachedKey?
    /// The keys, narrowed to this one.
    package let keys: KeyRing

    init(in keys: KeyRing) { (attached, self.keys) = (nil, keys) }

    init(_ attached: AttachedKey, in keys: KeyRing) {
        self.attached = attached
        guard case .machine = keys.source else {
            self.keys = keys
            return
        }
        let transport = keys.selection.transport
        if case .reader(let name) = attached.key.place {
            self.keys = keys.selecting(KeySelection(reader: name, transport: transport))
        } else {
            self.keys = keys.selecting(KeySelection(path: attached.key.place.name, transport: transport))
        }
    }

    /// The key's name; for a key that has not been looked for, the description of the selection.
    public var name: String { attached.map { $0.details?.name ?? $0.key.name } ?? keys.selection.description }
    /// The serial number, if known.
    public var serial: String? { attached?.serial ?? keys.selection.serial }
    /// The firmware version, if known.
    public var version: String? { attached?.details?.version }
    /// The location: a USB port such as `1-2`, a node, or the name of the reader; empty for a key that has not been
    /// looked for, unless it is selected by its location.
    public var place: String {
        attached?.key.place.name ?? keys.selection.path ?? keys.selection.reader ?? ""
    }

    /// Returns the same key restricted to one transport.
    public func over(_ transport: KeySelection.Transport) -> Key {
        let keys = keys.selecting(keys.selection.over(transport))
        return attached.map { Key($0, in: keys) } ?? Key(in: keys)
    }

    /// Looks for the key, unless it was found already.
    ///
    /// - Throws: `none`, `notFound` or `several` with the keys to choose from.
    public func found() async throws(KeyError) -> Key { attached == nil ? try await keys.only() : self }

    /// Waits until this key has been removed and inserted again, which a reset of FIDO requires.
    ///
    /// In a USB port the key is back when its FIDO interface is accessible. A recording or a virtual key returns at once.
    ///
    /// - Parameters:
    ///   - patience: The maximum wait.
    ///   - announce: Called when the key may be removed.
    /// - Returns: The key in its new place.
    /// - Throws: `differentKey` when another one was inserted, `link(.timedOut)` or `link(.cancelled)`.
    public func reinserted(
        within patience: Duration = .seconds(60), _ announce: @Sendable () -> Void = {}
    ) async throws(KeyError) -> Key {
        guard case .machine = keys.source else {
            announce()
            return try await keys.only()
        }
        guard let attached else { return try await found().reinserted(within: patience, announce) }
        let transport = keys.selection.transport
        let place: KeySelection
        if case .reader(let name) = attached.key.place {
            let reader = try await keys.reinsertedReader(name, within: patience, announce)
            place = KeySelection(reader: reader, transport: transport)
        } else {
            let node = try await keys.reinsertedNode(attached.key.place.name, within: patience, announce)
            place = KeySelection(path: node, transport: transport)
        }
        return try await keys.selecting(place).only()
    }

    // MARK: services

    /// Opens an application on the key's card: `OATHService`, `PIVService`, `OpenPGPService`, `HSMAuthService`,
    /// `SecurityDomainService`, `TagService`, or `CardService` for custom commands.
    ///
    /// ```swift
    /// let oath = try await key.open(OATHService.self)
    /// ```
    ///
    /// - Parameters:
    ///   - service: The type of the service.
    ///   - timeout: Timeout for an operation, instead of the environment's.
    /// - Throws: ``KeyError`` when the card cannot be reached, or the service's error when the application is missing,
    ///   or `CryptoFault` without OpenSSL.
    public func open<Service: CardKeyService>(
        _ service: Service.Type, timeout: Duration? = nil
    ) async throws -> Service {
        try OpenSSL.prepare()
        return try await Service.open(try await channel(timeout: timeout))
    }

    /// Opens an application for what needs OpenSSL in any case: it is loaded while the card answers.
    ///
    /// - Throws: As ``open(_:timeout:)``.
    package func openLoading<Service: CardKeyService>(_ service: Service.Type) async throws -> Service {
        let channel = try await channel()
        let loading = Self.loading()
        let opened = try await Service.open(channel)
        try loading.end()?.get()
        return opened
    }

    /// Loads OpenSSL while the key answers.
    private static func loading() -> WorkBeside<Result<Void, CryptoFault>> {
        WorkBeside(after: 2) { Result { () throws(CryptoFault) in try OpenSSL.load() } }
    }

    /// Connects to the card, on the thread that the service opened on the channel will have.
    ///
    /// - Parameter timeout: Timeout for an operation, instead of the environment's.
    package func channel(timeout: Duration? = nil) async throws(KeyError) -> sending CardChannel {
        let keys = keys
        let (runtime, channel) = try await onRuntime { () throws(KeyError) in try keys.channel(timeout: timeout) }
        channel.runtime = runtime
        return channel
    }

    /// Opens the FIDO application, over HID if the key supports it, otherwise on the card.
    ///
    /// - Parameters:
    ///   - service: The type of the service.
    ///   - interaction: How to prompt for the PIN and a touch; `nil` for what requires neither.
    /// - Throws: ``KeyError`` when the key cannot be reached, or `FIDOError`, or `CryptoFault` without OpenSSL.
    public func open(
        _ service: FIDOService.Type, interaction: FIDOInteraction? = nil
    ) async throws -> FIDOService {
        if interaction == nil { try OpenSSL.prepare() }
        let keys = keys
        let (runtime, link) = try await onRuntime { () throws(KeyError) in try keys.fidoLink() }
        let loading = interaction == nil ? nil : Self.loading()
        let service = try await FIDOService.open(link, on: runtime, interaction: interaction ?? FIDOInteraction())
        // Without OpenSSL an answer could not be checked, so no touch is asked for.
        try loading?.end()?.get()
        return service
    }

    /// Opens the OTP application, over the key's keyboard interface if it has one, otherwise on the card.
    ///
    /// - Parameters:
    ///   - service: The type of the service.
    ///   - touch: Runs while the key waits for a touch; its task is cancelled when the wait ends.
    /// - Throws: ``KeyError`` when the key cannot be reached, or `OTPError`.
    public func open(
        _ service: OTPService.Type, touch: @escaping @Sendable () async -> Void = {}
    ) async throws -> OTPService {
        try OpenSSL.require()
        let keys = keys
        let (runtime, link) = try await onRuntime { () throws(KeyError) in try keys.otpLink() }
        return try await OTPService.open(link, on: runtime, touch: touch)
    }

    /// Opens the Secrets application of a Nitrokey 3, on its card, or through its HID interface if the card cannot be
    /// reached.
    ///
    /// - Throws: ``KeyError`` when the key cannot be reached, or `SecretsError`.
    public func open(_ service: SecretsService.Type) async throws -> SecretsService {
        try OpenSSL.require()
        let keys = keys
        let (runtime, channel) = try await onRuntime { () throws(KeyError) in try keys.secretsChannel() }
        channel.runtime = runtime
        return try await SecretsService.open(channel)
    }

    /// Reads the key's identity: product, firmware, serial number, and for a YubiKey its applications.
    ///
    /// - Throws: ``KeyError`` when the key cannot be reached, or `ManagementError`.
    public func identity() async throws -> DeviceIdentity {
        let keys = keys
        return try await offPool { () throws(KeyError) in Result { try keys.readIdentity() } }.get()
    }
}

extension Key: CustomStringConvertible {
    /// Name, serial number and place; for a key that has not been looked for, the description of the selection.
    public var description: String { attached?.description ?? keys.selection.description }
}

extension Key: CustomReflectable {
    /// The interfaces, without the machinery that opens them.
    public var customMirror: Mirror {
        Mirror(self, children: attached.map { ["attached": $0] } ?? ["selection": keys.selection])
    }
}

// MARK: - Finding

extension KeyRing {
    /// Finds the key with a serial number.
    ///
    /// - Throws: `notFound` with the keys that are attached.
    public static func find(serial: String) async throws(KeyError) -> Key {
        try await KeyRing(KeySelection(serial: serial)).only()
    }

    /// Finds the key with a decimal serial number, such as Yubico's.
    ///
    /// - Throws: `notFound` with the keys that are attached.
    public static func find(serial: UInt32) async throws(KeyError) -> Key { try await find(serial: String(serial)) }

    /// Finds the only key that is attached to this machine.
    ///
    /// - Throws: `none` or `several`.
    public static func only() async throws(KeyError) -> Key { try await KeyRing().only() }

    /// Lists the keys that are attached to this machine, without empty readers.
    public static func all() async throws(KeyError) -> [Key] { try await KeyRing().all() }

    /// Waits for a touch on one of the keys that are attached to this machine.
    ///
    /// - Throws: ``KeyError``, or `FIDOError.touchTimeout`.
    public static func touched() async throws -> Key { try await KeyRing().touched() }

    /// Watches keys being attached to, changed on and removed from this machine, starting with those already attached.
    public static func watch() -> AsyncStream<KeyEvent> { KeyRing().watch() }

    /// The key that is selected, without looking for it: opening one of its applications finds it. If several match,
    /// that throws `several`, with the keys to choose from.
    public var selected: Key { Key(in: self) }

    /// The key with a serial number among those that the selection allows, without looking for it.
    package func key(serial: String) -> Key { selecting(selection.with(serial: serial)).selected }

    /// Finds the one key that is selected.
    ///
    /// - Throws: `none`, `notFound` or `several` with the keys to choose from, `link(.noDevice)` or
    ///   `link(.unknownReader)` when the selected path or reader does not exist.
    public func only() async throws(KeyError) -> Key {
        let keys = self
        let selected = try await offPool { () throws(KeyError) in
            try keys.selected(asking: keys.target.serial != nil)
        }
        do throws(KeyError) { return Key(try keys.one(of: selected), in: keys) } catch {
            guard case .several = error, keys.target.serial == nil else { throw error }
        }
        // Several are attached; the error names them.
        let named = try await offPool { () throws(KeyError) in try keys.selected(asking: true) }
        return Key(try keys.one(of: named), in: keys)
    }

    /// Lists the selected keys with name and serial number, without empty readers.
    public func all() async throws(KeyError) -> [Key] {
        let keys = self
        let found = try await offPool { () throws(KeyError) in try keys.selected(asking: true) }
        let serial = keys.target.serial
        return found.filter { serial == nil || $0.serial == serial }.map { Key($0, in: keys) }
    }

    /// Waits until one of several FIDO keys is touched; they blink until then. A single key requires a touch as well.
    ///
    /// - Parameter announce: Called with the number of keys when they start to blink.
    /// - Throws: ``KeyError``, or `FIDOError.touchTimeout` when the timeout expires first.
    public func touched(_ announce: @Sendable (Int) -> Void = { _ in }) async throws -> Key {
        if let path = try await touchedNode(announce) {
            return try await KeyRing(
                KeySelection(path: path), source: source, environment: environment, decoration: decoration,
                hardware: hardware
            ).only()
        }
        if case .machine = source { _ = try touchPlace() }
        let key = try await only()
        announce(1)
        try await key.open(FIDOService.self).select()
        return key
    }

    /// Watches keys being attached, changed and removed, starting with those already attached. The selection is not
    /// applied; a recording or a virtual key arrives and stays.
    public func watch() -> AsyncStream<KeyEvent> {
        guard case .machine = source else {
            let key = try? attached(asking: false).keys.first
            return AsyncStream { stream in
                if let key { stream.yield(.arrived(Key(key, in: self))) }
                stream.yield(.enumerated)
                stream.finish()
            }
        }
        let events = hardware.events()
        return AsyncStream { stream in
            let task = Task {
                for await event in events { stream.yield(KeyEvent(event, in: self)) }
                stream.finish()
            }
            stream.onTermination = { _ in task.cancel() }
        }
    }

    /// Waits until the key with the selected serial number, or any key, is attached.
    ///
    /// - Throws: `link(.timedOut)` after the environment's timeout, or `link(.cancelled)`.
    public func inserted() async throws(KeyError) -> Key {
        let deadline = environment.deadline()
        while true {
            do throws(KeyError) { return try await only() } catch {
                switch error {
                case .none, .notFound: break
                default: throw error
                }
            }
            try lifting { () throws(LinkError) in try deadline.check("waiting for a key") }
            do { try await Task.sleep(for: .milliseconds(100)) } catch { throw .link(.cancelled) }
        }
    }

    /// The keys that match path, reader and transport.
    private func selected(asking isAsked: Bool) throws(KeyError) -> [AttachedKey] {
        let all = try attached(asking: isAsked).keys
        guard case .machine = source else { return all }
        if let path = target.path {
            guard let key = all.first(where: { $0.key.isAt(path) }) else { throw .link(.noDevice(path: path)) }
            return [key]
        }
        if let reader = target.reader {
            let found = all.filter { $0.key.reader.map { target.isReader(named: $0.name) } ?? false }
            guard !found.isEmpty else { throw .link(.unknownReader(reader)) }
            return found.filter(\.key.hasCard)
        }
        return all.filter { key in
            switch target.transport {
            case .auto: key.key.hasCard || !key.key.hid.isEmpty
            case .pcsc: key.key.reader?.hasCard ?? false
            case .usb: key.key.usbReader != nil
            case .hid: !key.key.hid.isEmpty
            }
        }
    }

    private func one(of keys: [AttachedKey]) throws(KeyError) -> AttachedKey {
        try target.one(of: keys, over: .any) { key in
            KeyCandidate(
                .any, at: key.key.place.name, name: key.details?.name ?? key.key.name, serial: key.serial,
                isAccessible: key.key.isAccessible)
        }
    }
}

/// Runs blocking work on a separate thread, so that it never blocks Swift's shared thread pool.
func offPool<Value>(
    _ work: @Sendable () throws(KeyError) -> sending Value
) async throws(KeyError) -> sending Value {
    try await onRuntime(work).session
}

/// Runs blocking work on the thread of a service that is opened next.
func onRuntime<Value>(
    _ work: @Sendable () throws(KeyError) -> sending Value
) async throws(KeyError) -> sending (runtime: ServiceRuntime, session: Value) {
    try await ServiceRuntime.open((), { KeyError.link($0) }) { _, _ throws(KeyError) in try work() }
}

/// A change of a key, see ``KeyRing/watch()-swift.method``.
public enum KeyEvent: Sendable {
    /// A key was attached. Its details have not been read.
    case arrived(Key)
    /// A key changed: an interface was added or removed, or its permissions or the card in a reader changed.
    case changed(Key)
    /// A key was removed.
    case left(Key)
    /// All keys that were attached at the start have been reported.
    case enumerated
    /// The smart card service is currently unavailable; keys that do not need it are still reported.
    case interrupted(LinkError)

    init(_ event: HardwareEvent, in keys: KeyRing) {
        self =
            switch event {
            case .arrived(let key): .arrived(Key(AttachedKey(key), in: keys))
            case .changed(let key): .changed(Key(AttachedKey(key), in: keys))
            case .left(let key): .left(Key(AttachedKey(key), in: keys))
            case .enumerated: .enumerated
            case .interrupted(let why): .interrupted(why)
            }
    }
}
