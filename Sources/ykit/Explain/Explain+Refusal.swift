// SPDX-License-Identifier: Apache-2.0

import YKTransport

extension Explain {
    /// Who refused what, and the rule that allows it.
    static func refusal(_ refusal: LinkError.Refusal) -> Explanation {
        switch refusal {
        case .service:
            Explanation(
                "polkit", .permission, "polkit refused \(User.name) the use of the smart card service",
                hint: rule(for: ["access_pcsc", "access_card"]))
        case .card(let reader):
            Explanation(
                "polkit", .permission, "polkit refused \(User.name) the use of the card in '\(reader.printable)'",
                hint: rule(for: ["access_card"]))
        case .socket(let path):
            Explanation(
                "socket-permission", .permission,
                "\(User.name) may not open the socket of the smart card service, \(path)",
                hint: "sudo systemctl restart pcscd.socket, which gives it the permissions it came with")
        }
    }

    /// The rule that lets the calling user use smart cards, also without a local session (polkit(8)).
    private static func rule(for actions: [String]) -> String {
        let tests = actions.map { "action.id == \"org.debian.pcsc-lite.\($0)\"" }.joined(separator: " ||\n       ")
        return """
            allow it with this rule in /etc/polkit-1/rules.d/60-pcscd.rules, then repeat the command:
              polkit.addRule(function(action, subject) {
                if ((\(tests)) &&
                    subject.user == "\(User.name)") { return polkit.Result.YES; }
              });
            """
    }
}
