// SPDX-License-Identifier: Apache-2.0

public import YKTransport
public import YKVirtualKey
import YKWire

/// Puts a virtual key into the reader of a real smart card service. vpcd, of the vsmartcard project, forwards what
/// pcscd sends over TCP.
///
/// Each message starts with two bytes of length, most significant first. A single byte is a power command (0 off, 1 on,
/// 2 reset, 4 asks for the answer to reset); anything longer is a command APDU.
public struct VPCDServer {
    /// An event to show to the user who serves a key.
    public enum Event: Hashable, Sendable {
        /// The key was inserted into the reader.
        case inserted
        /// The key was removed from the reader.
        case removed
        /// The key was powered on.
        case powerOn
        /// The key was powered off.
        case powerOff
        /// The key was reset.
        case reset
        /// A command APDU and its response; `nil` for no response.
        case exchange(command: [UInt8], response: [UInt8]?)
        /// The key failed: its state file is invalid or cannot be written.
        case failed(LinkError)
    }

    private let key: VirtualKey
    private let address: VPCDAddress
    private let cancellation: Cancellation
    private let report: (Event) -> Void
    private var faults: FaultPlan
    /// How long the key waits for a touch.
    public var touchTime: Duration = .seconds(15)
    /// Whether the reader presents the key as contactless, regardless of its state.
    public var isContactless = false
    /// Whether to wait for a reader that has gone away, for example while pcscd restarts.
    public var reconnects = false

    /// Creates a server; it does not connect before ``run()``.
    ///
    /// - Parameters:
    ///   - key: The key to insert.
    ///   - address: The address on which vpcd listens.
    ///   - faults: The faults to inject on the card.
    ///   - cancellation: Ends ``run()``.
    ///   - report: Called for each event, on the thread of ``run()``.
    public init(
        _ key: VirtualKey, at address: VPCDAddress = VPCDAddress(), faults: FaultPlan = FaultPlan(),
        cancellation: Cancellation, report: @escaping (Event) -> Void = { _ in }
    ) {
        self.key = key
        self.address = address
        self.faults = faults
        self.cancellation = cancellation
        self.report = report
    }

    /// Serves until it is cancelled or a fault permanently removes the key; blocks the thread.
    ///
    /// - Throws: `unknownHost`, `notReachable`, or `readerGone` unless ``reconnects`` is set.
    public mutating func run() throws(VPCDError) {
        var wasInserted = false
        var wasSeen = true
        var patience = 0
        while !cancellation.isCancelled {
            do throws(VPCDError) {
                if !wasSeen { try knock() }
                wasSeen = true
                let ending = try session()
                wasInserted = true
                switch ending {
                case .calledOff: return
                case .removed(nil): return
                case .removed(let back?):
                    patience = Self.patience
                    wasSeen = false
                    pause(back)
                case .readerGone:
                    guard reconnects else { throw VPCDError.readerGone(address) }
                }
            } catch {
                guard reconnects || patience > 0, wasInserted else { throw error }
                patience -= 1
                pause(.milliseconds(200))
            }
        }
    }

    /// How long a restarting key is absent from USB. On a contactless reader the key stays in the field and is back
    /// before the reader asks for it; ykman's device tests do not wait for it there.
    private static let restartTime = Duration.milliseconds(300)

    /// How often the reader may reject a key that was removed and comes back.
    private static let patience = 20

    /// Connects to the reader and disconnects at its first question, so that the service is certain to have seen the
    /// reader without the key.
    ///
    /// vpcd (vsmartcard 3.3) drops a removed key when it is powered down, and accepts the next connection when the
    /// service asks whether there is a card, every 400 ms. If the key is back by then, the polling thread never saw it
    /// leave. But if powering down failed, the service (pcsc-lite 1.9.9) has recorded an empty reader, and that record
    /// stays.
    private func knock() throws(VPCDError) {
        let stream = try Stream(address, cancellation)
        var assembler = VPCDAssembler()
        while let bytes = stream.receive(cancellation), !bytes.isEmpty {
            guard assembler.feed(bytes).isEmpty else { return }
        }
    }

    private enum Ending {
        case calledOff
        case readerGone
        case removed(back: Duration?)
    }

    /// Serves the key from insertion to removal.
    private mutating func session() throws(VPCDError) -> Ending {
        if isContactless { key.layOnReader() } else { key.plugIn() }
        let stream = try Stream(address, cancellation)
        let link = key.link()
        defer {
            try? link.reset(.cold, deadline: .after(.seconds(1)))
            link.close()
            report(.removed)
        }
        report(.inserted)
        var assembler = VPCDAssembler()
        while let bytes = stream.receive(cancellation) {
            if bytes.isEmpty { return .readerGone }
            for message in assembler.feed(bytes) {
                switch answer(message, link) {
                case .nothing: continue
                case .bytes(let answer):
                    guard stream.send(VPCDMessage.frame(answer), cancellation) else { return .readerGone }
                    guard key.takeRestart() else { continue }
                    guard isContactless else { return .removed(back: Self.restartTime) }
                    key.powerOff()
                case .leave(let back): return .removed(back: back)
                }
            }
        }
        return .calledOff
    }

    private enum Answer {
        case nothing
        case bytes([UInt8])
        case leave(back: Duration?)
    }

    private mutating func answer(_ message: VPCDMessage, _ link: any CardLink) -> Answer {
        switch message {
        case .powerOff:
            try? link.reset(.cold, deadline: deadline)
            link.end()
            report(.powerOff)
        case .powerOn:
            failing { () throws(LinkError) in _ = try link.begin(deadline: deadline) }
            report(.powerOn)
        case .reset:
            failing { () throws(LinkError) in try link.reset(.warm, deadline: deadline) }
            report(.reset)
        case .answerToReset: return .bytes(link.identity.atr)
        case .command(let command): return play(command, link)
        case .unknown: break
        }
        return .nothing
    }

    private mutating func play(_ command: [UInt8], _ link: any CardLink) -> Answer {
        let outcome: FaultPlan.Outcome
        do {
            outcome = try faults.play(command) { bytes throws(LinkError) in
                try link.exchange(bytes, deadline: .after(touchTime, cancellation: cancellation))
            }
        } catch {
            let status = ResponseAPDU(Self.status(error)).encoded
            report(.failed(error))
            report(.exchange(command: command, response: status))
            return .bytes(status)
        }
        switch outcome {
        case .reply(let response, let delay):
            pause(delay)
            report(.exchange(command: command, response: response))
            return .bytes(response)
        case .silence:
            report(.exchange(command: command, response: nil))
            return .nothing
        case .removed(let back): return .leave(back: back)
        case .reset: return .leave(back: .zero)
        }
    }

    /// The status word of a real key when the time for a touch has elapsed, or when its memory fails.
    private static func status(_ error: LinkError) -> StatusWord {
        if case .timedOut = error { .conditionsNotSatisfied } else { .memoryFailure }
    }

    private var deadline: Deadline { .after(.seconds(2), cancellation: cancellation) }

    private func failing(_ body: () throws(LinkError) -> Void) {
        do { try body() } catch { report(.failed(error)) }
    }

    private func pause(_ duration: Duration) {
        Pause.system(duration, .after(duration, cancellation: cancellation))
    }
}

/// A card in the reader of vpcd, for a program that answers its commands later. The card is removed at the end of its life.
package struct VPCDSlot: ~Copyable {
    /// What comes from the reader.
    package enum Message: Hashable, Sendable {
        /// Power is given or cut, or the card is reset: one byte as in vpcd's protocol. There is no answer.
        case power([UInt8])
        /// A command APDU, which ``answer(_:)`` follows.
        case command([UInt8])
        /// The reader is gone.
        case gone
    }

    private let stream: Stream
    private let atr: [UInt8]
    private let cancellation: Cancellation
    private var assembler = VPCDAssembler()
    private var waiting: [Message] = []

    /// Inserts a card with this answer to reset.
    ///
    /// - Throws: `unknownHost` or `notReachable`.
    package init(_ atr: [UInt8], at address: VPCDAddress, cancellation: Cancellation) throws(VPCDError) {
        stream = try Stream(address, cancellation)
        (self.atr, self.cancellation) = (atr, cancellation)
    }

    /// Returns the next message; `nil` if none comes within `limit`. The answer to reset is given here.
    package mutating func next(within limit: Duration) -> Message? {
        if waiting.isEmpty, let bytes = stream.receive(within: limit, cancellation) {
            if bytes.isEmpty { return .gone }
            for message in assembler.feed(bytes) { take(message) }
        }
        return waiting.isEmpty ? nil : waiting.removeFirst()
    }

    private mutating func take(_ message: VPCDMessage) {
        switch message {
        case .powerOff: waiting.append(.power([0]))
        case .powerOn: waiting.append(.power([1]))
        case .reset: waiting.append(.power([2]))
        case .answerToReset: answer(atr)
        case .command(let command): waiting.append(.command(command))
        case .unknown: break
        }
    }

    /// Answers the command that came last.
    package borrowing func answer(_ response: [UInt8]) {
        // A reader that takes nothing is gone, which the next message shows.
        _ = stream.send(VPCDMessage.frame(response), cancellation)
    }
}

/// A key served as a device of this machine, plugged in again each time it comes back, by whatever mechanism.
struct ServedKey {
    let key: VirtualKey
    /// The faults to inject on FIDO HID.
    let faults: FaultPlan
    let cancellation: Cancellation
    let report: (ServedKeyEvent) -> Void
    /// How long the key waits for a touch.
    var touchTime: Duration = .seconds(30)

    /// Serves until it is cancelled or a fault removes the key permanently. `session` lasts from plugging in to unplugging
    /// and returns how the key was removed.
    func run<Failure: Error>(
        _ session: (inout FIDOInterface) throws(Failure) -> FaultPlan.Absence?
    ) throws(Failure) {
        var hid = VirtualHID(key.state, faults: faults)
        hid.touchTime = touchTime
        var fido = FIDOInterface(key, hid, report: report)
        while !cancellation.isCancelled {
            key.plugIn()
            let absence = try session(&fido)
            key.powerOff()
            guard case .until(let back)? = absence else { return }
            fido.device = fido.device.replugged
            fido.device.setCapabilities(key.state)
            Pause.system(back, .after(back, cancellation: cancellation))
        }
    }
}

/// An event to show to the user who serves a key as a device of this machine.
public enum ServedKeyEvent: Hashable, Sendable {
    /// The key was plugged in; programs find it at this path, which is empty if it has no visible node.
    case inserted(node: String)
    /// The key was unplugged.
    case removed
    /// The host sent a FIDO report.
    case written([UInt8])
    /// The key sent a FIDO report.
    case delivered([UInt8])
    /// The host asked the key to blink.
    case winked
    /// A command APDU and its response; `nil` for no response.
    case exchange(command: [UInt8], response: [UInt8]?)
    /// The key failed.
    case failed(LinkError)
}
