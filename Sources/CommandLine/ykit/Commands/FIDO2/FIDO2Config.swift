// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKFIDO
import YKWire

/// Commands for the configuration of the FIDO application.
struct FIDO2Config: ParsableCommand {
    static let about = About(
        "config", "Configure the FIDO application.",
        subcommands: [
            FIDO2ConfigList.self, FIDO2ConfigAlwaysUV.self, FIDO2ConfigMinPINLength.self,
            FIDO2ConfigForcePINChange.self, FIDO2ConfigComplexPIN.self, FIDO2ConfigEnterprise.self,
        ])
}

extension World {
    /// Opens the FIDO application of a configurable key; requires the PIN if one is set.
    func openConfig(_ pin: PINOptions, for reason: String) async throws -> FIDOService {
        let service = try await openFIDO(pin, for: reason)
        guard try await service.info().option(.authnrCfg) == true else { throw FIDOError.unsupported("authnrCfg") }
        return service
    }
}
