// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKKeys
import YKPIV
import YKUse

/// The management key, and the PIN that may protect it.
struct PIVManagementOptions: ParsableArguments {
    @Flag(
        "--no-mutual",
        help: "Do not require proof that the card knows the management key, for cards that cannot give it.")
    var noMutual = false

    @OptionGroup var managementKey: ManagementKeyOptions
    @OptionGroup var pin: PINOptions

    /// Authenticates with the management key.
    ///
    /// - Parameter replacing: Whether the verb sets a new one.
    @discardableResult
    func unlock(
        _ service: PIVService, for reason: String, replacing: Bool = false, _ run: Run
    ) async throws -> PIVUnlocking {
        if noMutual { await service.waiveProof() }
        var access = run.piv(service, pin, managementKey)
        access.replacesManagementKey = replacing
        try await access.manage(for: reason)
        return access
    }
}
