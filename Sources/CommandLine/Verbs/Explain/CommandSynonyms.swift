// SPDX-License-Identifier: Apache-2.0

/// Words that other tools and people use for the commands of ykit.
enum CommandSynonyms {
    /// Words as they may be typed, and the commands that they mean, the likeliest first; a command that begins with a
    /// dash is an option of the program.
    static let commands: [(typed: [String], ykit: [String])] = [
        (["passkeys", "passkey", "webauthn", "fido2 passkeys", "fido2 keys"], ["fido2 credentials"]),
        (["ctap"], ["fido2"]),
        (["totp", "hotp", "authenticator"], ["oath"]),
        (["codes", "code"], ["oath calculate"]),
        (["phone", "migrate"], ["oath import"]),
        (["attestation", "attestations"], ["attest", "piv attest", "openpgp attest"]),
        (["gpg", "pgp"], ["openpgp"]),
        (["yubiotp", "challenge-response", "chalresp"], ["otp"]),
        (["pin"], ["fido2 pin", "piv access", "openpgp access"]),
        (
            ["forgotten pin", "forgot pin", "lost pin", "blocked pin"],
            ["piv access unblock-pin", "openpgp access unblock-pin", "fido2 reset"]
        ),
        (["change-pin"], ["fido2 pin change", "piv access change-pin", "openpgp access change-pin"]),
        (["certificates", "certs", "x509"], ["piv certificates"]),
        (["password"], ["oath access", "secrets"]),
        (["disk", "cryptsetup", "systemd-cryptenroll"], ["luks"]),
        (["encrypt", "decrypt"], ["age", "piv decrypt", "openpgp decrypt"]),
        (["agent", "ssh-agent"], ["ssh agent"]),
        (["ssh-keygen", "keygen"], ["ssh generate"]),
        (["backup", "spare", "clone"], ["compare", "inventory", "setup", "oath export"]),
        (["init", "begin", "start"], ["setup"]),
        (["diagnose", "check", "debug", "troubleshoot"], ["doctor"]),
        (["udev"], ["udev-rules"]),
        (["devices", "keys", "ls"], ["list"]),
        (["status", "show"], ["info"]),
        (["simulate", "emulate", "fake"], ["virtual"]),
        (["record", "replay"], ["capture"]),
        (["version"], ["--version"]),
        (["piv list", "piv keys list", "piv certificates list", "piv status", "piv slots"], ["piv info"]),
        (["piv keygen", "piv generate-key"], ["piv keys generate"]),
        (["piv request", "piv csr"], ["piv certificates request"]),
        (["fido2 list"], ["fido2 credentials list"]),
        (["fido2 delete", "fido2 remove"], ["fido2 credentials delete"]),
        (["fido2 create", "fido2 enroll"], ["fido2 register"]),
        (["fido2 login", "fido2 authenticate"], ["fido2 assert"]),
        (["oath show", "oath get", "oath generate", "oath codes"], ["oath calculate"]),
        (["oath set-password", "oath change-password", "oath password"], ["oath access change"]),
        (["oath remember-password"], ["oath access remember"]),
        (["oath qr", "oath scan"], ["oath import"]),
        (["openpgp status", "openpgp card-status", "openpgp list"], ["openpgp info"]),
        (["config list", "config show"], ["config usb --list"]),
        (["config enable", "config disable"], ["config usb", "config nfc"]),
        (["ssh add", "ssh list"], ["ssh keys"]),
        (["ssh create"], ["ssh generate"]),
        (["luks enroll"], ["luks add"]),
        (["age encrypt"], ["age generate"]),
    ]

    /// Words with the same meaning inside the name of a command.
    static let words: [(typed: String, ykit: [String])] = [
        ("remove", ["delete"]), ("rm", ["delete"]), ("del", ["delete"]), ("erase", ["delete", "reset"]),
        ("status", ["info"]), ("show", ["info", "list"]), ("ls", ["list"]), ("new", ["generate", "add"]),
        ("create", ["generate", "add"]), ("keygen", ["generate"]), ("wipe", ["reset"]), ("edit", ["update"]),
        ("modify", ["update"]), ("cert", ["certificate"]), ("fingerprint", ["fingerprints"]), ("passwd", ["change"]),
        ("csr", ["request"]), ("enrol", ["enroll"]), ("scan", ["import"]), ("save", ["export"]),
    ]

    /// The commands that the first of these words mean, and how many words that are.
    static func commands(_ line: [String]) -> (ykit: [String], count: Int)? {
        for count in stride(from: line.count, to: 0, by: -1) {
            let typed = line.prefix(count).joined(separator: " ").lowercased()
            if let entry = commands.first(where: { $0.typed.contains(typed) }) { return (entry.ykit, count) }
        }
        return nil
    }

    /// The words that a part of a command's name may stand for: itself, in the singular or plural, and its synonyms.
    static func meanings(of part: String) -> Set<String> {
        let other = part.hasSuffix("s") ? String(part.dropLast()) : part + "s"
        return Set([part, other] + (words.first { $0.typed == part }?.ykit ?? []))
    }
}
