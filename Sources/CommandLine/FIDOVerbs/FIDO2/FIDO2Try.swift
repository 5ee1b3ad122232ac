// SPDX-License-Identifier: Apache-2.0

import Arguments
import Glibc
import Verbs
import YKFIDO
import YKRelyingParty
import YKWire

/// Serves a page that tests the user's browser and key.
struct FIDO2Try: Verb {
    static let about = About(
        "try", "Try your key in your own browser, on a page that ykit serves.",
        discussion: """
            ykit serves a page on this computer and judges what the browser answers, as a web site would; the key is \
            the browser's. The address works once, in one browser. You sign up, sign in and try to sign up twice with \
            the same key, which leaves nothing on it; options add steps. It ends after the last step, after ten \
            minutes, or with ^C.

            The exit code is 8 when an answer is wrong, 10 when there was none or not in time, and 11 when the key or \
            the browser cannot do a step.
            """, members: ["origin", "userAgent", "steps"])

    @Flag("--open", help: "Open the page in your browser.") var open = false

    @Flag("--uv", help: "Also sign in with the key's PIN or fingerprint.") var uv = false

    @Flag("--prf", help: "Also make secrets (prf, hmac-secret).") var prf = false

    @Flag("--attestation", help: "Also ask for the attestation, which tells the model.") var attestation = false

    @Flag("--passkey", help: "Also save a passkey on the key, and sign in with it. It stays there.") var passkey = false

    @Flag("--large-blob", help: "Also store data beside the passkey (implies --passkey).") var largeBlob = false

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

    func answer(in world: World) async throws -> Answer {
        guard world.plan == nil else {
            throw Explanation.usage("--plan has nothing to show: the browser talks to the key")
        }
        let terminal = world.terminal
        let steps = steps
        let server = try TrialServer(steps, environment: world.environment) { terminal.notice($0.line) }
        terminal.say("open this page in your browser, once: \(server.url)")
        if open { Self.openBrowser(at: server.url, terminal) }
        let end = ContinuousClock.now + Self.limit
        while !server.isOver, .now < end {
            if Interruption.happened { throw Explain.interrupted }
            try await Task.sleep(for: .milliseconds(100))
        }
        server.stop()
        return Self.answer(server, steps)
    }

    /// Opens the page in the desktop's browser. A browser started by root would run without its sandbox, and with
    /// root's files.
    private static func openBrowser(at url: String, _ terminal: Terminal) {
        guard geteuid() != 0 else { return terminal.warn("no browser is started as root: open the page yourself") }
        guard let program = Spawn.find("xdg-open") else {
            return terminal.warn("xdg-open is missing: open the page yourself")
        }
        do { try Spawn.detach(program, [url], input: []) } catch { terminal.warn(error.message) }
    }

    private static func answer(_ server: TrialServer, _ steps: [TrialStep]) -> Answer {
        let results = server.results
        let rows = results.map { [$0.step.rawValue, $0.outcome.words, $0.reasonText] }
        var answer = Answer(
            Table.details(rows),
            [
                "origin": .string(server.origin), "userAgent": server.userAgent.map(JSONValue.string) ?? .null,
                "steps": .array(results.map(\.json)),
            ])
        if let passkey = server.passkey {
            answer.warnings.append(
                "the passkey '\(passkey.account)' stays on the key; to remove it: "
                    + "ykit fido2 credentials delete \(Base64.encodeURL(passkey.id))")
        }
        answer.failure = failure(results, steps, isOver: server.isOver)
        return answer
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

extension TrialResult {
    /// An element of the answer's member `steps`, with the same members for every step.
    fileprivate var json: JSONValue {
        let credential = response?.credential
        return [
            "step": .string(step.rawValue), "outcome": .string(outcome.rawValue),
            "reason": reason.map { .string($0.description) } ?? .null,
            "credentialId": response.map { .bytes($0.credentialID) } ?? .null,
            "algorithm": credential?.algorithm.map { .string($0.description) } ?? .null,
            "format": credential.map { .string($0.format.rawValue) } ?? .null,
            "trust": credential.map { .string($0.trust.name(isAnchored: false)) } ?? .null,
            "aaguid": credential.map { .string(Hex.uuid($0.aaguid)) } ?? .null,
            "transports": credential.map { .array($0.transports.map { .string($0.rawValue) }) } ?? .null,
            "flags": response.map { .array($0.flags.names.map(JSONValue.string)) } ?? .null,
            "counter": response.map { .int(Int64($0.counter)) } ?? .null,
            "extensions": response.map { .object($0.extensions) } ?? .null,
        ]
    }

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
