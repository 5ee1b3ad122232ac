// SPDX-License-Identifier: Apache-2.0

import Arguments
import Glibc
import TerminalIO
import Verbs
import YKAge
import YKHardware
import YKInteraction
import YKKeyAgent
import YKProtocols
import YKSSH
import YKTransport
import YKWire

/// Runs an agent.
struct SSHAgentVerb: Verb {
    static let about = About(
        "Run an SSH agent for the key: PIV slots and FIDO credentials.",
        discussion: """
            Prints the line that tells SSH where the agent is. In a shell, eval "$(ykit ssh agent)" starts it in the \
            background, and 'kill $SSH_AGENT_PID' ends it; with --socket, in a terminal or as a systemd unit it stays \
            in the foreground, until ^C. The card is held for the requests that follow within two seconds and released \
            in between, so it can be unplugged. The PIN is asked for once, except for slots and credentials that \
            require it at each use: on the terminal while the agent is in its foreground, else by SSH_ASKPASS or \
            pinentry. Requests from clients on other machines are confirmed in the same way, at a question that names \
            the hosts they come through. 'ssh-add FILE' adds credentials from their key files, with the certificates \
            next to them; 'ssh-add -x' locks. Requests for other keys are passed to the agent of --upstream. age can \
            also decrypt through it.
            """,
        examples: [
            Example("eval \"$(ykit ssh agent)\""), Example("ykit ssh agent --foreground --socket agent.sock --confirm"),
        ])

    @Option(["--socket <path>", "-s"], help: "The socket (default: $XDG_RUNTIME_DIR/ykit-ssh-agent.sock).")
    var socket: String?

    @Flag("--background", help: "Go to the background once the agent listens; the default if a shell reads the output.")
    var background = false

    @Flag(["--foreground", "-D"], help: "Stay in the foreground.") var foreground = false

    @Option(["--key <file>", "-k"], help: "Offer the credential of this key file; may be repeated.")
    var key: [String] = []

    @Option(
        "--certificate <file>",
        help: "Also offer a PIV key with this certificate; may be repeated. For a key file, FILE-cert.pub is used.")
    var certificate: [String] = []

    @Flag("--resident", help: "Offer the credentials that the key stores; prompts for the PIN at the start.")
    var resident = false

    @Flag("--no-piv", help: "Do not offer the PIV slots.") var noPiv = false

    @Option(
        "--upstream <path>",
        help: "Pass requests for other keys on to this agent (default: that of SSH_AUTH_SOCK).")
    var upstream: String?

    @Flag("--no-upstream", help: "Pass no requests on.") var noUpstream = false

    @Flag("--no-forwarding", help: "Sign nothing for clients on other machines to which the agent is forwarded.")
    var noForwarding = false

    @Option(
        "--allow-host <fingerprint>",
        help: "Do not ask about clients on the host with this key (SHA256:…, one * is allowed); may be repeated.")
    var allowHost: [NameArgument] = []

    @Option(
        "--websafe-allow <patterns>",
        help: "The applications whose credentials may sign more than SSH data, as in ssh-agent (default: ssh:*).")
    var websafeAllow = "ssh:*"

    @Flag("--confirm", help: "Ask before each use of each key, as with 'ssh-add -c'.") var confirm = false

    @Option("--wait <seconds>", help: "How long a question waits for its answer (default: 30; 120 for a PIN).")
    var wait: Int?

    @Option("--pin-lifetime <n>", help: "Forget the PIN after this many seconds; with 0, immediately.")
    var pinLifetime: Int?

    @OptionGroup var fileOptions: FilePasswordOptions
    @OptionGroup var pin: PINOptions

    func check() throws {
        guard (pinLifetime ?? 0) >= 0 else { throw UsageError("--pin-lifetime must be a number of seconds") }
        guard upstream == nil || !noUpstream else {
            throw UsageError("--upstream and --no-upstream cannot be combined")
        }
        guard (1...100).contains(wait ?? 30) else { throw UsageError("--wait must be 1 to 100 seconds") }
        guard allowHost.allSatisfy({ $0.pattern.description.hasPrefix("SHA256:") }) else {
            throw UsageError("--allow-host takes the fingerprint of a host key: SHA256:…")
        }
        guard !background || !foreground else {
            throw UsageError("--background and --foreground cannot be combined")
        }
    }

    func check(with global: GlobalOptions) throws {
        guard !global.plan else { throw UsageError("an agent has no plan: it does what its clients request") }
        guard !background || !global.json else { throw UsageError("--json and --background cannot be combined") }
    }

    var ownPIN: CredentialKind? { noPiv ? .fidoPIN : .pivPIN }

    /// The agent's socket and process.
    struct Place: Report {
        let socket: String
        static let members: [Member<Self>] = [Member("socket") { $0.socket }, Member("pid") { _ in Int(getpid()) }]
    }

    func run(in run: Run) async throws -> Outcome<Place> {
        guard startsInBackground(run) else { return try await serve(in: run) }
        switch Background.fork() {
        case .original(let status): (ExitStatus(rawValue: status) ?? .failed).end()
        case .copy(let background): return try await serve(in: run, background)
        case nil:
            throw Explanation(
                "failed", .failed, "cannot start in the background: \(System.failure)", hint: "use --foreground")
        }
    }

    /// Whether to start in the background, as for a shell that reads the output (`eval "$(ykit ssh agent)"`) and would
    /// wait for an agent in the foreground to end. With --socket this must be requested, since programs that start an
    /// agent read the output as well.
    private func startsInBackground(_ run: Run) -> Bool {
        if background || foreground { return background }
        var output = stat()
        return socket == nil && !isActivated(run) && !run.options.json
            && fstat(1, &output) == 0 && output.st_mode & S_IFMT == S_IFIFO
    }

    private func serve(in run: Run, _ background: consuming Background? = nil) async throws -> Outcome<Place> {
        let keys = AgentKeys(extensions: [AgeUnwrapRequest.name]) { [terminal = run.terminal] in
            terminal.say("not signed: \($0.words)")
        }
        var credentials = try key.flatMap { try Self.identities(of: $0, try fileOptions.keyFile($0, run)) }
        let keeper = AgentKeeper(
            run, pin, keys, usesPIV: !noPiv, lifetime: pinLifetime, policy: policy, pinPatience: .seconds(wait ?? 120),
            certificates: try certificate.map(SSHCertificate.init(file:)))
        if resident { credentials += try await keeper.resident().map(SSHIdentity.init) }
        if background != nil { try keeper.readPINs() }
        let listener = try isActivated(run) ? AgentSocket(descriptor: 3) : AgentSocket(at: path(run))
        defer { listener.end() }
        announce(listener.path, run)
        if let background = background.take() {
            background.begin()
            run.terminal.relay { SystemLog.write($0) }
        } else {
            run.terminal.note("the agent listens at \(listener.path.printable), ^C ends it")
        }
        let agent = SSHAgent(keys, allowsForwarding: !noForwarding, confirmsAll: confirm, websafe: websafeAllow)
        for credential in credentials { await agent.offer(credential) }
        let other = other(than: listener.path, run)
        let cancellation = run.environment.cancellation
        let isStarted = SystemThread.start {
            try? Run.awake { listener.serve(agent, upstream: other, until: cancellation, wake: $0) }
            keys.end()
        }
        guard isStarted else { throw Explanation("failed", .failed, "the system allows no more threads for this user") }
        for await job in keys.jobs { await keeper.do(job) }
        await keeper.end()
        return Outcome(Place(socket: listener.path))
    }

    private var policy: RemotePolicy {
        var policy = RemotePolicy()
        policy.allowedAlways = allowHost.map(\.pattern)
        policy.questionTime = .seconds(wait ?? 30)
        return policy
    }

    /// Whether systemd passed a socket (sd_listen_fds(3)).
    private func isActivated(_ run: Run) -> Bool {
        run.variable("LISTEN_PID") == "\(getpid())" && run.variable("LISTEN_FDS") == "1"
    }

    /// The credential of a key file, and its certificate in FILE-cert.pub if there is one, as ssh-add adds them.
    private static func identities(of path: String, _ file: SecurityKeyFile) throws -> [SSHIdentity] {
        let plain = SSHIdentity(file)
        let path = path + "-cert.pub"
        guard FileStatus(path) != nil else { return [plain] }
        guard let certified = plain.with(try SSHCertificate(file: path)) else {
            throw Explanation.malformed("the certificate in \(path.printable) is for another key")
        }
        return [plain, certified]
    }

    private func announce(_ path: String, _ run: Run) {
        let quoted = "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
        let line = "SSH_AUTH_SOCK=\(quoted); export SSH_AUTH_SOCK; SSH_AGENT_PID=\(getpid()); export SSH_AGENT_PID;\n"
        if !run.options.json { run.terminal.write(Array(line.utf8)) }
    }

    private func path(_ run: Run) throws(Explanation) -> String {
        if let socket { return socket }
        guard let folder = run.variable("XDG_RUNTIME_DIR") else {
            throw Explanation.usage("XDG_RUNTIME_DIR is not set", hint: "set the socket with --socket PATH")
        }
        return "\(folder)/ykit-ssh-agent.sock"
    }

    private func other(than path: String, _ run: Run) -> String? {
        let other = noUpstream ? nil : upstream ?? run.variable("SSH_AUTH_SOCK")
        return other == path ? nil : other
    }
}

extension SSHCertificate {
    /// Reads a `-cert.pub` file.
    init(file path: String) throws {
        let text = String(decoding: try Files.read(path), as: UTF8.self)
        self = try SSHCertificate.parse(line: text).certificate
    }
}

extension SSHAgentRefusal {
    /// The reason, for the log.
    var words: String {
        switch self {
        case .forwarded: "the client is on another machine (--no-forwarding)"
        case .otherSession: "the login does not belong to the session of this connection"
        case .website:
            "the credential is not for SSH (--websafe-allow does not name its application): it signs logins and files of SSH"
                + " only, and nothing for a client on another machine"
        case .destination: "the key was added for other hosts (ssh-add -h)"
        }
    }
}
