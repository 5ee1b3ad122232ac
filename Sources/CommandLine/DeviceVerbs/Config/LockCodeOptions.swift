// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKCrypto
import YKManagement
import YKProtocols

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
