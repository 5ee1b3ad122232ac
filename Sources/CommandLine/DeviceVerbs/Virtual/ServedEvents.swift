// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TerminalIO
import Verbs
import YKCapture
import YKTransport
import YKVirtualKey
import YKVirtualKeyHost

/// Reports events of a served key.
final class ServedEvents: Sendable {
    let terminal: Terminal
    private let log: Log
    private let narrator = Mutex(Narrator())
    private let path = Mutex<String?>(nil)

    init(terminal: Terminal, log: Log) {
        self.terminal = terminal
        self.log = log
    }

    func report(_ event: VPCDServer.Event) {
        switch event {
        case .inserted: terminal.notice("the key is in the reader, ^C ends it")
        case .removed: terminal.notice("the key is out of the reader")
        case .powerOn: log.say(.info, "power on")
        case .powerOff: log.say(.info, "power off")
        case .reset: log.say(.info, "reset")
        case .exchange(let command, let response): exchange(command, response)
        case .failed(let error): terminal.warnNow(Explanation(error).message)
        }
    }

    /// The path at which programs last found the key.
    var node: String? { path.withLock { $0 } }

    func report(_ event: ServedKeyEvent) {
        switch event {
        case .inserted(let node):
            path.withLock { $0 = node.isEmpty ? nil : node }
            terminal.say(node.isEmpty ? "the key is plugged in, ^C ends it" : "the key is \(node), ^C ends it")
        case .removed: terminal.notice("the key is unplugged")
        case .winked: terminal.notice("the key blinks")
        case .written(let bytes): narrate(.written(bytes))
        case .delivered(let bytes): narrate(.delivered(bytes))
        case .exchange(let command, let response): exchange(command, response)
        case .failed(let error): terminal.warnNow(Explanation(error).message)
        }
    }

    private func narrate(_ kind: Capture.Event.Kind) {
        let narration = narrator.withLock { $0.narrate(.init(kind)) }
        log.say(.debug, narration.summary.printable)
        narration.details.forEach { log.say(.traffic, "  " + $0.printable) }
    }

    private func exchange(_ command: [UInt8], _ response: [UInt8]?) {
        let narration = narrator.withLock { narrator in
            guard let response else { return narrator.narrate(command: command) }
            return narrator.narrate(.init(.exchange(command: command, reply: response)))
        }
        log.say(.debug, narration.summary.printable + (response == nil ? ": no answer" : ""))
        narration.details.forEach { log.say(.traffic, "  " + $0.printable) }
    }
}
