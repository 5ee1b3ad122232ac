// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKCrypto
import YKManagement

/// The source of the lock code, unless the user is asked for it.
struct LockCodeOptions: ParsableArguments {
    static let title = "Lock Code Options"

    @Flag(help: "Read the lock code from standard input, one line of 32 hexadecimal digits.")
    var lockCodeStdin = false

    @Option(help: ArgumentHelp("Read the lock code from this open file descriptor.", valueName: "n"))
    var lockCodeFd: Int32?

    private static let hint = "give it with --lock-code-stdin, --lock-code-fd N or YKIT_LOCK_CODE"

    /// Returns the lock code; `nil` for a key without one.
    func code(for info: DeviceInfo, _ world: World) throws -> LockCode? {
        guard info.isLocked else {
            if lockCodeStdin || lockCodeFd != nil { throw ManagementError.notLocked }
            return nil
        }
        if world.plan != nil { return try LockCode(1...16) }
        let source = SecretInput.Source(
            isStandardInput: lockCodeStdin, descriptor: lockCodeFd, variable: "YKIT_LOCK_CODE",
            hint: Self.hint)
        switch try SecretInput.given(source, world.terminal) {
        case .secret(let secret): return try LockCode(hex: secret)
        case .none: return try LockCode(hex: try Prompt(orElse: Self.hint).secret("lock code of the configuration"))
        }
    }
}
