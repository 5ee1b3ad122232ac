// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKCapture
import YKInteraction
package import YKKeys
import YKTransport

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

extension LogLevel {
    /// Creates the log level for a line of link traffic.
    package init(_ level: TrafficLog.Level) {
        switch level {
        case .info: self = .info
        case .debug: self = .debug
        case .traffic: self = .traffic
        }
    }
}

extension QRReader {
    /// Returns the texts of all QR codes in an image.
    package func texts(in image: [UInt8], _ name: String) throws(Concerning) -> [String] {
        do { return try texts(in: image) } catch { throw Concerning(.file(name), error) }
    }

    /// Returns what all QR codes in an image hold.
    package func payloads(in image: [UInt8], _ name: String) throws(Concerning) -> [QRPayload] {
        do { return try payloads(in: image) } catch { throw Concerning(.file(name), error) }
    }
}

extension Terminal {
    /// A QR reader that ^C cancels.
    package var qrReader: QRReader { QRReader(cancellation: stage.environment.cancellation) }
}
