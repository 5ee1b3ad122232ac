// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKCapture

extension Capture {
    /// Reads a capture file; a file that cannot be opened is a usage error, an invalid one is malformed.
    package init(file path: String) throws {
        var events: [Event] = []
        let header = try Self.read(path) { _, event in events.append(event) }
        self.init(header: header, events: events)
    }

    /// Reads a capture file event by event, so that it is never in memory as a whole.
    ///
    /// - Parameters:
    ///   - path: The file, or `-` for standard input.
    ///   - body: Gets each event, with the header.
    /// - Returns: The header.
    package static func read(_ path: String, _ body: (Header, Event) -> Void) throws(Explanation) -> Header {
        var reader = CaptureReader()
        try Files.read(path) { piece throws(Explanation) in
            do throws(CaptureError) { try reader.take(piece, body) } catch {
                throw Explanation(Concerning(.file(path), error))
            }
        }
        do throws(CaptureError) { return try reader.finish(body) } catch {
            throw Explanation(Concerning(.file(path), error))
        }
    }
}
