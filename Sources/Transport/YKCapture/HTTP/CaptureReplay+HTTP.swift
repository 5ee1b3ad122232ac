// SPDX-License-Identifier: Apache-2.0

import Synchronization
public import YKTransport

extension CaptureReplay {
    /// The first difference between the requests and the recording, even if a service handled it.
    public var httpMismatch: ReplayMismatch? { state.withLock { $0.httpMismatch } }

    /// The outcome of a request: of the next one in the recording or, in lookup mode, of the next unused one that is
    /// the same.
    ///
    /// - Parameter sent: The request; its own outcome is ignored.
    package func outcome(of sent: Capture.HTTPExchange) throws(LinkError) -> Capture.HTTPExchange.Outcome {
        do {
            return try state.withLock { state throws(LinkError) in
                if let mismatch = state.mismatch { throw .replay(mismatch) }
                let index = mode == .strict ? try next(sent, &state) : try found(sent, &state)
                guard case .http(let recorded) = capture.events[index].kind else {
                    throw .replay(httpMismatch(at: index, sent, Self.misplaced))
                }
                state.used[index] = true
                state.position = index + 1
                if !capture.header.keepsSecrets, recorded.hidesAnswer {
                    throw .replay(.overwritten("the answer to \(recorded.line)", line: capture.events[index].line))
                }
                return recorded.answering(sent).outcome
            }
        } catch {
            if case .replay(let mismatch) = error {
                state.withLock { state in
                    state.httpMismatch = state.httpMismatch ?? mismatch
                    if mode == .strict { state.mismatch = state.mismatch ?? mismatch }
                }
            }
            throw error
        }
    }

    private static let misplaced = "the host calls a server, but the recording continues with something else"

    /// The next event that the host caused, which must be the same request.
    private func next(_ sent: Capture.HTTPExchange, _ state: inout State) throws(LinkError) -> Int {
        var index = state.position
        while index < capture.events.count, case .link = capture.events[index].kind { index += 1 }
        guard index < capture.events.count else {
            throw .replay(httpMismatch(at: index, sent, "the host continues after the end of the recording"))
        }
        guard case .http(let recorded) = capture.events[index].kind else {
            throw .replay(httpMismatch(at: index, sent, Self.misplaced))
        }
        guard asks(recorded, sent) else {
            throw .replay(httpMismatch(at: index, sent, "the host sends a request other than the recorded one"))
        }
        return index
    }

    /// Finds the next unused request that is the same, starting at the position and wrapping around.
    private func found(_ sent: Capture.HTTPExchange, _ state: inout State) throws(LinkError) -> Int {
        let count = capture.events.count
        for step in 0..<count {
            let index = (state.position + step) % count
            guard !state.used[index], case .http(let recorded) = capture.events[index].kind else { continue }
            if asks(recorded, sent) { return index }
        }
        throw .replay(httpMismatch(at: count, sent, "the recording has no unused request like this"))
    }

    /// Whether a request matches the recorded one apart from redacted parts.
    private func asks(_ recorded: Capture.HTTPExchange, _ sent: Capture.HTTPExchange) -> Bool {
        if capture.header.keepsSecrets { return recorded.asks(sent) }
        var sent = sent
        sent.secrets.request = sent.secrets.request.joined(recorded.secrets.request)
        var recorded = recorded
        recorded.secrets = sent.secrets
        return recorded.redacted().asks(sent.redacted())
    }

    private func httpMismatch(at index: Int, _ sent: Capture.HTTPExchange, _ reason: String) -> ReplayMismatch {
        let event = index < capture.events.count ? capture.events[index] : nil
        var mismatch = mismatch(at: index, actual: nil, reason)
        let shown = sent.redacted()
        var (mine, theirs) = (shown.line, mismatch.expectedWords)
        if case .http(let recorded)? = event?.kind {
            theirs = recorded.line
            if theirs == mine { (mine, theirs) = (shown.body.beginning, recorded.redacted().body.beginning) }
        }
        mismatch = ReplayMismatch(
            line: event?.line ?? 0, expected: theirs.map { Array($0.utf8) }, actual: Array(mine.utf8), reason: reason)
        (mismatch.expectedWords, mismatch.actualWords) = (theirs, mine)
        return mismatch
    }
}

extension HTTPSecrets.Part {
    /// The union of what either of the two marks as secret.
    fileprivate func joined(_ other: Self) -> Self {
        guard case .members(let mine) = self, case .members(let theirs) = other else { return .all }
        return .members(mine.union(theirs))
    }
}

extension [UInt8]? {
    /// The beginning of a body, to show how two differ.
    fileprivate var beginning: String { "the body \(String(decoding: (self ?? []).prefix(400), as: UTF8.self))" }
}
