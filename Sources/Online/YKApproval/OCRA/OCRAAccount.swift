// SPDX-License-Identifier: Apache-2.0

import YKWire

/// An account that answers challenges or signs texts offline; its secret is in the sealed part of its record.
public struct OCRAAccount: Hashable, Sendable {
    /// The common fields of all accounts.
    public var account: ApprovalAccount
    /// The suite of its codes.
    public let suite: OCRASuite
    /// The counter of the next code, for a suite with one.
    public var counter: UInt64 = 0

    /// Creates an account.
    ///
    /// - Parameters:
    ///   - name: The display name.
    ///   - serial: The serial number of the server's token; if it is unknown, the name is used instead.
    public init(_ suite: OCRASuite, name: String, serial: String?, issuer: String, added: Int64) {
        self.suite = suite
        account = ApprovalAccount(
            .ocra, name: name, serial: serial ?? name, issuer: issuer, server: "offline", added: added)
        account.details = details
    }

    /// Reads an account from the store; `nil` if it is of a different type or malformed.
    public init?(_ account: ApprovalAccount) {
        guard account.kind == .ocra, let suite = account.details["suite"]?.string.flatMap({ try? OCRASuite($0) }),
            let counter = account.details["counter"]?.int.flatMap(UInt64.init(exactly:)), counter < UInt64(Int64.max)
        else { return nil }
        (self.account, self.suite, self.counter) = (account, suite, counter)
    }

    /// The account in the form for the store.
    public var stored: ApprovalAccount { account.with(details) }

    /// Returns whether a string can be the serial number of a token.
    public static func isSerial(_ text: String) -> Bool { PushLink.isSerial(text) }

    private var details: JSONValue.Object {
        var object = JSONValue.Object()
        object["suite"] = .string(suite.description)
        object["counter"] = .int(Int64(clamping: counter))
        return object
    }
}
