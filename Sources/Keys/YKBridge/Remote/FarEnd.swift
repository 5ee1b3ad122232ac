// SPDX-License-Identifier: Apache-2.0

public import YKTransport
public import YKVirtualKeyHost

/// The far end of a remote bridge: presents a security key on HID to the programs of this machine, or a card in the reader
/// of vpcd, and passes their requests to the near end, where the key and its user are. All decisions are made at the near
/// end.
public struct FarEnd {
    /// The name of the device.
    public static let name = "ykit bridge to a remote key"
    /// The timeout for the greeting of the near end.
    private static let greetingTime = Duration.seconds(60)

    private let channel: RemoteChannel
    private let hello: RemoteHello
    private let owner: String?
    private let cancellation: Cancellation
    private let report: (BridgeEvent) -> Void
    private let open: (() -> (descriptor: Int32, errno: Int32))?
    /// Where a card is put into a reader, if the near end has one.
    public var reader = VPCDAddress()
    /// The name of the device.
    var deviceName = FarEnd.name
    /// Its vendor and product number.
    var numbers = (vendor: Bridge.vendor, product: Bridge.product)
    /// Whether U2F messages are passed on.
    var hasU2F = false
    /// How long a program waits for the near end.
    var patience = Duration.seconds(120)

    /// Creates a far end; nothing happens before ``run()``.
    ///
    /// - Parameters:
    ///   - input: The descriptor for reading the near end's frames; it is made non-blocking.
    ///   - output: The descriptor for writing frames to the near end; it is made non-blocking.
    ///   - program: The version of this program, for the near end.
    ///   - owner: The user that owns the node; `nil` for the users that udev's rules for security keys name.
    ///   - cancellation: Ends ``run()``.
    ///   - report: Called when the device is inserted and removed, on the thread of ``run()``.
    public init(
        input: Int32, output: Int32, program: String, owner: String?, cancellation: Cancellation,
        report: @escaping (BridgeEvent) -> Void = { _ in }
    ) {
        self.init(
            RemoteChannel(input: input, output: output), RemoteHello(program: program), owner: owner,
            cancellation: cancellation, report: report, open: nil)
    }

    /// Creates a far end whose device is on a file returned by `open`.
    package init(
        _ channel: RemoteChannel, _ hello: RemoteHello, owner: String?, cancellation: Cancellation,
        report: @escaping (BridgeEvent) -> Void, open: (() -> (descriptor: Int32, errno: Int32))?
    ) {
        (self.channel, self.hello, self.owner) = (channel, hello, owner)
        (self.cancellation, self.report, self.open) = (cancellation, report, open)
    }

    /// Serves until the near end ends the connection or it is cut, or until it is cancelled; blocks the thread. The device is
    /// removed before it returns.
    ///
    /// - Throws: `RemoteError` unless the near end is done, or it was cancelled.
    public func run() throws(RemoteError) {
        channel.greet()
        do {
            try serve()
            channel.send(.end(RemoteEnding(.done)))
        } catch {
            channel.send(.end(error.ending))
            throw error
        }
    }

    private func serve() throws(RemoteError) {
        let wake: Wake
        do throws(UHIDError) { wake = try Wake() } catch { throw .device(error) }
        channel.send(.hello(hello))
        let inbox = RemoteInbox(RemoteFrameReader(skipsNoise: false), wake: wake.signal)
        guard inbox.fill(from: channel) else { throw .noThread }
        defer { inbox.end() }
        switch try offer(inbox, wake) {
        case .key(let info): try serve(key: info, inbox, wake)
        case .card(let atr):
            let reader = FarReader(channel, inbox, wake, cancellation, report: report)
            try reader.serve(atr, at: self.reader)
        case nil: return
        }
    }

    private func serve(key info: [UInt8], _ inbox: RemoteInbox, _ wake: Wake) throws(RemoteError) {
        let host = UHIDDevice(cancellation, wake: wake, open: open) { [report] event in
            switch event {
            case .inserted(let node): report(.inserted(node: node))
            case .removed: report(.removed)
            }
        }
        let authenticator = FarAuthenticator(channel, inbox, info: info, patience: patience, hasU2F: hasU2F)
        var device = FarDevice(authenticator, hasU2F: hasU2F)
        let description = HIDDescription(
            name: deviceName, serial: owner ?? "", vendor: numbers.vendor, product: numbers.product,
            version: 0x0100)
        do {
            if open == nil { try host.check() }
            try host.serve(&device, as: description)
        } catch { throw .device(error) }
        if case .failure(let error)? = authenticator.result { throw error }
    }

    /// What the near end has.
    private enum Offer {
        /// A key, and what it can do.
        case key([UInt8])
        /// A card, and its answer to reset.
        case card([UInt8])
    }

    /// Waits for the near end's greeting, and for what it has; `nil` if it ended before that.
    private func offer(_ inbox: RemoteInbox, _ wake: Wake) throws(RemoteError) -> Offer? {
        var isGreeted = false
        let deadline = Deadline.after(Self.greetingTime, cancellation: cancellation)
        while !deadline.isCancelled {
            if deadline.isOver { throw .lost }
            guard let frame = try inbox.next() else {
                wake.wait(for: deadline.remaining, until: cancellation)
                continue
            }
            switch frame {
            case .hello(let other) where !isGreeted:
                try hello.check(other)
                isGreeted = true
            case .key(let info) where isGreeted: return .key(info)
            case .card(let atr) where isGreeted: return .card(atr)
            case .alive where isGreeted: break
            case .end(let ending): return try ending.isDone()
            default: throw .violation(.unexpected)
            }
        }
        return nil
    }
}
