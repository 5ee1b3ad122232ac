// SPDX-License-Identifier: Apache-2.0

import Applications
package import Arguments
import TerminalIO
import Verbs
package import YKKeyAgent
import YKKeys
import YKPIV
import YKSSH

/// Commands for SSH.
package struct SSHGroup: ParsableCommand {
    package static let about = About(
        "Keys for OpenSSH: PIV slots, FIDO credentials, an agent for both.",
        discussion: """
            FIDO credentials are created and stored as OpenSSH does: a key file that holds no secret, or a credential \
            that the key stores and 'ssh-keygen -K' finds. Signatures have the format of 'ssh-keygen -Y'.
            """,
        subcommands: [
            "keys": SSHKeys.self, "generate": SSHGenerate.self, "download": SSHDownload.self, "delete": SSHDelete.self,
            "sign": SSHSign.self, "verify": SSHVerify.self, "agent": SSHAgentVerb.self,
        ],
        examples: [Example("ykit ssh generate")])

    package init() {}
}

/// A public key and its comment.
struct SSHKeyReport: Report {
    let key: SSHPublicKey
    var comment = ""
    static let members: [Member<Self>] = [
        Member("type") { $0.key.type },
        Member("line", "for authorized_keys") { $0.key.line(comment: $0.comment) },
        Member("fingerprint") { $0.key.fingerprint }, Member("comment") { $0.comment },
        Member("application") { $0.key.application },
    ]
}

/// A key in a slot, or a credential that the key stores.
struct SSHListedKey: Report {
    private let key: SSHKeyReport
    private var slot: PIVSlot?
    private var credential: SSHCredential?

    init(_ found: SSHSlotKey) {
        (key, slot) = (SSHKeyReport(key: found.key, comment: found.comment), found.slot)
    }

    init(_ found: SSHCredential) {
        (key, credential) = (SSHKeyReport(key: found.file.publicKey, comment: found.file.comment), found)
    }

    static let members: [Member<Self>] =
        including { $0.key } + [
            Member(ifKnown: "slot", "of a PIV key") { $0.slot?.description },
            Member(ifKnown: "credentialId", "of a credential") { $0.credential?.remembered.id },
            Member(ifKnown: "verifyRequired", "of a credential") {
                $0.credential?.file.flags.contains(.verificationRequired)
            },
        ]
}

extension SSHCredential {
    var words: String { "\(file.publicKey.application ?? "")\(user.isEmpty ? "" : ", user '\(user.printable)'")" }
}

extension SSHCredential: IdentifiedEntry {
    package static var noun: String { DiscoverableCredential.noun }
    package static var use: String { " for SSH" }
    package static var listing: String { "ykit ssh keys --resident-only" }
    package var candidate: String { "\(remembered.id)  \(words)" }
}
