// SPDX-License-Identifier: Apache-2.0

public import YKOATH
import YKWire

/// An account whose secret is in the OATH application of a security key.
public struct CodeAccount: Hashable, Sendable {
    /// What all kinds of accounts have in common.
    public var account: ApprovalAccount
    /// The account's name in the OATH application.
    public let id: OATHAccountID
    /// The serial number of the container that the token belongs to; `nil` for none.
    public let container: String?

    /// Describes an account.
    ///
    /// - Parameters:
    ///   - id: Its name in the OATH application.
    ///   - name: The name for people.
    ///   - serial: The serial number of the server's token.
    ///   - server: Host and port of the server, or the issuer where no server is known.
    public init(
        id: OATHAccountID, name: String, serial: String, server: String, container: String?, added: Int64
    ) {
        (self.id, self.container) = (id, container)
        account = ApprovalAccount(
            id.type == .hotp ? .hotp : .totp, name: name, serial: serial, issuer: id.issuer ?? "", server: server,
            added: added)
        account.details = details
    }

    /// Reads an account of the store; `nil` when it is of another kind or cannot be read.
    public init?(_ account: ApprovalAccount) {
        guard account.kind == .totp || account.kind == .hotp,
            let bytes = account.details["oath"]?.string.flatMap({ try? Hex.decode($0) }),
            (1...OATHAccountID.byteLimit).contains(bytes.count)
        else { return nil }
        self.account = account
        id = OATHAccountID(rawName: bytes, type: account.kind == .hotp ? .hotp : .totp)
        container = account.details["container"]?.string
    }

    /// The account for the store.
    public var stored: ApprovalAccount {
        var stored = account
        stored.details = details
        return stored
    }

    private var details: JSON.Object {
        var object = JSON.Object()
        object["oath"] = .string(Hex.encode(id.rawName))
        object["container"] = container.map(JSON.string) ?? .null
        return object
    }
}
