// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import YKBridge
import YKHardware
import YKKeys
import YKManagement

/// A step between a port and an application: what was seen, whether it is fine, and what to do.
struct Check: Hashable, Report {
    /// The result of a step.
    enum Verdict: String, Hashable, CaseIterable, Reportable {
        case good = "ok"
        case note
        case bad = "problem"
    }

    /// A stable identifier, for programs.
    var name: String
    var verdict: Verdict
    /// What was seen.
    var seen: String
    /// What to do, if anything: lines, some of them commands.
    var remedy: String?
    /// The exit status if this is the first problem.
    var exit: ExitStatus = .failed

    init(_ name: String, _ verdict: Verdict, _ seen: String, remedy: String? = nil, exit: ExitStatus = .failed) {
        self.name = name
        self.verdict = verdict
        self.seen = seen
        self.remedy = remedy
        self.exit = exit
    }

    /// Creates a failed step from an explanation.
    init(_ name: String, _ why: Explanation) {
        self.init(name, .bad, why.message, remedy: why.hint, exit: why.exit)
    }

    /// The lines of several steps for people; repeated advice is omitted.
    static func lines(_ checks: [Check]) -> [String] {
        var said: Set<String> = []
        return checks.flatMap { check in
            var check = check
            if let remedy = check.remedy, !said.insert(remedy).inserted { check.remedy = "as above" }
            return check.lines
        }
    }

    /// The lines for a person.
    var lines: [String] {
        let mark =
            switch verdict {
            case .good: Style.green.around("ok") + "     "
            case .note: Style.yellow.around("note") + "   "
            case .bad: Style.red.around("PROBLEM")
            }
        let advice = remedy.map { $0.split(separator: "\n").map(String.init) } ?? []
        return ["\(mark)  \(name.padded(to: 14))\(seen)"]
            + advice.enumerated().map { ($0.offset == 0 ? "         -> " : "            ") + $0.element }
    }

    static let members: [Member<Check>] = [
        Member("name") { $0.name },
        Member("verdict") { $0.verdict },
        Member("seen") { $0.seen },
        Member("remedy") { $0.remedy },
        Member("exitCode") { $0.verdict == .bad ? Int($0.exit.rawValue) : 0 },
    ]

    /// The bridges to smart cards: their owners, and whether this user's programs can use them.
    static func bridges(_ devices: [BridgeDevice]) -> [Check] {
        devices.map { device in
            let owner = device.owner.map { ", which belongs to \($0.printable)" } ?? ""
            let what =
                switch device.name {
                case GuardSystem.name: "a guard presents the key"
                case FarEnd.name: "'ykit remote' presents a key of another machine"
                default: "a bridge presents the cards in the readers"
                }
            let seen = "\(what) to programs as \(device.path)\(owner)"
            switch device.access {
            case .readable: return Check("bridge", .good, seen)
            case .missing: return Check("bridge", .note, seen + "; that node is not visible here")
            case .denied:
                return Check(
                    "bridge", .note, seen + "; \(User.name) may not use it",
                    remedy: "a bridge serves one user: sudo systemctl enable --now ykit-bridge@\(User.name)")
            }
        }
    }
}

extension Check.Words {
    /// What a key reports about itself.
    init(_ finding: KeyFinding) {
        switch finding {
        case .failed(let place, let access, let failure):
            self.init(Explanation(failure))
            self.seen = "\(place.printable) over \(access.words): \(seen)"
        case .answers(let identity, let accesses):
            let version = identity.firmware.map { " with firmware \($0.printable)" } ?? ""
            let ways = accesses.map(\.words)
            let over = ways.isEmpty ? "" : " over \(ways.joined(separator: " and over "))"
            self.init("\(identity.product.printable)\(version) answers\(over)")
        case .broken(let applications, let access):
            self.init(
                "switched on, but not answering over \(access.words): \(applications.sentence)",
                "remove the key, insert it again and check with: ykit info")
        case .unknownCard(let place):
            self.init(
                "the card in '\(place.printable)' has no application that ykit knows",
                "is it a security key? ykit apdu shows what it answers")
        case .applications(let applications):
            self.init("applications of the card that answer: \(applications.sentence)")
        case .switchedOff(let applications, let transport):
            self.init(
                "switched off over \(transport.rawValue.uppercased()): \(applications.sentence)",
                "if you need one of them: ykit config \(transport.rawValue) --enable NAME")
        case .flaw(let flaw): self.init("\(flaw.title): \(flaw.summary)", flaw.advice)
        case .resetCodeFlaw(let flaw, tries: 0):
            self.init("\(flaw.title) does not affect this key: its reset code has no tries")
        case .resetCodeFlaw(let flaw, let tries):
            self.init(
                "\(flaw.title) affects this key: \(flaw.summary); it has \(tries)",
                "set a reset code, unless you have: ykit openpgp access set-reset-code")
        case .openPGPFlaw(let flaw, let version) where version >= KnownFlaw.mendedOpenPGP:
            self.init("\(flaw.title) does not affect this key: its OpenPGP is \(version)")
        case .openPGPFlaw(let flaw, let version):
            self.init(
                "\(flaw.title) affects this key, its OpenPGP is \(version): \(flaw.summary)",
                "remove the keys from the NEO, or treat them as compromised if it is lost")
        }
    }
}

extension KeyFinding.Access {
    fileprivate var words: String {
        switch self {
        case .card: "the smart card"
        case .direct: "the smart card, without pcscd"
        case .fido: "FIDO"
        case .otp: "OTP"
        case .virtual: "software"
        }
    }
}
