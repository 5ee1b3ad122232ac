// SPDX-License-Identifier: Apache-2.0

package import Arguments
import Synchronization
package import YKCrypto
package import YKProtocols

/// The names of a secret on the command line and in messages.
package struct SecretName: Sendable {
    /// The name of its options: `pin` for `--pin-stdin` and `--pin-fd`.
    package let option: String
    /// The noun for it, without an article.
    package let noun: String
    /// The environment variable that may hold it.
    package let variable: String
    /// The format of the line on standard input, such as "hexadecimal digits".
    package var form: String?
    /// A further way to provide it, for hints.
    package var alternative: String?
    /// The maximum length, in bytes.
    package var limit = SecretInput.limit

    package init(
        _ option: String, _ noun: String, _ variable: String, form: String? = nil, alternative: String? = nil,
        limit: Int = SecretInput.limit
    ) {
        (self.option, self.noun, self.variable) = (option, noun, variable)
        (self.form, self.alternative, self.limit) = (form, alternative, limit)
    }

    /// The options and the variable in a row of help.
    package func brief(_ further: String = "") -> BriefOptions {
        BriefOptions(
            noun,
            "--\(option)-stdin, --\(option)-fd <n>, \(variable)" + further + (form.map { " (\($0))" } ?? ""),
            readers: ["--\(option)-stdin"])
    }

    /// How it can be given without a prompt.
    package var hint: String {
        "give the \(noun) with --\(option)-stdin, --\(option)-fd N or \(variable)"
            + (alternative.map { ", \($0)" } ?? "")
    }
}

/// A kind of secret.
package protocol SecretKind: SendableMetatype {
    static var name: SecretName { get }
    /// The title of its options in help.
    static var title: String { get }
}

extension SecretKind {
    package static var title: String { "" }
}

/// Where a secret is read from, unless the user is asked for it.
package struct SecretOptions<Kind: SecretKind>: ParsableArguments {
    package static var title: String { Kind.title }

    package static var brief: BriefOptions? { Kind.name.brief() }

    @Flag(
        "--\(Kind.name.option)-stdin",
        help: "Read the \(Kind.name.noun) from standard input, one line" + (Kind.name.form.map { " of \($0)." } ?? "."))
    package var isStandardInput = false

    @Option(
        "--\(Kind.name.option)-fd <n>",
        help: "Read the \(Kind.name.noun) from this open file descriptor; or set \(Kind.name.variable).")
    package var descriptor: Int32?

    /// How it can be given, if the verb's options have other names.
    package var own: String?

    package init() {}

    /// The places where another secret is read from.
    package init<Other>(_ other: SecretOptions<Other>) {
        (isStandardInput, descriptor, own) = (other.isStandardInput, other.descriptor, other.own ?? Other.name.hint)
    }

    /// Whether an option names a place.
    package var isGiven: Bool { isStandardInput || descriptor != nil }

    package var source: SecretInput.Source {
        SecretInput.Source(
            isStandardInput: isStandardInput, descriptor: descriptor, variable: Kind.name.variable,
            hint: own ?? Kind.name.hint, limit: Kind.name.limit, noun: Kind.name.noun)
    }
}

/// A kind of secret that can be given on the command line itself.
package protocol ExposedSecretKind: SecretKind {
    /// The names of the option with the secret.
    static var names: Names { get }
}

extension ExposedSecretKind {
    package static var names: Names { "--\(name.option)" }

    /// The warning about a secret on the command line.
    package static var warning: String {
        "a \(name.noun) on the command line can be seen by others; use --\(name.option)-stdin or the prompt"
    }
}

/// Where a secret is read from, or the secret itself.
package struct ExposedSecretOptions<Kind: ExposedSecretKind>: ParsableArguments {
    package static var title: String { Kind.title }

    package static var brief: BriefOptions? {
        let shortest = Kind.names.words.min { $0.count < $1.count } ?? ""
        return Kind.name.brief(", \(shortest) <\(Kind.names.plain)> (others see it)")
    }

    @OptionGroup package var places: SecretOptions<Kind>

    @Option(
        Kind.names,
        help: "The \(Kind.name.noun) itself. Other users of this machine can see it; ykit warns of that.")
    package var text: String?

    package init() {}

    /// The places where another secret is read from.
    package init<Other>(_ other: SecretOptions<Other>) { places = SecretOptions(other) }

    package var isStandardInput: Bool { places.isStandardInput }

    package var source: SecretInput.Source {
        var source = places.source
        source.text = text
        return source
    }

    /// Whether an option gives it or names a place.
    package var isOption: Bool { text != nil || places.isGiven }
}

// MARK: secrets of several verbs

package enum PIN: ExposedSecretKind {
    package static let name = SecretName("pin", "PIN", "YKIT_PIN")
    package static let title = "PIN Options"
}

package enum NewPIN: SecretKind {
    package static let name = SecretName("new-pin", "new PIN", "YKIT_NEW_PIN")
    package static let title = "New PIN Options"
}

package enum PUK: ExposedSecretKind {
    package static let name = SecretName("puk", "PUK", "YKIT_PUK")
    package static let title = "PUK Options"
}

package enum NewPUK: SecretKind {
    package static let name = SecretName("new-puk", "new PUK", "YKIT_NEW_PUK")
    package static let title = "New PUK Options"
}

package enum ManagementKeySecret: ExposedSecretKind {
    package static let name = SecretName(
        "management-key", "management key", "YKIT_MANAGEMENT_KEY", form: "hexadecimal digits")
    package static let title = "Management Key Options"
    package static let names: Names = ["-m", "--management-key"]
}

package enum NewManagementKeySecret: SecretKind {
    package static let name = SecretName(
        "new-management-key", "new management key", "YKIT_NEW_MANAGEMENT_KEY", form: "hexadecimal digits",
        alternative: "or generate one with --generate")
    package static let title = "New Management Key Options"
}

package enum OATHPassword: ExposedSecretKind {
    package static let name = SecretName("password", "password", "YKIT_OATH_PASSWORD")
    package static let title = "Password Options"
    package static let names: Names = ["-p", "--password"]
}

package enum FilePassword: SecretKind {
    package static let name = SecretName("file-password", "file's password", "YKIT_FILE_PASSWORD")
    package static let title = "File Options"
}

package typealias PINOptions = ExposedSecretOptions<PIN>
package typealias NewPINOptions = SecretOptions<NewPIN>
package typealias PUKOptions = ExposedSecretOptions<PUK>
package typealias NewPUKOptions = SecretOptions<NewPUK>
package typealias ManagementKeyOptions = ExposedSecretOptions<ManagementKeySecret>
package typealias NewManagementKeyOptions = SecretOptions<NewManagementKeySecret>
package typealias PasswordOptions = ExposedSecretOptions<OATHPassword>
package typealias FilePasswordOptions = SecretOptions<FilePassword>

extension FilePasswordOptions {
    /// Returns the password; asks the user if no option or variable gives it.
    package func password(_ question: String, _ terminal: Terminal) throws -> Secret {
        try source.read(terminal, asking: question)
    }

    /// Returns the password for a file to be written; asks the user twice if no option or variable gives it.
    package func newPassword(_ question: String, _ terminal: Terminal) throws -> Secret {
        try source.readNew(terminal, asking: question)
    }
}

/// The current PIN and a new one.
package struct PINChangeOptions: ParsableArguments {
    /// For the help of verbs with these options.
    package static let order =
        "If both are read from standard input, the first line is the current PIN, the second the new one."

    @OptionGroup package var pin: PINOptions
    @OptionGroup package var new: NewPINOptions

    package init() {}
}

extension CredentialKind {
    /// The variable for this credential alone: `YKIT_PIV_PIN`.
    package var variable: String {
        // 'joined' would search the conformances of the whole program (tools/bench/start).
        let letters = name.utf8.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "_") : $0 }
        return "YKIT_" + String(decoding: letters, as: UTF8.self).uppercased()
    }
}

/// Which PIN of which key: a PIN belongs to one application of one key.
package struct PINOwner: Sendable, Hashable {
    package let kind: CredentialKind
    /// The serial number of the key; `nil` for the key that the verb uses, whatever its number.
    package let key: String?

    package init(kind: CredentialKind, key: String?) { (self.kind, self.key) = (kind, key) }

    /// Whether both may be the same owner.
    package func fits(_ other: PINOwner) -> Bool {
        kind == other.kind && (key == nil || other.key == nil || key == other.key)
    }
}

/// Which application of which key each given PIN was used for.
///
/// A PIN that is given once, by an option or a variable, is the PIN of one application of one key. It is never sent to
/// another, where it would be wrong and cost a try: for the other one it counts as not given.
package final class PINClaims: Sendable {
    private let owners = Mutex<[String: PINOwner]>([:])

    package init() {}

    /// Reserves `YKIT_PIN` for the PIN of an application.
    package func reserve(for kind: CredentialKind) {
        owners.withLock { $0[PIN.name.variable] = PINOwner(kind: kind, key: nil) }
    }

    /// Whether an owner may use the PIN given in a place: no other owner has used it.
    package func permits(_ place: String, _ owner: PINOwner) -> Bool {
        owners.withLock { $0[place]?.fits(owner) ?? true }
    }

    /// Records that an owner uses the PIN given in a place.
    package func take(_ place: String, _ owner: PINOwner) {
        owners.withLock { if $0[place]?.key == nil { $0[place] = owner } }
    }
}
