// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKFIDO

/// Commands for the credentials stored on the key.
struct FIDO2Credentials: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "credentials", abstract: "Manage the credentials (passkeys) that the key stores.",
        subcommands: [FIDO2CredentialsList.self, FIDO2CredentialsDelete.self, FIDO2CredentialsUpdate.self])
}

extension World {
    /// Opens the FIDO application of a key that can list its credentials and has a PIN.
    func openCredentials(_ pin: PINOptions, for reason: String) async throws -> FIDOService {
        let service = try await openFIDO(pin, for: reason)
        let info = try await service.info()
        guard info.hasCredentialManagement else { throw FIDOError.unsupported("credMgmt") }
        guard info.hasPIN || info.givesTokenForUV else { throw FIDOError.pinNotSet }
        return service
    }
}
