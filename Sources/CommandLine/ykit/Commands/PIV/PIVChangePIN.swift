// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKPIV
import YKWire

/// Changes the PIN.
struct PIVChangePIN: Verb {
    static let configuration = CommandConfiguration(
        commandName: "change-pin", abstract: "Change the PIN. A wrong old one costs a try.",
        discussion: """
            The PIN of a new key is 123456. When both come by standard input, the first line is the old PIN, the \
            second the new one.
            """)
    static let members = ["changed"]

    @OptionGroup(title: "PIN Options")
    var pin: PINOptions

    @OptionGroup(title: "New PIN Options")
    var new: NewPINOptions

    @OptionGroup(title: "Global Options")
    var global: GlobalOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openPIV()
        let old = try await world.pivPIN(pin, of: service, for: "change the PIN")
        try await service.changePIN(from: old, to: try new.source.newCode("PIN", world))
        return Answer("the PIN is changed", ["changed": true])
    }
}
