// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKPIV
import YKUse
import YKWire

/// Commands for data objects.
struct PIVObjects: ParsableCommand {
    static let about = About(
        "Read and write data objects.",
        subcommands: [
            "export": PIVExportObject.self, "import": PIVImportObject.self, "generate": PIVGenerateObject.self,
        ],
        examples: [Example("ykit piv objects generate chuid")])
}

/// Exports the content of a data object.
struct PIVExportObject: Verb {
    static let about = About(
        "Export the content of a data object.", discussion: ObjectNames.text,
        examples: [Example("ykit piv objects export chuid chuid.bin")])
    static let answer = Shape(
        [
            Item<PIVObjectID>("object") { $0.description },
            Item("id", "the tag in hexadecimal") { Hex.encode($0.bytes) },
        ], [Item<[UInt8]>("content", "in base64url") { Base64.encodeURL($0) }], [Item<String>("output")])

    @Argument("object", help: "The object: a name, or hexadecimal digits such as 5fc102.") var object: PIVObjectID

    @Argument("file", help: "The file to write the content to, - for standard output.", completion: .file)
    var file = "-"

    @OptionGroup var replacing: OutputOptions
    @OptionGroup var pin: PINOptions

    func run(in run: Run) async throws -> Outcome<(PIVObjectID, [UInt8], String)> {
        let output = try FileOutput(file, isText: false, isSecret: object.isPINProtected, force: replacing.force, run)
        let service = try await run.openPIV()
        let content: [UInt8]
        do { content = try await service.object(object) } catch {
            guard case .pinRequired = error else { throw error }
            let unlocking = run.piv(service, pin)
            try await unlocking.verify(for: "read the object \(object)")
            content = try await service.object(object)
        }
        if content.isEmpty { throw PIVError.noSuchObject(object) }
        return try output.put(
            content, of: (object, content, file),
            "content of \(object) written to \(file)")
    }
}

/// The named objects.
enum ObjectNames {
    static let text = """
        Names: ccc, chuid, authentication-certificate, fingerprints, security, facial, printed, signature-certificate, \
        key-management-certificate, card-authentication-certificate, key-history, iris, discovery, administration, \
        attestation-certificate. ykit prompts for the PIN if an object needs it.
        """
}

/// Imports a data object.
struct PIVImportObject: Verb {
    static let about = About(
        "Import a data object from a file. An empty file deletes it.",
        discussion: "Requires the management key. " + ObjectNames.text,
        examples: [Example("ykit piv objects import chuid chuid.bin")])
    static let answer = Shape(
        [
            Item<PIVObjectID>("object") { $0.description },
            Item("id", "the tag in hexadecimal") { Hex.encode($0.bytes) },
        ], [Item<Int>("size", "in bytes; 0 if the object was deleted")])

    @Argument("object", help: "The object: a name, or hexadecimal digits such as 5fc102.") var object: PIVObjectID

    @Argument("file", help: "The file with the content, - for standard input.", completion: .input) var file: String

    @Flag(["--force", "-f"], help: "Replace an existing object without asking.") var force = false

    @OptionGroup var management: PIVManagementOptions

    func run(in run: Run) async throws -> Outcome<(PIVObjectID, Int)> {
        let content = try Files.read(file)
        let service = try await run.openPIV()
        if [.printed, .administration].contains(object), try await service.administration().isKeyProtected {
            throw Explanation(
                "object-in-use", .policy,
                "the object \(object) holds the management key, protected by the PIN",
                hint: "set one that is not protected first: ykit piv access change-management-key")
        }
        try await run.overwriting(service, force: force)?.confirmObject(object)
        try await management.unlock(service, for: "write an object", run)
        try await service.putObject(object, content)
        return Outcome(
            (object, content.count),
            content.isEmpty ? "deleted the object \(object)" : "wrote \(content.count) bytes to \(object)")
    }
}

/// Generates a new CHUID or CCC.
struct PIVGenerateObject: Verb {
    static let about = About(
        "Generate a new CHUID or CCC, the objects by which programs distinguish cards.",
        discussion: "Requires the management key.",
        examples: [Example("ykit piv objects generate chuid")])
    static let answer = Shape(
        [
            Item<ObjectChoice>("object") { $0.rawValue },
            Item("id", "the tag in hexadecimal") { Hex.encode($0.id.bytes) },
        ], [Item<CHUID?>("guid", "of a CHUID") { $0?.guidText }])

    @Argument("object", help: "The object to generate: chuid or ccc.") var object: ObjectChoice

    @Flag(["--force", "-f"], help: "Replace an existing object without asking.") var force = false

    @OptionGroup var management: PIVManagementOptions

    /// The objects that can be generated.
    enum ObjectChoice: String, CaseIterable, ExpressibleByArgument {
        case chuid, ccc

        init?(argument: String) { self.init(rawValue: argument.lowercased()) }

        var id: PIVObjectID { self == .chuid ? .chuid : .capability }
    }

    func run(in run: Run) async throws -> Outcome<(ObjectChoice, CHUID?)> {
        let service = try await run.openPIV()
        try await run.overwriting(service, force: force)?.confirmObject(object.id)
        try await management.unlock(service, for: "write an object", run)
        var chuid: CHUID?
        switch object {
        case .chuid: chuid = try await service.makeCHUID()
        case .ccc: try await service.makeCapability()
        }
        return Outcome((object, chuid), "generated a new \(object.rawValue)")
    }
}
