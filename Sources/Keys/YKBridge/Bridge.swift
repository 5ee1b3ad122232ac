// SPDX-License-Identifier: Apache-2.0

import YKDesktop
import YKHardware
public import YKInteraction
public import YKTransport
public import YKVirtualKeyHost

/// Presents the FIDO cards in this machine's readers as one HID security key, which browsers, SSH and PAM modules find.
public struct Bridge {
    /// The USB vendor number of the device.
    public static let vendor = BridgeDevice.vendor
    /// The USB product number of the device.
    public static let product = BridgeDevice.product
    /// The name of the device.
    public static let name = "ykit bridge to smart cards"

    private let settings: BridgeSettings
    private let readers: any BridgeReaders
    private let person: any Person
    private let environment: ServiceEnvironment
    private let report: (BridgeEvent) -> Void
    private let open: (() -> (descriptor: Int32, errno: Int32))?

    /// Creates a bridge; nothing happens before ``run()``.
    ///
    /// - Parameters:
    ///   - settings: The settings of the bridge.
    ///   - readers: The readers, by default those of the smart card service.
    ///   - person: Who confirms the use of a contact card; by default nobody, so it is refused.
    ///   - environment: The timeout for an exchange with a card, and the cancellation that ends ``run()``.
    ///   - report: Called for each event, on the thread of ``run()``.
    public init(
        _ settings: BridgeSettings = BridgeSettings(), readers: any BridgeReaders = ServiceReaders(),
        person: any Person = NoPerson(), environment: ServiceEnvironment = ServiceEnvironment(),
        report: @escaping (BridgeEvent) -> Void = { _ in }
    ) {
        self.init(settings, readers: readers, person: person, environment: environment, report: report, open: nil)
    }

    /// Creates a bridge on a file returned by `open`.
    package init(
        _ settings: BridgeSettings, readers: any BridgeReaders, person: any Person,
        environment: ServiceEnvironment, report: @escaping (BridgeEvent) -> Void,
        open: (() -> (descriptor: Int32, errno: Int32))?
    ) {
        (self.settings, self.readers, self.person, self.environment) = (settings, readers, person, environment)
        (self.report, self.open) = (report, open)
    }

    /// Serves until it is cancelled; blocks the thread.
    ///
    /// - Throws: `missing`, `denied` or `failed` if the device cannot be created, `gone` if the kernel removes it.
    public func run() throws(UHIDError) {
        let wake = try Wake()
        let inbox = BridgeInbox(wake: wake.signal)
        let work = WorkQueue()
        let bench = CardBench(readers, environment, work.add)
        let authenticator = CardAuthenticator(settings, bench, inbox, AskingTask(person), report: report)
        let host = UHIDDevice(environment.cancellation, wake: wake, open: open) { [report] event in
            switch event {
            case .inserted(let node): report(.inserted(node: node))
            case .removed: report(.removed)
            }
        }
        if open == nil { try host.check() }
        let watch = Task { [readers] in for await event in readers.events() { inbox.add(.reader(event)) } }
        defer {
            watch.cancel()
            authenticator.end()
            // The cards are disconnected before the program ends; otherwise they would be powered off.
            work.finish(by: .after(.seconds(2)))
        }
        while !environment.cancellation.isCancelled {
            authenticator.poll(at: .now)
            guard authenticator.isWanted(at: .now) else {
                wake.wait(for: .milliseconds(50))
                continue
            }
            var device = BridgedDevice(authenticator)
            try host.serve(&device, as: description)
            authenticator.closed(at: .now)
        }
    }

    /// The description of the device. The serial number names the owner of its node, for udev.
    private var description: HIDDescription {
        HIDDescription(
            name: Self.name, serial: settings.owner ?? "", vendor: Self.vendor, product: Self.product, version: 0x0100)
    }
}
