// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

extension CaptureReplay {
    /// Whether an exchange repeats a command that was already sent to the selected application, and gets the same
    /// reply.
    ///
    /// A channel caches such replies, so a strict replay skips the repeated commands of older recordings. Only commands
    /// that the vocabulary declares repeatable count (`CardVocabulary.persistence`).
    func isRepeatedQuestion(_ index: Int) -> Bool {
        guard let command = command(at: index) else { return false }
        var start = index
        while start > 0 {
            start -= 1
            if self.command(at: start)?.isSelection == true { break }
        }
        guard let selection = self.command(at: start), selection.isSelection,
            let vocabulary = CardVocabularies.known.selected(by: selection), vocabulary.persistence(of: command) != nil
        else { return false }
        return capture.events[start..<index].contains { $0.kind == capture.events[index].kind }
    }

    private func command(at index: Int) -> APDU? {
        guard case .exchange(let bytes, _) = capture.events[index].kind else { return nil }
        return try? APDU(decoding: bytes)
    }
}
