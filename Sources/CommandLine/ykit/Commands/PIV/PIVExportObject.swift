// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKPIV
import YKWire

/// Exports the content of a data object.
struct PIVExportObject: Verb {
    static let about = About(
        "export", "Export the content of a data object.", discussion: ObjectNames.text,
        members: ["object", "id", "content", "output"])

    @Argument(help: "The object: a name, or hexadecimal digits such as 5fc102.") var object: PIVObjectID

    @Argument(help: "Where the content goes, - for standard output.", completion: .file) var file = "-"

    @OptionGroup var replacing: OutputOptions
    @OptionGroup var pin: PINOptions

    func answer(in world: World) async throws -> Answer {
        let output = try FileOutput(file, isText: false, isSecret: object.isPINProtected, force: replacing.force, world)
        let service = try await world.openPIV()
        let content: [UInt8]
        do { content = try await service.object(object) } catch {
            guard case .pinRequired = error else { throw error }
            var unlocking = PIVUnlocking(world, service, pin)
            try await unlocking.verify(for: "read the object \(object)")
            content = try await service.object(object)
        }
        if content.isEmpty { throw PIVError.noSuchObject(object) }
        var answer = Answer("the content of \(object) is in \(file)", [:])
        try output.put(content, &answer)
        answer.members["object"] = .string(object.description)
        answer.members["id"] = .string(Hex.encode(object.bytes))
        answer.members["content"] = .string(Base64.encodeURL(content))
        answer.members["output"] = .string(file)
        return answer
    }
}

/// The named objects.
enum ObjectNames {
    static let text = """
        Names: ccc, chuid, authentication-certificate, fingerprints, security, facial, printed, signature-certificate, \
        key-management-certificate, card-authentication-certificate, key-history, iris, discovery, administration, \
        attestation-certificate. Objects that need the PIN ask for it.
        """
}
