// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKHardware
import YKTransport
import YKVirtualKey
import YKVirtualKeyHost

/// The CTAPHID device that programs see.
struct BridgedDevice: ReportDevice {
    private var hid = VirtualHID(version: [1, 0, 0])
    private let authenticator: CardAuthenticator
    private var isDone = false

    init(_ authenticator: CardAuthenticator) {
        self.authenticator = authenticator
        // The authenticator decides how long it waits.
        hid.touchTime = .seconds(24 * 3600)
    }

    var isUnplugged: Bool { isDone }

    mutating func receive(_ report: [UInt8], at now: ContinuousClock.Instant) {
        let winks = hid.winks
        hid.capabilities = authenticator.capabilities
        hid.receive(report, at: now) { [authenticator] in authenticator.run($0, at: now) }
        if hid.winks != winks { authenticator.report(.winked) }
        authenticator.keep(hid.pending, at: now)
    }

    mutating func poll(at now: ContinuousClock.Instant) {
        authenticator.poll(at: now)
        hid.poll(at: now) { [authenticator] in authenticator.run($0, at: now) }
        authenticator.keep(hid.pending, at: now)
        isDone = !authenticator.isWanted(at: now)
    }

    mutating func next(at now: ContinuousClock.Instant) -> [UInt8]? { hid.next(at: now) }

    func pause(at now: ContinuousClock.Instant) -> Duration? { hid.pause(at: now) }

    mutating func closed(at now: ContinuousClock.Instant) {
        hid.drop()
        authenticator.closed(at: now)
    }
}

/// Reports from other threads to the bridge.
final class BridgeInbox: Sendable {
    /// A report.
    enum Notice: Sendable {
        /// A reader or its card changed.
        case reader(ReaderEvent)
        /// The card with this number is open, or could not be opened.
        case opened(Int, Result<CardDescription, FIDOLinkError>)
        /// The card reports on this job that it is still processing or waiting.
        case keepalive(job: Int, FIDOKeepalive)
        /// The job is done.
        case done(job: Int, BridgedCard.Reply)
        /// The question with this number was answered.
        case confirmed(Int, Bool)
    }

    private let notices = Mutex<[Notice]>([])
    private let wake: @Sendable () -> Void

    /// Creates an inbox; `wake` is called for each report.
    init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

    /// Adds a report.
    func add(_ notice: Notice) {
        notices.withLock { $0.append(notice) }
        wake()
    }

    /// Removes and returns all reports in order.
    func take() -> [Notice] {
        notices.withLock { notices in
            defer { notices = [] }
            return notices
        }
    }
}

/// A card in a reader.
struct CardSlot: Sendable {
    /// The state of the connection to the card.
    enum State: Hashable, Sendable {
        /// The card is being identified.
        case opening
        /// The card can be used.
        case ready
        /// The card is not a FIDO card.
        case foreign
        /// The connection failed and is retried at this time.
        case failed(retry: ContinuousClock.Instant)
    }

    /// The number under which the card is known.
    let number: Int
    let reader: String
    var presence: Presence
    var state = State.opening
    var isContactless = false
    /// The number of consecutive failures to connect.
    var failures = 0

    /// The number of attempts after which the card must be inserted again.
    static let patience = 30
}
