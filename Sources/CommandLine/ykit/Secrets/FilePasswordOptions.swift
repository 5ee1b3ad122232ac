// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKCrypto
import YKWire

/// The source of a file's password, unless the user is asked for it.
struct FilePasswordOptions: ParsableArguments {
    static let title = "File Options"

    @Flag(help: "Read the file's password from standard input, one line.")
    var filePasswordStdin = false

    @Option(help: ArgumentHelp("Read the file's password from this open file descriptor.", valueName: "n"))
    var filePasswordFd: Int32?

    private var source: SecretInput.Source {
        SecretInput.Source(
            isStandardInput: filePasswordStdin, descriptor: filePasswordFd, variable: "YKIT_FILE_PASSWORD",
            hint: "give the file's password with --file-password-stdin, --file-password-fd N or YKIT_FILE_PASSWORD")
    }

    /// Returns the password; asks the user if no option or variable gives it.
    func password(_ question: String, _ terminal: Terminal) throws -> Secret {
        switch try SecretInput.given(source, terminal) {
        case .secret(let password): password
        case .none: try Prompt(orElse: source.hint).secret(question)
        }
    }

    /// Returns the password for a file to be written; asks the user twice if no option or variable gives it.
    func newPassword(_ question: String, _ terminal: Terminal) throws -> Secret {
        switch try SecretInput.given(source, terminal) {
        case .secret(let password): password
        case .none: try Prompt(orElse: source.hint).newSecret(question)
        }
    }
}
