// SPDX-License-Identifier: Apache-2.0

/// An error that explains itself to people.
package protocol Explained: Error {
    /// What happened and why, what to type next, and the exit status.
    var explanation: Explanation { get }
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
