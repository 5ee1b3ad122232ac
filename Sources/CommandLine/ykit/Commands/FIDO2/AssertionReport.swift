// SPDX-License-Identifier: Apache-2.0

import YKFIDO
import YKWire

/// The report of an assertion, for people and for programs.
struct AssertionReport {
    private let signed: AuthenticationResponse
    private let rpID: String
    private let choice: AccountChoice

    init(_ signed: AuthenticationResponse, rpID: String, _ choice: AccountChoice) {
        self.signed = signed
        self.rpID = rpID
        self.choice = choice
    }

    var answer: Answer {
        let data = signed.authenticatorData
        var rows = [
            ["credential", Base64.encodeURL(signed.id)], ["at", rpID.printable], ["user", data.flags.words],
            ["counter", String(data.counter)],
        ]
        if let handle = signed.userHandle {
            let name = choice.accounts.first { $0.id == handle }?.words
            rows.insert(["account", name ?? Base64.encodeURL(handle)], at: 1)
        }
        for result in signed.clientExtensionResults.members {
            rows.append([result.key.printable, result.value.text.printable])
        }
        return Answer(
            Table.lines(rows),
            [
                "credential": signed.json, "rpId": .string(rpID), "credentialId": .string(Base64.encodeURL(signed.id)),
                "userId": signed.userHandle.map { .string(Base64.encodeURL($0)) } ?? .null,
                "accounts": .array(choice.accounts.map(\.json)), "flags": .array(data.flags.names.map(JSON.string)),
                "counter": .int(Int64(data.counter)),
            ])
    }
}
