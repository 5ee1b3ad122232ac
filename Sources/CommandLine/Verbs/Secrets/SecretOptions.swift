// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKCrypto

/// A secret as the line and its messages call it.
struct SecretName: Sendable {
    /// The name of its options: `pin` for `--pin-stdin` and `--pin-fd`.
    let option: String
    /// What it is, without an article.
    let noun: String
    /// The environment variable that may hold it.
    let variable: String
    /// What the line on standard input is made of, such as "hexadecimal digits".
    var form: String?
    /// A further way to provide it, for hints.
    var alternative: String?
    /// The maximum length, in bytes.
    var limit = SecretInput.limit

    init(
        _ option: String, _ noun: String, _ variable: String, form: String? = nil, alternative: String? = nil,
        limit: Int = SecretInput.limit
    ) {
        (self.option, self.noun, self.variable) = (option, noun, variable)
        (self.form, self.alternative, self.limit) = (form, alternative, limit)
    }

    /// How it is given without a prompt.
    var hint: String {
        "give the \(noun) with --\(option)-stdin, --\(option)-fd N or \(variable)"
            + (alternative.map { ", \($0)" } ?? "")
    }
}

/// A kind of secret.
protocol SecretKind: SendableMetatype {
    static var name: SecretName { get }
    /// The title of its options in help.
    static var title: String { get }
}

extension SecretKind {
    static var title: String { "" }
}

/// Where a secret is read from, unless the user is asked for it.
struct SecretOptions<Kind: SecretKind>: ParsableArguments {
    static var title: String { Kind.title }

    @Flag(
        "--\(Kind.name.option)-stdin",
        help: "Read the \(Kind.name.noun) from standard input, one line" + (Kind.name.form.map { " of \($0)." } ?? "."))
    var isStandardInput = false

    @Option(
        "--\(Kind.name.option)-fd <n>",
        help: "Read the \(Kind.name.noun) from this open file descriptor; or set \(Kind.name.variable).")
    var descriptor: Int32?

    /// How it is given, where the options of the verb are named otherwise.
    var own: String?

    init() {}

    /// The places where another secret is read from.
    init<Other>(_ other: SecretOptions<Other>) {
        (isStandardInput, descriptor, own) = (other.isStandardInput, other.descriptor, other.own ?? Other.name.hint)
    }

    /// Whether an option names a place.
    var isGiven: Bool { isStandardInput || descriptor != nil }

    var source: SecretInput.Source {
        SecretInput.Source(
            isStandardInput: isStandardInput, descriptor: descriptor, variable: Kind.name.variable,
            hint: own ?? Kind.name.hint, limit: Kind.name.limit)
    }
}

/// A kind of secret that the line itself may hold.
protocol ExposedSecretKind: SecretKind {
    /// The names of the option with the secret.
    static var names: Names { get }
}

extension ExposedSecretKind {
    static var names: Names { "--\(name.option)" }

    /// The warning about a secret on the line.
    static var warning: String {
        "a \(name.noun) on the command line can be seen by others; use --\(name.option)-stdin or the prompt"
    }
}

/// Where a secret is read from, or the secret itself.
struct ExposedSecretOptions<Kind: ExposedSecretKind>: ParsableArguments {
    static var title: String { Kind.title }

    @OptionGroup var places: SecretOptions<Kind>

    @Option(
        Kind.names,
        help: "The \(Kind.name.noun) itself. Other users of this machine can see it; ykit warns.")
    var text: String?

    init() {}

    /// The places where another secret is read from.
    init<Other>(_ other: SecretOptions<Other>) { places = SecretOptions(other) }

    var isStandardInput: Bool { places.isStandardInput }

    var source: SecretInput.Source {
        var source = places.source
        source.text = text
        return source
    }

    /// Whether no prompt is needed.
    var isGiven: Bool { source.isGiven }
}

// MARK: secrets of several verbs

enum PIN: ExposedSecretKind {
    static let name = SecretName("pin", "PIN", "YKIT_PIN")
    static let title = "PIN Options"
}

enum NewPIN: SecretKind {
    static let name = SecretName("new-pin", "new PIN", "YKIT_NEW_PIN")
    static let title = "New PIN Options"
}

enum PUK: ExposedSecretKind {
    static let name = SecretName("puk", "PUK", "YKIT_PUK")
    static let title = "PUK Options"
}

enum NewPUK: SecretKind {
    static let name = SecretName("new-puk", "new PUK", "YKIT_NEW_PUK")
    static let title = "New PUK Options"
}

enum ManagementKeySecret: ExposedSecretKind {
    static let name = SecretName(
        "management-key", "management key", "YKIT_MANAGEMENT_KEY", form: "hexadecimal digits")
    static let title = "Management Key Options"
    static let names: Names = ["-m", "--management-key"]
}

enum NewManagementKeySecret: SecretKind {
    static let name = SecretName(
        "new-management-key", "new management key", "YKIT_NEW_MANAGEMENT_KEY", form: "hexadecimal digits",
        alternative: "or let one be made with --generate")
    static let title = "New Management Key Options"
}

enum OATHPassword: ExposedSecretKind {
    static let name = SecretName("password", "password", "YKIT_OATH_PASSWORD")
    static let title = "Password Options"
    static let names: Names = ["-p", "--password"]
}

enum FilePassword: SecretKind {
    static let name = SecretName("file-password", "file's password", "YKIT_FILE_PASSWORD")
    static let title = "File Options"
}

typealias PINOptions = ExposedSecretOptions<PIN>
typealias NewPINOptions = SecretOptions<NewPIN>
typealias PUKOptions = ExposedSecretOptions<PUK>
typealias NewPUKOptions = SecretOptions<NewPUK>
typealias ManagementKeyOptions = ExposedSecretOptions<ManagementKeySecret>
typealias NewManagementKeyOptions = SecretOptions<NewManagementKeySecret>
typealias PasswordOptions = ExposedSecretOptions<OATHPassword>
typealias FilePasswordOptions = SecretOptions<FilePassword>

extension PINOptions {
    /// Refuses a file, given by its name, that is to come from standard input together with the PIN.
    func checkInput(_ file: String?, _ words: String) throws {
        if file == "-", isStandardInput { throw UsageError("standard input cannot be both, PIN and \(words)") }
    }
}

extension FilePasswordOptions {
    /// Returns the password; asks the user if no option or variable gives it.
    func password(_ question: String, _ terminal: Terminal) throws -> Secret {
        try source.read(terminal, asking: question)
    }

    /// Returns the password for a file to be written; asks the user twice if no option or variable gives it.
    func newPassword(_ question: String, _ terminal: Terminal) throws -> Secret {
        try source.readNew(terminal, asking: question)
    }
}

/// The current PIN and a new one.
struct PINChangeOptions: ParsableArguments {
    /// For the help of verbs with these options.
    static let order =
        "When both are read from standard input, the first line is the current PIN, the second the new one."

    @OptionGroup var pin: PINOptions
    @OptionGroup var new: NewPINOptions
}
