// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKHardware
package import YKKeys

extension KeyringError: Explained {
    package var explanation: Explanation { explanation(concerning: nil) }

    package func explanation(concerning subject: Subject?) -> Explanation {
        let way = subject?.text ?? "YKIT_KEYRING=file"
        return switch self {
        case .noFolder(let variable): .noHome(variable)
        case .exposed(let path):
            Explanation(
                "file-mode", .policy, "other users can read or change \(path)",
                hint:
                    "chmod 600 \(path); if others did, run 'ykit oath access forget --all' and remember the passwords again"
            )
        case .malformed(let path):
            Explanation(
                "keyring", .failed, "\(path) is not a file of remembered passwords",
                hint: "remove it and remember again")
        case .malformedKey(let path, let bytes, let keyring):
            Explanation(
                "keyring", .failed, "\(path) was not written by ykit: it has \(bytes) bytes, not 32",
                hint: "remove it and \(keyring), then remember the passwords again")
        case .tooLarge(let path, let limit): .usage("\(path) is larger than \(limit >> 20) MiB")
        case .file(let failure): failure.explanation
        case .crypto(let fault): fault.explanation
        case .noSecretService:
            Explanation(
                "no-secret-service", .failed, "there is no desktop session with a Secret Service, or no secret-tool",
                hint: "sudo apt install libsecret-tools, or \(way)")
        case .refused:
            Explanation("keyring", .failed, "the Secret Service refused the key", hint: "unlock it, or \(way)")
        case .program(let error): error.explanation
        }
    }
}

extension ProgramError: Explained {
    /// Explains why another program failed.
    package var explanation: Explanation {
        switch self {
        case .failed(let program, let reason): Explanation("spawn", .failed, "cannot run \(program): \(reason)")
        case .timedOut(let program):
            Explanation(
                "spawn", .timeOut, "\(program) did not finish in time",
                hint: "unlock the keyring and repeat the command")
        case .cancelled: .interrupted
        case .tooMuchOutput(let program, let limit):
            Explanation("spawn", .failed, "\(program) printed more than \(limit >> 20) MiB")
        }
    }
}
