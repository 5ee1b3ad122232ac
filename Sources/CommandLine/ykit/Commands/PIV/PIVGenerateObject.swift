// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKPIV
import YKWire

/// Generates a new CHUID or CCC.
struct PIVGenerateObject: Verb {
    static let about = About(
        "generate",
        "Generate a new CHUID or CCC, the objects by which programs tell cards apart.",
        discussion: "The management key is needed.", members: ["object", "id", "guid"])

    @Argument(help: "What is made: chuid or ccc.") var object: ObjectChoice

    @Flag(name: .shortAndLong, help: "Replace an existing object without asking.") var force = false

    @OptionGroup var managementKey: ManagementKeyOptions
    @OptionGroup var pin: PINOptions

    /// The objects that can be generated.
    enum ObjectChoice: String, CaseIterable, ExpressibleByArgument {
        case chuid, ccc

        init?(argument: String) { self.init(rawValue: argument.lowercased()) }

        var id: PIVObjectID { self == .chuid ? .chuid : .capability }
    }

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openPIV()
        try await KeyOverwriting(world: world, service: service, force: force).check(object.id)
        var unlocking = PIVUnlocking(world, service, pin)
        try await unlocking.manage(managementKey, for: "write an object")
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
