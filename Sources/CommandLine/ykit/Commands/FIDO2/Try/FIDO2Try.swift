// SPDX-License-Identifier: Apache-2.0

import Arguments
import Glibc
import YKHTTP
import YKTransport
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

    private var steps: [TryStep] {
        var wanted = Set(TryStep.usual)
        if uv || all { wanted.insert(.pin) }
        if prf || all { wanted.insert(.prf) }
        if attestation || all { wanted.insert(.attestation) }
        if passkey || largeBlob || all { wanted.formUnion([.passkey, .passkeySignIn]) }
        if largeBlob || all { wanted.formUnion([.largeBlobWrite, .largeBlobRead]) }
        return TryStep.allCases.filter(wanted.contains)
    }

    func answer(in world: World) async throws -> Answer {
        guard world.plan == nil else {
            throw Explanation.usage("--plan has nothing to show: the browser talks to the key")
        }
        let terminal = world.terminal
        let steps = steps
        let site = TrySite(steps, world.environment) { terminal.notice($0.line) }
        let listener = try HTTPListener(localhost: { site.answer($0) })
        let url = try site.open(at: listener.port)
        terminal.say("open this page in your browser, once: \(url)")
        if open { Self.openBrowser(at: url, terminal) }
        let end = ContinuousClock.now + Self.limit
        while !site.isOver, .now < end {
            if Interruption.happened { throw Explain.interrupted }
            try await Task.sleep(for: .milliseconds(100))
        }
        listener.stopAndWait()
        return Self.answer(site, steps, origin: "http://localhost:\(listener.port)")
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

    private static func answer(_ site: TrySite, _ steps: [TryStep], origin: String) -> Answer {
        let verdicts = site.verdicts
        let rows = verdicts.map { verdict in
            [verdict.step.rawValue, verdict.outcome.words, (verdict.reason ?? "").printable]
        }
        var answer = Answer(
            Table.details(rows),
            [
                "origin": .string(origin), "userAgent": site.userAgent.map(JSONValue.string) ?? .null,
                "steps": .array(verdicts.map(\.json)),
            ])
        if let passkey = site.passkey {
            answer.warnings.append(
                "the passkey '\(passkey.account)' stays on the key; to remove it: "
                    + "ykit fido2 credentials delete \(Base64.encodeURL(passkey.id))")
        }
        answer.failure = failure(verdicts, steps, isOver: site.isOver)
        return answer
    }

    /// The failure of the run: the most serious one.
    private static func failure(_ verdicts: [TryVerdict], _ steps: [TryStep], isOver: Bool) -> Explanation? {
        func first(_ outcome: TryVerdict.Outcome) -> TryVerdict? { verdicts.first { $0.outcome == outcome } }
        if let verdict = first(.failed) {
            return Explanation(
                "not-verified", .authentication, "\(verdict.step.rawValue) failed: \((verdict.reason ?? "").printable)",
                hint: verdict.hint)
        }
        if let verdict = first(.unanswered) {
            return Explanation(
                "no-answer", .timeOut, "\(verdict.step.rawValue): \((verdict.reason ?? "").printable)",
                hint: verdict.hint)
        }
        if verdicts.count < steps.count {
            guard isOver else {
                return Explanation(
                    "timed-out", .timeOut, "the steps were not done within ten minutes",
                    hint: verdicts.isEmpty ? "the page works once, in one browser; start again for another one" : nil)
            }
            return Explanation("ended-early", .declined, "the run was ended before its last step")
        }
        return first(.unsupported).map {
            Explanation("not-supported", .notSupported, "\($0.step.rawValue): \(($0.reason ?? "").printable)")
        }
    }
}
