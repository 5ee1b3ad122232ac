// SPDX-License-Identifier: Apache-2.0

import Glibc
public import YKTransport

/// Makes a virtual key's FIDO interface a HID device of this machine, through the kernel's uhid: any program finds it
/// as `/dev/hidraw…`.
public struct UHIDServer {
    private let key: VirtualKey
    private let faults: FaultPlan
    private let cancellation: Cancellation
    private let report: (ServedKeyEvent) -> Void
    private let open: () -> (descriptor: Int32, errno: Int32)
    private static let path = "/dev/uhid"
    /// How long the key waits for a touch.
    public var touchTime: Duration = .seconds(30)

    /// Prepares to serve; nothing is plugged in before ``run()``.
    public init(
        _ key: VirtualKey, faults: FaultPlan = FaultPlan(), cancellation: Cancellation,
        report: @escaping (ServedKeyEvent) -> Void = { _ in }
    ) {
        self.init(key, faults: faults, cancellation: cancellation, report: report) { KernelFile.opened(Self.path) }
    }

    /// Prepares to serve on a file that `open` gives.
    package init(
        _ key: VirtualKey, faults: FaultPlan = FaultPlan(), cancellation: Cancellation,
        report: @escaping (ServedKeyEvent) -> Void, open: @escaping () -> (descriptor: Int32, errno: Int32)
    ) {
        self.key = key
        self.faults = faults
        self.cancellation = cancellation
        self.report = report
        self.open = open
    }

    /// Serves until it is called off or a fault takes the key away for good; blocks the thread.
    public func run() throws(UHIDError) {
        var device = VirtualHID(key.state, faults: faults)
        device.touchTime = touchTime
        while !cancellation.isCancelled {
            try session(&device)
            key.powerOff()
            guard case .until(let back)? = device.absence else { return }
            device = device.replugged
            device.setCapabilities(key.state)
            let deadline = Deadline.after(back, cancellation: cancellation)
            while !deadline.isOver, !deadline.isCancelled { Pause.step(deadline) }
        }
    }

    /// From plugging in to pulling out.
    private func session(_ device: inout VirtualHID) throws(UHIDError) {
        let file = KernelFile(try opened())
        let place = "ykit-\(getpid())-\(file.descriptor)/input0"
        guard file.send(UHIDMessage.create(HIDDescription(key.state, place: place))) else { throw .gone }
        defer {
            _ = file.send(UHIDMessage.destroy)
            report(.removed)
        }
        var search = NodeSearch(place: place)
        while !cancellation.isCancelled, device.absence == nil {
            let limit = min(search.pause, device.pause(at: .now) ?? .milliseconds(50))
            guard let bytes = file.receive(UHIDMessage.limit, within: limit) else { throw .gone }
            let message = bytes.isEmpty ? nil : UHIDMessage(bytes)
            if message == .start { search.start() }
            if let node = search.next() { report(.inserted(node: node)) }
            if let refusal = message?.refusal { _ = file.send(refusal) }
            if case .output(let bytes) = message { take(bytes, &device) }
            device.poll(at: .now, key.run)
            while let bytes = device.next(at: .now) {
                report(.delivered(bytes))
                guard file.send(UHIDMessage.input(bytes)) else { throw .gone }
            }
            if key.takeRestart() { device.leave(.until(.milliseconds(300))) }
        }
    }

    /// A report from the host, after its report number: always 0.
    private func take(_ bytes: [UInt8], _ device: inout VirtualHID) {
        guard bytes.first == 0 else { return }
        let bytes = Array(bytes.dropFirst())
        report(.written(bytes))
        let winks = device.winks
        device.receive(bytes, at: .now, key.run)
        if device.winks != winks { report(.winked) }
    }

    private func opened() throws(UHIDError) -> Int32 {
        let (file, code) = open()
        guard file < 0 else { return file }
        switch code {
        case ENOENT, ENODEV, ENXIO: throw .missing(path: Self.path)
        case EACCES, EPERM: throw .denied(path: Self.path)
        default: throw .failed(path: Self.path, errno: code, String(cString: strerror(code)))
        }
    }
}
