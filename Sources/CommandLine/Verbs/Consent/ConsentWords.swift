// SPDX-License-Identifier: Apache-2.0

package import Arguments
import TerminalIO
package import YKInteraction
import YKProtocols

/// The words with which the user is asked before the key is used for a program elsewhere.
package enum ConsentWords {
    /// What a key does for age, after "to".
    package static let age = "decrypt a file with age"

    /// The question, without its mark.
    ///
    /// - Parameters:
    ///   - asker: Who asks, in printable characters.
    ///   - action: For what, after "to".
    ///   - key: The key, if there are several.
    package static func question(_ asker: String, asksTo action: String, key: String? = nil) -> String {
        "\(asker) asks to \(action): use your key" + (key.map { " \($0.printable)" } ?? "")
    }

    /// The question for a PIN, without its mark: of which application and key, for what, and how many tries are left.
    ///
    /// - Parameter key: The serial number of the key, if there may be others.
    package static func pin(_ request: CredentialRequest, key: String? = nil) -> String {
        let left = request.triesLeft.map { ", \(Tries.next($0))" } ?? ""
        let application = request.id.kind == .fidoPIN ? "FIDO2" : "PIV"
        return "PIN of \(key.map { "key \($0)" } ?? "the key")'s \(application), to \(request.purpose)\(left)"
    }
}

extension RemotePolicy.Refusal {
    /// Why, after a colon.
    package var words: String {
        switch self {
        case .command(let name): "\(name) is not for other machines"
        case .otherSite: "not a site of --allow"
        case .localSecret: "it is no site on the web, but may guard a secret here; --allow names it"
        case .probe: "a search for credentials without a touch, of a site that --allow does not name"
        case .nothingNext: "there are no more assertions"
        case .declined: "not agreed"
        case .tooManyQuestions: "too many questions without a yes, no more for a minute"
        case .malformed: "a malformed message"
        }
    }
}

/// A name or pattern of a ``RemotePolicy`` on the command line.
package struct NameArgument: ExpressibleByArgument {
    /// The pattern.
    package let pattern: NamePattern

    package init?(argument: String) {
        guard let pattern = NamePattern(argument) else { return nil }
        self.pattern = pattern
    }
}
