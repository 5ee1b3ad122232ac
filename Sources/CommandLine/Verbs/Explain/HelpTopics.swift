// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import YKPIV
import YKProtocols
import YKWire

/// The output of `ykit` alone: the groups, first steps and help topics; at most 30 lines.
enum FirstScreen {
    /// The rows: words that may follow `ykit`, and their purpose.
    static var rows: [(words: [String], purpose: String)] {
        Program.root.about.topics.map { topic in
            (topic.commands.all.filter(\.about.shouldDisplay).map(\.name), topic.purpose)
        }
    }

    /// Example commands.
    static let examples = [
        "ykit list",
        "ykit oath calculate github",
        "ykit fido2 credentials list",
        "ykit piv keys generate 9a public.pem",
        "ykit --virtual oath list          # without a key",
    ]

    package static var text: String {
        let shown = rows.map { "  " + $0.words.listed().padded(to: 20) + $0.purpose }
        let topics = HelpTopic.allCases.map(\.rawValue).joined(separator: "|")
        return
            (["ykit is a toolkit for hardware security keys.", ""] + shown + ["", "To begin with:"]
            + examples.map { "  " + $0 }
            + [
                "", "'ykit GROUP --help' lists what a group does, 'ykit help -k WORD' searches.",
                "'ykit help \(topics)' explains more.",
            ])
            .joined(separator: "\n")
    }
}

/// The topics of `ykit help` other than commands.
package enum HelpTopic: String, CaseIterable {
    case options
    case environment
    case exitCodes = "exit-codes"
    case slots
    case config
    case formats

    /// What it explains.
    var purpose: String {
        switch self {
        case .options: "Global options."
        case .environment: "Environment variables."
        case .exitCodes: "Exit codes."
        case .slots: "Slots and data objects of PIV, keys of OpenPGP, slots of Yubico OTP."
        case .config: "The configuration file and aliases."
        case .formats: "Files that accounts are imported from."
        }
    }

    /// Returns the explanation, wrapped at `columns` columns.
    package func text(columns: Int) -> String {
        switch self {
        case .options:
            "Global options, which can be given anywhere on the command line:\n\n" + HelpPage.explained(columns)
        case .environment: Self.environment(columns)
        case .exitCodes: "Exit codes:\n\n" + ExitStatus.table
        case .slots: Self.places
        case .formats: ImportFormats.text(columns: columns)
        case .config:
            Self.configuration.split(separator: "\n", omittingEmptySubsequences: false)
                .flatMap { paragraph in
                    let lines = String(paragraph).wrapped(to: columns)
                    return lines.prefix(1) + lines.dropFirst().map(\.trimmed)
                }.joined(separator: "\n")
        }
    }

    private static var configuration: String {
        """
        ykit reads $XDG_CONFIG_HOME/ykit/config, which is ~/.config/ykit/config unless that variable is set. \
        YKIT_CONFIG=FILE reads another file, YKIT_CONFIG=off none.

        Each line is a name and a value; a line that begins with # is a comment:

          # the key on the desk, over USB
          device = 12345678
          link = usb
          timeout = 60
          alias.codes = oath calculate

        A name is a global option without its dashes ('ykit help options'). A flag is yes or no. A file has a path that \
        begins with / or ~/. Variables override the file, and the command line overrides both; an option that chooses a \
        key (device, reader, path, virtual, replay) overrides all five.

        alias.NAME makes 'ykit NAME' stand for a command; words after it are added, and quotation marks work as in a \
        shell. An alias cannot replace a command of ykit. No setting turns off a question: only --force on the command \
        line or in an alias does, with the commands that have it.

        The file must belong to you or root, and nobody else may be able to change it. An error is reported with the \
        file and the line, and nothing is done. 'ykit doctor' shows the settings in effect.

        'ykit config --help' lists the commands that configure a key.
        """
    }

    private static func environment(_ columns: Int) -> String {
        let entries = variables.flatMap { entry in
            ("  " + entry.names.listed()).wrapped(to: columns)
                + ("      " + entry.meaning).wrapped(to: columns)
        }
        return (precedence + [""] + entries).joined(separator: "\n")
    }

    /// Notes that apply to all variables.
    package static let precedence = [
        "The command line overrides variables, and variables the configuration file.",
        "ykit reports on standard error when it takes a secret from a variable.",
        "Programs that ykit starts do not inherit variables with secrets.",
    ]

    /// The environment variables that hold no secret. Programs that ykit starts inherit these only.
    package static let settings: Set<String> = [
        "YKIT_DEVICE", "YKIT_READER", "YKIT_PATH", "YKIT_LINK", "YKIT_TIMEOUT", "YKIT_2FA_SERVER", "YKIT_SCP",
        "YKIT_SCP_CA", "YKIT_SCP_CARD_KEY", "YKIT_SCP_OCE", "YKIT_NOTIFY", "YKIT_CONFIG", "YKIT_KEYRING", "YKIT_NAMES",
        "YKIT_FAULT", "YKIT_PROCESSORS", "YKIT_TASKS",
    ]

    /// The environment variables of ykit, and their meaning.
    package static let variables: [(names: [String], meaning: String)] = [
        (
            ["YKIT_DEVICE", "YKIT_READER", "YKIT_PATH", "YKIT_LINK", "YKIT_TIMEOUT"],
            "Which key, how it is reached, and how long an operation may take."
        ),
        (
            ["YKIT_PIN", "YKIT_NEW_PIN"],
            "The PIN of the verb's application, and the new one when it is changed. It is the PIN of one application of one key: PIV for 'ykit approve', 'ykit ssh agent' and age with an identity in a slot, FIDO2 for 'ykit 2fa', otherwise the first application that requires one. It is sent to no other application and no other key."
        ),
        (
            CredentialKind.pins.map(\.variable),
            "The PIN of one application, for verbs that need two; the FIDO2 PIN is also that of an Arculus card. With the serial number of a key, as in YKIT_PIV_PIN_12345678, it is the PIN of that key, for verbs with two keys; YKIT_MANAGEMENT_KEY and YKIT_OATH_PASSWORD work in the same way."
        ),
        (
            ["YKIT_PUK", "YKIT_NEW_PUK", "YKIT_MANAGEMENT_KEY", "YKIT_NEW_MANAGEMENT_KEY"],
            "Other secrets of PIV."
        ),
        (
            ["YKIT_ADMIN_PIN", "YKIT_NEW_ADMIN_PIN", "YKIT_RESET_CODE"],
            "Other secrets of OpenPGP."
        ),
        (
            ["YKIT_APPROVE_PASSWORD", "YKIT_CONTAINER_ANSWER"],
            "The password or registration code with which 'ykit approve' signs in or enrolls, and the answer that a container asks for."
        ),
        (["YKIT_OCRA_SECRET", "YKIT_OCRA_PIN"], "The secret of an OCRA token, and the PIN that its suite requires."),
        (
            ["YKIT_2FA_SERVER", "YKIT_2FA_PASSWORD", "YKIT_2FA_API_KEY"],
            "The privacyIDEA server of 'ykit 2fa', the password of the account that asks, or its API key or token."
        ),
        (
            ["YKIT_2FA_CODE", "YKIT_2FA_USER_PASSWORD"],
            "The PIN that a user was sent, and the password of a new user."
        ),
        (["YKIT_FILE_PASSWORD"], "The password of a file with a private key."),
        (
            ["YKIT_OATH_PASSWORD", "YKIT_OATH_NEW_PASSWORD", "YKIT_OATH_SECRET"],
            "The password of the OATH accounts, the new one when it is changed, and the secret of a new account."
        ),
        (
            ["YKIT_SECRETS_PASSWORD", "YKIT_SECRETS_METADATA"],
            "The password of an entry on a Nitrokey 3, and its metadata."
        ),
        (["YKIT_OTP_KEY", "YKIT_OTP_PRIVATE_ID", "YKIT_OTP_PASSWORD"], "The secrets for a Yubico OTP slot."),
        (
            ["YKIT_OTP_ACCESS_CODE", "YKIT_OTP_NEW_ACCESS_CODE"],
            "The code that protects a slot, and the new one when it is changed."
        ),
        (["YKIT_API_KEY"], "The key that is shared with validation servers."),
        (
            ["YKIT_HSMAUTH_PASSWORD", "YKIT_HSMAUTH_NEW_PASSWORD"],
            "The password of a YubiHSM Auth credential, and the new one when it, or the management password, is changed."
        ),
        (
            ["YKIT_HSMAUTH_MANAGEMENT_PASSWORD", "YKIT_HSMAUTH_DERIVATION_PASSWORD"],
            "The management password, to add and delete such credentials, and the password that the keys of a new one are derived from."
        ),
        (
            ["YKIT_SCP", "YKIT_SCP_KEYS", "YKIT_SCP_CA", "YKIT_SCP_CARD_KEY", "YKIT_SCP_OCE", "YKIT_SCP_PASSWORD"],
            "Which secure channel is used, the keys of SCP03 themselves, the files of SCP11, and the password of the host's file."
        ),
        (
            ["YKIT_SECURID_PASSWORD", "YKIT_NEW_PASSWORD", "YKIT_ACTIVATION_CODE"],
            "The password of a SecurID token to import, that of an export, and the code for a CT-KIP server."
        ),
        (
            ["YKIT_SECURID_PIN", "YKIT_STORE_PASSPHRASE"],
            "The PIN of a SecurID token, and the passphrase of the store that tokens are kept in."
        ),
        (["YKIT_VOLUME_PASSPHRASE"], "A passphrase of the LUKS2 volume that a key is enrolled on or removed from."),
        (
            ["YKIT_LOCK_CODE", "YKIT_NEW_LOCK_CODE"],
            "The code that protects the configuration of a YubiKey, and the new one when it is changed."
        ),
        (
            ["YKIT_NOTIFY"],
            "Reports when the key waits for a touch, and when it no longer does: desktop for notifications, else a command for the shell, which gets one line of JSON on its standard input (event: touch or done, message, reason, pid)."
        ),
        (
            ["YKIT_CONFIG"],
            "The configuration file to use instead of the default ('ykit help config'); off reads none."
        ),
        (["YKIT_KEYRING"], "Where 'ykit oath access remember' keeps passwords: secret-service or file."),
        (["YKIT_NAMES"], "off stores no names of keys and accounts for shell completion."),
        (["YKIT_FAULT"], "Faults of the virtual key of --virtual, for tests."),
        (
            ["YKIT_PROCESSORS", "YKIT_TASKS"],
            "all and pool let threads use all processors and tasks use Swift's pool, to measure what ykit saves by default."
        ),
        (["NO_COLOR"], "No colors."),
    ]

    private static let others = [
        "Keys of OpenPGP: sig, dec, aut, and att for attestation.",
        "Slots of Yubico OTP: 1 (a short touch) and 2 (a long touch).",
    ]

    private static var places: String {
        let slots = (PIVSlot.main + PIVSlot.retired.prefix(1) + PIVSlot.retired.suffix(1) + [.attestation]).map {
            slot in
            "  " + slot.description.padded(to: 6) + slot.name
        }
        let objects = PIVObjectID.named.map { "  " + $0.description.padded(to: 34) + "0x" + Hex.encode($0.bytes) }
        let title = "Slots of PIV, by their digits or names; \(PIVSlot.retiredWords) are retired1 to retired20:"
        return
            ([title, ""] + slots
            + ["", "Data objects of PIV, by their names or digits:", ""] + objects + [""] + Self.others).joined(
                separator: "\n")
    }
}

/// What `ykit oath import` reads, as `ykit help formats` and the OATH article list it.
package enum ImportFormats {
    /// A kind of file: its name, its plain and encrypted forms, and a note.
    package typealias Row = (name: String, plain: String?, encrypted: String?, note: String?)

    /// The topic, wrapped at `columns` columns.
    static func text(columns: Int) -> String {
        let entries = Program.formats().flatMap { row in
            let forms = [row.plain, row.encrypted.map { "encrypted: " + $0 }, row.note].compactMap { $0 }
            return ["  " + row.name] + forms.flatMap { ("      " + $0).wrapped(to: columns) }
        }
        let closing = """
            The content determines the format; the name of a file does not matter. A plain export may be in a ZIP \
            archive; text is UTF-8, UTF-16 or Windows-1252. The password of an encrypted file is given with \
            --file-password-stdin, --file-password-fd N or YKIT_FILE_PASSWORD, or at the prompt.
            """
        return (["Files that 'ykit oath import' reads:", ""] + entries + [""] + closing.wrapped(to: columns))
            .joined(separator: "\n")
    }

    /// The table of the OATH article, in Markdown.
    package static var markdown: String {
        (["| program | plain | encrypted | note |", "|---|---|---|---|"]
            + Program.formats().map {
                "| \($0.name) | \($0.plain ?? "–") | \($0.encrypted ?? "–") | \($0.note ?? "") |"
            })
            .joined(separator: "\n")
    }
}
