// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import YKKeys
import YKManagement

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
