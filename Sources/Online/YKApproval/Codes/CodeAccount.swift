// SPDX-License-Identifier: Apache-2.0

public import YKOATH
import YKWire

/// An account whose secret is in the OATH application of a security key.
public struct CodeAccount: Hashable, Sendable {
    /// The properties common to all kinds of accounts.
    public var account: ApprovalAccount
    /// The account's name in the OATH application.
    public let id: OATHAccountID
    /// The serial number of the token's container; `nil` for none.
    public let container: String?

    /// Creates an account.
    ///
    /// - Parameters:
    ///   - id: Its name in the OATH application.
    ///   - name: The display name.
    ///   - serial: The serial number of the server's token.
    ///   - server: The server's host and port, or the issuer if the server is unknown.
    public init(
        id: OATHAccountID, name: String, serial: String, server: String, container: String?, added: Int64
    ) {
        (self.id, self.container) = (id, container)
        account = ApprovalAccount(
            id.type == .hotp ? .hotp : .totp, name: name, serial: serial, issuer: id.issuer ?? "", server: server,
            added: added)
        account.details = details
    }

    /// Reads an account from the store; `nil` if it is of another kind or malformed.
    public init?(_ account: ApprovalAccount) {
        guard account.kind == .totp || account.kind == .hotp,
            let bytes = account.details["oath"]?.string.flatMap({ try? Hex.decode($0) }),
            (1...OATHAccountID.byteLimit).contains(bytes.count)
        else { return nil }
        self.account = account
        id = OATHAccountID(rawName: bytes, type: account.kind == .hotp ? .hotp : .totp)
        container = account.details["container"]?.string
    }

    /// The account in the form for the store.
    public var stored: ApprovalAccount { account.with(details) }

    private var details: JSONValue.Object {
        var object = JSONValue.Object()
        object["oath"] = .string(Hex.encode(id.rawName))
        object["container"] = container.map(JSONValue.string) ?? .null
        return object
    }
}
