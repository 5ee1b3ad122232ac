// SPDX-License-Identifier: Apache-2.0

import YKCapture
import YKHardware
import YKManagement
import YKTransport
import YKVirtualKey

/// The composition root: from the options to a card that a service can talk to, and to the world it works in.
final class World {
    let options: GlobalOptions
    let selection: Selection
    let terminal: Terminal
    /// The clock, the randomness and the time limit for services.
    let environment: Environment
    /// What `--plan` collects.
    let plan: Plan?

    let log: Log
    /// The recording that is played.
    let replay: Replay?
    /// The key in software that is used.
    let software: VirtualKey?
    /// What writes the recording.
    let recorder: Recorder?
    /// Where the PIN of this verb comes from.
    var pins: PINSource?
    /// The key that was chosen by a touch.
    var touchedPath: String?
    /// The reader that the tag of this verb is in.
    var tagReader: String?

    init(_ options: GlobalOptions, _ terminal: Terminal) throws {
        self.options = options
        self.terminal = terminal
        selection = try Selection(options)
        try Self.check(options)
        log = try Log(level: options.logLevel ?? (options.logFile == nil ? .off : .debug), file: options.logFile)
        plan = options.plan ? Plan() : nil
        var environment = Environment(
            timeout: .milliseconds(Int64(selection.timeout * 1000)), cancellation: Interruption.cancellation)
        try Self.checkSelection(options)
        replay = try options.replay.map { Replay(try Capture(file: $0), mode: options.replayMode.mode) }
        software = try options.virtual.map { try Self.software($0) }
        if let software { try Self.check(selection, chooses: software) }
        if let replay { environment = replay.replaying(environment) }
        recorder = try options.record.map { path throws(Explanation) in
            if Files.isFile(path) { throw Files.exists(path) }
            return Recorder(path: path, keepsSecrets: options.keepSecrets, clock: environment.clock)
        }
        if let recorder { environment = recorder.recording(environment) }
        self.environment = environment
        if options.keepSecrets, options.record != nil {
            terminal.warn("the recording will hold secrets in the clear, do not pass it on")
        }
    }

    /// The time of day in this world, in seconds since 1970.
    var now: Int64 { environment.clock.now }

    /// Runs a verb; afterwards a strict replay has to be used up.
    func answer(of verb: some Verb) async throws -> Answer {
        do {
            var answer = try await verb.answer(in: self)
            try replay?.finish()
            answer.failure = answer.failure ?? recordingProblem
            return plan?.answer ?? answer
        } catch {
            if let problem = recordingProblem { terminal.warn(problem.message) }
            if let plan, plan.isStopped { return plan.answer }
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
        guard replay == nil, plan == nil, Explain.explain(error).code == "application-missing",
            let link = try? source(), (try? NFCRestriction.isMet(CardChannel(link: logged(link)))) ?? false
        else { return error }
        return ManagementError.nfcRestricted
    }

    /// The card that is meant, as a channel for a service to take over.
    ///
    /// With `patience` a command may take that long, unless a time was asked for.
    func connect(_ patience: Duration? = nil) throws -> sending CardChannel {
        try checkForCard()
        var environment = environment
        if let patience, !selection.hasTimeout { environment.timeout = patience }
        return CardChannel(link: planned(try card()), environment: environment)
    }

    /// The card that is meant, recorded and logged as asked for.
    func card() throws -> sending any CardLink {
        try checkRecording()
        return logged(try recorded())
    }

    private func recorded() throws -> sending any CardLink {
        guard let recorder else { return try source() }
        return try recorder.recording(try source())
    }

    private func logged(_ link: sending any CardLink) -> sending any CardLink {
        guard log.isOn else { return link }
        return LoggingLink(link: link, log: log)
    }

    /// Secrets can only be kept in a recording.
    func checkRecording() throws(Explanation) {
        if options.keepSecrets, options.record == nil { throw .usage("--keep-secrets needs --record FILE") }
    }

    private func checkForCard() throws(Explanation) {
        guard selection.link == .hid else { return }
        throw Explanation(
            "needs-card", .usage, "--link hid means a HID device, this verb needs a card",
            hint: "leave it away, or choose with --device or --reader")
    }

    private func planned(_ link: sending any CardLink) -> sending any CardLink {
        guard let plan else { return link }
        return PlanningLink(link: link, plan: plan)
    }

    private func source() throws -> sending any CardLink {
        if let replay {
            guard replay.capture.header.link == .card else {
                throw Explanation(
                    "wrong-link", .replayMismatch,
                    "the recording is of a \(replay.capture.header.link.rawValue) link, "
                        + "this verb needs a card", hint: "ykit capture show \(options.replay ?? "FILE")")
            }
            return replay.link()
        }
        if let software { return try Self.link(to: software) }
        return try openCard()
    }

    /// The software key; on a link where things go wrong as YKIT_FAULT says, for tests.
    private static func link(to key: VirtualKey) throws -> sending any CardLink {
        let plan = try faults()
        return plan.rules.isEmpty ? key.link() : FaultyLink(key.link(), plan: plan)
    }

    /// What goes wrong with the software key.
    static func faults() throws -> FaultPlan { try FaultPlan(parsing: Variables["YKIT_FAULT"] ?? "") }

    private static func software(_ file: String) throws -> VirtualKey {
        if file == ArgumentRewriting.inMemory || file.isEmpty { return .demonstration() }
        return try VirtualKey(file: file)
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

    private static func check(_ options: GlobalOptions) throws {
        if options.replay != nil, options.virtual != nil {
            throw Explanation.usage("--replay and --virtual are two different keys, use one of them")
        }
        if options.replayMode != nil, options.replay == nil {
            throw Explanation.usage("--replay-mode needs --replay FILE")
        }
    }
}

extension ReplayChoice? {
    fileprivate var mode: Replay.Mode { self == .lookup ? .lookup : .strict }
}
