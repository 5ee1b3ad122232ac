// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A real pcscd of one's own with empty virtual readers (`tools/lab/pcscd-sandbox`); ends with this process at the latest.
package final class PCSCDSandbox: Sendable {
    /// Why there is no sandbox.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
        package init(description: String) { self.description = description }
    }

    /// What a test may do to the daemon.
    package enum Verb: String, Sendable {
        case kill, stop, start, restart, freeze, thaw
    }

    /// What the sandbox puts into the environment of its programs.
    package let environment: [String: String]
    /// The daemon's socket, for `PCSCLITE_CSOCK_NAME`.
    package let socketPath: String
    /// The port of each reader: connecting to it plugs a card in.
    package let ports: [UInt16]
    /// A folder that goes away with the sandbox.
    package let folder: String
    private let process: Process
    private let leash: Pipe

    /// The repository that this file is in.
    package static let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().path

    /// Starts a daemon and waits until it is ready.
    package init(readers: Int = 1) throws {
        let process = Process()
        let leash = Pipe()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: Self.repository + "/tools/lab/pcscd-sandbox")
        process.arguments = ["--readers", "\(readers)", "--", "/bin/sh", "-c", "env; echo; exec cat >/dev/null"]
        process.standardInput = leash
        process.standardOutput = output
        try process.run()
        let text = Self.readUntilEmptyLine(output.fileHandleForReading)
        var environment: [String: String] = [:]
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
            if parts.count == 2, parts[0].hasPrefix("YKIT_TEST_") || parts[0] == "PCSCLITE_CSOCK_NAME" {
                environment[parts[0]] = parts[1]
            }
        }
        guard let socketPath = environment["PCSCLITE_CSOCK_NAME"], let folder = environment["YKIT_TEST_PCSCD_DIR"]
        else {
            process.terminate()
            throw Failure(description: "tools/lab/pcscd-sandbox did not start: \(text)")
        }
        self.environment = environment
        self.socketPath = socketPath
        self.folder = folder
        ports = (environment["YKIT_TEST_VPCD_PORTS"] ?? "").split(separator: " ").compactMap { UInt16($0) }
        self.process = process
        self.leash = leash
    }

    deinit { end() }

    /// Ends the daemon and waits until everything is cleaned up.
    package func end() {
        // pcscd takes seconds to end by itself while a virtual card is plugged in.
        if process.isRunning { try? control(.kill) }
        try? leash.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// The daemon's process id, also after a restart.
    package var daemon: Int32? {
        (try? String(contentsOfFile: folder + "/pcscd.pid", encoding: .utf8))
            .flatMap { Int32($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }

    /// Does something to the daemon; returns when it has happened.
    package func control(_ verb: Verb) throws {
        let link = try LocalSocket(connectedTo: folder + "/control")
        link.send(Array("\(verb.rawValue)\n".utf8))
        let reply = String(decoding: link.receive(upTo: 4096), as: UTF8.self)
        guard Int32(reply.trimmingCharacters(in: .whitespacesAndNewlines)) != nil else {
            throw Failure(description: "pcscd-sandbox \(verb.rawValue): \(reply)")
        }
    }

    private static func readUntilEmptyLine(_ handle: FileHandle) -> String {
        var bytes: [UInt8] = []
        while !bytes.suffix(2).elementsEqual([10, 10]) {
            let piece = handle.readData(ofLength: 1)
            if piece.isEmpty { break }
            bytes += piece
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
