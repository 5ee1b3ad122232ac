// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKFIDO
import YKWire

/// Commands for fingerprints.
struct FIDO2Fingerprints: ParsableCommand {
    static let about = About(
        "fingerprints", "Manage the fingerprints of a key with a sensor.",
        subcommands: [
            FIDO2FingerprintsShow.self, FIDO2FingerprintsList.self, FIDO2FingerprintsAdd.self,
            FIDO2FingerprintsRename.self, FIDO2FingerprintsDelete.self,
        ])
}

extension Fingerprint {
    /// The template identifier in hexadecimal, as other tools print it.
    var id: String { Hex.encode(template) }

    var json: JSON { ["id": .string(id), "name": name.map(JSON.string) ?? .null] }

    /// Returns the only fingerprint with this identifier or name, or the one that the user chooses among several.
    static func one(_ query: String, in all: [Fingerprint], _ world: World) throws -> Fingerprint {
        let byID = all.filter { $0.id == query.lowercased() }
        let found = byID.isEmpty ? all.filter { $0.name == query } : byID
        if let only = found.first, found.count == 1 { return only }
        if found.isEmpty {
            throw Explanation(
                "no-such-fingerprint", .notFound, "the key has no fingerprint '\(query.printable)'",
                hint: "ykit fido2 fingerprints list")
        }
        let failure = Explanation(
            "several-fingerprints", .severalDevices, "'\(query.printable)' means \(found.count) fingerprints",
            hint: "give the identifier", candidates: found.map(\.id))
        return found[try world.choose("which fingerprint?", among: failure.candidates, orElse: failure)]
    }
}

extension World {
    /// Opens the FIDO application of a key with a fingerprint sensor and a PIN.
    func openFingerprints(_ pin: PINOptions, for reason: String) async throws -> FIDOService {
        let service = try await openFIDO(pin, for: reason)
        let info = try await service.info()
        guard info.hasBioEnrollment else { throw FIDOError.unsupported("bioEnroll") }
        guard info.hasPIN else { throw FIDOError.pinNotSet }
        return service
    }
}
