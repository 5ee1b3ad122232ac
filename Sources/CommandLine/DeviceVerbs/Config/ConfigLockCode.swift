// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKCrypto
import YKKeys
import YKManagement
import YKProtocols
import YKTransport

/// Sets, changes or removes the lock code.
struct ConfigLockCode: Verb {
    static let about = About(
        "Set, change or remove the lock code that protects this configuration.",
        discussion: """
            The code has 16 bytes, written as 32 hexadecimal digits. It protects 'config usb', 'config nfc' and \
            itself, not the data of the applications. A lost code cannot be reset. The new code can also come from \
            YKIT_NEW_LOCK_CODE, the current one from YKIT_LOCK_CODE.
            """,
        examples: [Example("ykit config lock-code --generate")])
    typealias Reported = (isLocked: Bool, code: String?)
    static let answer = Shape<Reported>(
        Member("locked") { $0.isLocked }, Member("lockCode", "with `--generate`") { $0.code })

    @Flag(["--clear", "-c"], help: "Remove the code.") var clear = false

    @Flag(["--generate", "-g"], help: "Generate a random code, and print it.") var generate = false

    @OptionGroup var new: SecretOptions<NewLockCode>

    @Flag(["--force", "-f"], help: "Do not ask for confirmation.") var force = false

    @OptionGroup var lock: LockCodeOptions

    func check() throws {
        let ways = [clear, generate, new.isStandardInput, new.descriptor != nil].count { $0 }
        guard ways < 2 else { throw UsageError("give only one of a new code, --generate and --clear") }
    }

    func run(in run: Run) async throws -> Outcome<Reported> {
        let service = try await run.key.open(ManagementService.self)
        let info = try await service.deviceInfo()
        if clear, !info.isLocked { return Outcome((isLocked: false, code: nil), "there is no lock code") }
        try DeviceConfiguration().check(info)
        let current = try await lock.code(for: info, run)
        let new = try await newCode(run)
        let revealed = generate ? new.revealed() : nil
        try run.confirm(
            clear
                ? "the configuration would no longer be protected: remove the lock code?"
                : "a lock code that is lost cannot be reset: set it?",
            unless: force)
        do { _ = try await service.setLockCode(new, current: current) } catch {
            guard case .notWritten = error else { throw error }
            try run.perform { throw error }  // A plan writes nothing.
        }
        var outcome = Outcome(
            (isLocked: !clear, code: revealed),
            clear ? "lock code removed" : info.isLocked ? "lock code changed" : "lock code set")
        if let revealed {
            outcome.answer.lines = [revealed]
            outcome.answer.isMadeOnce = true
        }
        return outcome
    }

    private func newCode(_ run: Run) async throws -> LockCode {
        if clear { return .cleared }
        if generate { return try .random(run.environment.random) }
        let question = TerminalQuestion(
            asking: "new lock code, 32 hexadecimal digits", objection: "the code must not be empty",
            orElse: new.source.hint)
        return try LockCode(hex: try await run.obtain(.lockCode, new.source, question, isNew: true).value)
    }
}

enum CurrentLockCode: SecretKind {
    static let name = SecretName("lock-code", "lock code", "YKIT_LOCK_CODE", form: "32 hexadecimal digits")
}

enum NewLockCode: SecretKind {
    static let name = SecretName("new-lock-code", "new code", "YKIT_NEW_LOCK_CODE", form: "32 hexadecimal digits")
}

/// The source of the lock code, unless the user is asked for it.
struct LockCodeOptions: ParsableArguments {
    static let title = "Lock Code Options"

    @OptionGroup var given: SecretOptions<CurrentLockCode>

    /// Returns the lock code; `nil` for a key without one.
    func code(for info: DeviceInfo, _ run: Run) async throws -> LockCode? {
        guard info.isLocked else {
            if given.isGiven { throw ManagementError.notLocked }
            return nil
        }
        let question = TerminalQuestion(asking: "lock code of the configuration", orElse: given.source.hint)
        return try LockCode(hex: try await run.obtain(.lockCode, given.source, question).value)
    }
}
