// SPDX-License-Identifier: Apache-2.0

import Arguments
import Glibc
package import TerminalIO
import Verbs
import YKFIDO
import YKHardware
package import YKRelyingParty
import YKWire

/// Serves a page that tests the user's browser and key.
struct FIDO2Try: Verb {
    /// Only the browser uses the key.
    static let uses: GlobalUse = []
    static let about = About(
        "Try your key in your own browser, on a page that ykit serves.",
        discussion: """
            ykit serves a page on this computer and checks the browser's answers as a web site would; only the browser \
            uses the key. The address works once, in one browser. You sign up, sign in and try to sign up twice with \
            the same key, which leaves nothing on it; options add steps. It ends after the last step, after ten \
            minutes, or with ^C.

            The exit code is 8 if an answer is wrong, 10 if one is missing or late, and 11 if the key or the browser \
            does not support a step.
            """,
        examples: [
            Example("ykit fido2 try --open"),
            Example("ykit fido2 try --passkey --uv", "Also create a passkey and use the PIN."),
        ])
    typealias Reported = (origin: String, userAgent: String?, steps: [TrialResult])
    static let answer = Shape<Reported>(
        Member("origin") { $0.origin }, Member("userAgent") { $0.userAgent }, Member("steps") { $0.steps })

    @Flag("--open", help: "Open the page in your browser.") var open = false

    @Flag("--uv", help: "Also sign in with the key's PIN or fingerprint.") var uv = false

    @Flag("--prf", help: "Also derive secrets (prf, hmac-secret).") var prf = false

    @Flag("--attestation", help: "Also request the attestation, which reveals the model.") var attestation = false

    @Flag("--passkey", help: "Also save a passkey on the key, and sign in with it. It stays there.") var passkey = false

    @Flag("--large-blob", help: "Also store data with the passkey (implies --passkey).") var largeBlob = false

    @Flag("--all", help: "All of these steps.") var all = false

    /// The maximum duration of a run.
    private static let limit = Duration.seconds(600)

    private var steps: [TrialStep] {
        var wanted = Set(TrialStep.basic)
        if uv || all { wanted.insert(.pin) }
        if prf || all { wanted.insert(.prf) }
        if attestation || all { wanted.insert(.attestation) }
        if passkey || largeBlob || all { wanted.formUnion([.passkey, .passkeySignIn]) }
        if largeBlob || all { wanted.formUnion([.largeBlobWrite, .largeBlobRead]) }
        return TrialStep.allCases.filter(wanted.contains)
    }

    func run(in run: Run) async throws -> Outcome<Reported> {
        let terminal = run.terminal
        let steps = steps
        let server = try TrialServer(steps, environment: run.environment) { terminal.notice($0.line) }
        terminal.say("open this page in your browser, once: \(server.url)")
        if open { Self.openBrowser(at: server.url, terminal) }
        let end = ContinuousClock.now + Self.limit
        while !server.isOver, !run.isInterrupted, .now < end { try await Task.sleep(for: .milliseconds(100)) }
        server.stop()
        var outcome = Self.outcome(server, steps)
        // After ^C, too, the answer has the results so far, and what stays on the key.
        if run.isInterrupted { outcome.answer.failure = .interrupted }
        return outcome
    }

    /// Opens the page in the desktop's browser. A browser started by root would run without its sandbox, and with
    /// root's files.
    private static func openBrowser(at url: String, _ terminal: Terminal) {
        guard geteuid() != 0 else {
            return terminal.warn("no-browser", "browsers are not started as root: open the page yourself")
        }
        guard let program = terminal.stage.programs.find("xdg-open") else {
            return terminal.warn("no-browser", "xdg-open is missing: open the page yourself")
        }
        do { try ChildProcess.detach(program, [url], input: []) } catch { terminal.warn(Warning(Explanation(error))) }
    }

    private static func outcome(_ server: TrialServer, _ steps: [TrialStep]) -> Outcome<Reported> {
        let results = server.results
        let rows = results.map { [$0.step.rawValue, $0.outcome.words, $0.reasonText] }
        var outcome = Outcome(
            (origin: server.origin, userAgent: server.userAgent, steps: results), Table.details(rows))
        if let passkey = server.passkey {
            outcome.answer.warnings.append(
                Warning(
                    "passkey-kept",
                    "the passkey '\(passkey.account)' stays on the key; to remove it: "
                        + "ykit fido2 credentials delete \(Base64.encodeURL(passkey.id))"))
        }
        outcome.answer.failure = failure(results, steps, isOver: server.isOver)
        return outcome
    }

    /// The failure of the run: the most serious one.
    private static func failure(_ results: [TrialResult], _ steps: [TrialStep], isOver: Bool) -> Explanation? {
        func first(_ outcome: TrialResult.Outcome) -> TrialResult? { results.first { $0.outcome == outcome } }
        if let result = first(.failed) {
            return Explanation(
                "not-verified", .authentication, "\(result.step.rawValue) failed: \(result.reasonText)",
                hint: result.hint)
        }
        if let result = first(.unanswered) {
            return Explanation(
                "no-answer", .timeOut, "\(result.step.rawValue): \(result.reasonText)", hint: result.hint)
        }
        if results.count < steps.count {
            guard isOver else {
                return Explanation(
                    "timed-out", .timeOut, "the steps were not done within ten minutes",
                    hint: results.isEmpty ? "the page works once, in one browser; start again for another one" : nil)
            }
            return Explanation("ended-early", .declined, "the run was ended before its last step")
        }
        return first(.unsupported).map {
            Explanation("not-supported", .notSupported, "\($0.step.rawValue): \($0.reasonText)")
        }
    }
}

extension TrialResult: Report {
    package static let members: [Member<Self>] = [
        Member(
            "step",
            """
            sign-up, sign-in, sign-up-again, pin, prf, attestation, passkey, passkey-sign-in, large-blob-write or \
            large-blob-read
            """
        ) { $0.step.rawValue },
        Member("outcome", "passed, failed, unanswered or unsupported") { $0.outcome.rawValue },
        Member("reason") { $0.reason?.description },
        Member("credentialId") { $0.response.map { Base64.encodeURL($0.credentialID) } },
        Member("algorithm") { $0.credential?.algorithm?.description },
        Member("format") { $0.credential?.format.rawValue },
        Member("trust") { $0.credential?.trust.name(isAnchored: false) },
        Member("aaguid") { $0.credential.map { Hex.uuid($0.aaguid) } },
        Member("transports") { $0.credential?.transports.map(\.rawValue) },
        Member("flags", AuthenticatorData.Flags.about) { $0.response?.flags.names },
        Member("counter") { $0.response?.counter },
        Member("extensions", "their results") { $0.response.map { JSONValue.object($0.extensions) } },
    ]

    private var credential: TrialResponse.Credential? { response?.credential }

    /// Why it did not pass, for a terminal.
    fileprivate var reasonText: String { reason?.description.printable ?? "" }

    /// The line for the terminal.
    fileprivate var line: String { "\(step.rawValue): \(outcome.words)" + (reason == nil ? "" : ": \(reasonText)") }
}

extension TrialResult.Outcome {
    /// The description for people.
    fileprivate var words: String {
        switch self {
        case .passed: Style.green.around("passed")
        case .failed: Style.red.around("failed")
        case .unanswered: Style.yellow.around("no answer")
        case .unsupported: Style.yellow.around("not supported")
        }
    }
}
