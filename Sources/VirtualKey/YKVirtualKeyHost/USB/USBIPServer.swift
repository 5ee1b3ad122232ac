// SPDX-License-Identifier: Apache-2.0

public import YKTransport
public import YKVirtualKey

/// Plugs a virtual key into this machine's USB through the kernel's virtual host controller, as one device with
/// keyboard, FIDO and smart card reader, like a real key.
public struct USBIPServer {
    private var served: ServedKey
    private let attach: () throws(USBIPError) -> (descriptor: Int32, port: Int)
    /// How long the key waits for a touch.
    public var touchTime: Duration {
        get { served.touchTime }
        set { served.touchTime = newValue }
    }
    /// The exchange level of the card reader.
    public var level = ReaderLevel.extended
    /// The faults to inject on the card; the other faults apply to FIDO HID.
    public var cardFaults = FaultPlan()

    /// Creates a server; it plugs nothing in before ``run()``.
    ///
    /// - Parameters:
    ///   - key: The key to plug in.
    ///   - faults: The faults to inject on FIDO HID.
    ///   - cancellation: Ends ``run()``.
    ///   - report: Called for each event, on the thread of ``run()``.
    public init(
        _ key: VirtualKey, faults: FaultPlan = FaultPlan(), cancellation: Cancellation,
        report: @escaping (ServedKeyEvent) -> Void = { _ in }
    ) {
        self.init(key, faults: faults, cancellation: cancellation, report: report) { () throws(USBIPError) in
            let plug = try VirtualHostController().attach()
            return (plug.descriptor, plug.port)
        }
    }

    /// Creates a server on a socket returned by `attach`.
    package init(
        _ key: VirtualKey, faults: FaultPlan = FaultPlan(), cancellation: Cancellation,
        report: @escaping (ServedKeyEvent) -> Void,
        attach: @escaping () throws(USBIPError) -> (descriptor: Int32, port: Int)
    ) {
        served = ServedKey(key: key, faults: faults, cancellation: cancellation, report: report)
        self.attach = attach
    }

    /// Serves until it is cancelled or a fault permanently removes the key; blocks the thread.
    ///
    /// - Throws: `missing`, `denied`, `noPort` or `failed` if the device cannot be attached, `gone` if the kernel
    ///   removes it.
    public func run() throws(USBIPError) {
        var cardFaults = cardFaults
        try served.run { fido throws(USBIPError) in try session(&fido, &cardFaults) }
    }

    /// How long a restarting key stays available so that its last answer can be fetched, and how long it is then gone.
    private static let restartTimes = (grace: Duration.milliseconds(200), absence: Duration.milliseconds(500))

    /// The enabled interfaces, in the order of real keys.
    private func interfaces(_ fido: FIDOInterface, _ cardFaults: FaultPlan) -> [any USBInterface] {
        let all: [(UInt8, any USBInterface)] = [
            (1, OTPInterface(served.key)), (2, fido),
            (4, CCIDInterface(served.key, level: level, faults: cardFaults, report: served.report)),
        ]
        let shown = served.key.state.usbInterfaces
        return all.filter { $0.0 & shown != 0 }.map(\.1)
    }

    /// Serves the key from plugging in to unplugging; returns whether it was removed by a fault or to restart.
    private func session(
        _ fido: inout FIDOInterface, _ cardFaults: inout FaultPlan
    ) throws(USBIPError) -> FaultPlan.Absence? {
        let plug = try attach()
        let file = KernelFile(plug.descriptor)
        defer { served.report(.removed) }
        let interfaces = interfaces(fido, cardFaults)
        let fidoNumber = interfaces.firstIndex { $0 is FIDOInterface }
        var usb = USBIPDevice(VirtualUSBDevice(served.key.state, interfaces))
        let place = "usb-vhci_hcd.0-\(plug.port + 1)/input\(fidoNumber ?? 9)"
        var search = NodeSearch(place: place, patience: fidoNumber == nil ? 1 : 6000)
        search.start()
        var restart: Deadline?
        while !served.cancellation.isCancelled, usb.absence == nil, !(restart?.isOver ?? false) {
            let limit = min(search.pause ?? .milliseconds(50), usb.pause(at: .now) ?? .milliseconds(50))
            guard let bytes = file.receive(65536, within: limit) else { throw .gone }
            if let node = search.next() { served.report(.inserted(node: node)) }
            let answers: [UInt8]
            do { answers = bytes.isEmpty ? usb.poll(at: .now) : try usb.feed(bytes, at: .now) } catch { throw .gone }
            guard answers.isEmpty || file.send(answers) else { throw .gone }
            if served.key.takeRestart() { restart = .after(Self.restartTimes.grace) }
        }
        for interface in usb.device.interfaces {
            if let played = interface as? FIDOInterface { fido = played }
            if let reader = interface as? CCIDInterface { cardFaults = reader.faults }
        }
        return usb.absence ?? restart.map { _ in .until(Self.restartTimes.absence) }
    }
}
