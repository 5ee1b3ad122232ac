// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKCrypto
import YKHTTP
import YKTransport
import YKWire

/// The web site of a trial, for one browser that received the address.
///
/// The address contains a token that the first request for the page consumes; that browser gets a cookie instead.
/// Requests from other sites are refused by `Host` (DNS rebinding) and `Origin`.
final class TrialSite: Sendable {
    private struct State {
        let authority: String
        let path: String
        var verifier: TrialVerifier
        var isOpened = false
        var session: String?
        var userAgent: String?
        var isOver = false
    }

    private let state: Mutex<State?> = Mutex(nil)
    private let steps: [TrialStep]
    private let environment: ServiceEnvironment
    private let report: @Sendable (TrialResult) -> Void

    /// The name of the cookie.
    private static let cookie = "ykit-try"
    /// Paths with side effects, which therefore require POST.
    private static let acts: Set<String> = ["/begin", "/finish", "/end"]

    /// Creates a site that is not open yet.
    ///
    /// - Parameters:
    ///   - steps: The steps of the run.
    ///   - report: Called with each result, on the server's thread.
    init(_ steps: [TrialStep], _ environment: ServiceEnvironment, report: @escaping @Sendable (TrialResult) -> Void) {
        (self.steps, self.environment, self.report) = (steps, environment, report)
    }

    /// Opens the site at a local port.
    ///
    /// - Returns: The address of the page, which can be opened once.
    func open(at port: UInt16) throws -> String {
        let authority = "localhost:\(port)"
        let verifier = try TrialVerifier(origin: "http://\(authority)", steps: steps, environment)
        let path = "/\(try token())/"
        state.withLock { $0 = State(authority: authority, path: path, verifier: verifier) }
        return "http://\(authority)\(path)"
    }

    /// Whether the last step is done or the user ended the run.
    var isOver: Bool { state.withLock { $0?.isOver ?? false } }

    /// The results so far, in the order of the steps.
    var results: [TrialResult] { state.withLock { state in steps.compactMap { state?.verifier.results[$0] } } }

    /// The browser's User-Agent; `nil` until it opens the page.
    var userAgent: String? { state.withLock { $0?.userAgent } }

    /// The passkey left on the key.
    var passkey: TrialPasskey? { state.withLock { $0?.verifier.passkey } }

    /// Handles a request.
    func answer(_ request: IncomingRequest) -> HTTPResponse {
        state.withLock { state in
            guard var current = state else { return Self.refusal(503) }
            defer { state = current }
            guard request.value(of: "Host") == current.authority else { return Self.refusal(403) }
            if request.method == .get { return page(request, &current) }
            guard Self.acts.contains(request.target) else { return Self.refusal(404) }
            guard request.value(of: "Origin") == "http://\(current.authority)" else { return Self.refusal(403) }
            guard isSession(request, current) else { return Self.refusal(404) }
            guard request.value(of: "Content-Type") == "application/json" else { return Self.refusal(415) }
            guard !current.isOver else { return Self.refusal(409) }
            return act(request, &current)
        }
    }

    private func token() throws(LinkError) -> String {
        Base64.encodeURL(try environment.random.draw(16, secret: true))
    }

    private func isSession(_ request: IncomingRequest, _ state: State) -> Bool {
        guard let session = state.session, let cookie = request.cookie(Self.cookie) else { return false }
        return constantTimeEqual(Array(session.utf8), Array(cookie.utf8))
    }

    /// Returns the page to the first browser that opens the address, and to that browser again after a reload.
    private func page(_ request: IncomingRequest, _ state: inout State) -> HTTPResponse {
        if Self.acts.contains(request.target) { return Self.refusal(405, [HTTPField("Allow", "POST")]) }
        guard constantTimeEqual(Array(request.target.utf8), Array(state.path.utf8)),
            !state.isOpened || isSession(request, state), let nonce = try? token(), let session = try? token()
        else { return Self.refusal(404) }
        var fields: [HTTPField] = []
        if !state.isOpened {
            state.isOpened = true
            state.session = session
            state.userAgent = request.value(of: "User-Agent").map { String($0.prefix(300)) }
            fields = [HTTPField("Set-Cookie", "\(Self.cookie)=\(session); HttpOnly; SameSite=Strict; Path=/")]
        }
        let page = TrialPage(nonce: nonce, steps: steps, results: state.verifier.results)
        fields += [
            HTTPField("Content-Type", "text/html; charset=utf-8"),
            HTTPField("Content-Security-Policy", page.contentPolicy),
            HTTPField("Permissions-Policy", TrialPage.permissions),
        ]
        return HTTPResponse(status: 200, fields: fields + Self.fields, body: Array(page.text.utf8))
    }

    /// Performs the action of a button.
    private func act(_ request: IncomingRequest, _ state: inout State) -> HTTPResponse {
        if request.target == "/end" {
            state.isOver = true
            return Self.reply(["over": true])
        }
        guard let json = try? JSONValue(parsing: request.body), let word = json["step"]?.string,
            let step = TrialStep(rawValue: word)
        else { return Self.refusal(400) }
        guard request.target == "/begin" else { return finish(step, json, &state) }
        do {
            switch try state.verifier.begin(step) {
            case .options(let options): return Self.reply(["publicKey": options])
            case .result(let result): return reply(result, &state)
            case nil: return Self.refusal(409)
            }
        } catch { return Self.refusal(503) }
    }

    private func finish(_ step: TrialStep, _ json: JSONValue, _ state: inout State) -> HTTPResponse {
        let answer = json["credential"].map { Array($0.text.utf8) }
        let error = json["error"]?.string.map { String($0.prefix(100)) }
        guard (answer == nil) != (error == nil) else { return Self.refusal(400) }
        guard let result = state.verifier.finish(step, answer: answer, error: error) else { return Self.refusal(409) }
        return reply(result, &state)
    }

    private func reply(_ result: TrialResult, _ state: inout State) -> HTTPResponse {
        state.isOver = state.verifier.isComplete
        report(result)
        return Self.reply(["verdict": TrialPage.json(result), "over": .bool(state.isOver)])
    }

    private static func reply(_ json: JSONValue) -> HTTPResponse {
        HTTPResponse(
            status: 200, fields: [HTTPField("Content-Type", "application/json")] + fields, body: Array(json.text.utf8))
    }

    private static func refusal(_ status: Int, _ more: [HTTPField] = []) -> HTTPResponse {
        HTTPResponse(status: status, fields: more + fields)
    }

    /// The header fields of every response.
    private static let fields = [
        HTTPField("Cache-Control", "no-store"), HTTPField("Referrer-Policy", "no-referrer"),
        HTTPField("X-Content-Type-Options", "nosniff"), HTTPField("Cross-Origin-Resource-Policy", "same-origin"),
        HTTPField("Cross-Origin-Opener-Policy", "same-origin"),
    ]
}
