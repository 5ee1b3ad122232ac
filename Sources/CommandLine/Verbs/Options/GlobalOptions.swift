// SPDX-License-Identifier: Apache-2.0

package import Arguments
import TerminalIO

/// The options of every verb, allowed anywhere on the line.
package struct GlobalOptions: ParsableArguments {
    package static let title = "Global Options"

    /// The value of `--virtual` without a file name.
    static let inMemory = ":memory:"

    @Option(
        "--device <serial>", help: "Use the key with this serial number (YKIT_DEVICE).", completion: .serials,
        transform: Self.notEmpty)
    package var device: String?

    @Option(
        "--reader <name>", help: "Use the reader of this name or part of a name (YKIT_READER).", completion: .readers,
        transform: Self.notEmpty)
    package var reader: String?

    @Option(
        "--path <path>", help: "Use the key at this USB port or node, such as 1-2 or /dev/hidraw0 (YKIT_PATH).",
        transform: Self.notEmpty)
    package var path: String?

    @Option("--link", help: "Transport: auto, hid, pcsc, or usb for CCID without pcscd (YKIT_LINK).")
    package var link: LinkChoice?

    @Option("--timeout <seconds>", help: "Timeout of an operation in seconds, 30 by default (YKIT_TIMEOUT).")
    package var timeout: Double?

    @Flag("--json", help: "Print one JSON object as the answer.") package var json = false

    @Flag("--strict", help: "Treat warnings as errors.") package var strict = false

    @Flag(
        ["--quiet", "-q"], help: "Write no hints, notices or progress; results, prompts, warnings and errors remain.")
    var quiet = false

    @Option(
        "--color", help: "Use colors and bold text: auto (on a terminal, unless NO_COLOR is set), always or never.")
    var color: ColorChoice?

    @Flag("--notify", help: "Show a desktop notification while the key waits for a touch (YKIT_NOTIFY).")
    package var notify = false

    @Option("--record <file>", help: "Record the exchanges in a new file, with secrets overwritten.")
    package var record: String?

    @Flag("--keep-secrets", help: "Keep secrets in the file that --record writes.") package var keepSecrets = false

    @Option("--replay <file>", help: "Play a recording instead of using a key.") package var replay: String?

    @Option("--replay-mode", help: "Replay commands in recorded order, or look up each one.")
    var replayMode: ReplayChoice?

    @Option(
        "--virtual <statefile>", omitted: .unlessPath(GlobalOptions.inMemory),
        help: "Use a virtual key, kept in this file; without a file a demonstration key in memory.",
        completion: .file)
    package var virtual: String?

    @Flag("--plan", help: "Print the exchanges, decoded, and send nothing that changes the key.") package var plan =
        false

    @OptionGroup package var channel: SecureChannelOptions

    @Option("--log-level", help: "Log on standard error: off, info, debug or traffic.") var logLevel: LogLevel?

    @Option("--log-file <file>", help: "Write the log to this file.") var logFile: String?

    package init() {}

    /// Refuses an empty name of a key, which a shell makes of an unset variable.
    @Sendable private static func notEmpty(_ word: String) throws -> String {
        guard !word.isEmpty else { throw UsageError("it must not be empty") }
        return word
    }
}

extension GlobalOptions {
    /// Returns the same options for a second key, named by its serial number or the state file of a virtual key. Only
    /// the first key is recorded.
    func ofAnotherKey(_ name: String) -> GlobalOptions {
        var options = self
        (options.record, options.keepSecrets) = (nil, false)
        options.virtual = Files.isFile(name) ? name : nil
        options.device = options.virtual == nil ? name : nil
        if options.virtual != nil { (options.reader, options.path) = (nil, nil) }
        return options
    }

    /// Refuses options that cannot be combined, options without the one they require, and the choice of a key of this
    /// machine together with a recording or a virtual key.
    func checkCombinations(_ uses: GlobalUse) throws(Explanation) {
        if replay != nil, virtual != nil {
            throw .usage("--replay and --virtual cannot be combined")
        }
        if replayMode != nil, replay == nil { throw .usage("--replay-mode needs --replay FILE") }
        if keepSecrets, record == nil, !uses.contains(.secrets) { throw .usage("--keep-secrets needs --record FILE") }
        try channel.checkCombinations(opensChannel: uses.contains(.device))
        for file in [record, logFile] { try Files.refuseStandardOutput(file) }
        guard let chosen = replay.map({ _ in "--replay" }) ?? virtual.map({ _ in "--virtual" }) else { return }
        if path != nil { throw .usage("--path cannot be combined with \(chosen)") }
        if link == .usb { throw .usage("--link usb cannot be combined with \(chosen)") }
        guard replay != nil else { return }
        if device != nil { throw .usage("--device cannot be combined with --replay") }
        if reader != nil { throw .usage("--reader cannot be combined with --replay") }
    }
}

/// The transport.
package enum LinkChoice: String, CaseIterable, ExpressibleByArgument {
    case auto, pcsc, usb, hid
}

/// How commands are matched with a recording.
enum ReplayChoice: String, CaseIterable, ExpressibleByArgument {
    case strict, lookup
}
