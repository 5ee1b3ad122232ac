// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKPIV
import YKWire

/// Imports a data object.
struct PIVImportObject: Verb {
    static let about = About(
        "import", "Import a data object from a file. An empty file deletes it.",
        discussion: "The management key is needed. " + ObjectNames.text, members: ["object", "id", "size"])

    @Argument(help: "The object: a name, or hexadecimal digits such as 5fc102.") var object: PIVObjectID

    @Argument(help: "The file with the content, - for standard input.", completion: .file) var file: String

    @Flag(name: .shortAndLong, help: "Replace an existing object without asking.") var force = false

    @OptionGroup var managementKey: ManagementKeyOptions
    @OptionGroup var pin: PINOptions

    func answer(in world: World) async throws -> Answer {
        let content = try Files.read(file)
        let service = try await world.openPIV()
        try await KeyOverwriting(world: world, service: service, force: force).check(object)
        var unlocking = PIVUnlocking(world, service, pin)
        try await unlocking.manage(managementKey, for: "write an object")
        try await service.putObject(object, content)
        return Answer(
            content.isEmpty ? "deleted the object \(object)" : "wrote \(content.count) bytes into \(object)",
            [
                "object": .string(object.description), "id": .string(Hex.encode(object.bytes)),
                "size": .int(Int64(content.count)),
            ])
    }
}
