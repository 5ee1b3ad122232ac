// SPDX-License-Identifier: Apache-2.0

import Applications
public import Arguments
import TerminalIO
import Verbs
public import YKBridge
import YKFIDO
import YKHardware
import YKInteraction
import YKProtocols
import YKTransport
import YKUse

/// Lets programs on a machine reached by SSH use the key here.
struct RemoteVerb: Verb {
    static let about = About(
        "Use the key here for programs on a machine reached by ssh.",
        discussion: """
            Runs 'ykit bridge --stdio' there, which presents a security key to browsers, ssh and pam_u2f, and forwards \
            their requests to this end. Before the key is used, the host, the operation and the site are shown and you \
            are asked; the PIN is entered here. Only registration and sign-in are passed on. Relying parties that may \
            guard secrets of this machine (ssh:, pam://…, io.systemd.cryptsetup, age) have to be named. Options after \
            -- are passed to ssh. With --card, a virtual reader (vpcd) is presented there instead, for gpg, ykman and \
            OpenSC; only commands that use keys are passed on, never those that change something. The device there is removed when the connection ends.
            """,
        examples: [
            Example("ykit remote --plan dev.example.com", "Show what would be run and allowed."),
            Example(
                "ykit remote dev --allow github.com --allow ssh: -- -J gate",
                "Allow only these sites, with options for ssh."),
            Example("ykit remote dev --card openpgp --card piv", "For gpg and PKCS #11 there, in a virtual reader."),
        ])
    static let uses: GlobalUse = [.device, .virtual, .plan, .ownPlan]

    @Argument("host", help: "The host, as for ssh.") var host: String

    @Argument("ssh-option", help: "Options for ssh, after --.") var sshOptions: [String] = []

    @Option("--command <command>", help: "The command to run there, in its shell.")
    var command = "ykit bridge --stdio"

    @Option(
        "--card <application>",
        help: "Show this application of the card there instead of FIDO: piv, oath or openpgp; may be repeated.")
    var card: [RemoteApplication] = []

    @Option(
        "--allow <site>",
        help: "Allow only this site, or a pattern with one *; may be repeated (default: every site on the web).")
    var allow: [NameArgument] = []

    @Option(
        "--allow-always <site>",
        help: "Allow this site without asking; may be repeated. A touch is still required, on a card in a reader a yes."
    )
    var allowAlways: [NameArgument] = []

    @OptionGroup var questions: QuestionOptions
    @OptionGroup var pin: PINOptions

    func check() throws {
        try questions.check(limit: 100, unasked: "would allow every site: name the sites with --allow-always")
        if !card.isEmpty, !(allow + allowAlways).isEmpty {
            throw UsageError("--card cannot be combined with --allow and --allow-always, which name sites")
        }
        if host.isEmpty || host.hasPrefix("-") { throw UsageError("'\(host.printable)' is not a host") }
        if command.isEmpty { throw UsageError("--command must not be empty") }
    }

    func run(in run: Run) async throws -> Outcome<RemoteReport> {
        if run.options.plan { return plan }
        guard let ssh = run.stage.programs.find("ssh") else {
            throw Explanation("not-found", .notFound, "ssh is not installed", hint: "sudo apt install openssh-client")
        }
        OneProcessor.leave()
        let events = RemoteEvents(run.terminal, run.log, host: host)
        let person = try questions.ask.person(run.terminal, policy.cause)
        let service = card.isEmpty ? try await open(run) : nil
        let opened = card.isEmpty ? nil : try await run.open(CardService.self)
        let child = try ChildProcess.converse(ssh, sshArguments)
        child.errorLines { events.show($0) }
        let near = NearEnd(
            host: host, input: child.output, output: child.input, program: Program.version, policy: policy,
            person: person, cancellation: run.environment.cancellation, report: events.report)
        var failure: RemoteError?
        do throws(RemoteError) {
            if let service { try await near.run(service, reopen: { try? await open(run) }) }
            if let opened {
                try await near.run(
                    card: opened, card, pins: pins(run), reopen: { try? await run.open(CardService.self) })
            }
        } catch { failure = error }
        let status = child.end()
        if let failure { throw explanation(failure, status) }
        return Outcome(report(events.counts), [])
    }

    /// Opens the key. The PIN is entered for each ceremony, at a prompt that states the purpose.
    func open(_ run: Run) async throws -> FIDOService {
        let broker = run.broker(run.given(.fidoPIN, run.source(of: .fidoPIN, pin)), cause: policy.cause)
        let (person, host) = (run.person, host.printable)
        let id = CredentialID(.fidoPIN, key: nil)
        let interaction = FIDOInteraction { asked in
            let site = asked.rpID.map { " at \(Untrusted.site($0))" } ?? ""
            let what = asked.permissions.contains(.makeCredential) ? "create a credential" : "sign in"
            return await FIDOCredential(broker, id, to: "\(what)\(site) for \(host)", isForOnce: true, person).pin(
                asked)
        }
        var noting = interaction
        noting.pinOutcome = { error in if let error { broker.failed(id, error) } else { broker.accepted(id) } }
        return try await run.openFIDO(noting)
    }

    var policy: RemotePolicy {
        var policy = RemotePolicy()
        (policy.allowed, policy.allowedAlways) = (allow.map(\.pattern), allowAlways.map(\.pattern))
        policy.questionTime = questions.patience
        return policy
    }

    /// The arguments of ssh: without a terminal at the far end, which would change bytes. ssh asks its own questions on
    /// this terminal.
    private var sshArguments: [String] { ["-T"] + sshOptions + ["--", host, command] }

    /// Returns the error to report. ssh has already printed its own messages.
    private func explanation(_ error: RemoteError, _ status: Int32) -> Explanation {
        guard case .noGreeting("") = error else { return Explanation(error) }
        switch status {
        case 255: return Explanation("ssh", .server, "ssh could not connect to \(host.printable)")
        case 127:
            return Explanation(
                "remote-no-answer", .server, "\(host.printable) does not have the command '\(command.printable)'",
                hint: "install ykit there, or give its path with --command")
        default: return Explanation(error)
        }
    }

    private func report(_ counts: (ceremonies: Int, refused: Int)) -> RemoteReport {
        RemoteReport(
            host: host, command: command, applications: card.map(\.rawValue), allowed: allow.map(\.pattern.description),
            allowedAlways: allowAlways.map(\.pattern.description), ceremonies: counts.ceremonies,
            refused: counts.refused)
    }

    private var plan: Outcome<RemoteReport> {
        let run = "would run: " + (["ssh"] + sshArguments).map(\.shellQuoted).joined(separator: " ")
        guard card.isEmpty else { return Outcome(report((0, 0)), [run] + cardPlan) }
        let sites =
            allow.isEmpty
            ? "any site on the web" : allow.map { $0.pattern.description.printable }.joined(separator: ", ")
        var lines = [run, "would ask before each use of the key, for \(sites)"]
        if !allowAlways.isEmpty {
            lines.append(
                "would not ask for " + allowAlways.map { $0.pattern.description.printable }.joined(separator: ", "))
        }
        lines.append("would refuse everything but registration and sign-in")
        return Outcome(report((0, 0)), lines)
    }
}

/// What a remote bridge did, or would do.
struct RemoteReport: Report {
    let host: String
    let command: String
    let applications: [String]
    let allowed: [String]
    let allowedAlways: [String]
    let ceremonies: Int
    let refused: Int

    static let members: [Member<RemoteReport>] = [
        Member("host") { $0.host },
        Member("command", "what is run there") { $0.command },
        Member("applications", "of the card that are shown there instead of FIDO") { $0.applications },
        Member("allowed", "the only sites that may be asked for; empty: every site on the web") { $0.allowed },
        Member("allowedAlways", "the sites that are used without asking") { $0.allowedAlways },
        Member("ceremonies", "how often the key was used") { $0.ceremonies },
        Member("refused", "how many requests were refused") { $0.refused },
    ]
}

extension RemoteApplication: ExpressibleByArgument {}

/// The applications of a card at the other end.
extension RemoteVerb {
    /// Where the PINs come from: each is entered for one use, and its prompt says for which host. What is given by an option
    /// or `YKIT_PIN` is the PIN of the first application that asks.
    func pins(_ run: Run) -> RemotePINs {
        let broker = run.broker(
            run.given(.pivPIN, run.source(of: .pivPIN, pin)),
            run.given(.openPGPUserPIN, run.source(of: .openPGPUserPIN, pin)),
            cause: policy.cause)
        let (purpose, terminal) = ("unlock it for \(host.printable)", run.terminal)
        return RemotePINs { kind, tries in
            let request = CredentialRequest(
                CredentialID(kind, key: nil), to: purpose, triesLeft: tries, isForOnce: true)
            do { return try await broker.obtain(request) } catch is CancellationError { return nil } catch {
                terminal.warnNow(Explanation(error).message)
                return nil
            }
        } outcome: { kind, refusal in
            let id = CredentialID(kind, key: nil)
            if let refusal { broker.refused(id, triesLeft: refusal.triesLeft) } else { broker.accepted(id) }
        }
    }

    /// What would be allowed.
    var cardPlan: [String] {
        let names = card.map(\.title)
        return [
            "would show a reader with \(names.joined(separator: ", ")), and ask before each use of a key or code",
            "would ask for each PIN here, whatever is typed there",
            "would refuse everything that changes the card",
        ]
    }
}
