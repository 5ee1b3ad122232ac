// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import YKCrypto
import YKPIV

/// Where the password of a file comes from when it is not asked for.
struct KeyFileOptions: ParsableArguments {
    @Flag(help: "Read the file's password from standard input, one line.")
    var filePasswordStdin = false

    @Option(help: ArgumentHelp("Read the file's password from this open file descriptor.", valueName: "n"))
    var filePasswordFd: Int32?

    private var source: SecretInput.Source {
        SecretInput.Source(
            isStandardInput: filePasswordStdin, descriptor: filePasswordFd, variable: "YKIT_FILE_PASSWORD",
            hint: "give the file's password with --file-password-stdin, --file-password-fd N or YKIT_FILE_PASSWORD")
    }

    /// What is in a file; its password is asked for when there is one.
    func read(_ path: String, _ world: World) throws -> KeyFile {
        var bytes = try Files.read(path)
        defer { Secret.wipe(&bytes) }
        do { return try KeyFile(bytes) } catch {
            guard case PIVError.invalidFile(.passwordNeeded) = error else { throw error }
        }
        switch try SecretInput.given(source, world.terminal) {
        case .secret(let password): return try KeyFile(bytes, password: SharedSecret(password))
        case .none:
            let password = try Prompt(orElse: source.hint).secret("password of \(path.printable)")
            return try KeyFile(bytes, password: SharedSecret(password))
        }
    }
}
