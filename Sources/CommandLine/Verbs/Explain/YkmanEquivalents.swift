// SPDX-License-Identifier: Apache-2.0

/// Translates ykman's commands and options.
enum YkmanEquivalents {
    /// Commands of ykman 5 with a different name here.
    static let commands: [(ykman: String, ykit: String)] = [
        ("oath accounts add", "oath add"),
        ("oath accounts code", "oath calculate"),
        ("oath accounts delete", "oath delete"),
        ("oath accounts import", "oath import"),
        ("oath accounts list", "oath list"),
        ("oath accounts rename", "oath rename"),
        ("oath accounts uri", "oath uri"),
        ("oath accounts", "oath list"),
        ("fido2 access change-pin", "fido2 pin change"),
        ("fido2 access verify-pin", "fido2 pin verify"),
        ("fido2 access set-min-length", "fido2 config min-pin-length"),
        ("fido2 access force-change", "fido2 config force-pin-change"),
        ("fido2 access", "fido2 pin"),
        ("fido2 config toggle-always-uv", "fido2 config always-uv"),
        ("fido2 config enable-ep-attestation", "fido2 config enable-enterprise-attestation"),
        ("openpgp access change-reset-code", "openpgp access set-reset-code"),
        ("openpgp keys attest", "openpgp attest"),
        ("hsmauth access change-management-password", "hsmauth change-management-password"),
        ("hsmauth access", "hsmauth change-management-password"),
        ("hsmauth credentials change-password", "hsmauth change-password"),
        ("hsmauth credentials delete", "hsmauth delete"),
        ("hsmauth credentials derive", "hsmauth add --derive"),
        ("hsmauth credentials export", "hsmauth export-public-key"),
        ("hsmauth credentials generate", "hsmauth add --generate"),
        ("hsmauth credentials import", "hsmauth add"),
        ("hsmauth credentials list", "hsmauth list"),
        ("hsmauth credentials symmetric", "hsmauth add"),
        ("hsmauth credentials", "hsmauth list"),
        ("config set-lock-code", "config lock-code"),
        ("script", "apdu"),
    ]

    /// Options of ykman with a different name here, and the command they belong to, "" for all commands.
    static let options: [(ykman: String, command: String, ykit: String)] = [
        ("--valid-days", "piv certificates", "--days"),
        ("--hash-algorithm", "piv certificates", "--hash"),
        ("-a", "piv certificates", "--hash"),
        ("--oath-type", "oath", "--type"),
        ("--password", "oath", "--password-stdin, --password-fd or YKIT_OATH_PASSWORD"),
        ("-H", "oath", "--show-hidden"),
        ("--remember", "oath", "'ykit oath access remember'"),
        ("-P", "", "--pin-stdin, --pin-fd or YKIT_PIN"),
        ("--admin-pin", "openpgp", "--admin-pin-stdin, --admin-pin-fd or YKIT_ADMIN_PIN"),
        ("-r", "", "--reader"),
        ("-d", "", "--device"),
    ]

    /// Returns ykit's command for the longest matching prefix of a ykman command.
    static func command(_ words: [String]) -> String? {
        let line = words.map { $0 == "fido" ? "fido2" : $0 }
        return commands.filter { line.starts(with: $0.ykman.split(separator: " ").map(String.init)) }
            .max { $0.ykman.count < $1.ykman.count }?.ykit
    }

    /// Returns ykit's option for a ykman option of a command.
    static func option(_ name: String, of words: [String]) -> String? {
        let line = words.map { $0 == "fido" ? "fido2" : $0 }
        return options.first { entry in
            entry.ykman == name && line.starts(with: entry.command.split(separator: " ").map(String.init))
        }?.ykit
    }
}
