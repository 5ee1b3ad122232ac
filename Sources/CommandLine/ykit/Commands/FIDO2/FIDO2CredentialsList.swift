// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKFIDO
import YKKeys
import YKWire

/// Lists the credentials stored on the key.
struct FIDO2CredentialsList: Verb {
    static let about = About(
        "list", "List the credentials that the key stores. Requires the PIN, or a token.",
        discussion: "Relying party, account, identifier. Credentials that it does not remember cannot be listed.",
        members: ["credentials", "existing", "remaining"])

    @Flag(name: .shortAndLong, help: "Show algorithm and protection, too.") var long = false

    @Option(help: ArgumentHelp("Only those of this relying party.", valueName: "id")) var rp: String?

    @OptionGroup var token: TokenOptions
    @OptionGroup var pin: PINOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openCredentials(pin, for: "list its credentials")
        _ = try await token.use(with: service, world)
        let storage = try await service.credentialStorage()
        let all = storage.existing == 0 ? [] : try await service.discoverableCredentials(rpID: rp)
        return Answer(
            all.isEmpty ? ["no credentials"] : Table.lines(all.map { long ? $0.longRow : $0.row }),
            [
                "credentials": .array(all.map(\.json)), "existing": .int(Int64(clamping: storage.existing)),
                "remaining": .int(Int64(clamping: storage.remaining)),
            ])
    }
}
