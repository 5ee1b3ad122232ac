// SPDX-License-Identifier: Apache-2.0

import YKFIDO
import YKWire

/// The report of a registration, for people and for programs.
struct RegistrationReport {
    private let made: RegistrationResponse
    private let rpID: String
    private let user: FIDOUser

    init(_ made: RegistrationResponse, rpID: String, user: FIDOUser) {
        self.made = made
        self.rpID = rpID
        self.user = user
    }

    private var data: AuthenticatorData { made.attestationObject.authenticatorData }

    var answer: Answer {
        let algorithm = made.publicKey?.algorithm
        var answer = Answer(
            Table.lines(rows),
            [
                "credential": made.json, "rpId": .string(rpID),
                "user": [
                    "id": .string(Base64.encodeURL(user.id)), "name": user.name.map(JSON.string) ?? .null,
                    "displayName": user.displayName.map(JSON.string) ?? .null,
                ],
                "credentialId": .string(Base64.encodeURL(made.id)),
                "algorithm": algorithm.map { .string($0.description) } ?? .null,
            ])
        answer.isMadeOnce = true
        answer.members["publicKeyPem"] = made.publicKey?.pem.map(JSON.string)
        answer.members["format"] = .string(made.attestationObject.format.rawValue)
        answer.members["aaguid"] = data.credential.map { .string(AuthenticatorReport.uuid($0.aaguid)) }
        answer.members["enterpriseAttestation"] = made.isEnterpriseAttestation.map(JSON.bool)
        answer.members["flags"] = .array(data.flags.names.map(JSON.string))
        answer.members["counter"] = .int(Int64(data.counter))
        return answer
    }

    private var rows: [[String]] {
        var rows = [
            ["credential", Base64.encodeURL(made.id)],
            ["for", "'\((user.name ?? "").printable)' at \(rpID.printable)"],
            ["algorithm", made.publicKey?.algorithm?.description ?? "unknown"],
            ["attestation", made.attestationObject.format.rawValue.printable],
            ["user", data.flags.words],
        ]
        if made.isEnterpriseAttestation == true { rows[3][1] += ", which names this key" }
        for result in made.clientExtensionResults.members {
            rows.append([result.key.printable, result.value.text.printable])
        }
        return rows
    }
}

extension AuthenticatorData.Flags {
    /// The user's presence and verification, according to the flags.
    var words: String {
        [contains(.userPresent) ? "present" : "not present", contains(.userVerified) ? "verified" : "not verified"]
            .joined(separator: ", ")
    }

    /// The names, in the specification, of the flags that are set.
    var names: [String] {
        let all: [(AuthenticatorData.Flags, String)] = [
            (.userPresent, "UP"), (.userVerified, "UV"), (.backupEligible, "BE"), (.backedUp, "BS"),
            (.attestedCredential, "AT"), (.extensions, "ED"),
        ]
        return all.filter { contains($0.0) }.map(\.1)
    }
}
