// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKHardware
package import YKTransport

extension Explain {
    /// Explains who refused access, and the rule that grants it.
    package static func refusal(_ refusal: LinkError.Refusal) -> Explanation {
        switch refusal {
        case .service:
            Explanation(
                "polkit", .permission, "polkit refused \(User.name) the use of the smart card service",
                hint: rule)
        case .card(let reader):
            Explanation(
                "polkit", .permission, "polkit refused \(User.name) the use of the card in '\(reader.printable)'",
                hint: rule)
        case .socket(let path):
            Explanation(
                "socket-permission", .permission,
                "\(User.name) may not open the socket of the smart card service, \(path)",
                hint: "sudo systemctl restart pcscd.socket, which gives it the permissions it came with")
        case .device(let path): device(path, UDevRule(for: path))
        }
    }

    /// Explains an inaccessible device in terms of the udev rule.
    package static func device(_ path: String, _ rule: UDevRule) -> Explanation {
        let what = "\(User.name) may not open \(path.printable)"
        switch rule {
        case .missing:
            return Explanation(
                "udev-rule", .permission, "\(what), no udev rule allows it",
                hint: """
                    install the rules for security keys, then repeat the command:
                      \(UDevRule.commands[0])
                      \(UDevRule.commands[1])
                    """)
        case .notApplied:
            return Explanation(
                "udev-rule-not-applied", .permission,
                "\(what): \(UDevRule.file) is installed, but was not applied to it", hint: UDevRule.commands[1])
        case .applied:
            return Explanation(
                "udev-seat", .permission,
                "\(what): the udev rule gives it to the user at this machine's screen, and this session is not there",
                hint: """
                    log in at the machine itself, not over ssh; or let \(User.name) use keys from anywhere, then log in again:
                      sudo usermod -aG \(UDevRule.group) \(User.name)
                    """)
        }
    }

    /// The rule that lets one group use smart cards without a local session (polkit(8)). It names both actions, since
    /// using a card requires access to the service.
    private static var rule: String {
        let tests = ["access_pcsc", "access_card"].map { "action.id == \"org.debian.pcsc-lite.\($0)\"" }
        return """
            allow it to one group with this rule in /etc/polkit-1/rules.d/60-pcscd.rules:
              polkit.addRule(function(action, subject) {
                if ((\(tests.joined(separator: " ||\n       "))) &&
                    subject.isInGroup("\(UDevRule.group)")) { return polkit.Result.YES; }
              });
            then: sudo usermod -aG \(UDevRule.group) \(User.name) && sudo systemctl restart polkit pcscd; log in again, repeat the command
            """
    }
}
