// SPDX-License-Identifier: Apache-2.0

import Glibc
public import YKTransport
public import YKVirtualKey

/// Makes a virtual key's FIDO interface a HID device of this machine through the kernel's uhid; programs find it as
/// `/dev/hidraw…`.
public struct UHIDServer {
    private var served: ServedKey
    private let open: () -> (descriptor: Int32, errno: Int32)
    private static let path = "/dev/uhid"
    /// How long the key waits for a touch.
    public var touchTime: Duration {
        get { served.touchTime }
        set { served.touchTime = newValue }
    }

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
        self.init(key, faults: faults, cancellation: cancellation, report: report) { KernelFile.opened(Self.path) }
    }

    /// Creates a server on a file returned by `open`.
    package init(
        _ key: VirtualKey, faults: FaultPlan = FaultPlan(), cancellation: Cancellation,
        report: @escaping (ServedKeyEvent) -> Void, open: @escaping () -> (descriptor: Int32, errno: Int32)
    ) {
        served = ServedKey(key: key, faults: faults, cancellation: cancellation, report: report)
        self.open = open
    }

    /// Serves until it is cancelled or a fault permanently removes the key; blocks the thread.
    ///
    /// - Throws: `missing`, `denied` or `failed` if the device cannot be created, `gone` if the kernel removes it.
    public func run() throws(UHIDError) {
        try served.run { fido throws(UHIDError) in
            try session(&fido)
            return fido.absence
        }
    }

    /// Serves the key from plugging in to unplugging.
    private func session(_ fido: inout FIDOInterface) throws(UHIDError) {
        let file = KernelFile(try opened())
        let place = "ykit-\(getpid())-\(file.descriptor)/input0"
        guard file.send(UHIDMessage.create(HIDDescription(served.key.state, place: place))) else { throw .gone }
        defer {
            _ = file.send(UHIDMessage.destroy)
            served.report(.removed)
        }
        var search = NodeSearch(place: place)
        while !served.cancellation.isCancelled, fido.absence == nil {
            let limit = min(search.pause, fido.pause(at: .now) ?? .milliseconds(50))
            guard let bytes = file.receive(UHIDMessage.limit, within: limit) else { throw .gone }
            let message = bytes.isEmpty ? nil : UHIDMessage(bytes)
            if message == .start { search.start() }
            if let node = search.next() { served.report(.inserted(node: node)) }
            if let refusal = message?.refusal { _ = file.send(refusal) }
            // A report from the host is preceded by its report number, always 0.
            if case .output(let bytes) = message, bytes.first == 0 { fido.receive(Array(bytes.dropFirst()), at: .now) }
            fido.poll(at: .now)
            while let bytes = fido.next(endpoint: FIDOInterface.input, at: .now) {
                guard file.send(UHIDMessage.input(bytes)) else { throw .gone }
            }
            if served.key.takeRestart() { fido.device.leave(.until(.milliseconds(300))) }
        }
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
