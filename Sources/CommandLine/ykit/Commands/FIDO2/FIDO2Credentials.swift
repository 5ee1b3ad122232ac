// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKFIDO

/// Verbs on the credentials that the key remembers.
struct FIDO2Credentials: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "credentials", abstract: "Manage the credentials (passkeys) that the key stores.",
        subcommands: [FIDO2CredentialsList.self, FIDO2CredentialsDelete.self, FIDO2CredentialsUpdate.self])
}

extension World {
    /// The FIDO application of a key that can list its credentials, and whose PIN is set.
    func openCredentials(_ pin: PINOptions, for reason: String) async throws -> FIDOService {
        let service = try await openFIDO(pin, for: reason)
        let info = try await service.info()
        guard info.hasCredentialManagement else { throw FIDOError.unsupported("credMgmt") }
        guard info.hasPIN || info.givesTokenForUV else { throw FIDOError.pinNotSet }
        return service
    }
}
