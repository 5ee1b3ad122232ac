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
}

/// The system part of a guard, which runs as root: takes the node of the key away from all programs, creates the device
/// that they find instead, and passes messages between that device and the user's part. It never opens the key.
package final class GuardSystem: Sendable {
    /// The name of the device.
    package static let name = "ykit guard"
    /// The path of the socket.
    package static let path = "/run/ykit/guard.sock"
    /// How long a connection may take to send its request.
    private static let requestTime = Duration.seconds(5)
    /// How long a user's part that comes again waits for the end of its former session, in seconds.
    private static let ownTime: Int64 = 3
    /// How long a new node waits for udev, and how often it is looked for.
    private static let (rulesTime, rulesStep) = (Duration.seconds(10), Duration.milliseconds(20))
    /// The most connections at a time.
    private static let connectionLimit = 16

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
        /// Keys being attached and removed.
        package var events: @Sendable () -> AsyncStream<HIDEvent> = { HIDRaw.watch() }
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

    private struct State {
        var devices: [HIDDevice] = []
        var session: Session?
        var pausedUntil: ContinuousClock.Instant?
        var connections = 0
        /// The users' parts that wait for their user to come back.
        var away: [Int32: GuardAbsence] = [:]
    }

    /// The user's part that is served.
    private struct Session {
        let process: Int32
        /// Ends the presentation of the key, but not the connection.
        var presentation: Cancellation?
        var node: String?
        var device: String?
    }

    private let owner: Owner
    private let machine: Machine
    private let hello: RemoteHello
    private let cancellation: Cancellation
    private let report: @Sendable (GuardEvent) -> Void
    private let state = Mutex(State())
    /// Held while a node is taken or given back.
    private let nodes = Mutex(())
    private let stopped = Cancellation()
    /// Wakes the connection that waits for a key.
    private let news: Wake

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

    private var isOver: Bool { cancellation.isCancelled || stopped.isCancelled }

    /// Serves until it is cancelled; blocks the thread. The key is given back before it returns.
    package func run() throws(GuardError) {
        machine.nodes.giveBack()
        let listener = try listener()
        report(.listening(path: machine.socket))
        let watch = Task { [self] in for await event in machine.events() { note(event) } }
        defer {
            watch.cancel()
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
    private func release() {
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
    private var pauseLeft: Duration? {
        state.withLock { state in
            let rest = state.pausedUntil.map { ContinuousClock.now.duration(to: $0) }
            return rest.flatMap { $0 > .zero ? $0 : nil }
        }
    }

    // MARK: connections

    private func start(_ client: LocalConnection) {
        let isTaken = state.withLock { state in
            guard state.connections < Self.connectionLimit else { return false }
            state.connections += 1
            return true
        }
        guard isTaken else { return }
        let isStarted = SystemThread.start { [self] in
            answer(client)
            state.withLock { $0.connections -= 1 }
        }
        if !isStarted { state.withLock { $0.connections -= 1 } }
    }

    private func answer(_ client: LocalConnection) {
        guard let peer = client.peer, peer.user == 0 || isServed(peer.user) else {
            report(.refusedUser(client.peer?.user ?? .max))
            return say(.refused, to: client)
        }
        let deadline = Deadline.after(Self.requestTime)
        guard let line = try? client.line(limit: GuardRequest.limit, until: [cancellation, stopped], deadline),
            let request = try? GuardRequest(decoding: line)
        else { return }
        switch request {
        case .serve where isServed(peer.user): serve(client, peer)
        case .serve: say(.refused, to: client)
        case .away(let reason): wait(client, peer, reason)
        case .status: say(.state(status), to: client)
        case .pause(let seconds): changePause(seconds, client)
        case .resume: changePause(0, client)
        }
    }

    private func isServed(_ user: UInt32) -> Bool {
        switch owner {
        case .user(let number, _): number == user
        case .activeUser: user != 0 && machine.activeUser() == user
        }
    }

    /// Notes that a user is away, until their part says otherwise.
    private func wait(_ client: LocalConnection, _ peer: PeerCredentials, _ reason: GuardAbsence) {
        state.withLock { $0.away[peer.process] = reason }
        report(.away(process: peer.process, reason))
        say(.done, to: client)
        while !isOver, !Readiness.wait(for: [client.descriptor], until: [cancellation, stopped])[0] {}
        state.withLock { $0.away[peer.process] = nil }
    }

    private func say(_ notice: GuardNotice, to client: LocalConnection) { client.send(notice.encoded) }

    private var status: GuardState {
        let pause = pauseLeft?.wholeSeconds ?? 0
        return state.withLock { state in
            let away = state.session == nil ? state.away.first : nil
            return GuardState(
                process: state.session?.process ?? away?.key ?? 0, node: state.session?.node,
                device: state.session?.device, pause: pause, absence: away?.value)
        }
    }

    private func changePause(_ seconds: UInt32, _ client: LocalConnection) {
        state.withLock { $0.pausedUntil = seconds == 0 ? nil : .now.advanced(by: .seconds(Int64(seconds))) }
        if seconds > 0 { release() }
        news.signal()
        report(.paused(seconds))
        // The key is free when the answer comes.
        let deadline = Deadline.after(.seconds(3))
        while seconds > 0, !deadline.isOver, state.withLock({ $0.session?.node != nil }) {
            Pause.step(deadline, atMost: 10)
        }
        say(.done, to: client)
    }

    // MARK: serving

    private func serve(_ client: LocalConnection, _ peer: PeerCredentials) {
        if let other = begin(peer) {
            report(.refusedSecond(process: peer.process, serving: other))
            return say(.busy(other), to: client)
        }
        report(.connected(process: peer.process))
        defer { state.withLock { $0.session = nil } }
        guard let device = awaited(client) else { return }
        let presentation = Cancellation()
        let name = device.node
        do throws(TakenNodes.Failure) {
            report(
                .taken(
                    path: try nodes.withLock { _ throws(TakenNodes.Failure) in
                        try machine.nodes.take(name, for: peer.user)
                    }))
        } catch {
            report(.notTaken(error))
            return say(.failed(error.number), to: client)
        }
        state.withLock { state in
            state.session?.presentation = presentation
            state.session?.node = name
            // It may have been removed, or a pause begun, in the meantime.
            let isAttached = state.devices.contains { $0.sysPath == device.sysPath }
            if !isAttached || state.pausedUntil.map({ $0 > .now }) ?? false { presentation.cancel() }
        }
        if isOver { presentation.cancel() }
        say(.key(node: name), to: client)
        present(client, peer, presentation)
        nodes.withLock { _ in _ = machine.nodes.giveBack() }
        state.withLock { $0.session?.node = nil }
        report(.givenBack)
    }

    /// Begins a session; returns the process that is served instead, unless its session ends within a second. A user's part
    /// that comes again has ended its own, which may take the kernel longer.
    private func begin(_ peer: PeerCredentials) -> Int32? {
        let isOwn = state.withLock { $0.session?.process == peer.process }
        let deadline = Deadline.after(.seconds(isOwn ? Self.ownTime : 1), cancellation: cancellation)
        while true {
            let other: Int32? = state.withLock { state in
                if let session = state.session { return session.process }
                state.session = Session(process: peer.process)
                return nil
            }
            guard other != nil, !deadline.isOver, !deadline.isCancelled else { return other }
            Pause.step(deadline, atMost: 10)
        }
    }

    /// Waits for a key and for the end of a pause; `nil` once the user's part has gone, or it is cancelled.
    private func awaited(_ client: LocalConnection) -> HIDDevice? {
        var said: GuardNotice?
        /// The key that was seen first, and when.
        var seen: (path: String, since: ContinuousClock.Instant)?
        while !isOver {
            let pause = pauseLeft
            if pause == nil, let device = state.withLock({ $0.devices.first }) {
                let since = seen?.path == device.sysPath ? seen?.since ?? .now : .now
                seen = (device.sysPath, since)
                if machine.isReady(device) || since.duration(to: .now) > Self.rulesTime { return device }
                news.wait(for: Self.rulesStep, or: client.descriptor, until: cancellation)
                if Readiness.wait(for: [client.descriptor], atMost: .zero)[0] { return nil }
                continue
            }
            let notice = pause.map { GuardNotice.paused($0.wholeSeconds) } ?? .waiting
            switch (said, notice) {
            case (.paused, .paused), (.waiting, .waiting): break
            default:
                say(notice, to: client)
                said = notice
            }
            news.wait(for: pause, or: client.descriptor, until: cancellation)
            // Nothing may be sent before the key is named.
            if Readiness.wait(for: [client.descriptor], atMost: .zero)[0] { return nil }
        }
        return nil
    }

    private func present(_ client: LocalConnection, _ peer: PeerCredentials, _ presentation: Cancellation) {
        let name = if case .user(_, let name) = owner { name } else { Accounts.user(peer.user) }
        var end = FarEnd(
            RemoteChannel(input: client.descriptor, output: client.descriptor, silence: nil), hello, owner: name,
            cancellation: presentation,
            report: { [self] event in
                guard case .inserted(let node) = event else { return }
                state.withLock { $0.session?.device = node.split(separator: "/").last.map(String.init) }
                report(.presented(node: node))
            }, open: machine.open)
        (end.deviceName, end.hasU2F) = (Self.name, true)
        do throws(RemoteError) { try end.run() } catch { report(.failed(error)) }
        state.withLock { $0.session?.device = nil }
    }
}

extension HIDDevice {
    /// The name of the node, such as `hidraw3`, wherever it is.
    package var node: String { sysPath.split(separator: "/").last.map(String.init) ?? "" }

    /// Whether udev's daemon has applied its rules to the node, or none runs. It then has a record of the device, and an
    /// empty queue: what the rules run, such as the access of the seat's user, comes after the record.
    fileprivate var hasUdevRules: Bool {
        let files = SystemFile.names(in: "/run/udev")
        guard files.contains("control"),
            let number = SystemFile.text("\(sysPath)/dev")?.split(separator: "\n").first
        else { return true }
        return SystemFile.text("/run/udev/data/c\(number)") != nil && !files.contains("queue")
    }
}

extension Duration {
    /// The seconds, rounded up.
    fileprivate var wholeSeconds: UInt32 { UInt32(clamping: components.seconds + (components.attoseconds > 0 ? 1 : 0)) }
}
