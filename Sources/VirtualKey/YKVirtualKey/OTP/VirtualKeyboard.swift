// SPDX-License-Identifier: Apache-2.0

public import YKTransport
package import YKWire

/// The keyboard of a key: the OTP application's frames in feature reports, and the keys it types when touched.
///
/// A value type without I/O or a clock.
package struct VirtualKeyboard: Sendable {
    /// A point in time.
    package typealias Instant = ContinuousClock.Instant

    /// The outcome of a frame.
    package enum Outcome: Sendable, Hashable {
        /// Data.
        case data([UInt8])
        /// Something was written or refused; the status shows which.
        case done
        /// The key waits for a touch; the frame is to be retried.
        case waiting
    }

    /// How long the key waits for a touch.
    package var touchTime: Duration = .seconds(15)
    private static let delay = Duration.milliseconds(500)

    private var assembler = OTPFrame.Assembler()
    private var outgoing: [[UInt8]] = []
    private var work: (frame: OTPFrame, began: Instant)?
    private var typing: [(due: Instant, report: [UInt8])] = []

    /// Creates a keyboard in its initial state.
    package init() {}

    /// Processes a feature report; `run` executes frames. Returns `false` for an invalid report.
    package mutating func set(_ report: [UInt8], at now: Instant, _ run: (OTPFrame) -> Outcome) -> Bool {
        guard let progress = try? assembler.add(report) else { return false }
        switch progress {
        case .part: break
        case .reset:
            outgoing = []
            work = nil
        case .whole(let bytes):
            outgoing = []
            work = nil
            if let frame = try? OTPFrame(decoding: bytes) { attempt(frame, began: now, at: now, run) }
        }
        return true
    }

    /// Returns the feature report: the wait status, a part of a reply, or the status.
    package mutating func get(_ status: OTPStatus) -> [UInt8] {
        if work != nil { return OTPReport.waitingForTouch.encoded }
        return outgoing.isEmpty ? OTPReport.status(status.encoded).encoded : outgoing.removeFirst()
    }

    /// Retries a frame that waits for a touch.
    package mutating func poll(at now: Instant, _ run: (OTPFrame) -> Outcome) {
        guard let (frame, began) = work else { return }
        guard began.duration(to: now) < touchTime else { return work = nil }
        attempt(frame, began: began, at: now, run)
    }

    /// Whether a frame waits for a touch.
    package var isWaiting: Bool { work != nil }

    private mutating func attempt(_ frame: OTPFrame, began: Instant, at now: Instant, _ run: (OTPFrame) -> Outcome) {
        work = nil
        switch run(frame) {
        case .data(let data): outgoing = OTPReport.reports(reply: data)
        case .done: break
        case .waiting: work = (frame, began)
        }
    }

    /// Queues keystrokes, each key pressed and released.
    package mutating func type(_ strokes: [OTPStroke], pacing: Duration = .zero, at now: Instant) {
        var due = max(now, typing.last?.due ?? now)
        for stroke in strokes {
            switch stroke {
            case .delay: due = due.advanced(by: Self.delay)
            case .key(let code):
                let shift: UInt8 = code & KeyboardLayout.shift == 0 ? 0 : 0x02
                typing.append((due, [shift, 0, code & ~KeyboardLayout.shift, 0, 0, 0, 0, 0]))
                typing.append((due, [UInt8](repeating: 0, count: 8)))
                due = due.advanced(by: pacing)
            }
        }
    }

    /// Removes and returns the next keyboard report that is due.
    package mutating func next(at now: Instant) -> [UInt8]? {
        guard let first = typing.first, first.due <= now else { return nil }
        return typing.removeFirst().report
    }

    /// The time until work is due; `nil` if there is none until a report arrives.
    package func pause(at now: Instant) -> Duration? {
        let wait: Duration? = work == nil ? nil : .milliseconds(10)
        return [wait, typing.first.map { max(.zero, now.duration(to: $0.due)) }].compactMap { $0 }.min()
    }
}

extension VirtualKey {
    /// Connects a program to the key's keyboard interface as a HID device in the same process.
    public func otpReportLink() -> sending any ReportLink { VirtualKeyboardLink(self) }

    /// Executes a frame received over HID.
    package func run(_ frame: OTPFrame) -> VirtualKeyboard.Outcome {
        let change = try? change { key throws(Refusal) in try key.otp(frame.command, frame.payload, inputs) }
        return switch change {
        case .answer(let data)? where !data.isEmpty: .data(data)
        case .waiting?: .waiting
        default: .done
        }
    }

    /// The output of a touch of slot 1 or 2.
    package func strokes(_ slot: Int) -> (strokes: [OTPStroke], pacing: Duration) {
        var typed: [OTPStroke] = []
        _ = try? change { key throws(Refusal) in
            typed = try key.strokes(slot, inputs)
            return []
        }
        let flags = state.otp[slot]?.record.configuration ?? []
        let pacing = (flags.contains(.pacing10) ? 20 : 0) + (flags.contains(.pacing20) ? 40 : 0)
        return (typed, .milliseconds(pacing))
    }
}

/// A program's connection to a virtual key's keyboard.
final class VirtualKeyboardLink: ReportLink {
    private let key: VirtualKey
    private var keyboard = VirtualKeyboard()
    let identity: ReportIdentity

    init(_ key: VirtualKey) {
        self.key = key
        identity = ReportIdentity(
            path: "virtual", name: VirtualKey.readerName, vendor: key.state.profile.vendor,
            product: key.state.usbProduct)
    }

    func setFeature(_ report: [UInt8], deadline: Deadline) throws(LinkError) {
        guard keyboard.set(report, at: .now, key.run) else {
            throw .failed(code: 0, "the key does not accept this feature report")
        }
    }

    func feature(deadline: Deadline) throws(LinkError) -> [UInt8] {
        try deadline.check("a feature report of the key")
        keyboard.poll(at: .now, key.run)
        return keyboard.get(key.state.otpStatus)
    }

    func write(_ report: [UInt8], deadline: Deadline) throws(LinkError) {
        throw .failed(code: 0, "a keyboard accepts only reports for its LEDs")
    }

    func read(deadline: Deadline) throws(LinkError) -> [UInt8] {
        while true {
            if let report = keyboard.next(at: .now) { return report }
            if let slot = key.inputs.press() {
                let (strokes, pacing) = key.strokes(slot)
                keyboard.type(strokes, pacing: pacing, at: .now)
            }
            try deadline.check("a report of the keyboard")
            if keyboard.pause(at: .now) != .zero { Pause.step(deadline) }
        }
    }

    func close() {}
}
