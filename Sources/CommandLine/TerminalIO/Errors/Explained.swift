// SPDX-License-Identifier: Apache-2.0

package import YKProtocols

/// An error that explains itself to people. The conformances of the libraries' errors are in `Words`, which only the
/// program imports; ``Explanation/init(_:)`` finds them.
package protocol Explained: Error {
    /// What happened and why, what to type next, and the exit status.
    var explanation: Explanation { get }

    /// The same for an error of which more is known than it says itself.
    func explanation(concerning subject: Subject?) -> Explanation
}

extension Explained {
    package func explanation(concerning subject: Subject?) -> Explanation { explanation }
}

extension Explanation: Explained {
    package var explanation: Explanation { self }
}

extension Explanation {
    /// Creates the explanation of any error; one that is not explained is shown with its own description.
    package init(_ error: any Error) {
        self = (error as? any Explained)?.explanation ?? Explanation("failed", .failed, "\(error)")
    }
}

/// What an error is about, which only those know who called the library.
package enum Subject: Hashable, Sendable {
    /// A file, by the name that was given: `-` is standard input.
    case file(String)
    /// An encrypted volume, by its path.
    case volume(String)
    /// The place of an account in a file.
    case entry(String)
    /// One of the keys of a verb that uses several, by its serial number or the name that was given.
    case key(String)
    /// What to do without what is missing, for the hint.
    case instead(String)

    /// The name, place or advice.
    package var text: String {
        switch self {
        case .file(let text), .volume(let text), .entry(let text), .key(let text), .instead(let text): text
        }
    }
}

/// An error of a library, and what it is about.
package struct Concerning: Explained {
    /// What the error is about.
    package let subject: Subject
    /// The error.
    package let error: any Error

    package init(_ subject: Subject, _ error: any Error) { (self.subject, self.error) = (subject, error) }

    package var explanation: Explanation {
        if case .key(let serial) = subject { return Explanation(error).of(key: serial) }
        return (error as? any Explained)?.explanation(concerning: subject) ?? Explanation(error)
    }
}

extension Concerning: CredentialRefusal {
    /// The credential whose refusal the error reports.
    package var refusedCredential: RefusedCredential? { RefusedCredential(causing: error) }
}
