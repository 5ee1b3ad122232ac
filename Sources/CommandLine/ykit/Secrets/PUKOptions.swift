// SPDX-License-Identifier: Apache-2.0

import Arguments

/// The source of the PUK, unless the user is asked for it.
struct PUKOptions: ParsableArguments {
    static let title = "PUK Options"

    @Flag(help: "Read the PUK from standard input, one line.")
    var pukStdin = false

    @Option(help: ArgumentHelp("Read the PUK from this open file descriptor; or set YKIT_PUK.", valueName: "n"))
    var pukFd: Int32?

    @Option(help: "The PUK itself. Other users of this machine can see it; ykit warns.")
    var puk: String?

    var source: SecretInput.Source {
        SecretInput.Source(
            text: puk, isStandardInput: pukStdin, descriptor: pukFd, variable: "YKIT_PUK",
            hint: "give the PUK with --puk-stdin, --puk-fd N or YKIT_PUK")
    }
}

/// The source of a new PUK, unless the user is asked for it.
struct NewPUKOptions: ParsableArguments {
    static let title = "New PUK Options"

    @Flag(help: "Read the new PUK from standard input, one line.")
    var newPukStdin = false

    @Option(
        help: ArgumentHelp("Read the new PUK from this open file descriptor; or set YKIT_NEW_PUK.", valueName: "n"))
    var newPukFd: Int32?

    var source: SecretInput.Source {
        SecretInput.Source(
            isStandardInput: newPukStdin, descriptor: newPukFd, variable: "YKIT_NEW_PUK",
            hint: "give the new PUK with --new-puk-stdin, --new-puk-fd N or YKIT_NEW_PUK")
    }
}
