// SPDX-License-Identifier: Apache-2.0

public import YKTransport

/// Plugs a virtual key into this machine's USB, through the kernel's virtual host controller: one device with keyboard,
/// FIDO and smart card reader, as a real key is.
public struct USBIPServer {
    private let key: VirtualKey
    private let faults: FaultPlan
    private let cancellation: Cancellation
    private let report: (ServedKeyEvent) -> Void
    private let attach: () throws(USBIPError) -> (descriptor: Int32, port: Int)
    /// How long the key waits for a touch.
    public var touchTime: Duration = .seconds(30)
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
        self.key = key
        self.faults = faults
        self.cancellation = cancellation
        self.report = report
        self.attach = attach
    }

    /// Serves until it is called off or a fault takes the key away for good; blocks the thread.
    public func run() throws(USBIPError) {
        var hid = VirtualHID(key.state, faults: faults)
        hid.touchTime = touchTime
        var cardFaults = cardFaults
        while !cancellation.isCancelled {
            let absence = try session(&hid, &cardFaults)
            key.powerOff()
            guard case .until(let back)? = absence else { return }
            hid = hid.replugged
            hid.setCapabilities(key.state)
            let deadline = Deadline.after(back, cancellation: cancellation)
            while !deadline.isOver, !deadline.isCancelled { Pause.step(deadline) }
        }
    }

    /// How long a key that starts anew is still there, for its last answer to be fetched, and how long it is away.
    private static let restartTimes = (grace: Duration.milliseconds(200), absence: Duration.milliseconds(500))

    /// The interfaces that are switched on, in the order that real keys have them in.
    private func interfaces(_ hid: VirtualHID, _ cardFaults: FaultPlan) -> [any USBInterface] {
        let all: [(UInt8, any USBInterface)] = [
            (1, OTPInterface(key)), (2, FIDOInterface(key, hid, report: report)),
            (4, CCIDInterface(key, level: level, faults: cardFaults, report: report)),
        ]
        let shown = key.state.usbInterfaces
        return all.filter { $0.0 & shown != 0 }.map(\.1)
    }

    /// From plugging in to pulling out; gives how the key was taken away, by a fault or to start anew.
    private func session(
        _ hid: inout VirtualHID, _ cardFaults: inout FaultPlan
    ) throws(USBIPError) -> FaultPlan.Absence? {
        key.plugIn()
        let plug = try attach()
        let file = KernelFile(plug.descriptor)
        defer { report(.removed) }
        let interfaces = interfaces(hid, cardFaults)
        let fidoNumber = interfaces.firstIndex { $0 is FIDOInterface }
        var usb = USBIPDevice(USBDevice(key.state, interfaces))
        let place = "usb-vhci_hcd.0-\(plug.port + 1)/input\(fidoNumber ?? 9)"
        var search = NodeSearch(place: place, patience: fidoNumber == nil ? 1 : 1000)
        search.start()
        var restart: Deadline?
        while !cancellation.isCancelled, usb.absence == nil, !(restart?.isOver ?? false) {
            let limit = min(search.pause, usb.pause(at: .now) ?? .milliseconds(50))
            guard let bytes = file.receive(65536, within: limit) else { throw .gone }
            if let node = search.next() { report(.inserted(node: node)) }
            let answers: [UInt8]
            do { answers = bytes.isEmpty ? usb.poll(at: .now) : try usb.feed(bytes, at: .now) } catch { throw .gone }
            guard answers.isEmpty || file.send(answers) else { throw .gone }
            if key.takeRestart() { restart = .after(Self.restartTimes.grace) }
        }
        for interface in usb.device.interfaces {
            if let fido = interface as? FIDOInterface { hid = fido.device }
            if let reader = interface as? CCIDInterface { cardFaults = reader.faults }
        }
        return usb.absence ?? restart.map { _ in .until(Self.restartTimes.absence) }
    }
}
