// SPDX-License-Identifier: Apache-2.0

import Foundation
import YKTestSupport
import YKTransport

/// Runs ykit in a folder of its own, away from the terminal and from the user's settings: the program that `YKIT` names, as
/// `tools/test` does with the released one, which starts sooner, or else that of this build.
final class Shell: Sendable {
    /// What a command printed and how it ended.
    struct Result: Sendable {
        var output: String
        var errors: String
        var status: Int32

        /// The lines of a text, empty ones left out.
        static func lines(_ text: String) -> [String] {
            text.split(separator: "\n").map(String.init)
        }
    }

    /// The folder, removed afterwards.
    let folder: URL
    /// What its runs are recorded under for the Conformance article.
    let name: String

    init(_ name: String = "-") throws {
        self.name = name
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("ykit-cli-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The folder that the test program, and ykit, were built in.
    static var products: URL {
        let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(fileURLWithPath: program).deletingLastPathComponent()
    }

    /// The folder of the ykit that is run. Coverage is counted in that of this build.
    private static var programs: URL {
        let environment = ProcessInfo.processInfo.environment
        guard let named = environment["YKIT"], environment["LLVM_PROFILE_FILE"] == nil else { return products }
        return URL(fileURLWithPath: named).deletingLastPathComponent()
    }

    /// The root of the package.
    static var root: URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
    }

    /// Records for the Conformance article how a check judged the runs before it.
    func note(_ isGood: Bool) {
        guard let notes = ProcessInfo.processInfo.environment["YKIT_NOTES"], let file = fopen(notes, "a") else {
            return
        }
        fputs("check\t\(name)\t\(isGood ? "ok" : "FAIL")\n", file)
        fclose(file)
    }

    /// Where each command takes a place while it runs: two run at once for each processor, since many of them wait.
    private static let places = {
        let places = YKTransport.Semaphore()
        for _ in 0..<2 * ProcessInfo.processInfo.activeProcessorCount { places.post() }
        return places
    }()

    /// Runs a command line to its end, for which no thread of Swift's pool waits.
    func run(_ command: String) async throws -> Result {
        try await onThread {
            Self.places.wait()
            defer { Self.places.post() }
            return try self.result(of: command)
        }
    }

    private func result(of command: String) throws -> Result {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/setsid")
        process.arguments = ["-w", "/bin/sh", "-c", command]
        process.currentDirectoryURL = folder
        var environment = [
            "PATH": "\(Self.programs.path):/usr/bin:/bin", "HOME": folder.path, "LANG": "C.UTF-8", "NO_COLOR": "1",
            "CAPTURES": Self.root.appendingPathComponent("captures").path,
            "FIXTURES": Self.root.appendingPathComponent("Tests/CLITests/fixtures").path,
            "PCSCLITE_CSOCK_NAME": folder.appendingPathComponent("no-pcscd").path,
        ]
        // Where coverage is counted, that of the programs as well: `swift test` merges all profiles beside its own.
        if let profile = ProcessInfo.processInfo.environment["LLVM_PROFILE_FILE"] {
            environment["LLVM_PROFILE_FILE"] = "/dev/null"
            environment["YKIT_COVERAGE"] =
                URL(fileURLWithPath: profile).deletingLastPathComponent()
                .appendingPathComponent("ykit.profraw").path
        }
        // With YKIT_NOTES every ykit that a script runs is noted for the Conformance article.
        if let notes = ProcessInfo.processInfo.environment["YKIT_NOTES"] {
            environment["YKIT_NOTES"] = notes
            environment["YKIT_NOTE_TEST"] = name
            environment["YKIT_REAL"] = Self.programs.appendingPathComponent("ykit").path
            environment["PATH"] = "\(Self.root.path)/tools/lab/noted:" + (environment["PATH"] ?? "")
        }
        process.environment = environment
        let files = ["out", "err"].map { folder.appendingPathComponent(".\($0)") }
        for file in files { _ = FileManager.default.createFile(atPath: file.path, contents: nil) }
        process.standardOutput = try FileHandle(forWritingTo: files[0])
        process.standardError = try FileHandle(forWritingTo: files[1])
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        let text = files.map { file in
            ((try? String(contentsOf: file, encoding: .utf8)) ?? "")
                .replacingOccurrences(of: Self.root.path, with: "$ROOT")
                .replacingOccurrences(of: folder.path, with: "$HOME")
        }
        return Result(output: text[0], errors: text[1], status: process.terminationStatus)
    }
}
