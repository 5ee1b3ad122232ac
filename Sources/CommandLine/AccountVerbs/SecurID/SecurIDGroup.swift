// SPDX-License-Identifier: Apache-2.0

import Applications
package import Arguments
import TerminalIO
import Verbs
import YKSecurID
import YKTokenStore
import YKWire

/// Commands for SecurID software tokens.
package struct SecurIDGroup: ParsableCommand {
    package static let about = About(
        "SecurID software tokens, sealed by a security key.",
        subcommands: [
            "import": SecurIDImport.self, "list": SecurIDList.self, "code": SecurIDCode.self,
            "watch": SecurIDWatch.self, "use": SecurIDUse.self, "rename": SecurIDRename.self,
            "delete": SecurIDDelete.self, "reset": SecurIDReset.self, "export": SecurIDExport.self,
            "detect": SecurIDDetect.self, "binding-id": SecurIDBindingID.self, "info": SecurIDShow.self,
            "version": SecurIDVersion.self, "store": SecurIDStoreGroup.self,
        ],
        examples: [Example("ykit securid import token.txt")])

    package init() {}
}

/// Commands for the keys that open the store.
struct SecurIDStoreGroup: ParsableCommand {
    static let about = About(
        "The keys that open the token store.",
        subcommands: [
            "info": StoreInfo<StorePathOptions>.self, "add-key": StoreAddKey<StorePathOptions>.self,
            "remove-key": StoreRemoveKey<StorePathOptions>.self,
        ],
        examples: [Example("ykit securid store info")])
}

/// The location of the token store.
struct StorePathOptions: StoreOptions {
    static let kind = StoreKind(TokenStore.service, "token store", of: "token")

    @Option("--store <file>", help: "The token store (default: $XDG_DATA_HOME/ykit/securid.json).") var store: String?

    /// Reads the tokens.
    func tokens(_ run: Run) throws -> TokenStore { try TokenStore(try file(run)) }
}

extension TokenStore {
    /// Returns the token that a text matches, or without one the current token; if there are several, the user chooses.
    func one(_ query: EntryQuery?, _ run: Run) throws -> StoredToken {
        if let query { return try run.entry(query, in: try all()) }
        let found = try tokens(matching: nil)
        if let only = found.first, found.count == 1 { return only }
        let failure = StoredToken.several(
            "the store has \(found.count) tokens: give one, or choose one with 'securid use'", found)
        return found[try run.choose(StoredToken.choice, among: failure.candidates.map(\.line), orElse: failure)]
    }

    /// Returns all tokens.
    ///
    /// - Throws: `empty` if there are none.
    func all() throws(TokenStoreError) -> [StoredToken] {
        guard !tokens.isEmpty else { throw .empty }
        return tokens
    }
}

extension StoredToken: ListedEntry {
    static var choice: String { "which token?" }

    static func unknown(_ query: EntryQuery) -> any Error { TokenStoreError.noSuchToken }

    static func several(_ query: EntryQuery, _ found: [StoredToken]) -> Explanation {
        several("several tokens match '\(query.printable)'", found)
    }

    fileprivate static func several(_ message: String, _ found: [StoredToken]) -> Explanation {
        Explanation("several-tokens", .severalDevices, message, candidates: found.map(\.name))
    }

    /// The display name.
    var name: String { nickname.map { "\($0.printable) (\(serial))" } ?? serial }
}

/// A token of the store.
struct TokenReport: Report {
    let token: StoredToken
    let isExpired: Bool
    let isCurrent: Bool

    static let members: [Member<TokenReport>] = [
        Member("serial", title: "serial") { $0.token.serial },
        Member("nickname", title: "nickname", absent: "-") { $0.token.nickname },
        Member("type", "pinpad, keyfob or pinless", title: "type") { $0.token.type.rawValue },
        Member("digits", title: "digits") { $0.token.digits },
        Member("interval", "in seconds", title: "interval", words: { "\($0) s" }) { $0.token.interval },
        Member(
            "expiry", "the date; null if there is none", title: "expires", absent: "never", words: { "\($0) 00:00 UTC" }
        ) { $0.token.expiry?.description },
        Member("user", title: "user", absent: "-") { $0.token.user },
        Member("deviceId", title: "device", absent: "-") { $0.token.deviceID },
        Member("expired") { $0.isExpired },
        Member("current") { $0.isCurrent },
    ]

    init(_ token: StoredToken, in store: TokenStore, at time: Int64) {
        self.token = token
        isExpired = token.isExpired(at: time)
        isCurrent = token.serial == store.current
    }
}
