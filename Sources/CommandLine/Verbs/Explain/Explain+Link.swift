// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
import YKCapture
package import YKTransport
import YKWire

extension Explain {
    package static func link(_ error: LinkError) -> Explanation {
        switch error {
        case .serviceNotInstalled, .serviceNotRunning, .serviceMismatch, .accessDenied: service(error)
        case .usbLibraryNotInstalled:
            Explanation(
                "libusb-not-installed", .noDevice, "libusb-1.0, which reaches a card without pcscd, is not installed",
                hint: "sudo apt install libusb-1.0-0, or pcscd")
        case .noReader, .unknownReader, .noDevice, .noCard: absent(error)
        case .replay(let mismatch): replay(mismatch)
        case .busy(let reader, let holders): busy(reader, holders)
        case .removed:
            Explanation(
                "removed", .removed, "the key was taken away in the middle",
                hint: "insert it again and repeat the command; what the key had confirmed is done, the rest is not")
        case .reset:
            Explanation(
                "reset", .busy, "another program reset the card in the middle", hint: "repeat the command")
        case .timedOut("waiting for a touch"): touchMissed
        case .timedOut(let step):
            Explanation(
                "timed-out", .timeOut, "no answer in time, \(step.hasPrefix("waiting") ? step : "waiting for \(step)")",
                hint: "take the key out, insert it again, or allow more time with --timeout SECONDS")
        case .cancelled: Explanation.interrupted
        case .closed: Explanation("closed", .failed, "the connection to the key was closed", hint: "open it again")
        case .unresponsive(let why):
            Explanation(
                "unresponsive", .failed, "the card does not answer: \(why)",
                hint: "take the key out and insert it again")
        case .malformed(let error): malformed("what came back is not a response: \(error)")
        case .capture(let why) where why.hasPrefix(Recorder.oneLinkOnly):
            Explanation(
                "capture", .failed, why,
                hint: "this uses FIDO2 and another application; --link pcsc reaches both over the card")
        case .capture(let why): Explanation("capture", .failed, why, hint: "name a new file in a folder you may write")
        case .failed(let code, let why):
            Explanation("failed", .failed, code == 0 ? why : "\(why) (0x\(Hex.encode(code.bytes)))")
        }
    }

    private static func service(_ error: LinkError) -> Explanation {
        switch error {
        case .serviceNotInstalled:
            Explanation(
                "pcscd-not-installed", .noDevice, "the smart card service is not on this machine",
                hint: "sudo apt install pcscd libpcsclite1")
        case .serviceMismatch:
            Explanation(
                "pcscd-mismatch", .failed, "libpcsclite and pcscd on this machine speak different versions",
                hint: "bring both to the same release: sudo apt install --reinstall pcscd libpcsclite1; in a container "
                    + "or snap use the host's library")
        case .accessDenied(let refusal): Self.refusal(refusal)
        default:
            Explanation(
                "pcscd-not-running", .noDevice, "the smart card service does not answer",
                hint: "ykit doctor")
        }
    }

    private static func absent(_ error: LinkError) -> Explanation {
        switch error {
        case .unknownReader(let name):
            Explanation("no-reader", .noDevice, "no reader is called '\(name)'", hint: "ykit list --readers")
        case .noDevice(let path):
            Explanation("no-such-device", .noDevice, "no security key is at \(path.printable)", hint: "ykit list")
        case .noCard(let reader):
            Explanation("no-card", .noDevice, "no card in reader '\(reader)'", hint: "put the card on the reader")
        default:
            Explanation(
                "no-device", .noDevice, "no key is attached",
                hint: "insert one, or try without: ykit --virtual oath list")
        }
    }

    /// Explains that there is no USB device, and no service for readers.
    static func nowhere(_ what: String, _ error: any Error) -> Explanation {
        var why = explain(error)
        why.message = "no \(what) is on the USB, and \(why.message)"
        let remedy = why.hint.map { "\($0), for a card in a reader; else " } ?? ""
        why.hint = remedy + "insert a key, or try without: ykit --virtual oath list"
        return why
    }

    private static func busy(_ reader: String, _ holders: [LinkError.Holder]) -> Explanation {
        let names = holders.map { "\($0.name) (pid \($0.pid))" }.listed()
        let hint = holders.first.map(release) ?? "end the program that uses the card, then repeat the command"
        let holder = names.isEmpty ? "another program" : names
        return Explanation("busy", .busy, "'\(reader)' is held by \(holder)", hint: hint, candidates: [])
    }

    private static func replay(_ mismatch: ReplayMismatch) -> Explanation {
        var message = mismatch.line > 0 ? "line \(mismatch.line): " : ""
        message += mismatch.reason
        if let expected = mismatch.expected { message += "; recorded: \(mismatch.expectedWords ?? command(expected))" }
        if let actual = mismatch.actual { message += "; sent: \(mismatch.actualWords ?? command(actual))" }
        if mismatch.overwritten != nil {
            return Explanation(
                "overwritten", .replayMismatch, message,
                hint: "a recording made with --keep-secrets can be replayed here; it then holds the secret")
        }
        let advice =
            if mismatch.expected == nil, mismatch.actual != nil {
                "this was not recorded; 'ykit capture show FILE' tells what was"
            } else if mismatch.isOfAnotherTool {
                "a recording of another tool needs --replay-mode lookup; 'ykit capture show FILE' tells what it has"
            } else {
                "record this command as well: ykit --record FILE …; 'ykit capture show FILE' tells what was recorded"
            }
        return Explanation("replay-mismatch", .replayMismatch, message, hint: advice)
    }
}

extension UInt32 {
    fileprivate var bytes: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: self >> (24 - 8 * UInt32($0))) } }
}
