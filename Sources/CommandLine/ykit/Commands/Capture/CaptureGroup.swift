// SPDX-License-Identifier: Apache-2.0

import Arguments
import Glibc
import YKCapture
import YKTransport

/// Commands for recordings.
struct CaptureGroup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "capture", abstract: "Show, check and convert recordings.",
        subcommands: [CaptureShow.self, CaptureCheck.self, CaptureRedact.self, CaptureImporting.self])
}

extension Capture {
    /// Reads a capture file; a file that cannot be opened is a usage error, an invalid one is malformed.
    init(file path: String) throws {
        let bytes = try Files.read(path)
        do { self = try Capture(parsing: bytes) } catch {
            throw Explain.capture(error, in: path)
        }
    }
}
