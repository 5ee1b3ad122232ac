// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKBridge
import YKFIDO
import YKHardware
import YKInteraction
import YKKeys
import YKProtocols
import YKTransport
import YKUse

/// What to do with a guard that runs.
enum GuardAction: String, CaseIterable, ExpressibleByArgument {
    case status, pause, resume
}

/// Lets every program of this machine use the key, and asks the user before each use.
struct GuardVerb: Verb {
    static let about = About(
        "guard", "Use your key in every program, asked here before each use.",
        discussion: """
            Programs that cannot ask for a PIN or say why a key blinks use it through a guard: they find one security \
            key, each use is shown here with the site and confirmed, the PIN is entered here, and one of several \
            accounts is chosen here. 'sudo ykit guard --system' in one terminal hides the key from programs and \
            shows them the guard instead; 'ykit guard' in another one asks. The key is given back when either ends. \
            Reset, lists of credentials, fingerprints, configuration and a new PIN are refused: 'ykit guard pause' \
            gives the key to the programs that do these, and 'ykit guard resume' takes it again.
            """,
        examples: [
            Example("sudo ykit guard --system", "In one terminal: take the key, show the guard to programs."),
            Example("ykit guard", "In another: be asked before each use."),
            Example("ykit guard pause --for 600", "Give the key back for ten minutes."),
        ])
    static let uses: GlobalUse = [.device, .plan, .ownPlan]

    @Argument("action", help: "Print the status of the guard that runs, pause or resume it.") var action: GuardAction?

    @Flag("--system", help: "Run the system part, as root.") var system = false

    @Option("--owner <name>", help: "The user who may use the node (default: the user who ran sudo).")
    var owner: String?

    @Option("--refuse <site>", help: "Refuse this site, or a pattern with one *, unasked; may be repeated.")
    var refuse: [NameArgument] = []

    @Option("--ask <where>", help: "Where the use of the key or card is confirmed.")
    var ask: ConfirmChoice = .auto

    @Option("--wait <seconds>", help: "How long a question waits for its answer (default: 30).")
    var wait: Int?

    @Option("--for <seconds>", help: "How long a pause lasts (default: 300).")
    var pauseTime: Int?

    @OptionGroup var pin: PINOptions

    func check() throws {
        if let wait, !(1...100).contains(wait) { throw UsageError("--wait must be 1 to 100 seconds") }
        if let pauseTime, !(1...Int(GuardRequest.longestPause)).contains(pauseTime) {
            throw UsageError("--for must be 1 to \(GuardRequest.longestPause) seconds")
        }
        if pauseTime != nil, action != .pause { throw UsageError("--for requires pause") }
        if action != nil, system || owner != nil || !refuse.isEmpty || wait != nil {
            throw UsageError("status, pause and resume are for a guard that runs, which keeps its settings")
        }
        if owner != nil, !system { throw UsageError("--owner requires --system") }
        if system, !refuse.isEmpty || wait != nil { throw UsageError("--refuse and --wait are for the user's part") }
        if ask == .none { throw UsageError("--ask none would allow every use") }
        if let owner, !BridgeNode.isName(owner) { throw UsageError("--owner: invalid user name") }
    }

    func run(in run: Run) async throws -> Outcome<GuardReport> {
        if let action { return try perform(action, run) }
        if run.options.plan { return try plan(run) }
        if system { return try serveSystem(run) }
        return try await serve(run)
    }

    private func perform(_ action: GuardAction, _ run: Run) throws -> Outcome<GuardReport> {
        let request: GuardRequest =
            switch action {
            case .status: .status
            case .pause: .pause(UInt32(pauseTime ?? 300))
            case .resume: .resume
            }
        if run.options.plan { return Outcome(GuardReport(), ["would ask the system part to \(action.rawValue)"]) }
        let notice = try GuardConnection(request).notice(until: run.environment.cancellation)
        switch notice {
        case .done: return Outcome(GuardReport(), [])
        case .state(let state): return Outcome(GuardReport(state: state), state.lines)
        default: throw GuardError.denied(path: GuardSystem.path)
        }
    }

    // MARK: the user's part

    var policy: GuardPolicy {
        var policy = GuardPolicy()
        policy.refused = refuse.map(\.pattern)
        policy.questionTime = .seconds(wait ?? 30)
        return policy
    }

    /// Serves programs until it is interrupted or the system part ends; waits while there is no key, and in a pause.
    private func serve(_ run: Run) async throws -> Outcome<GuardReport> {
        OneProcessor.leave()
        let events = GuardEvents(run.terminal, run.log)
        let person = try GuardDesktop.person(ask, run.terminal, policy)
        let cancellation = run.environment.cancellation
        var state = GuardState()
        while !cancellation.isCancelled {
            let connection = try GuardConnection(.serve)
            guard let node = try node(connection, run) else { break }
            state.node = node
            run.keys.choose(path: "\(TakenNodes.folder)/\(node)")
            let end = NearEnd(
                guarding: policy, programs: Self.programs, socket: connection.descriptor, program: Program.version,
                person: person, cancellation: cancellation, report: { events.report($0) })
            do { try await end.run(try await open(run, person)) } catch let error as RemoteError {
                throw Self.explanation(error)
            }
            withExtendedLifetime(connection) {}
            if !cancellation.isCancelled { run.terminal.notice("the key was given back to programs") }
        }
        return Outcome(GuardReport(state: state, counts: events.counts), [])
    }

    /// Waits until the system part has taken a key; `nil` if the user ends it before.
    private func node(_ connection: GuardConnection, _ run: Run) throws -> String? {
        while true {
            let notice: GuardNotice
            do throws(GuardError) { notice = try connection.notice(until: run.environment.cancellation) } catch {
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
            case .done, .state: continue
            }
        }
    }

    /// Opens the key. The PIN is entered for each ceremony, at a prompt that states the purpose.
    private func open(_ run: Run, _ desktop: any Person) async throws -> FIDOService {
        let given = run.given(.fidoPIN, run.source(of: .fido, pin))
        let broker =
            desktop is GuardDesktop
            ? run.broker([given], person: PersonPrompt(desktop)) : run.broker(given, cause: policy.cause)
        let (person, id) = (run.person, CredentialID(.fidoPIN, key: nil))
        var interaction = FIDOInteraction { asked in
            let site = asked.rpID.map { " at \(Untrusted.site($0))" } ?? ""
            let what = asked.permissions.contains(.makeCredential) ? "create a credential" : "sign in"
            return await FIDOCredential(broker, id, to: "\(what)\(site)", isForOnce: true, person).pin(asked)
        }
        interaction.pinOutcome = { error in if let error { broker.failed(id, error) } else { broker.accepted(id) } }
        return try await run.openFIDO(interaction)
    }

    /// The programs of this user that have the guard's device open.
    @Sendable private static func programs() -> [String] {
        BridgeDevice.all().filter { $0.name == GuardSystem.name }.flatMap(\.programs)
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

    private func plan(_ run: Run) throws -> Outcome<GuardReport> {
        guard system else {
            var lines = ["would ask before each use of the key, for every site"]
            if !refuse.isEmpty {
                lines.append("would refuse " + refuse.map { $0.pattern.description.printable }.joined(separator: ", "))
            }
            lines.append("would refuse everything but registration and sign-in")
            return Outcome(GuardReport(), lines)
        }
        let user = try user(run)
        return Outcome(
            GuardReport(),
            [
                "would listen at \(GuardSystem.path) for " + (user?.printable ?? "the user who runs sudo"),
                "would move the key's node to \(TakenNodes.folder)",
                "would create a HID device \(BridgeNode.numbers) through /dev/uhid",
            ])
    }
}

extension GuardState {
    /// The state in words.
    var lines: [String] {
        if pause > 0 { return ["paused, for \(pause) s more"] }
        guard process > 0 else { return ["the key is free: nobody runs 'ykit guard'"] }
        guard let node else { return ["waiting for a key"] }
        return ["the key (\(node)) is guarded by process \(process)" + (device.map { "; programs find \($0)" } ?? "")]
    }
}

/// What a guard does, or did.
struct GuardReport: Report {
    var state = GuardState()
    var counts: (ceremonies: Int, refused: Int) = (0, 0)

    static let members: [Member<GuardReport>] = [
        Member("process", "of the user's part, null without one") {
            $0.state.process > 0 ? Int($0.state.process) : nil
        },
        Member("node", "of the key that was taken") { $0.state.node },
        Member("device", "the node that programs find") { $0.state.device },
        Member("pause", "the rest of a pause in seconds") { Int($0.state.pause) },
        Member("ceremonies", "how often the key was used") { $0.counts.ceremonies },
        Member("refused", "how many requests were refused") { $0.counts.refused },
    ]
}
