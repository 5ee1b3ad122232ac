// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import YKHardware
package import YKTransport
package import YKVirtualKeyHost

/// An event to show where the system part of a guard runs.
package enum GuardEvent: Hashable, Sendable {
    /// It listens at this path.
    case listening(path: String)
    /// The process of a user's part is served from now on.
    case connected(process: Int32)
    /// Another user's part was refused, since this one is served.
    case refusedSecond(process: Int32, serving: Int32)
    /// A process of another user was refused.
    case refusedUser(UInt32)
    /// The node of the key was taken; where it is now.
    case taken(path: String)
    /// Programs find the guard at this path, which is empty if it has no visible node.
    case presented(node: String)
    /// The key was given back to all programs.
    case givenBack
    /// The user asked for a pause of so many seconds, or for its end (0).
    case paused(UInt32)
    /// A user's part waits for its user.
    case away(process: Int32, GuardAbsence)
    /// A connection ended for a reason.
    case failed(RemoteError)
    /// The node could not be taken.
    case notTaken(TakenNodes.Failure)
    /// The node was not taken, since these browsers would not find the device: names of snaps.
    case unseen([String])
}

/// The system part of a guard, which runs as root: takes the node of the key away from all programs, creates the device
/// that they find instead, and passes messages between that device and the user's part. It never opens the key.
package final class GuardSystem: Sendable {
    /// The name of the device.
    package static let name = BridgeDevice.guardName
    /// The path of the socket.
    package static let path = "/run/ykit/guard.sock"
    /// How long a connection may take to send its request.
    static let requestTime = Duration.seconds(5)
    /// How long a user's part that comes again waits for the end of its former session, in seconds.
    static let ownTime: Int64 = 3
    /// How long a new node waits for udev, and how often it is looked for.
    static let (rulesTime, rulesStep) = (Duration.seconds(10), Duration.milliseconds(20))
    /// The most connections at a time.
    static let connectionLimit = 16

    /// Who is served.
    package enum Owner: Hashable, Sendable {
        /// One user, by number and name.
        case user(UInt32, name: String)
        /// Whoever is active at the first seat when they connect.
        case activeUser
    }

    /// What there is of the machine. Tests have their own.
    package struct Machine: Sendable {
        /// The path of the socket.
        package var socket = GuardSystem.path
        /// Takes nodes.
        package var nodes = TakenNodes()
        /// Whether a node may be taken: that of the chosen key.
        package var isChosen: @Sendable (HIDDevice) -> Bool = { $0.isFIDO }
        /// Reports keys being attached and removed until what it returns is called; without tasks, so that nothing wakes
        /// up while nothing happens. `nil` if the system has no thread left.
        package var follow: @Sendable (@escaping @Sendable (HIDEvent) -> Void) -> (@Sendable () -> Void)? = {
            HIDRaw.follow($0)
        }
        /// Whether programs see the numbers of the key instead of the guard's own.
        package var showsKey = false
        /// The browsers that would not find the device.
        package var blindBrowsers: @Sendable () -> [String] = { SnapBrowsers.blind() }
        /// Whether udev has applied its rules to a node. It looks for the node by its usual path, so that one that was
        /// taken before would remain root's.
        package var isReady: @Sendable (HIDDevice) -> Bool = { $0.hasUdevRules }
        /// Opens the kernel's file for the device; `nil` for `/dev/uhid`.
        package var open: (@Sendable () -> (descriptor: Int32, errno: Int32))?
        /// A socket that already listens, from the process that started this one.
        package var listener: Int32?
        /// The number of the user who is active at the first seat; `nil` for nobody.
        package var activeUser: @Sendable () -> UInt32? = { LoginFacts.activeNumber() }

        package init() {}
    }

    struct State {
        var devices: [HIDDevice] = []
        var session: Session?
        var pausedUntil: ContinuousClock.Instant?
        var connections = 0
        /// The users' parts that wait for their user to come back.
        var away: [Int32: GuardAbsence] = [:]
    }

    /// The user's part that is served.
    struct Session {
        let process: Int32
        /// Ends the presentation of the key, but not the connection.
        var presentation: Cancellation?
        var node: String?
        var device: String?
    }

    let owner: Owner
    let machine: Machine
    let hello: RemoteHello
    let cancellation: Cancellation
    let report: @Sendable (GuardEvent) -> Void
    let state = Mutex(State())
    /// Held while a node is taken or given back.
    let nodes = Mutex(())
    let stopped = Cancellation()
    /// Wakes the connection that waits for a key.
    let news: Wake

    /// Creates it; nothing happens before ``run()``.
    ///
    /// - Parameters:
    ///   - owner: Who is served.
    ///   - program: The version of this program, for the user's part.
    ///   - cancellation: Ends ``run()``.
    ///   - report: Called for each event, on any thread.
    /// - Throws: `device` if the process has no descriptor left.
    package init(
        _ owner: Owner, _ machine: Machine = Machine(), program: String, cancellation: Cancellation,
        report: @escaping @Sendable (GuardEvent) -> Void
    ) throws(UHIDError) {
        (self.owner, self.machine, self.cancellation, self.report) = (owner, machine, cancellation, report)
        hello = RemoteHello(program: program)
        news = try Wake()
    }

    /// Ends ``run()``.
    package func stop() {
        stopped.cancel()
        news.signal()
    }

    var isOver: Bool { cancellation.isCancelled || stopped.isCancelled }

    /// Serves until it is cancelled; blocks the thread. The key is given back before it returns.
    package func run() throws(GuardError) {
        machine.nodes.giveBack()
        let listener = try listener()
        report(.listening(path: machine.socket))
        let unfollow = machine.follow { [self] in note($0) }
        if unfollow == nil { report(.failed(.noThread)) }
        defer {
            unfollow?()
            listener.end()
            drain()
            nodes.withLock { _ in _ = machine.nodes.giveBack() }
        }
        while !isOver {
            if let client = listener.accept(until: [cancellation, stopped]) { start(client) }
        }
    }

    private func listener() throws(GuardError) -> LocalListener {
        if let inherited = machine.listener { return LocalListener(inherited: inherited) }
        do throws(LocalSocketError) {
            switch owner {
            case .user(let number, _): return try LocalListener(at: machine.socket, owner: number)
            case .activeUser: return try LocalListener(at: machine.socket, mode: 0o666)
            }
        } catch { throw .socket(error) }
    }

    /// Ends the session, and waits for the connections to end.
    private func drain() {
        release()
        let deadline = Deadline.after(.seconds(3))
        while !deadline.isOver, state.withLock({ $0.connections > 0 }) { Pause.step(deadline, atMost: 10) }
    }

    /// Ends the presentation of the key, which is given back first, since the kernel takes longer to remove a device.
    func release() {
        let presentation: Cancellation? = nodes.withLock { _ in
            guard let presentation = state.withLock({ $0.session?.presentation }) else { return nil }
            machine.nodes.giveBack()
            return presentation
        }
        presentation?.cancel()
    }

    // MARK: keys

    private func note(_ event: HIDEvent) {
        state.withLock { state in
            switch event {
            case .arrived(let device), .changed(let device):
                state.devices.removeAll { $0.sysPath == device.sysPath }
                if machine.isChosen(device) { state.devices.append(device) }
            case .left(let device):
                state.devices.removeAll { $0.sysPath == device.sysPath }
                if let node = state.session?.node, device.node == node {
                    state.session?.presentation?.cancel()
                }
            case .enumerated: break
            }
        }
        news.signal()
    }

    /// The rest of a pause; `nil` without one.
    var pauseLeft: Duration? {
        state.withLock { state in
            let rest = state.pausedUntil.map { ContinuousClock.now.duration(to: $0) }
            return rest.flatMap { $0 > .zero ? $0 : nil }
        }
    }
}
