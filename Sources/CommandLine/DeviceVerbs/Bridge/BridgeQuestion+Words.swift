// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import YKBridge
import YKInteraction
import YKWire

extension Ceremony {
    /// The action, as a phrase after "to". Names come from programs.
    var words: String {
        switch self {
        case .register(let site, let user?):
            "create a credential at \(Untrusted.site(site)), for \(Untrusted.name(user))"
        case .register(let site, nil): "create a credential at \(Untrusted.site(site))"
        case .signIn(let site): "sign in to \(Untrusted.site(site))"
        case .search(let site): "search for credentials at \(Untrusted.site(site))"
        case .deriveSecret(let site): "derive a secret for \(Untrusted.site(site))"
        case .registerU2F: "create a U2F credential at a site known only by its hash"
        case .signInU2F: "sign in with U2F to a site known only by its hash"
        case .select: "choose this key"
        case .reset: "delete all credentials of the card"
        case .pin: "verify or change the PIN"
        case .card(let use): use.words
        case .manage: "answer a program"
        }
    }
}

extension CardUse {
    /// What it does, after "to".
    var words: String {
        switch self {
        case .unlock(let application): "verify the \(application.title) PIN, which is entered here"
        case .pivKey(let slot): "sign or decrypt with the PIV key in slot \(Hex.encode([slot]))"
        case .pivAgreement(let slot): "derive a secret with the PIV key in slot \(Hex.encode([slot]))"
        case .openPGPSign: "sign with the OpenPGP key"
        case .openPGPDecrypt: "decrypt with the OpenPGP key"
        case .openPGPAuthenticate: "authenticate with the OpenPGP key"
        case .code(let account): "calculate the code of \(Untrusted.name(account))"
        case .allCodes: "calculate the codes of all accounts"
        }
    }
}

extension BridgeWait {
    /// What the user has to do for a ceremony.
    func words(for ceremony: Ceremony) -> String {
        switch self {
        case .card: "place the card on the reader to \(ceremony.words)"
        case .cardBack: "put the card back to \(ceremony.words)"
        case .lift(let reader): "lift the card from '\(reader.printable)' and place it there again to \(ceremony.words)"
        case .confirmation: "confirm to \(ceremony.words)"
        case .otherProgram(let reader): "another program is using the card in '\(reader.printable)'"
        }
    }
}

extension RemoteApplication {
    /// Its name for people.
    var title: String {
        switch self {
        case .piv: "PIV"
        case .oath: "OATH"
        case .openpgp: "OpenPGP"
        }
    }
}

extension BridgeQuestion: Worded {
    var words: QuestionWords {
        switch self {
        case .card(let ceremony, let reader):
            QuestionWords("Use the card?", "use the card in '\(reader.printable)' to \(ceremony.words)")
        case .remote(let ceremony, let host):
            QuestionWords(
                "Use the key for another machine?",
                "\(Untrusted.site(host)) asks to \(ceremony.words): use your key")
        case .local(let ceremony, let programs):
            QuestionWords(
                "Use the key?",
                "use the key to \(ceremony.words)" + (ceremony.localSecret.map { ", which \($0)" } ?? "")
                    + Self.asking(programs))
        }
    }

    /// Who asks, as far as is known: any of the programs that have the device open.
    private static func asking(_ programs: [String]) -> String {
        let names = programs.prefix(3).map { Untrusted.name($0) }
        guard let first = names.first else { return "" }
        return names.count == 1 ? " (asked by \(first))" : " (asked by one of \(names.joined(separator: ", ")))"
    }

    /// The message for a use that could not be confirmed.
    var refusal: String {
        switch self {
        case .card(let ceremony, let reader): "the card in '\(reader.printable)' was not used to \(ceremony.words)"
        case .remote(let ceremony, let host): "the key was not used to \(ceremony.words) for \(Untrusted.site(host))"
        case .local(let ceremony, _): "the key was not used to \(ceremony.words)"
        }
    }
}

extension Ceremony {
    /// What a credential of a relying party that is not a web site opens, after "which"; `nil` for a web site.
    var localSecret: String? {
        switch self {
        case .register(let site, _), .signIn(let site), .deriveSecret(let site): Self.localSecret(of: site)
        default: nil
        }
    }

    private static func localSecret(of site: String) -> String? {
        guard RemotePolicy.isLocal(site) else { return nil }
        return switch site {
        case "io.systemd.cryptsetup": "opens encrypted disks of this machine"
        case "io.systemd.home": "opens home folders of this machine"
        case "age-encryption.org": "decrypts files"
        case _ where site.hasPrefix("ssh:"): "is an SSH key"
        case _ where site.hasPrefix("pam://"): "is a login of this machine"
        case _ where site.hasPrefix("ykit:"): "opens a store of ykit"
        default: "is not a web site and may guard a secret of this machine"
        }
    }
}

extension AccountQuestion: Worded {
    var words: QuestionWords {
        QuestionWords("Which account?", "which account at \(Untrusted.site(site))")
    }
}
