// SPDX-License-Identifier: Apache-2.0

import YKCapture
import YKKeys
import YKManagement
import YKSecureChannel
import YKTransport
import YKVirtualKey

/// The composition root: from the options to the keys that services are opened on, and to the world they work in.
final class World {
    let options: GlobalOptions
    let selection: Selection
    let terminal: Terminal
    /// The configuration file, applied to the options.
    var configuration = ConfigurationFile()
    /// What `--plan` collects.
    let plan: ExchangePlan?
    let log: Log
    /// What writes the recording.
    let recorder: Recorder?
    /// The way to the key that is meant.
    var keys: Keys
    /// Where the PIN of this verb comes from.
    var pins: PINSource?

    /// The recording that is played.
    var replay: Replay? { keys.replay }
    /// The key in software that is used.
    var software: VirtualKey? { keys.software }
    /// The clock, the randomness and the time limit for services.
    var environment: Environment { keys.environment }
    /// The time of day in this world, in seconds since 1970.
    var now: Int64 { environment.clock.now }

    init(_ options: GlobalOptions, _ terminal: Terminal) throws {
        self.options = options
        self.terminal = terminal
        selection = try Selection(options)
        try Self.check(options)
        let log = try Log(level: options.logLevel ?? (options.logFile == nil ? .off : .debug), file: options.logFile)
        self.log = log
        plan = options.plan ? ExchangePlan(secureChannel: try Self.secureChannelWords(options)) : nil
        let environment = Environment(
            timeout: .milliseconds(Int64(selection.timeout * 1000)), cancellation: Interruption.cancellation)
        try Self.checkSelection(options)
        let source = try Self.source(options)
        try Self.checkMode(of: options.virtual, options, terminal)
        if case .virtual(let key, _) = source { try Self.check(selection, chooses: key) }
        let clock =
            if case .recording(let replay) = source { replay.replaying(environment).clock } else { environment.clock }
        recorder = try options.record.map { path throws(Explanation) in
            if Files.isFile(path) { throw Files.exists(path) }
            return Recorder(path: path, keepsSecrets: options.keepSecrets, clock: clock)
        }
        let decoration = LinkDecoration(
            recorder: recorder, log: log.isOn ? TrafficLog { log.say(LogLevel($0), $1) } : nil, plan: plan,
            touchPrompt: { terminal.beginTouch($0.words) }, touchEnd: { terminal.endTouch() })
        terminal.notify(by: try TouchNotifier.wanted(options))
        keys = Keys(selection.key, source: source, environment: environment, decoration: decoration)
        keys.secureChannel = try secureChannelCredential()
        if keys.secureChannel == nil, plan == nil { keys.requiredChannelTrust = try requiredChannelTrust() }
        if options.keepSecrets {
            terminal.warn("the recording will hold secrets in the clear, do not pass it on")
        }
    }

    private static func source(_ options: GlobalOptions) throws -> Keys.Source {
        if let file = options.replay {
            return .recording(Replay(try Capture(file: file), mode: options.replayMode == .lookup ? .lookup : .strict))
        }
        guard let file = options.virtual else { return .machine }
        let isInMemory = file == ArgumentRewriting.inMemory || file.isEmpty
        return .virtual(isInMemory ? .demonstration() : try VirtualKey(file: file), faults: try faults())
    }

    /// Warns of the file of a software key that other users may read or change.
    private static func checkMode(
        of file: String?, _ options: GlobalOptions, _ terminal: Terminal
    ) throws(Explanation) {
        guard let file, Files.isOpenToOthers(file) else { return }
        let what = "other users may read or change \(file.printable), which holds private keys"
        if options.strict { throw Explanation("file-mode", .policy, what, hint: "chmod 600 \(file.printable)") }
        terminal.warn(what + "; chmod 600 \(file.printable)")
    }

    /// What goes wrong with the software key, for tests.
    static func faults() throws -> FaultPlan { try FaultPlan(parsing: Variables["YKIT_FAULT"] ?? "") }

    /// Runs a verb; afterwards a strict replay has to be used up.
    func answer(of verb: any Verb) async throws -> Answer {
        defer { terminal.finishTouch() }
        do {
            var answer = try await verb.answer(in: self)
            try replay?.finish()
            answer.failure = answer.failure ?? recordingProblem
            return plan?.answer ?? answer
        } catch {
            if let problem = recordingProblem { terminal.warn(problem.message) }
            if let plan, plan.isStopped { return plan.answer }
            if let mismatch = replay?.httpMismatch { throw LinkError.replay(mismatch) }
            throw pins?.problem ?? cause(of: error)
        }
    }

    /// Why there is no recording, or none of everything; the verb has done its work all the same.
    private var recordingProblem: Explanation? {
        guard let recorder, let path = options.record else { return nil }
        if case .capture(let why) = recorder.problem {
            return Explanation(
                "capture", .failed, "the recording is incomplete: \(why)",
                hint: "the verb did its work; record again into a folder with room")
        }
        guard !recorder.hasBegun else { return nil }
        return Explanation(
            "not-recorded", .failed, "\(path) was not written: this verb exchanged nothing that can be recorded",
            hint: "'ykit --record FILE info' records what a key says of itself")
    }

    /// A key on a contactless reader lacks its applications as long as its NFC is restricted; its tag says so.
    private func cause(of error: any Error) -> any Error {
        if case KeyError.recordedLink(let link) = error, let file = options.replay {
            return Explain.recordedLink(link, in: file)
        }
        guard replay == nil, plan == nil, Explain.explain(error).code == "application-missing",
            let link = try? keys.plainLoggedCard(), (try? NFCRestriction.isMet(CardChannel(link: link))) ?? false
        else { return error }
        return ManagementError.nfcRestricted
    }

    // MARK: the card

    /// The card that is meant, as a channel for a service to take over.
    ///
    /// With `patience` a command may take that long, unless a time was asked for.
    func connect(_ patience: Duration? = nil) throws -> sending CardChannel {
        let timeout = selection.hasTimeout ? nil : patience
        do { return try keys.channel(timeout: timeout) } catch KeyError.several(let interface, let candidates) {
            try chooseKey(interface, candidates)
            return try keys.channel(timeout: timeout)
        }
    }

    // MARK: checks

    private static func check(_ options: GlobalOptions) throws(Explanation) {
        if options.replay != nil, options.virtual != nil {
            throw .usage("--replay and --virtual are two different keys, use one of them")
        }
        if options.replayMode != nil, options.replay == nil { throw .usage("--replay-mode needs --replay FILE") }
        if options.keepSecrets, options.record == nil { throw .usage("--keep-secrets needs --record FILE") }
    }

    /// A recording and a software key are not at a port of this machine, and a recording is of one key.
    private static func checkSelection(_ options: GlobalOptions) throws(Explanation) {
        let chosen = options.replay.map { _ in "--replay" } ?? options.virtual.map { _ in "--virtual" }
        guard let chosen else { return }
        if options.path != nil { throw .usage("--path names a key of this machine, \(chosen) another one") }
        guard options.replay != nil else { return }
        if options.device != nil { throw .usage("--device names a key of this machine, --replay a recording") }
        if options.reader != nil { throw .usage("--reader names a reader of this machine, --replay a recording") }
    }

    /// `--device` and `--reader`, or their variables, have to mean the software key.
    private static func check(_ selection: Selection, chooses key: VirtualKey) throws {
        let serial = String(key.state.profile.serial)
        if let wanted = selection.device, wanted != serial {
            throw Explanation(
                "no-such-device", .noDevice, "the software key has serial number \(serial), not \(wanted.printable)",
                hint: "ykit --virtual FILE list")
        }
        if let wanted = selection.reader, !key.link().identity.reader.lowercased().contains(wanted.lowercased()) {
            throw LinkError.unknownReader(wanted)
        }
    }
}

extension LogLevel {
    /// The level of a line about the traffic on a link.
    fileprivate init(_ level: TrafficLog.Level) {
        switch level {
        case .info: self = .info
        case .debug: self = .debug
        case .traffic: self = .traffic
        }
    }
}

extension TouchReason {
    /// What to say to the person.
    fileprivate var words: String {
        switch self {
        case .touch: TouchPrompt.usual
        case .enrolment: "put a finger on the key's sensor"
        case .fingerprint: "put your finger on the key's sensor"
        }
    }
}
