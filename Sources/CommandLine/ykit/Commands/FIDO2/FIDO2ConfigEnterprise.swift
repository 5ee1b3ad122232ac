// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKFIDO
import YKWire

/// Enables enterprise attestation.
struct FIDO2ConfigEnterprise: Verb {
    static let about = About(
        "enable-enterprise-attestation",
        "Enable enterprise attestation, which identifies the key to certain relying parties. Only a reset undoes it.",
        members: ["enterpriseAttestation", "changed"])

    @OptionGroup var pin: PINOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openConfig(pin, for: "enable enterprise attestation")
        guard let now = try await service.info().option(.ep) else { throw FIDOError.unsupported("ep") }
        if !now { try await service.configure(.enableEnterpriseAttestation) }
        return Answer(
            "enterprise attestation is enabled\(now ? " already" : "")",
            ["enterpriseAttestation": true, "changed": .bool(!now)])
    }
}
