// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

extension CaptureReplay {
    /// A mismatch of a command that is nowhere in the recording; it is described as it reads at that position.
    func mismatch(past index: Int, actual: [UInt8], _ reason: String) -> ReplayMismatch {
        let found = mismatch(at: index, actual: actual, reason)
        var mismatch = ReplayMismatch(line: 0, actual: found.actual, reason: reason)
        mismatch.actualWords = found.actualWords
        return mismatch
    }

    /// A mismatch of what the host does after the last event.
    func mismatch(atEnd sent: Capture.Event?, _ reason: String) -> ReplayMismatch {
        mismatch(at: capture.events.count, sent: sent, reason)
    }

    /// A mismatch before or at an event; both commands are described as they read at that position of the session.
    func mismatch(at index: Int, actual: [UInt8]?, _ reason: String) -> ReplayMismatch {
        let sent = actual.map { Capture.Event(.exchange(command: $0, reply: [])) }
        return mismatch(at: index, sent: sent, reason)
    }

    /// A mismatch before or at an event where the host sent something else or nothing.
    func mismatch(at index: Int, sent: Capture.Event?, _ reason: String) -> ReplayMismatch {
        var narrator = Narrator(capture.header.link)
        var redactor = Redactor()
        for event in session(before: index) {
            _ = narrator.narrate(event)
            _ = redactor.masks(event)
        }
        let event = index < capture.events.count ? capture.events[index] : nil
        let hidden = sent.map { redactor.redacted($0) }
        var mismatch = ReplayMismatch(
            line: event?.line ?? capture.events.last?.line ?? 1, expected: event?.sentBytes,
            actual: hidden?.sentBytes, reason: reason)
        mismatch.isOfAnotherTool = capture.header.clock == nil
        mismatch.expectedWords = event?.words(narrator)
        mismatch.actualWords = sent?.words(narrator)
        mismatch.tellApart()
        return mismatch
    }

    /// The events before a position. The recorded session may have ended there; the host's continues with what it has
    /// selected.
    private func session(before index: Int) -> ArraySlice<Capture.Event> {
        var events = capture.events.prefix(index)
        while case .link(let what, _)? = events.last?.kind, ![.powerOn, .reset].contains(what) { events.removeLast() }
        return events
    }

    /// Throws if the reply of an exchange is a redacted result, or part of one. Proofs of knowledge and FIDO messages
    /// are let through: services know which of their parts are missing.
    func requireResult(_ index: Int) throws(LinkError) {
        let event = capture.events[index]
        guard !event.replyMask.isEmpty, capture.header.keepsSecrets == false else { return }
        var asked = index
        while asked > 0, event.isContinuation(capture.events[asked]) { asked -= 1 }
        guard case .exchange(let bytes, _) = capture.events[asked].kind else { return }
        if let command = try? APDU(decoding: bytes), CardVocabularies.known.isProof(command) { return }
        let words = mismatch(at: asked, actual: nil, "").expectedWords ?? "this command"
        throw .replay(.overwritten("the reply to \(words)", line: event.line))
    }
}

extension Capture.Event {
    /// Whether another event fetches the rest of a reply.
    fileprivate func isContinuation(_ event: Capture.Event) -> Bool {
        guard case .exchange(let bytes, _) = event.kind, let command = try? APDU(decoding: bytes) else { return true }
        return command.ins == ISO7816.getResponse
    }
}

extension ReplayMismatch {
    /// If both descriptions are the same, names the first byte that differs; redacted bytes are not disclosed.
    fileprivate mutating func tellApart() {
        guard let words = expectedWords, words == actualWords, let expected, let actual else { return }
        let place = zip(expected, actual).enumerated().first { $0.element.0 != $0.element.1 }
        guard let place else { return }
        expectedWords = "\(words), byte \(place.offset + 1) is \(Hex.encode([place.element.0]))"
        actualWords = "\(words), byte \(place.offset + 1) is \(Hex.encode([place.element.1]))"
    }
}

extension Capture.Event {
    /// The command or report that the host sent.
    fileprivate var sentBytes: [UInt8]? {
        switch kind {
        case .exchange(let command, _): command
        case .written(let report), .featureSet(let report): report
        case .http(let exchange): Array(exchange.line.utf8)
        default: nil
        }
    }

    /// Describes what the host sent, in the context of what the narrator has seen.
    fileprivate func words(_ narrator: Narrator) -> String? {
        var narrator = narrator
        switch kind {
        case .exchange(let command, _): return narrator.narrate(command: command).summary
        case .written: return narrator.narrate(self).summary
        case .http(let exchange): return exchange.line
        default: return nil
        }
    }
}
