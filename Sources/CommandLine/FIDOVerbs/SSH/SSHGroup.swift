// SPDX-License-Identifier: Apache-2.0

import Arguments
import Verbs
import YKFIDO
import YKKeyAgent
import YKKeys
import YKPIV
import YKSSH
import YKWire

/// Commands for SSH.
struct SSHGroup: ParsableCommand {
    static let about = About(
        "ssh", "Keys for OpenSSH: PIV slots, FIDO credentials, an agent for both.",
        discussion: """
            A FIDO credential is made and kept as OpenSSH does it: a key file that holds no secret, or a credential that \
            the key remembers and 'ssh-keygen -K' finds. Signatures are those of 'ssh-keygen -Y'.
            """,
        subcommands: [
            SSHKeys.self, SSHGenerate.self, SSHDownload.self, SSHDelete.self, SSHSign.self, SSHVerify.self,
            SSHAgentVerb.self,
        ])
}

extension SSHSlotKey {
    var json: JSONValue {
        var object = key.jsonMembers(comment)
        object["slot"] = .string(slot.description)
        return .object(object)
    }
}

extension SSHPublicKey {
    func jsonMembers(_ comment: String) -> JSONValue.Object {
        var object = JSONValue.Object()
        object["type"] = .string(type)
        object["line"] = .string(line(comment: comment))
        object["fingerprint"] = .string(fingerprint)
        object["comment"] = .string(comment)
        object["application"] = application.map(JSONValue.string) ?? .null
        return object
    }
}

extension SSHCredential {
    var words: String { "\(file.publicKey.application ?? "")\(user.isEmpty ? "" : ", user '\(user.printable)'")" }

    var json: JSONValue {
        var object = file.publicKey.jsonMembers(file.comment)
        object["credentialId"] = .string(remembered.id)
        object["verifyRequired"] = .bool(file.flags.contains(.verificationRequired))
        return .object(object)
    }

    /// Returns the credential for a query: by its identifier, application or user, or by part of one.
    static func one(_ query: String, in all: [SSHCredential], _ world: World) throws -> SSHCredential {
        let exact = all.filter {
            $0.file.publicKey.application == query || $0.file.publicKey.application == "ssh:\(query)"
        }
        if let only = exact.first, exact.count == 1 { return only }
        let found = try DiscoverableCredential.one(query, in: all.map(\.remembered), world)
        guard let one = all.first(where: { $0.remembered.id == found.id }) else {
            throw Explanation(
                "no-such-credential", .notFound, "the key stores no credential '\(query.printable)' for SSH")
        }
        return one
    }
}
