// SPDX-License-Identifier: Apache-2.0

import Arguments
import Glibc
import YKCapture
import YKTransport

/// Verbs on recordings.
struct CaptureGroup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "capture", abstract: "Show, check and convert recordings.",
        subcommands: [CaptureShow.self, CaptureCheck.self, CaptureRedact.self, CaptureImporting.self])
}

extension Capture {
    /// Reads a capture file; what cannot be opened is a usage error, what cannot be read a malformed one.
    init(file path: String) throws {
        let bytes = try Files.read(path)
        do { self = try Capture(parsing: bytes) } catch {
            throw Explain.capture(error, in: path)
        }
    }
}
