// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKFIDO

extension Files {
    /// Reads a file in the format of another program, or standard input for `-`.
    package static func parse<Value>(
        _ path: String, hint: String? = nil, _ body: ([UInt8]) throws(FormatError) -> Value
    ) throws(Explanation) -> Value {
        let bytes = try read(path)
        do { return try body(bytes) } catch {
            throw Explanation.malformed(error.description(of: path.fileName).printable, hint: hint)
        }
    }
}
