// SPDX-License-Identifier: Apache-2.0

import Arguments

/// The source of the PIN, unless the user is asked for it.
struct PINOptions: ParsableArguments {
    static let title = "PIN Options"

    @Flag(help: "Read the PIN from standard input, one line.")
    var pinStdin = false

    @Option(help: ArgumentHelp("Read the PIN from this open file descriptor; or set YKIT_PIN.", valueName: "n"))
    var pinFd: Int32?

    @Option(help: "The PIN itself. Other users of this machine can see it; ykit warns.")
    var pin: String?

    var source: SecretInput.Source {
        SecretInput.Source(
            text: pin, isStandardInput: pinStdin, descriptor: pinFd, variable: "YKIT_PIN",
            hint: "give the PIN with --pin-stdin, --pin-fd N or YKIT_PIN")
    }

    /// Whether the PIN is available without a prompt.
    var isGiven: Bool { pinStdin || pinFd != nil || pin != nil || Variables["YKIT_PIN"].map { !$0.isEmpty } ?? false }
}

/// The source of a new PIN, unless the user is asked for it.
struct NewPINOptions: ParsableArguments {
    static let title = "New PIN Options"

    @Flag(help: "Read the new PIN from standard input, one line.")
    var newPinStdin = false

    @Option(
        help: ArgumentHelp("Read the new PIN from this open file descriptor; or set YKIT_NEW_PIN.", valueName: "n"))
    var newPinFd: Int32?

    var source: SecretInput.Source {
        SecretInput.Source(
            isStandardInput: newPinStdin, descriptor: newPinFd, variable: "YKIT_NEW_PIN",
            hint: "give the new PIN with --new-pin-stdin, --new-pin-fd N or YKIT_NEW_PIN")
    }
}
