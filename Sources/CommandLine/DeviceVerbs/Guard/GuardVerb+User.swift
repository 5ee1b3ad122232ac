// SPDX-License-Identifier: Apache-2.0

import Applications
import Glibc
import Synchronization
import TerminalIO
import Verbs
import YKBridge
import YKFIDO
import YKHardware
import YKKeys
import YKTransport

/// The user's part.
extension GuardVerb {
    var policy: GuardPolicy {
        var policy = GuardPolicy()
        (policy.refused, policy.once) = (refuse.map(\.pattern), once.map(\.pattern))
        policy.questionTime = questions.patience
        return policy
    }

    /// Serves programs until it is interrupted or the system part ends; waits while there is no key, in a pause, and while
    /// the user is away.
    func serve(_ run: Run) async throws -> Outcome<GuardReport> {
        OneProcessor.leave()
        let asking = AskingPrograms()
        let person = try GuardDesktop.person(questions.ask, run.terminal, policy)
        let keyPIN = GuardPIN(pin, keeping: remember?.seconds, person, policy.cause, run)
        let events = GuardEvents(run.terminal, run.log, log(run), asking, keyPIN, sites: sites(run))
        let presence = GuardPresence()
        let cancellation = run.environment.cancellation
        var state = GuardState()
        while !cancellation.isCancelled {
            let now = presence.now
            let ends = [cancellation, now.changed]
            if let absence = now.absence {
                try wait(while: absence, run, ends)
                continue
            }
            let connection = try GuardConnection(.serve)
            guard let node = try node(connection, run, ends) else { continue }
            state.node = node
            let path = "\(TakenNodes.folder)/\(node)"
            keyPIN.forget()
            guard let service = try await open(run, path, keyPIN, until: ends) else { continue }
            let (changed, over) = (Cancellation(), Cancellation())
            defer { over.cancel() }
            try await watch(service, path, keyPIN, until: ends + [changed, over], changed, run)
            let end = NearEnd(
                guarding: policy, programs: asking.names, sites: events.sites, socket: connection.descriptor,
                program: Program.version, person: person, cancellations: ends + [changed],
                report: { events.report($0) })
            do throws(RemoteError) { try await end.run(service) } catch { throw Self.explanation(error) }
            withExtendedLifetime(connection) {}
            if changed.isCancelled {
                run.terminal.notice("another program changed the key; programs find it again")
            } else if !cancellation.isCancelled {
                run.terminal.notice("the key was given back to programs")
            }
        }
        return Outcome(GuardReport(state: state, counts: events.counts), [])
    }

    /// The log; `nil` if it cannot be written, which is reported.
    private func log(_ run: Run) -> GuardLog? {
        do { return try GuardLog(run.terminal) } catch {
            run.terminal.warnNow("nothing is logged: \(Explanation(error).message)")
            return nil
        }
    }

    /// Waits until the user is back, and lets the system part say why the key is free.
    private func wait(while absence: GuardAbsence, _ run: Run, _ ends: [Cancellation]) throws(GuardError) {
        run.terminal.notice("the key is free while \(absence.words)")
        let connection = try GuardConnection(.away(absence))
        while true {
            do throws(GuardError) { _ = try connection.notice(until: ends) } catch {
                if error == .cancelled { return }
                throw error
            }
        }
    }

    /// Waits until the system part has taken a key; `nil` if the user ends it or leaves before.
    private func node(_ connection: GuardConnection, _ run: Run, _ ends: [Cancellation]) throws -> String? {
        while true {
            let notice: GuardNotice
            do throws(GuardError) { notice = try connection.notice(until: ends) } catch {
                if error == .cancelled { return nil }
                throw error
            }
            switch notice {
            case .key(let node): return node
            case .waiting: run.terminal.notice("plug in the key; ^C ends the guard")
            case .paused(let seconds):
                run.terminal.notice("paused for \(seconds) s; 'ykit guard resume' ends the pause")
            case .busy(let process): throw GuardError.busy(process: process)
            case .refused: throw GuardError.denied(path: GuardSystem.path)
            case .failed(let number): throw GuardError.nodeNotTaken(number: number)
            case .unseen(let browsers): throw GuardError.unseen(browsers: browsers)
            case .done, .state: continue
            }
        }
    }

    /// The sites behind the hashes of U2F messages, as far as they are known: those of the log, and of this machine.
    private func sites(_ run: Run) -> [String] {
        var name = [CChar](repeating: 0, count: 256)
        gethostname(&name, name.count - 1)
        let host = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        var seen: Set<String> = ["ssh:", "pam://\(host)"]
        do {
            let content = try GuardLog.content(run.terminal)
            seen.formUnion(content.entries.compactMap(\.site))
            if let problem = content.problem { run.terminal.warnNow(problem) }
        } catch {
            run.terminal.warnNow("the sites of the log are not known: \(Explanation(error).message)")
        }
        return seen.sorted()
    }

    /// Opens the key; waits while another program uses it. `nil` after any of the cancellations, and if it was unplugged.
    private func open(
        _ run: Run, _ path: String, _ keyPIN: GuardPIN, until ends: [Cancellation]
    ) async throws -> FIDOService? {
        run.keys.choose(path: path)
        while !ends.contains(where: \.isCancelled) {
            do { return try await run.openFIDO(keyPIN.interaction) } catch KeyError.link(.busy) {
            } catch KeyError.none, KeyError.notFound, KeyError.link(.noDevice) { return nil }
        }
        return nil
    }

    /// Watches for other programs that use the key while the guard does not.
    private func watch(
        _ service: FIDOService, _ path: String, _ keyPIN: GuardPIN, until ends: [Cancellation],
        _ changed: Cancellation, _ run: Run
    ) async throws {
        let isWatched = try await KeyChanges.watch(service, at: path, until: ends) { use in
            keyPIN.forget()
            if case .changed = use { changed.cancel() }
        }
        if !isWatched { run.terminal.warnNow("a PIN that another program sets is noticed when the key is taken again") }
    }

    private static func explanation(_ error: RemoteError) -> any Error {
        switch error {
        case .lost, .noGreeting: return GuardError.lost
        case .ended(let ending) where ending.reason == .noDevice:
            return Explanation(
                "guard-device", .permission, "the system part cannot create a device: \(ending.text.printable)",
                hint: "sudo modprobe uhid")
        default: return error
        }
    }
}

/// The programs of this user that have the guard's device open, of which one is asking.
final class AskingPrograms: Sendable {
    private let last = Mutex<[String]>([])

    /// Those that had it open at the last question.
    var known: [String] { last.withLock { $0 } }

    /// Looks for them.
    @Sendable func names() -> [String] {
        let names = BridgeDevice.all().filter { $0.name == GuardSystem.name }.flatMap(\.programs)
        last.withLock { $0 = names }
        return names
    }
}
