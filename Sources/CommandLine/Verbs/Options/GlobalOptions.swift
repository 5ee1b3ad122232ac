// SPDX-License-Identifier: Apache-2.0

public import Arguments
import TerminalIO
public import YKKeys

/// The options of every verb, allowed anywhere on the line.
package struct GlobalOptions: ParsableArguments {
    package static let title = "Global Options"

    /// The value of `--virtual` without a file name.
    static let inMemory = ":memory:"

    @Option(
        "--device <serial>", variable: "YKIT_DEVICE", help: "Use the key with this serial number.",
        completion: .serials, transform: Self.notEmpty)
    package var device: String?

    @Option(
        "--reader <name>", variable: "YKIT_READER", help: "Use the reader of this name or part of a name.",
        completion: .readers, transform: Self.notEmpty)
    package var reader: String?

    @Option(
        "--path <path>", variable: "YKIT_PATH",
        help: "Use the key at this USB port or node, such as 1-2 or /dev/hidraw0.", transform: Self.notEmpty)
    package var path: String?

    @Option(
        "--link", variable: "YKIT_LINK", help: "Transport: auto, hid, pcsc, or usb for CCID without pcscd.")
    package var link: KeySelection.Transport?

    @Option(
        "--timeout <seconds>", variable: "YKIT_TIMEOUT", help: "Timeout of an operation in seconds, 30 by default.",
        transform: Self.seconds)
    package var timeout: Double?

    @Flag("--json", help: "Print one JSON object as the answer.") package var json = false

    @Flag("--strict", help: "Treat warnings as errors.") package var strict = false

    @Flag(
        ["--quiet", "-q"], help: "Write no hints, notices or progress; results, prompts, warnings and errors remain.")
    var quiet = false

    @Option(
        "--color", help: "Use colors and bold text: auto (on a terminal, unless NO_COLOR is set), always or never.")
    var color: ColorChoice?

    @Flag(
        "--notify", variable: .ofOtherForm("YKIT_NOTIFY"),
        help: "Show a desktop notification while the key waits for a touch.")
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

    @Sendable private static func seconds(_ word: String) throws -> Double {
        guard let seconds = Double(word), seconds > 0, seconds <= 86_400 else {
            throw UsageError("expected more than 0 and at most 86400 seconds")
        }
        return seconds
    }
}

extension GlobalUse {
    /// The uses of the key for which a global option has an effect; `nil` for an option of every verb.
    static func of(_ option: String) -> GlobalUse? {
        switch option {
        case "device", "path", "link": .device
        case "reader", "notify": [.device, .reader]
        case "timeout": [.device, .reader, .replay, .record]
        case "virtual": .virtual
        case "replay", "replay-mode": .replay
        case "record": .record
        case "keep-secrets": [.record, .secrets]
        case "plan": .plan
        default: option.hasPrefix("scp") ? .channel : nil
        }
    }
}

/// The selected key.
extension GlobalOptions {
    /// The options that select a key: one of them overrides all in the configuration file.
    static let choices: Set = ["device", "reader", "path", "virtual", "replay"]

    /// The option without which another one in the configuration file is ignored; `nil` for most.
    static func needed(for option: String) -> String? {
        switch option {
        case "replay-mode": "replay"
        case "keep-secrets": "record"
        default: option.hasPrefix("scp-") ? "scp" : nil
        }
    }

    /// The selection for the library.
    var selection: KeySelection {
        KeySelection(serial: device, reader: reader, path: path, transport: link ?? .auto)
    }

    /// The timeout of an operation in seconds.
    package var seconds: Double { timeout ?? 30 }

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
        if path != nil, reader != nil { throw .usage("--path and --reader cannot be combined") }
        if replay != nil, virtual != nil {
            throw .usage("--replay and --virtual cannot be combined")
        }
        if replayMode != nil, replay == nil { throw .usage("--replay-mode needs --replay FILE") }
        if keepSecrets, record == nil, !uses.contains(.secrets) { throw .usage("--keep-secrets needs --record FILE") }
        try channel.checkCombinations(opensChannel: uses.contains(.device))
        for file in [record, logFile] { try Files.refuseStandardOutput(file) }
        guard let chosen = replay.map({ _ in "--replay" }) ?? virtual.map({ _ in "--virtual" }) else { return }
        if $path, path != nil { throw .usage("--path cannot be combined with \(chosen)") }
        if $link, link == .usb { throw .usage("--link usb cannot be combined with \(chosen)") }
        guard replay != nil else { return }
        if $device, device != nil { throw .usage("--device cannot be combined with --replay") }
        if $reader, reader != nil { throw .usage("--reader cannot be combined with --replay") }
    }
}

extension KeySelection.Transport: ExpressibleByArgument {}

/// How commands are matched with a recording.
enum ReplayChoice: String, CaseIterable, ExpressibleByArgument {
    case strict, lookup
}
