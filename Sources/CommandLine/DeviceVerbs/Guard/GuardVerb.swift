// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKBridge
import YKHardware
import YKInteraction
import YKTransport

/// What to do with a guard that runs.
enum GuardAction: String, CaseIterable, ExpressibleByArgument {
    case status, log, pause, resume
}

/// Lets every program of this machine use the key, and asks the user before each use.
struct GuardVerb: Verb {
    static let about = About(
        "Use your key in every program, asked here before each use.",
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
            Example("ykit guard pause --for 10m", "Give the key back for ten minutes."),
        ])
    static let uses: GlobalUse = [.device, .plan, .ownPlan]

    @Argument("action", help: "Print the status or the log of the guard, pause or resume it.")
    var action: GuardAction?

    @Flag("--system", help: "Run the system part, as root.") var system = false

    @Option("--refuse <site>", help: "Refuse this site, or a pattern with one *, unasked; may be repeated.")
    var refuse: [NameArgument] = []

    @Option(
        "--once <site>",
        help: "Ask once for this site, or a pattern with one *, until the screen locks; may be repeated.")
    var once: [NameArgument] = []

    @Option("--remember <time>", help: "Keep an accepted PIN for this time, such as 5m (default: not at all).")
    var remember: TimeArgument?

    @Option("--for <time>", help: "How long a pause lasts, such as 90 or 10m (default: 5m).")
    var pauseTime: TimeArgument?

    @Flag(
        "--as-key", help: "Show the key's own vendor and product numbers to programs, also where a browser is a snap.")
    var asKey = false

    @OptionGroup var questions: QuestionOptions
    @OptionGroup var owner: OwnerOptions
    @OptionGroup var pin: PINOptions

    func check() throws {
        try questions.check(limit: 100, unasked: "would allow every use")
        if let pauseTime, !(1...Int(GuardRequest.longestPause)).contains(pauseTime.seconds) {
            throw UsageError("--for must be 1 second to \(GuardRequest.longestPause / 3600) hours")
        }
        if let remember, !(1...Self.longestMemory).contains(remember.seconds) {
            throw UsageError("--remember must be 1 second to \(Self.longestMemory / 3600) hours")
        }
        if pauseTime != nil, action != .pause { throw UsageError("--for requires pause") }
        if action != nil, system || owner.owner != nil || asKey || hasSettings {
            throw UsageError("the guard that runs keeps its settings: status, log, pause and resume change none")
        }
        if owner.owner != nil, !system { throw UsageError("--owner requires --system") }
        if asKey, !system { throw UsageError("--as-key requires --system") }
        if system, hasSettings {
            throw UsageError("--refuse, --once, --remember and --wait are for the user's part")
        }
    }

    /// Whether the line has settings of the user's part.
    private var hasSettings: Bool {
        !refuse.isEmpty || !once.isEmpty || remember != nil || questions.wait != nil
    }

    /// How long a PIN can be kept, in seconds.
    private static let longestMemory = 12 * 3600

    func run(in run: Run) async throws -> Outcome<GuardReport> {
        if let action { return try perform(action, run) }
        if run.options.plan { return try plan(run) }
        if system { return try serveSystem(run) }
        return try await serve(run)
    }

    private func perform(_ action: GuardAction, _ run: Run) throws -> Outcome<GuardReport> {
        let request: GuardRequest
        switch action {
        case .log: return try log(run)
        case .status: request = .status
        case .pause: request = .pause(UInt32(pauseTime?.seconds ?? 300))
        case .resume: request = .resume
        }
        if run.options.plan { return Outcome(GuardReport(), ["would ask the system part to \(action.rawValue)"]) }
        let notice = try GuardConnection(request).notice(until: [run.environment.cancellation])
        switch notice {
        case .done: return Outcome(GuardReport(), [])
        case .state(let state): return Outcome(GuardReport(state: state), state.lines)
        default: throw GuardError.denied(path: GuardSystem.path)
        }
    }

    /// What was asked, and the answers.
    private func log(_ run: Run) throws -> Outcome<GuardReport> {
        let content = try GuardLog.content(run.terminal)
        if let problem = content.problem { run.terminal.warn("guard-log", problem) }
        return Outcome(GuardReport(log: content.entries), content.entries.map(\.words))
    }

    private func plan(_ run: Run) throws -> Outcome<GuardReport> {
        guard system else {
            var lines = ["would ask before each use of the key, for every site"]
            if !refuse.isEmpty {
                lines.append("would refuse " + refuse.map { $0.pattern.description.printable }.joined(separator: ", "))
            }
            if !once.isEmpty {
                let sites = once.map { $0.pattern.description.printable }.joined(separator: ", ")
                lines.append("would ask once until the screen locks, for \(sites)")
            }
            if let remember { lines.append("would keep an accepted PIN for \(remember.seconds) s") }
            lines.append("would refuse everything but registration and sign-in")
            return Outcome(GuardReport(), lines)
        }
        let user = try owner.user(run)
        return Outcome(
            GuardReport(),
            [
                "would listen at \(GuardSystem.path) for " + (user?.printable ?? "the user who runs sudo"),
                "would move the key's node to \(TakenNodes.folder)",
                "would create a HID device \(asKey ? "with the key's numbers" : BridgeNode.numbers) through /dev/uhid",
            ])
    }
}

/// A time as people type it: `90`, `90s`, `5m`, `2h`.
struct TimeArgument: ExpressibleByArgument, Hashable {
    /// The number of seconds.
    let seconds: Int

    init?(argument: String) {
        let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600]
        let unit = argument.last.flatMap { units[$0] }
        let number = unit == nil ? argument : String(argument.dropLast())
        guard let count = Int(number), count >= 0, String(count) == number else { return nil }
        let (seconds, isTooLong) = count.multipliedReportingOverflow(by: unit ?? 1)
        guard !isTooLong else { return nil }
        self.seconds = seconds
    }
}
