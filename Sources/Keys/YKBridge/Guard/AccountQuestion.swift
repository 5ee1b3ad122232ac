// SPDX-License-Identifier: Apache-2.0

package import YKInteraction
import YKProtocols
import YKWire

/// An account of a site, for which the key stores a credential.
package struct GuardAccount: Hashable, Sendable {
    /// The user's name at the site; `nil` if the key does not reveal it.
    package let name: String?
    /// The name to show; `nil` if there is none, or it is the same.
    package let displayName: String?

    package init(name: String?, displayName: String? = nil) { (self.name, self.displayName) = (name, displayName) }

    /// Reads the user of an assertion (CTAP 2.2 §6.2.2).
    init(of assertion: CBOR.Map) {
        let user = assertion[CTAPProtocol.GetAssertion.Reply.user]?.map
        let (name, displayName) = (user?["name"]?.text, user?["displayName"]?.text)
        self.name = name ?? displayName
        self.displayName = name == nil || displayName == name ? nil : displayName
    }
}

/// Which account of a site is meant, if the key has several.
package struct AccountQuestion: Question, Hashable {
    /// The relying party.
    package let site: String
    /// The accounts, the newest first, as the key reports them.
    package let accounts: [GuardAccount]

    /// Asks for one of several accounts.
    package init(site: String, accounts: [GuardAccount]) { (self.site, self.accounts) = (site, accounts) }

    /// The label of an account. Names come from the site that created the credential.
    package var way: Way<Int> {
        .pick(
            accounts.enumerated().map { index, account in
                let name = account.name.map(Untrusted.name) ?? "account \(index + 1)"
                let label = name + (account.displayName.map { ", \(Untrusted.name($0))" } ?? "")
                return (label: label, answer: index)
            })
    }
}

/// The assertions of one sign-in.
struct AssertionList {
    private typealias Reply = CTAPProtocol.GetAssertion.Reply

    /// The most that are read.
    static let limit = 64
    private var answers: [CBOR.Map]

    /// Starts with the first answer; `nil` if there is only one, or it is malformed.
    init?(_ answer: [UInt8]) {
        guard let map = Self.map(answer), map[Reply.numberOfCredentials]?.unsigned ?? 1 > 1 else { return nil }
        answers = [map]
    }

    /// How many are still to be read.
    var missing: Int {
        let count = answers[0][Reply.numberOfCredentials]?.unsigned ?? 1
        return Int(min(count, UInt64(Self.limit))) - answers.count
    }

    /// Adds an answer to getNextAssertion; a malformed one is left out of the choice.
    mutating func add(_ answer: [UInt8]) { answers.append(Self.map(answer) ?? CBOR.Map()) }

    var accounts: [GuardAccount] { answers.map(GuardAccount.init(of:)) }

    /// The answer with one of them, as if it were the only one.
    func answer(_ index: Int) -> [UInt8] {
        guard answers.indices.contains(index), !answers[index].entries.isEmpty else {
            return [CTAPProtocol.Status.other]
        }
        var map = answers[index]
        map[Reply.numberOfCredentials] = nil
        return [CTAPProtocol.Status.ok] + CBOR.map(map).encoded
    }

    private static func map(_ answer: [UInt8]) -> CBOR.Map? {
        guard answer.first == CTAPProtocol.Status.ok else { return nil }
        return (try? CBOR(decoding: Array(answer.dropFirst())))?.map
    }
}
