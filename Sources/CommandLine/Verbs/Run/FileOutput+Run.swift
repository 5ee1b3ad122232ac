// SPDX-License-Identifier: Apache-2.0

package import TerminalIO

extension FileOutput {
    /// Opens the destination of a verb's result, see ``init(_:isText:isSecret:force:shownOn:)``.
    package convenience init(
        _ path: String, isText: Bool? = nil, isSecret: Bool = false, force: Bool, _ run: Run
    ) throws(Explanation) {
        try self.init(
            path, isText: isText, isSecret: isSecret, force: force,
            shownOn: run.options.json ? nil : run.terminal)
    }
}
