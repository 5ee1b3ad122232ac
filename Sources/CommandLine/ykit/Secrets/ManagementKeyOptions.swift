// SPDX-License-Identifier: Apache-2.0

import Arguments

/// The source of the management key, unless the user is asked for it.
struct ManagementKeyOptions: ParsableArguments {
    static let title = "Management Key Options"

    @Flag(help: "Read the management key from standard input, one line of hexadecimal digits.")
    var managementKeyStdin = false

    @Option(
        help: ArgumentHelp(
            "Read the management key from this open file descriptor; or set YKIT_MANAGEMENT_KEY.", valueName: "n"))
    var managementKeyFd: Int32?

    @Option(
        name: [.customShort("m"), .customLong("management-key")],
        help: "The management key itself. Other users of this machine can see it; ykit warns.")
    var managementKey: String?

    var source: SecretInput.Source {
        SecretInput.Source(
            text: managementKey, isStandardInput: managementKeyStdin, descriptor: managementKeyFd,
            variable: "YKIT_MANAGEMENT_KEY",
            hint: "give the management key with --management-key-stdin, --management-key-fd N or YKIT_MANAGEMENT_KEY")
    }
}

/// The source of a new management key.
struct NewManagementKeyOptions: ParsableArguments {
    static let title = "New Management Key Options"

    @Flag(help: "Read the new management key from standard input, one line of hexadecimal digits.")
    var newManagementKeyStdin = false

    @Option(
        help: ArgumentHelp(
            "Read the new management key from this open file descriptor; or set YKIT_NEW_MANAGEMENT_KEY.",
            valueName: "n"))
    var newManagementKeyFd: Int32?

    var source: SecretInput.Source {
        SecretInput.Source(
            isStandardInput: newManagementKeyStdin, descriptor: newManagementKeyFd,
            variable: "YKIT_NEW_MANAGEMENT_KEY",
            hint: "give it with --new-management-key-stdin, --new-management-key-fd N or YKIT_NEW_MANAGEMENT_KEY, or "
                + "let one be made with --generate")
    }

    var isGiven: Bool { newManagementKeyStdin || newManagementKeyFd != nil }
}
