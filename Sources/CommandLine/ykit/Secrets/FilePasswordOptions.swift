// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKCrypto
import YKWire

/// Where the password of a file comes from when it is not asked for.
struct FilePasswordOptions: ParsableArguments {
    @Flag(help: "Read the file's password from standard input, one line.")
    var filePasswordStdin = false

    @Option(help: ArgumentHelp("Read the file's password from this open file descriptor.", valueName: "n"))
    var filePasswordFd: Int32?

    private var source: SecretInput.Source {
        SecretInput.Source(
            isStandardInput: filePasswordStdin, descriptor: filePasswordFd, variable: "YKIT_FILE_PASSWORD",
            hint: "give the file's password with --file-password-stdin, --file-password-fd N or YKIT_FILE_PASSWORD")
    }

    /// The password; the person is asked the question when no option and no variable gives it.
    func password(_ question: String, _ terminal: Terminal) throws -> Secret {
        switch try SecretInput.given(source, terminal) {
        case .secret(let password): password
        case .none: try Prompt(orElse: source.hint).secret(question)
        }
    }

    /// The password of a file that is written; the person is asked for it twice when no option and no variable gives it.
    func newPassword(_ question: String, _ terminal: Terminal) throws -> Secret {
        switch try SecretInput.given(source, terminal) {
        case .secret(let password): password
        case .none: try Prompt(orElse: source.hint).newSecret(question)
        }
    }
}
