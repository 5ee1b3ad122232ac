// SPDX-License-Identifier: Apache-2.0

import TerminalIO
package import Verbs
package import YKKeys
package import YKPIV
package import YKUse

extension Run {
    /// The timeout for generating an RSA key, unless the user sets one.
    static let generationPatience = Duration.seconds(300)

    /// Opens the PIV application of the selected key, or of one of other keys, with a longer timeout for key generation.
    package func openPIV(isPatient: Bool = false, of key: Key? = nil) async throws -> PIVService {
        try await open(PIVService.self, patience: isPatient ? Self.generationPatience : nil, of: key)
    }

    /// Returns the person who confirms that PIV data is overwritten; `nil` if nobody is asked.
    package func overwriting(_ service: PIVService, force: Bool) -> PIVOverwriting? {
        force || plan != nil ? nil : PIVOverwriting(service, person)
    }
}
