// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKFIDO
import YKKeys
import YKWire

/// Lists the credentials that can have a large blob, and the blobs.
struct FIDO2LargeBlobList: Verb {
    static let about = About(
        "list", "List the credentials with a large blob, and how much room there is.",
        members: ["blobs", "entries", "bytes", "limit"])

    @OptionGroup var pin: PINOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openLargeBlobs(pin, for: "list its credentials")
        var rows: [[String]] = []
        var blobs: [JSON] = []
        for found in try await service.discoverableCredentials() where found.credential.largeBlobKey != nil {
            let blob = try await service.largeBlob(key: try found.largeBlobKey())
            rows.append([
                found.relyingParty.id.printable, found.name.printable, blob.map { "\($0.count) bytes" } ?? "none",
                found.id,
            ])
            blobs.append([
                "rpId": .string(found.relyingParty.id), "userName": .string(found.name),
                "credentialId": .string(found.id), "size": blob.map { .int(Int64($0.count)) } ?? .null,
            ])
        }
        let usage = try await service.largeBlobUsage()
        let room = "\(usage.entries) blobs, \(usage.bytes) of \(usage.limit) bytes used"
        return Answer(
            Table.lines(rows) + [room],
            [
                "blobs": .array(blobs), "entries": .int(Int64(usage.entries)), "bytes": .int(Int64(usage.bytes)),
                "limit": .int(Int64(usage.limit)),
            ])
    }
}
