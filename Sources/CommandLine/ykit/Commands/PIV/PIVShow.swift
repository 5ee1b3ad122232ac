// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKPIV
import YKWire

/// Shows the content of the PIV application.
struct PIVShow: Verb {
    static let about = About(
        "info", "Show keys, certificates, and the state of PIN, PUK and management key.",
        discussion: """
            No PIN is needed and no try is lost. Retired slots are shown when they have a key, or on a card that does not \
            tell its keys when they have a certificate; --all also shows their certificates without a key, and f9.
            """,
        members: [
            "version", "serial", "pin", "puk", "managementKey", "pukBlocked", "chuid", "ccc", "slots", "advisories",
            "brokenFIPSRules", "uris",
        ])

    @Flag(name: .shortAndLong, help: "Look at all slots.") var all = false

    @Flag(help: "Show PKCS#11 URIs of the keys instead, and commands that use them.") var uris = false

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openPIV()
        let text = PIVReportText(report: try await service.report(all ? .all : .usual), now: world.now)
        var answer = Answer()
        answer.lines = uris ? PKCS11Advice(text.report).lines : text.lines
        answer.warnings = text.warnings
        for (name, value) in text.members { answer.members[name] = value }
        answer.members["uris"] = uris ? PKCS11Advice(text.report).json : .null
        return answer
    }
}
