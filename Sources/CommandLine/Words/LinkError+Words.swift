// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
import YKCapture
package import YKHardware
import YKInteraction
import YKProtocols
package import YKTransport
import YKWire

extension LinkError: Explained {
    package var explanation: Explanation {
        switch self {
        case .serviceNotInstalled:
            Explanation(
                "pcscd-not-installed", .noDevice, "the smart card service (pcscd) is not installed",
                hint: "sudo apt install pcscd libpcsclite1")
        case .serviceMismatch:
            Explanation(
                "pcscd-mismatch", .failed, "libpcsclite and pcscd on this machine have incompatible versions",
                hint: "bring both to the same release: sudo apt install --reinstall pcscd libpcsclite1; in a container "
                    + "or snap use the host's library")
        case .accessDenied(let refusal): refusal.explanation
        case .serviceNotRunning:
            Explanation(
                "pcscd-not-running", .noDevice, "the smart card service (pcscd) does not answer",
                hint: "ykit doctor")
        case .usbLibraryNotInstalled:
            Explanation(
                "libusb-not-installed", .noDevice,
                "libusb-1.0, which is required to reach a card without pcscd, is not installed",
                hint: "sudo apt install libusb-1.0-0, or pcscd")
        case .unknownReader(let name):
            Explanation("no-reader", .noDevice, "no reader has the name '\(name)'", hint: "ykit list --readers")
        case .noDevice(let path):
            Explanation("no-such-device", .noDevice, "no security key is at \(path.printable)", hint: "ykit list")
        case .noCard(let reader):
            Explanation("no-card", .noDevice, "no card in reader '\(reader)'", hint: "put the card on the reader")
        case .noReader:
            Explanation(
                "no-device", .noDevice, "no key is attached",
                hint: "insert one, or try without: ykit --virtual oath list")
        case .replay(let mismatch): mismatch.explanation
        case .busy(let reader, let holders): held(reader, holders)
        case .removed:
            Explanation(
                "removed", .removed, "the key was removed during the operation",
                hint:
                    "insert it again and repeat the command; steps that the key confirmed are done, the others are not")
        case .reset:
            Explanation(
                "reset", .busy, "another program reset the card during the operation", hint: "repeat the command")
        case .timedOut("waiting for a touch"): TouchMissed().explanation
        case .timedOut(let step):
            Explanation(
                "timed-out", .timeOut, "no answer in time, \(step.hasPrefix("waiting") ? step : "waiting for \(step)")",
                hint: "re-insert the key, or allow more time with --timeout SECONDS")
        case .cancelled: .interrupted
        case .closed: Explanation("closed", .failed, "the connection to the key was closed", hint: "open it again")
        case .unresponsive(let why):
            Explanation(
                "unresponsive", .failed, "the card does not answer: \(why)",
                hint: "re-insert the key")
        case .malformed(let error): .malformed("the reply is not a valid response: \(error)")
        case .capture(let why) where why.hasPrefix(Recorder.oneLinkOnly):
            Explanation(
                "capture", .failed, why,
                hint: "this uses FIDO2 and another application; --link pcsc reaches both over the card")
        case .capture(let why):
            Explanation("capture", .failed, why, hint: "choose a new file in a folder where you can write")
        case .failed(let code, let why):
            Explanation("failed", .failed, code == 0 ? why : "\(why) (0x\(Hex.encode(code.bytes)))")
        }
    }

    private func held(_ reader: String, _ holders: [LinkError.Holder]) -> Explanation {
        let names = holders.map { "\($0.name) (pid \($0.pid))" }.listed()
        let hint = holders.first?.release ?? "end the program that uses the card, then repeat the command"
        let holder = names.isEmpty ? "another program" : names
        return Explanation("busy", .busy, "'\(reader)' is in use by \(holder)", hint: hint)
    }
}

extension ReplayMismatch {
    fileprivate var explanation: Explanation {
        var message = line > 0 ? "line \(line): " : ""
        message += reason
        if let expected { message += "; recorded: \(expectedWords ?? Narrator.summary(of: expected))" }
        if let actual { message += "; sent: \(actualWords ?? Narrator.summary(of: actual))" }
        if overwritten != nil {
            return Explanation(
                "overwritten", .replayMismatch, message,
                hint: "a recording made with --keep-secrets can be replayed here; it then holds the secret")
        }
        let advice =
            if expected == nil, actual != nil {
                "the recording does not have this exchange; 'ykit capture show FILE' lists what it has"
            } else if isOfAnotherTool {
                "a recording made by another tool requires --replay-mode lookup; 'ykit capture show FILE' lists what it has"
            } else {
                "record this command as well: ykit --record FILE …; 'ykit capture show FILE' lists what was recorded"
            }
        return Explanation("replay-mismatch", .replayMismatch, message, hint: advice)
    }
}

extension Narrator {
    /// Describes a command APDU without its secrets. The application it was sent to is not known here: commands that
    /// need no selection come first, then OATH.
    fileprivate static func summary(of bytes: [UInt8]) -> String {
        var narrator = Narrator()
        let plain = narrator.narrate(command: bytes)
        if plain.isKnown { return plain.summary }
        let select = (try? APDU.select(.oath).encoded(.short)) ?? []
        _ = narrator.narrate(.init(.exchange(command: select, reply: [0x90, 0x00])))
        let oath = narrator.narrate(command: bytes)
        return oath.isKnown ? oath.summary : plain.summary
    }
}

extension UInt32 {
    fileprivate var bytes: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: self >> (24 - 8 * UInt32($0))) } }
}

extension LinkError.Refusal {
    /// Explains who refused access, and the rule that grants it.
    fileprivate var explanation: Explanation {
        switch self {
        case .service:
            Explanation(
                "polkit", .permission, "the smart card service refused \(User.name), or ended at once",
                hint: "journalctl -u pcscd shows why; if polkit refuses, " + Self.rule)
        case .card(let reader):
            Explanation(
                "polkit", .permission, "polkit refused \(User.name) the use of the card in '\(reader.printable)'",
                hint: Self.rule)
        case .socket(let path):
            Explanation(
                "socket-permission", .permission,
                "\(User.name) may not open the socket of the smart card service, \(path)",
                hint: "sudo systemctl restart pcscd.socket, which restores its original permissions")
        case .device(let path): UDevRule(for: path).explanation(concerning: .file(path))
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

/// Why a node cannot be opened, in terms of the rule that would allow it.
extension UDevRule: Explained {
    package var explanation: Explanation { explanation(concerning: nil) }

    package func explanation(concerning subject: Subject?) -> Explanation {
        let what = "\(User.name) may not open \((subject?.text ?? "the device").printable)"
        switch self {
        case .missing:
            return Explanation(
                "udev-rule", .permission, "\(what): no udev rule allows it",
                hint: """
                    install the rules for security keys, then repeat the command:
                      \(Self.commands[0])
                      \(Self.commands[1])
                    """)
        case .notApplied:
            return Explanation(
                "udev-rule-not-applied", .permission,
                "\(what): \(UDevRule.file) is installed, but was not applied to it", hint: Self.commands[1])
        case .applied:
            return Explanation(
                "udev-seat", .permission,
                "\(what): the udev rule gives access to the user at this machine's screen, and this session is remote",
                hint: """
                    log in at the machine itself, not over ssh; or let \(User.name) use keys from anywhere, then log in again:
                      sudo usermod -aG \(UDevRule.group) \(User.name)
                    """)
        }
    }
}

extension LinkError.Holder {
    /// How to make a program release a key.
    fileprivate var release: String {
        switch name {
        case "scdaemon", "gpg-agent": "gpgconf --kill all, then repeat the command"
        case "gsd-smartcard":
            "systemctl --user mask --now org.gnome.SettingsDaemon.Smartcard.service, then repeat the command"
        case "yubikey-agent": "systemctl --user stop yubikey-agent, then repeat the command"
        case "geoclue", "fwupd", "fprintd", "ModemManager":
            "sudo systemctl stop \(name), then repeat the command"
        case "pcscd":
            "omit --link usb to use the key through pcscd, or sudo systemctl stop pcscd.socket pcscd"
        case "ssh", "ssh-sk-helper", "ssh-agent", "sudo", "login", "gdm-password":
            "\(name) is waiting for a touch: touch the key or end the program, then repeat the command"
        case let name where Self.isBrowser(name):
            "close the page in \(name) that asks for the key, or \(name) itself, then repeat the command"
        case let name where name.hasPrefix("qemu") || name.hasPrefix("VirtualBox") || name.hasPrefix("vmware"):
            "detach the key from the virtual machine (\(name)), then repeat the command"
        case let name: "end \(name) or let it release the key, then repeat the command"
        }
    }

    private static func isBrowser(_ name: String) -> Bool {
        let browsers = [
            "firefox", "librewolf", "GeckoMain", "chrome", "chromium", "brave", "msedge", "microsoft-edge", "vivaldi",
            "opera", "epiphany",
        ]
        return browsers.contains { name.hasPrefix($0) }
    }
}

extension CardError: Explained {
    package var explanation: Explanation {
        switch self {
        case .link(let error): error.explanation
        case .appletMissing(let aid):
            Explanation(
                "application-missing", .notSupported, "this key has no \(aid.title) application, or it is disabled",
                hint: "ykit info shows what the key offers")
        case .status(let status, let command): status.explanation(during: command)
        case .malformed(let error, let command):
            .malformedReply("the key's reply to \(command) violates the protocol: \(error)")
        case .endlessReply(let command):
            Explanation(
                "endless-reply", .malformed, "the key keeps announcing more data for \(command)",
                hint: Explanation.recordAndReport)
        case .tooLong(let command):
            Explanation("too-long", .notSupported, "\(command) is too long for the card or the reader")
        case .secureChannel(let fault): fault.explanation
        }
    }
}

extension StatusWord {
    package func explanation(during command: String) -> Explanation {
        let message = "the key refused \(command): \(self)"
        if let tries = triesLeft {
            return Explanation("authentication", .authentication, message, retriesLeft: tries)
        }
        let (code, exit, hint) = Self.refusals[self] ?? ("refused", .failed, nil)
        return Explanation(code, exit, message, hint: hint, retriesLeft: self == .authenticationBlocked ? 0 : nil)
    }

    private static let refusals: [StatusWord: (code: String, exit: ExitStatus, hint: String?)] = [
        .securityStatusNotSatisfied: ("locked", .authentication, "give the password or PIN first"),
        .authenticationBlocked: ("blocked", .blocked, nil),
        .conditionsNotSatisfied: ("not-allowed", .policy, nil), .commandNotAllowed: ("not-allowed", .policy, nil),
        .functionNotSupported: ("not-supported", .notSupported, nil),
        .unknownInstruction: ("not-supported", .notSupported, nil),
        .unknownClass: ("not-supported", .notSupported, nil), .notFound: ("not-found", .notFound, nil),
        .recordNotFound: ("not-found", .notFound, nil), .referenceNotFound: ("not-found", .notFound, nil),
        .noSpace: ("full", .failed, "delete something first"),
    ]
}
