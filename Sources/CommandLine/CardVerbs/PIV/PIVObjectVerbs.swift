// SPDX-License-Identifier: Apache-2.0

import Arguments
import Verbs
import YKPIV
import YKUse
import YKWire

/// Commands for data objects.
struct PIVObjects: ParsableCommand {
    static let about = About(
        "objects", "Read and write data objects.",
        subcommands: [PIVExportObject.self, PIVImportObject.self, PIVGenerateObject.self])
}

/// Exports the content of a data object.
struct PIVExportObject: Verb {
    static let about = About(
        "export", "Export the content of a data object.", discussion: ObjectNames.text,
        members: ["object", "id", "content", "output"])

    @Argument("object", help: "The object: a name, or hexadecimal digits such as 5fc102.") var object: PIVObjectID

    @Argument("file", help: "Where the content goes, - for standard output.", completion: .file) var file = "-"

    @OptionGroup var replacing: OutputOptions
    @OptionGroup var pin: PINOptions

    func answer(in world: World) async throws -> Answer {
        let output = try FileOutput(file, isText: false, isSecret: object.isPINProtected, force: replacing.force, world)
        let service = try await world.openPIV()
        let content: [UInt8]
        do { content = try await service.object(object) } catch {
            guard case .pinRequired = error else { throw error }
            var unlocking = world.piv(service, pin)
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

/// Imports a data object.
struct PIVImportObject: Verb {
    static let about = About(
        "import", "Import a data object from a file. An empty file deletes it.",
        discussion: "The management key is needed. " + ObjectNames.text, members: ["object", "id", "size"])

    @Argument("object", help: "The object: a name, or hexadecimal digits such as 5fc102.") var object: PIVObjectID

    @Argument("file", help: "The file with the content, - for standard input.", completion: .file) var file: String

    @Flag(["--force", "-f"], help: "Replace an existing object without asking.") var force = false

    @OptionGroup var management: PIVManagementOptions

    func answer(in world: World) async throws -> Answer {
        let content = try Files.read(file)
        let service = try await world.openPIV()
        if [.printed, .administration].contains(object), try await service.administration().isKeyProtected {
            throw Explanation(
                "object-in-use", .policy,
                "the object \(object) belongs to the management key, which the PIN protects there",
                hint: "set one that is not protected first: ykit piv access change-management-key")
        }
        try await world.overwriting(service, force: force)?.confirmObject(object)
        try await management.unlock(service, for: "write an object", world)
        try await service.putObject(object, content)
        return Answer(
            content.isEmpty ? "deleted the object \(object)" : "wrote \(content.count) bytes into \(object)",
            [
                "object": .string(object.description), "id": .string(Hex.encode(object.bytes)),
                "size": .int(Int64(content.count)),
            ])
    }
}

/// Generates a new CHUID or CCC.
struct PIVGenerateObject: Verb {
    static let about = About(
        "generate",
        "Generate a new CHUID or CCC, the objects by which programs tell cards apart.",
        discussion: "The management key is needed.", members: ["object", "id", "guid"])

    @Argument("object", help: "What is made: chuid or ccc.") var object: ObjectChoice

    @Flag(["--force", "-f"], help: "Replace an existing object without asking.") var force = false

    @OptionGroup var management: PIVManagementOptions

    /// The objects that can be generated.
    enum ObjectChoice: String, CaseIterable, ExpressibleByArgument {
        case chuid, ccc

        init?(argument: String) { self.init(rawValue: argument.lowercased()) }

        var id: PIVObjectID { self == .chuid ? .chuid : .capability }
    }

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openPIV()
        try await world.overwriting(service, force: force)?.confirmObject(object.id)
        try await management.unlock(service, for: "write an object", world)
        var answer = Answer("made a new \(object.rawValue)", [:])
        switch object {
        case .chuid: answer.members["guid"] = .string(try await service.makeCHUID().guidText)
        case .ccc: try await service.makeCapability()
        }
        answer.members["object"] = .string(object.rawValue)
        answer.members["id"] = .string(Hex.encode(object.id.bytes))
        return answer
    }
}
