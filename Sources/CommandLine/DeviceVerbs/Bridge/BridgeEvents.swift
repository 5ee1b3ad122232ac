// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TerminalIO
import YKBridge
import YKProtocols
import YKWire

/// Reports the events of a bridge as lines on the terminal and in the log, and what the user has to do as a
/// notification.
final class BridgeEvents: Sendable {
    private let terminal: Terminal
    private let log: Log
    private let state = Mutex((node: String?.none, ceremonies: 0))

    init(_ terminal: Terminal, _ log: Log) { (self.terminal, self.log) = (terminal, log) }

    /// The path at which programs last found the device.
    var node: String? { state.withLock { $0.node } }
    /// The number of ceremony messages that the cards answered.
    var ceremonies: Int { state.withLock { $0.ceremonies } }

    func report(_ event: BridgeEvent) {
        switch event {
        case .inserted(let node):
            state.withLock { $0.node = node.isEmpty ? nil : node }
            terminal.say(node.isEmpty ? "the device is ready" : "the device is \(node)")
        case .cardInserted(let address): terminal.say("the card is in the reader at \(address)")
        case .removed: terminal.notice("the device was removed")
        case .cardReady(let reader, let isContactless):
            terminal.notice("a \(isContactless ? "contactless card" : "card with contacts") in '\(reader.printable)'")
        case .cardForeign(let reader): terminal.notice("the card in '\(reader.printable)' is not a FIDO card")
        case .cardFailed(let reader, let error):
            terminal.warnNow("the card in '\(reader.printable)': \(Explanation(error).message)")
        case .cardLeft(let reader): terminal.notice("the card was removed from '\(reader.printable)'")
        case .waiting(.confirmation(let reader), let ceremony):
            // On the terminal, the question says so.
            log.say(.info, "'\(reader.printable)' waiting for confirmation: \(ceremony.words)")
        case .waiting(let wait, let ceremony):
            terminal.purpose(ceremony.words)
            terminal.beginTouch(wait.words(for: ceremony))
        case .waitEnded: terminal.endTouch()
        case .answered(let ceremony, let reader, let status): answered(ceremony, reader, status)
        case .winked: terminal.say("a program asks which key this is")
        case .serviceFailed(let error): terminal.warnNow(Explanation(error).message)
        }
    }

    private func answered(_ ceremony: Ceremony, _ reader: String, _ status: UInt8) {
        state.withLock { $0.ceremonies += 1 }
        let result = status == 0 ? "done" : CTAPProtocol.statuses[status]?.meaning ?? "status \(Hex.encode([status]))"
        terminal.notice("\(ceremony.words): \(result)")
        log.say(.info, "'\(reader.printable)' \(ceremony.words): \(result)")
    }
}
