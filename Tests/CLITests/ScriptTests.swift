// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Runs Tests/CLITests/scripts. With YKIT_UPDATE_SCRIPTS=1 what is printed becomes what is expected, to be read in the
/// diff.
@Suite struct ScriptTests {
    static let folder = Shell.root.appendingPathComponent("Tests/CLITests/scripts")

    static var names: [String] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return files.filter { $0.hasSuffix(".txt") }.sorted()
    }

    @Test(arguments: names) func script(_ name: String) throws {
        let file = Self.folder.appendingPathComponent(name)
        var script = Script(name: name, text: try String(contentsOf: file, encoding: .utf8))
        let isUpdate = ProcessInfo.processInfo.environment["YKIT_UPDATE_SCRIPTS"] != nil
        let shell = try Shell("script \(name.dropLast(4))")
        for index in script.steps.indices {
            let step = script.steps[index]
            let result = try shell.run(step.command)
            let output = Shell.Result.lines(result.output)
            // On a busy machine a virtual key may need the time after which a person is asked for a touch.
            let errors = Shell.Result.lines(result.errors).filter { $0 != "touch the key" || step.errors.contains($0) }
            let isSame =
                Script.matches(output, step.output) && Script.matches(errors, step.errors)
                && result.status == step.status
            shell.note(isSame)
            if isUpdate {
                if !isSame {
                    script.steps[index].output = output
                    script.steps[index].errors = errors
                    script.steps[index].status = result.status
                }
            } else {
                #expect(isSame, "\(step.command)\n\(result.output)\n\(result.errors)\n? \(result.status)")
            }
        }
        if isUpdate { try script.text.write(to: file, atomically: true, encoding: .utf8) }
    }
}
