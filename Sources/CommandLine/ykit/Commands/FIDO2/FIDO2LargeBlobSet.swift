// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKFIDO
import YKKeys
import YKWire

/// Writes a credential's large blob.
struct FIDO2LargeBlobSet: Verb {
    static let about = About(
        "set", "Write a credential's large blob, in place of an earlier one.", members: ["credentialId", "size"])

    @Argument(
        isBase64URL: true, help: "Which one: its identifier, the beginning of it, or a part of the account's name.")
    var credential: String

    @Argument(help: "What to write: a file, or - for standard input.", completion: .file) var file: String

    @OptionGroup var pin: PINOptions

    func check() throws {
        if file == "-", pin.isStandardInput { throw UsageError("standard input cannot be both, the PIN and the blob") }
    }

    func answer(in world: World) async throws -> Answer {
        let blob = try Files.read(file)
        let (service, found) = try await world.openLargeBlob(of: credential, pin, for: "write a large blob")
        try await service.setLargeBlob(blob, key: try found.largeBlobKey())
        return Answer(
            "wrote \(blob.count) bytes for \(found.words)",
            ["credentialId": .string(found.id), "size": .int(Int64(blob.count))])
    }
}
