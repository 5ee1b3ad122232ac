// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import YKManagement
import YKWire

extension Capability {
    /// The names in one line.
    package var sentence: String { names.isEmpty ? "nothing" : names.listed() }
}
