// SPDX-License-Identifier: Apache-2.0

import YKWire

/// What a verb has to say: for programs as members of one JSON object, for people as lines.
struct Answer {
    /// The members of the object behind `ok`.
    var members = JSON.Object()
    /// The lines.
    var lines: [String] = []
    /// Bytes that are printed as they are instead of the lines.
    var raw: [UInt8]?
    /// Whether the key made what is answered for this once, so that it must not be lost with standard output.
    var isMadeOnce = false
    /// What went less than well, though the verb did its work.
    var warnings: [String] = []
    /// Why the verb failed in part, after it said what it did.
    var failure: Explanation?

    /// Nothing to say.
    init() {}

    init(_ lines: [String] = [], _ members: KeyValuePairs<String, JSON>) {
        self.lines = lines
        for (key, value) in members { self.members[key] = value }
    }

    /// Keeps bytes off a terminal that would not show them as they are: they may come from anybody, and drive it.
    mutating func withholdBytes(from terminal: Terminal) {
        guard let bytes = raw, terminal.isOutputTerminal, !String.isShowable(bytes) else { return }
        raw = nil
        lines = []
        failure = failure ?? FileOutput.unshown
    }

    init(_ line: String, _ members: KeyValuePairs<String, JSON>) { self.init([line], members) }
}
