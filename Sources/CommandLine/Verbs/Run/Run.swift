// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKCapture
package import YKInteraction
package import YKKeys
package import YKTransport
package import YKUse
import YKWire

/// The composition root: turns the options into the keys that services are opened on, and the environment they run in.
package final class Run {
    package let options: GlobalOptions
    package let terminal: Terminal
    /// The configuration file, already applied to the options.
    package var configuration = ConfigurationFile()
    /// The commands that `--plan` collects.
    package let plan: ExchangePlan?
    package let log: Log
    /// The writer of the recording.
    package let recorder: Recorder?
    /// Finds the selected key.
    package let keys: KeyRing
    /// What is known about the credentials of this run.
    package private(set) lazy var credentials = CredentialBroker([], person: WordedCredentials(person))
    /// The PIN of this verb's FIDO ceremonies.
    package var pins: FIDOCredential?
    /// Which application of which key each given PIN belongs to.
    package private(set) lazy var pinClaims = PINClaims()
    /// The serial number or file of the other key, in a verb with two; `nil` for the key that the command line selects.
    package let otherKey: String?
    /// The runs of other keys.
    private var others: [Run] = []

    /// The recording being replayed.
    package var replay: CaptureReplay? { keys.replay }
    /// Whether the key is a virtual one.
    package var isVirtual: Bool { keys.software != nil }
    /// The clock, randomness and timeout for services.
    package var environment: ServiceEnvironment { keys.environment }
    /// The current time in seconds since 1970.
    package var now: Int64 { environment.clock.now }

    /// - Parameters:
    ///   - uses: What the verb does with the global options.
    ///   - source: Where keys come from, for a verb that another one runs; by default what the options say.
    ///   - otherKey: The name of the other key, in a verb with two.
    package init(
        _ options: GlobalOptions, _ terminal: Terminal, uses: GlobalUse = .key, source: KeyRing.Source? = nil,
        otherKey: String? = nil
    ) throws {
        self.options = options
        try options.checkCombinations(uses)
        let log = try Log(
            level: options.logLevel ?? (options.logFile == nil ? .off : .debug), file: options.logFile, terminal)
        self.log = log
        plan = options.plan && !uses.contains(.ownPlan) ? options.channel.plan(terminal) : nil
        var terminal = terminal
        terminal.stage.person = FollowingPerson(terminal)
        if plan != nil { terminal.stage.person = PlannedPerson(terminal.stage.person) }
        self.terminal = terminal
        var environment = terminal.stage.environment
        environment.timeout = .milliseconds(Int64(options.seconds * 1000))
        let source = try source ?? Self.source(options, terminal)
        try Self.checkMode(of: options.virtual, options, terminal)
        let serial = source.virtualSerial
        if let serial { try Self.check(options, choose: source, serial) }
        // A virtual key is named by its file, but the variables of its secrets by its serial number, as for other keys.
        self.otherKey = otherKey.map { serial ?? $0 }
        let clock =
            if case .recording(let replay) = source { replay.replaying(environment).clock } else { environment.clock }
        recorder = try options.record.map { path throws(Explanation) in
            try Files.checkNew(path)
            return Recorder(path: path, keepsSecrets: options.keepSecrets, clock: clock)
        }
        var decoration = LinkDecoration(
            recorder: recorder, log: log.isOn ? TrafficLog { log.say(LogLevel($0), $1) } : nil, plan: plan,
            touchPrompt: { [terminal] in terminal.beginTouch($0.words) },
            touchEnd: { [terminal] in terminal.endTouch() })
        decoration.alarm = terminal.stage.alarm
        decoration.waiting = { [terminal] holders in
            let names = holders.map(\.description).listed()
            terminal.notice("waiting for the key, which \(names.isEmpty ? "another program" : names.printable) uses")
        }
        try terminal.notifyIfWanted(isOnDesktop: options.notify)
        var keys = KeyRing(options.selection, source: source, environment: environment, decoration: decoration)
        if !uses.contains([.device, .channel]) {
            // Ignores variables for secure channels: they are for other verbs, or the verb itself reads the keys of a
            // recorded channel.
        } else if plan == nil {
            try options.channel.secure(&keys, terminal)
        } else if let choice = options.channel.scp {
            keys.secureChannel = try choice.scp03(nil).credential  // A plan opens no channel, and asks for no keys.
        }
        self.keys = keys
        if options.keepSecrets, options.record != nil {
            terminal.warn("keeps-secrets", "the recording will contain unmasked secrets: do not share it")
        }
    }

    /// Returns the run with another key, named by its serial number or the state file of a virtual key. It has
    /// none of this key's secrets.
    package func besides(_ name: String) throws -> Run {
        // A serial number has neither; the file does not exist, or is a folder.
        if !Files.isFile(name), name.contains(where: { "./".contains($0) }) { _ = try Files.read(name, upTo: 1) }
        let other = try Run(options.ofAnotherKey(name), terminal, otherKey: name)
        other.credentials = credentials
        others.append(other)
        return other
    }

    private static func source(_ options: GlobalOptions, _ terminal: Terminal) throws -> KeyRing.Source {
        if let file = options.replay {
            return .recording(
                CaptureReplay(try Capture(file: file), mode: options.replayMode == .lookup ? .lookup : .strict))
        }
        guard let file = options.virtual else { return .machine }
        let faults = terminal.stage.variables["YKIT_FAULT"] ?? ""
        if file == GlobalOptions.inMemory || file.isEmpty { return try .virtual(file: nil, faults: faults) }
        // A new file may be due to a misspelling, so it is reported.
        let isNew = !Files.isTaken(file)
        if isNew, options.strict {
            throw Explanation(
                "no-such-file", .notFound, "no virtual key exists in \(file.printable), and --strict creates none",
                hint: "ykit virtual new \(file.printable)")
        }
        let source = try KeyRing.Source.virtual(file: file, faults: faults)
        if isNew { terminal.notice("\(file.printable) is new: a virtual key was created in it") }
        return source
    }

    /// Warns if other users can read or change the file of a virtual key.
    private static func checkMode(
        of file: String?, _ options: GlobalOptions, _ terminal: Terminal
    ) throws(Explanation) {
        guard let file, file != GlobalOptions.inMemory, Files.isOpenToOthers(file) else { return }
        let what = "other users can read or change \(file.printable), which holds private keys"
        if options.strict { throw Explanation("file-mode", .policy, what, hint: "chmod 600 \(file.printable)") }
        terminal.warn("file-mode", what + "; chmod 600 \(file.printable)")
    }

    /// Runs a verb; a strict replay must be complete afterwards.
    package func answer(of verb: any Verb) async throws -> Answer {
        defer { terminal.finishTouch() }
        if let kind = verb.ownPIN { pinClaims.reserve(for: kind) }
        do {
            var answer = try await verb.answer(in: self)
            try replay?.finish()
            answer.failure = answer.failure ?? recordingProblem
            return plan?.answer ?? answer
        } catch {
            if let problem = recordingProblem, recorder?.problem != nil || recorder?.hasBegun == true {
                terminal.warn(Warning(problem))
            }
            if case PIVUnlockingError.rehearsalEnds = error { plan?.stop() }
            if let plan, plan.isStopped || error is PlanEnd { return plan.answer }
            if let mismatch = replay?.httpMismatch { throw LinkError.replay(mismatch) }
            throw ([self] + others).lazy.compactMap(\.pinProblem).first ?? cause(of: error)
        }
    }

    /// Why the recording is missing or incomplete; the verb itself succeeded.
    private var recordingProblem: Explanation? {
        guard let recorder, let path = options.record else { return nil }
        if case .capture(let why) = recorder.problem {
            return Explanation(
                "capture", .failed, "the recording is incomplete: \(why)",
                hint: "the command itself succeeded; record again where there is enough space")
        }
        guard !recorder.hasBegun else { return nil }
        return Explanation(
            "not-recorded", .failed, "\(path) was not created: this command exchanges nothing that can be recorded",
            hint: "'ykit --record FILE info' records what a key reports")
    }

    /// The likely cause of an error: a key on a contactless reader hides its applications while NFC is restricted,
    /// which its tag shows.
    private func cause(of error: any Error) -> any Error {
        if case KeyError.recordedLink(let link) = error, let file = options.replay {
            return Concerning(.file(file), KeyError.recordedLink(link))
        }
        guard replay == nil, plan == nil, case .appletMissing? = CardError(causing: error) else { return error }
        return keys.restriction ?? error
    }

    // MARK: the key

    /// The selected key, which is searched for when something is opened on it.
    package var key: Key { keys.selected }

    /// Opens an application on the card of the selected key, or of another one.
    ///
    /// - Parameter patience: The timeout for a command, unless the user chose one.
    package func open<Service: CardKeyService>(
        _ service: Service.Type, patience: Duration? = nil, of key: Key? = nil
    ) async throws -> Service {
        let timeout = options.timeout == nil ? patience : nil
        return try await choosing(key) { try await $0.open(service, timeout: timeout) }
    }

    /// Runs `body`; if several keys match, the user chooses one for this and all later operations with the same
    /// selection, and it is repeated.
    package func choosing<Value>(
        _ key: Key? = nil, _ body: (Key) async throws -> sending Value
    ) async throws -> sending Value {
        let key = key ?? self.key
        do { return try await body(key) } catch KeyError.several(let interface, let candidates) {
            key.choose(try chosenKey(interface, candidates))
            return try await body(key)
        }
    }

    /// Finds the selected key, as a card if it is one; an error says what was found instead.
    package func foundKey() async throws -> Key {
        try await choosing { key in
            _ = try key.keys.managementRoute()
            return try await key.found()
        }
    }

    /// Returns the key that the command line selects or, if it selects none, the key with a serial number.
    package func key(of serial: UInt32?) -> Key {
        guard let serial, namesNoKey else { return key }
        return keys.key(serial: String(serial))
    }

    /// Whether neither the command line nor its variables select a key.
    package var namesNoKey: Bool {
        options.device == nil && options.reader == nil && options.path == nil && replay == nil && !isVirtual
    }

    // MARK: checks

    /// Checks that `--device` and `--reader`, or their variables, match the virtual key.
    private static func check(_ options: GlobalOptions, choose key: KeyRing.Source, _ serial: String) throws {
        if let wanted = options.device, wanted != serial {
            throw Explanation(
                "no-such-device", .noDevice, "the virtual key has serial number \(serial), not \(wanted.printable)",
                hint: "ykit --virtual FILE list")
        }
        if let wanted = options.reader, key.virtualReader?.mentions(wanted) != true {
            throw LinkError.unknownReader(wanted)
        }
    }
}
