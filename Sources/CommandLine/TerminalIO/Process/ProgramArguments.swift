// SPDX-License-Identifier: Apache-2.0

import CThreads

/// The words with which this program was started.
///
/// Swift's `CommandLine` reads them from /proc, or searches the memory before the environment, and is empty in a chroot
/// without /proc, or where a preloaded library has changed the environment.
package enum ProgramArguments {
    /// The program's name and its arguments; `nil` if one is not valid UTF-8, and would be misread.
    package static var words: [String]? {
        var words: [String] = []
        for index in 0..<ykit_argument_count() {
            guard let word = ykit_argument(index) else { break }
            guard let text = String(validatingCString: word) else { return nil }
            words.append(text)
        }
        return words
    }
}
