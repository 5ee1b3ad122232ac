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
        var hid = VirtualHID(version: key.state.profile.version.bytes, faults: faults)
        hid.touchTime = touchTime
        while !cancellation.isCancelled {
            hid = try session(hid)
            key.powerOff()
            guard case .until(let back)? = hid.absence else { return }
            hid = hid.replugged
            let deadline = Deadline.after(back, cancellation: cancellation)
            while !deadline.isOver, !deadline.isCancelled { Pause.step(deadline) }
        }
    }

    /// The number of the FIDO interface.
    private static let fidoNumber = 1

    /// From plugging in to pulling out; gives the FIDO device as it was left.
    private func session(_ hid: VirtualHID) throws(USBIPError) -> VirtualHID {
        let plug = try attach()
        let file = KernelFile(plug.descriptor)
        defer { report(.removed) }
        let profile = key.state.profile
        var usb = USBIPDevice(
            USBDevice(
                profile,
                [OTPInterface(key), FIDOInterface(key, hid, report: report), CCIDInterface(key, report: report)]))
        var search = NodeSearch(place: "usb-vhci_hcd.0-\(plug.port + 1)/input\(Self.fidoNumber)", patience: 1000)
        search.start()
        while !cancellation.isCancelled, usb.absence == nil {
            let limit = min(search.pause, usb.pause(at: .now) ?? .milliseconds(50))
            guard let bytes = file.receive(65536, within: limit) else { throw .gone }
            if let node = search.next() { report(.inserted(node: node)) }
            let answers: [UInt8]
            do { answers = bytes.isEmpty ? usb.poll(at: .now) : try usb.feed(bytes, at: .now) } catch { throw .gone }
            guard answers.isEmpty || file.send(answers) else { throw .gone }
        }
        guard let interface = usb.device.interfaces[Self.fidoNumber] as? FIDOInterface else { return hid }
        return interface.device
    }
}
