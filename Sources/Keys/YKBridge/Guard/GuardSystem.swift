// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import YKHardware
package import YKTransport

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
    /// The most connections at a time.
    private static let connectionLimit = 16

    /// The only user that is served.
    package struct Owner: Hashable, Sendable {
        /// The number.
        package let number: UInt32
        /// The name, for udev.
        package let name: String

        package init(number: UInt32, name: String) { (self.number, self.name) = (number, name) }
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
        /// Opens the kernel's file for the device; `nil` for `/dev/uhid`.
        package var open: (@Sendable () -> (descriptor: Int32, errno: Int32))?

        package init() {}
    }

    private struct State {
        var devices: [HIDDevice] = []
        var session: Session?
        var pausedUntil: ContinuousClock.Instant?
        var connections = 0
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
    private let stopped = Cancellation()

    /// Creates it; nothing happens before ``run()``.
    ///
    /// - Parameters:
    ///   - owner: The only user that is served.
    ///   - program: The version of this program, for the user's part.
    ///   - cancellation: Ends ``run()``.
    ///   - report: Called for each event, on any thread.
    package init(
        _ owner: Owner, _ machine: Machine = Machine(), program: String, cancellation: Cancellation,
        report: @escaping @Sendable (GuardEvent) -> Void
    ) {
        (self.owner, self.machine, self.cancellation, self.report) = (owner, machine, cancellation, report)
        hello = RemoteHello(program: program)
    }

    /// Ends ``run()``.
    package func stop() { stopped.cancel() }

    private var isOver: Bool { cancellation.isCancelled || stopped.isCancelled }

    /// Serves until it is cancelled; blocks the thread. The key is given back before it returns.
    package func run() throws(GuardError) {
        _ = machine.nodes.giveBack()
        let listener: LocalListener
        do { listener = try LocalListener(at: machine.socket, owner: owner.number) } catch { throw .socket(error) }
        report(.listening(path: machine.socket))
        let watch = Task { [self] in for await event in machine.events() { note(event) } }
        defer {
            watch.cancel()
            listener.end()
            drain()
            _ = machine.nodes.giveBack()
        }
        while !isOver {
            if let client = listener.accept(within: 200) { start(client) }
        }
    }

    /// Ends the session, and waits for the connections to end.
    private func drain() {
        state.withLock { $0.session?.presentation?.cancel() }
        let deadline = Deadline.after(.seconds(3))
        while !deadline.isOver, state.withLock({ $0.connections > 0 }) { Pause.step(deadline, atMost: 10) }
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
    }

    /// The rest of a pause, in seconds; 0 without one.
    private var pauseLeft: UInt32 {
        state.withLock { state in
            guard let until = state.pausedUntil else { return 0 }
            let rest = ContinuousClock.now.duration(to: until)
            return rest > .zero ? UInt32(clamping: rest.components.seconds + 1) : 0
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
        guard let peer = client.peer, peer.user == owner.number || peer.user == 0 else {
            report(.refusedUser(client.peer?.user ?? .max))
            return say(.refused, to: client)
        }
        let deadline = Deadline.after(Self.requestTime, cancellation: cancellation)
        guard let line = try? client.line(limit: GuardRequest.limit, deadline),
            let request = try? GuardRequest(decoding: line)
        else { return }
        switch request {
        case .serve where peer.user == owner.number: serve(client, peer)
        case .serve: say(.refused, to: client)
        case .status: say(.state(status), to: client)
        case .pause(let seconds): changePause(seconds, client)
        case .resume: changePause(0, client)
        }
    }

    private func say(_ notice: GuardNotice, to client: LocalConnection) { client.send(notice.encoded) }

    private var status: GuardState {
        let pause = pauseLeft
        return state.withLock { state in
            GuardState(
                process: state.session?.process ?? 0, node: state.session?.node, device: state.session?.device,
                pause: pause)
        }
    }

    private func changePause(_ seconds: UInt32, _ client: LocalConnection) {
        state.withLock { state in
            state.pausedUntil = seconds == 0 ? nil : .now.advanced(by: .seconds(Int64(seconds)))
            if seconds > 0 { state.session?.presentation?.cancel() }
        }
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
            report(.taken(path: try machine.nodes.take(name, for: owner.number)))
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
        present(client, presentation)
        _ = machine.nodes.giveBack()
        state.withLock { $0.session?.node = nil }
        report(.givenBack)
    }

    /// Begins a session; returns the process that is served instead, unless its session ends within a second.
    private func begin(_ peer: PeerCredentials) -> Int32? {
        let deadline = Deadline.after(.seconds(1), cancellation: cancellation)
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
        while !isOver {
            let pause = pauseLeft
            if pause == 0, let device = state.withLock({ $0.devices.first }) { return device }
            let notice = pause > 0 ? GuardNotice.paused(pause) : .waiting
            switch (said, notice) {
            case (.paused, .paused), (.waiting, .waiting): break
            default:
                say(notice, to: client)
                said = notice
            }
            // Nothing may be sent before the key is named.
            if client.hasSent(within: 100) { return nil }
        }
        return nil
    }

    private func present(_ client: LocalConnection, _ presentation: Cancellation) {
        var end = FarEnd(
            RemoteChannel(input: client.descriptor, output: client.descriptor), hello, owner: owner.name,
            cancellation: presentation,
            report: { [self] event in
                guard case .inserted(let node) = event else { return }
                state.withLock { $0.session?.device = node.split(separator: "/").last.map(String.init) }
                report(.presented(node: node))
            }, open: machine.open)
        end.deviceName = Self.name
        do throws(RemoteError) { try end.run() } catch { report(.failed(error)) }
        state.withLock { $0.session?.device = nil }
    }
}

extension HIDDevice {
    /// The name of the node, such as `hidraw3`, wherever it is.
    package var node: String { sysPath.split(separator: "/").last.map(String.init) ?? "" }
}
