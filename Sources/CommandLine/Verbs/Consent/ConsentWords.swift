// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
package import YKInteraction
import YKProtocols

/// The wording of the questions before the key is used for a program elsewhere.
package enum ConsentWords {
    /// The action for age, as a phrase after "to".
    package static let age = "decrypt a file with age"

    /// Returns the question, without the question mark.
    ///
    /// - Parameters:
    ///   - asker: Who asks, in printable characters.
    ///   - action: The action, as a phrase after "to".
    ///   - key: The key, if there are several.
    package static func question(_ asker: String, asksTo action: String, key: String? = nil) -> String {
        "\(asker) asks to \(action): use your key" + (key.map { " \($0.printable)" } ?? "")
    }

    /// Returns the question for a PIN, without the question mark: the application and key, the purpose, and the tries
    /// left.
    ///
    /// - Parameter key: The serial number of the key, if there may be others.
    package static func pin(_ request: CredentialRequest, key: String? = nil) -> String {
        let left = request.triesLeft.map { ", \(Tries.next($0))" } ?? ""
        let application = request.id.kind == .fidoPIN ? "FIDO2" : "PIV"
        return "PIN of \(key.map { "key \($0)" } ?? "the key")'s \(application), to \(request.purpose)\(left)"
    }
}

extension RemotePolicy.Refusal {
    /// The reason, as a phrase after a colon.
    package var words: String {
        switch self {
        case .command(let name): "\(name) is not for other machines"
        case .otherSite: "--allow does not name this site"
        case .refusedSite: "--refuse names this site"
        case .localSecret: "it is not a web site and may guard a secret here; name it with --allow to permit it"
        case .probe: "it needs no touch, and --allow does not name this site"
        case .nothingNext: "there are no more assertions"
        case .declined: "not agreed"
        case .tooManyQuestions: "too many questions not answered with yes, no more for a minute"
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
