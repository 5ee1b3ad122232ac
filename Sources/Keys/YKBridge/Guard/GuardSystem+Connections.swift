// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKHardware
import YKTransport
import YKVirtualKeyHost

/// The connections to the system part of a guard.
extension GuardSystem {
    func start(_ client: LocalConnection) {
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
        let blind = machine.showsKey ? [] : machine.blindBrowsers()
        guard blind.isEmpty else {
            report(.unseen(blind))
            return say(.unseen(blind), to: client)
        }
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
        present(device, client, peer, presentation)
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

    private func present(
        _ device: HIDDevice, _ client: LocalConnection, _ peer: PeerCredentials, _ presentation: Cancellation
    ) {
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
        if machine.showsKey { end.numbers = (device.vendor, device.product) }
        do throws(RemoteError) { try end.run() } catch { report(.failed(error)) }
        state.withLock { $0.session?.device = nil }
    }
}

extension HIDDevice {
    /// The name of the node, such as `hidraw3`, wherever it is.
    package var node: String { sysPath.split(separator: "/").last.map(String.init) ?? "" }

    /// Whether udev's daemon has applied its rules to the node, or none runs. It then has a record of the device, and an
    /// empty queue: what the rules run, such as the access of the seat's user, comes after the record.
    var hasUdevRules: Bool {
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
