// SPDX-License-Identifier: Apache-2.0

/// The far end's side of a connection, for the device and for the reader that it presents.
struct FarConversation {
    typealias Instant = ContinuousClock.Instant

    private let channel: RemoteChannel
    private let inbox: RemoteInbox
    private var heartbeat: RemoteHeartbeat
    private var numbers: UInt32 = 0
    /// How the connection ended; `nil` while it lasts.
    private(set) var result: Result<Void, RemoteError>?

    init(_ channel: RemoteChannel, _ inbox: RemoteInbox, at now: Instant = .now) {
        (self.channel, self.inbox) = (channel, inbox)
        heartbeat = RemoteHeartbeat(channel, at: now)
    }

    /// Sends a request and returns its number; `nil` if the connection is lost.
    mutating func request(_ message: [UInt8]) -> UInt32? {
        numbers &+= 1
        guard channel.send(.request(numbers, message)) else {
            result = .failure(.lost)
            return nil
        }
        return numbers
    }

    /// Tells the near end that a request was cancelled.
    func cancel(_ number: UInt32) { channel.send(.cancel(number)) }

    /// The time until a sign of life is due; `nil` if none is ever.
    func pause(at now: Instant) -> Duration? { heartbeat.pause(at: now) }

    /// Processes the received frames, and sends a sign of life when one is due.
    ///
    /// - Parameter take: Processes a frame about a request; throws for one that is unexpected.
    mutating func poll(at now: Instant, _ take: (RemoteFrame) throws(RemoteError) -> Void) {
        guard result == nil else { return }
        do throws(RemoteError) {
            while let frame = try inbox.next() {
                heartbeat.hear(at: now)
                switch frame {
                case .alive: break
                case .end(let ending):
                    result = ending.reason == .done ? .success(()) : .failure(.ended(ending))
                default: try take(frame)
                }
            }
            guard result == nil else { return }
            if try !heartbeat.keep(at: now) { throw .lost }
        } catch { result = .failure(error) }
    }
}
