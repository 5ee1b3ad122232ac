// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKKeys
import YKPIV
import YKUse

/// The management key, and the PIN that may protect it.
struct PIVManagementOptions: ParsableArguments {
    @Flag(
        "--no-mutual",
        help: "Do not require that the card proves to know the management key, for cards that cannot.")
    var noMutual = false

    @OptionGroup var managementKey: ManagementKeyOptions
    @OptionGroup var pin: PINOptions

    /// Authenticates with the management key.
    @discardableResult
    func unlock(_ service: PIVService, for reason: String, _ world: World) async throws -> PIVUnlocking {
        if noMutual { await service.waiveProof() }
        var access = world.piv(service, pin, managementKey)
        try await access.manage(for: reason)
        return access
    }
}

extension World {
    /// The timeout for generating an RSA key, unless the user sets one.
    static let generationPatience = Duration.seconds(300)

    /// Opens the PIV application of the selected key, or of one of other keys, with a longer timeout for key generation.
    func openPIV(isPatient: Bool = false, of keys: Keys? = nil) async throws -> PIVService {
        try await PIVService.open(try connect(isPatient ? Self.generationPatience : nil, of: keys))
    }

    /// Returns who confirms that PIV data is overwritten; `nil` where nobody is asked.
    func overwriting(_ service: PIVService, force: Bool) -> PIVOverwriting? {
        force || plan != nil ? nil : PIVOverwriting(service, person)
    }
}
