// SPDX-License-Identifier: Apache-2.0

public import YKTransport
public import YKVirtualKey

/// Plugs a virtual key into this machine's USB, through the kernel's virtual host controller: one device with keyboard,
/// FIDO and smart card reader, as a real key is.
public struct USBIPServer {
    private var served: ServedKey
    private let attach: () throws(USBIPError) -> (descriptor: Int32, port: Int)
    /// How long the key waits for a touch.
    public var touchTime: Duration {
        get { served.touchTime }
        set { served.touchTime = newValue }
    }
    /// What the card reader exchanges with the host.
    public var level = ReaderLevel.extended
    /// What goes wrong with the card; the other faults are those of FIDO HID.
    public var cardFaults = FaultPlan()

    /// Prepares to serve; nothing is plugged in before ``run()``.
    public init(
        _ key: VirtualKey, faults: FaultPlan = FaultPlan(), cancellation: Cancellation,
        report: @escaping (ServedKeyEvent) -> Void = { _ in }
    ) {
        self.init(key, faults: faults, cancellation: cancellation, report: report) { () throws(USBIPError) in
            let plug = try VirtualHostController().attach()
            return (plug.descriptor, plug.port)
        }
    }

    /// Prepares to serve on a socket that `attach` gives.
    package init(
        _ key: VirtualKey, faults: FaultPlan = FaultPlan(), cancellation: Cancellation,
        report: @escaping (ServedKeyEvent) -> Void,
        attach: @escaping () throws(USBIPError) -> (descriptor: Int32, port: Int)
    ) {
        served = ServedKey(key: key, faults: faults, cancellation: cancellation, report: report)
        self.attach = attach
    }

    /// Serves until it is called off or a fault takes the key away for good; blocks the thread.
    public func run() throws(USBIPError) {
        var cardFaults = cardFaults
        try served.run { fido throws(USBIPError) in try session(&fido, &cardFaults) }
    }

    /// How long a key that starts anew is still there, for its last answer to be fetched, and how long it is away.
    private static let restartTimes = (grace: Duration.milliseconds(200), absence: Duration.milliseconds(500))

    /// The interfaces that are switched on, in the order that real keys have them in.
    private func interfaces(_ fido: FIDOInterface, _ cardFaults: FaultPlan) -> [any USBInterface] {
        let all: [(UInt8, any USBInterface)] = [
            (1, OTPInterface(served.key)), (2, fido),
            (4, CCIDInterface(served.key, level: level, faults: cardFaults, report: served.report)),
        ]
        let shown = served.key.state.usbInterfaces
        return all.filter { $0.0 & shown != 0 }.map(\.1)
    }

    /// From plugging in to pulling out; gives how the key was taken away, by a fault or to start anew.
    private func session(
        _ fido: inout FIDOInterface, _ cardFaults: inout FaultPlan
    ) throws(USBIPError) -> FaultPlan.Absence? {
        let plug = try attach()
        let file = KernelFile(plug.descriptor)
        defer { served.report(.removed) }
        let interfaces = interfaces(fido, cardFaults)
        let fidoNumber = interfaces.firstIndex { $0 is FIDOInterface }
        var usb = USBIPDevice(USBDevice(served.key.state, interfaces))
        let place = "usb-vhci_hcd.0-\(plug.port + 1)/input\(fidoNumber ?? 9)"
        var search = NodeSearch(place: place, patience: fidoNumber == nil ? 1 : 6000)
        search.start()
        var restart: Deadline?
        while !served.cancellation.isCancelled, usb.absence == nil, !(restart?.isOver ?? false) {
            let limit = min(search.pause, usb.pause(at: .now) ?? .milliseconds(50))
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
