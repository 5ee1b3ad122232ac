// SPDX-License-Identifier: Apache-2.0

public import YKCapture
package import YKHardware
public import YKSecureChannel
public import YKTransport
public import YKVirtualKey

/// The keys available to a program: those attached to this machine, a recording, or a virtual key.
///
/// ```swift
/// let key = try await KeyRing.find(serial: 8_675_309)
/// let oath = try await key.open(OATHService.self)
/// ```
///
/// The asynchronous methods work on a separate thread, never in Swift's shared thread pool.
public struct KeyRing: Sendable {
    /// Where keys come from.
    public enum Source: Sendable {
        /// The devices of this machine.
        case machine
        /// A recording to replay.
        case recording(CaptureReplay)
        /// A virtual key, and the faults to inject on its links.
        case virtual(VirtualKey, faults: FaultPlan = FaultPlan())
    }

    /// Which key to use.
    public private(set) var selection: KeySelection
    /// Where keys come from.
    public let source: Source
    /// Timeout, cancellation, clock and randomness for everything that is opened. For a recording the recorded clock
    /// and randomness are used.
    public var environment: ServiceEnvironment
    /// The decorators around each link that is opened.
    public var decoration: LinkDecoration
    /// The credential for a secure channel in each card application; `nil` for none. HID has no secure channel, so with
    /// a credential every application is used as a card.
    public var secureChannel: SecureChannelCredential?
    /// Called before selecting the first application that the key offers through a secure channel only, as FIPS series
    /// keys do on contactless readers, when ``secureChannel`` is `nil`. Returns how to authenticate the key when SCP11b
    /// is opened, or `nil` to open no channel. Without this function no channel is opened, and the key refuses.
    public var requiredChannelTrust: (@Sendable () -> SCP11Trust?)?
    /// The hardware, by default this machine's.
    package var hardware: any Hardware = SystemHardware()
    /// The keys that were chosen among several; shared by all copies.
    let choices = KeyChoices()
    /// The randomness used to find keys, which is not recorded, since a replay does not search.
    private let searchRandom: any RandomSource

    /// Creates an access point to keys; nothing is opened yet.
    ///
    /// - Parameters:
    ///   - selection: Which key to use; by default the only one.
    ///   - source: Where keys come from; by default this machine.
    ///   - environment: Timeout, cancellation, clock and randomness.
    ///   - decoration: The recorder, log, plan and prompt for everything that is opened.
    public init(
        _ selection: KeySelection = KeySelection(), source: Source = .machine,
        environment: ServiceEnvironment = ServiceEnvironment(), decoration: LinkDecoration = LinkDecoration()
    ) {
        self.selection = selection
        self.source = source
        self.decoration = decoration
        var environment = environment
        if case .recording(let replay) = source { environment = replay.replaying(environment) }
        searchRandom = environment.random
        if let recorder = decoration.recorder { environment = recorder.recording(environment) }
        self.environment = environment
    }

    /// Creates an access point to the keys of other hardware.
    package init(
        _ selection: KeySelection = KeySelection(), source: Source = .machine,
        environment: ServiceEnvironment = ServiceEnvironment(), decoration: LinkDecoration = LinkDecoration(),
        hardware: any Hardware
    ) {
        self.init(selection, source: source, environment: environment, decoration: decoration)
        self.hardware = hardware
    }

    /// Returns a copy with another selection. A key chosen for one selection is not chosen for another.
    public func selecting(_ selection: KeySelection) -> KeyRing {
        var keys = self
        keys.selection = selection
        return keys
    }

    /// The recording to replay.
    package var replay: CaptureReplay? { if case .recording(let replay) = source { replay } else { nil } }
    /// The virtual key.
    package var software: VirtualKey? { if case .virtual(let key, _) = source { key } else { nil } }

    // MARK: the machine

    /// The timeout for discovery.
    private var searchTimeout: Duration { min(environment.timeout, .seconds(5)) }

    /// The environment for identifying a key, with each step limited to `limit`.
    func searchEnvironment(within limit: Duration) -> ServiceEnvironment {
        var environment = environment
        environment.random = searchRandom
        environment.timeout = min(environment.timeout, limit)
        return environment
    }

    /// The readers of the smart card service.
    package func readers() throws(LinkError) -> [ReaderStatus] {
        try hardware.readers(timeout: searchTimeout, cancellation: environment.cancellation)
    }

    /// Everything that is attached, with each key listed once.
    package func devices(asking service: Bool) throws(LinkError) -> Discovery.Findings {
        try hardware.keys(asking: service, timeout: searchTimeout, cancellation: environment.cancellation)
    }

    /// The card readers on USB; with `isFree`, only those that no program has claimed. A running smart card service has
    /// claimed its readers.
    func usbReaders(isFree: Bool) -> [USBDevice] {
        hardware.usbDevices().filter { $0.reader.map { !isFree || $0.driver == nil } ?? false }
    }

    /// The key at a USB port or a node.
    func device(at path: String, asking service: Bool) throws(KeyError) -> SecurityKey {
        let found: Discovery.Findings
        do { found = try devices(asking: service) } catch { throw .link(error) }
        guard let key = found.keys.first(where: { $0.isAt(path) }) else { throw .link(.noDevice(path: path)) }
        return key
    }
}

/// Runs `body` and rethrows a link error as a ``KeyError``.
func lifting<Value>(_ body: () throws(LinkError) -> Value) throws(KeyError) -> Value {
    do { return try body() } catch { throw .link(error) }
}
