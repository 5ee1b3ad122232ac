// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKFIDO
import YKKeys
import YKWire

/// Reads a credential's large blob.
struct FIDO2LargeBlobGet: Verb {
    static let about = About(
        "get", "Print a credential's large blob, or write it into a file.",
        members: ["credentialId", "blob", "size", "output"])

    @Argument(
        isBase64URL: true, help: "Which one: its identifier, the beginning of it, or a part of the account's name.")
    var credential: String

    @Option(name: .shortAndLong, help: ArgumentHelp("Where the data goes.", valueName: "file"), completion: .file)
    var output: String?

    @OptionGroup var replacing: OutputOptions
    @OptionGroup var pin: PINOptions

    func answer(in world: World) async throws -> Answer {
        let file = try output.map { path in try FileOutput(path, isSecret: true, force: replacing.force, world) }
        let (service, found) = try await world.openLargeBlob(of: credential, pin, for: "find the credential")
        guard let blob = try await service.largeBlob(key: try found.largeBlobKey()) else {
            throw Explanation(
                "no-large-blob", .notFound, "the credential of \(found.words) has no large blob",
                hint: "ykit fido2 large-blob set writes one")
        }
        var answer = Answer([], ["credentialId": .string(found.id), "size": .int(Int64(blob.count))])
        if let output, let file {
            try file.put(blob, &answer)
            answer.lines = ["\(output): \(blob.count) bytes"]
            answer.members["output"] = .string(output)
        } else {
            answer.raw = blob
            answer.members["blob"] = .string(Base64.encodeURL(blob))
        }
        return answer
    }
}
