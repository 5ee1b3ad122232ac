// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKBridge
package import YKVirtualKeyHost
import YKWire

extension RemoteError: Explained {
    package var explanation: Explanation {
        switch self {
        case .noGreeting(""):
            Explanation(
                "remote-no-answer", .server, "the other end exited before it answered",
                hint: "ykit has to be installed at both ends: ssh HOST ykit --version")
        case .noGreeting(let text):
            Explanation(
                "remote-no-answer", .server,
                "the other end is not ykit, or another program writes output before it: '\(text.trimmed.printable)'",
                hint: "ssh HOST ykit bridge --plan")
        case .incompatible(let own, let other, let program):
            Explanation(
                "remote-version", .server,
                "the other end (ykit \(program.printable)) speaks \(Self.words(other)) of the protocol, "
                    + "this one \(Self.words(own))",
                hint: "install the same version of ykit at both ends")
        case .violation(let error):
            Explanation("remote-violation", .malformed, "the other end violated the protocol: \(error.reason)")
        case .ended(let ending) where ending.reason == .noDevice:
            Explanation(
                "remote-device", .permission, "the other end cannot create a device: \(ending.text.printable)",
                hint: "there: sudo modprobe uhid; as root: --command 'sudo ykit bridge --stdio'")
        case .ended(let ending) where ending.reason == .noReader:
            Explanation(
                "remote-reader", .noDevice, "the other end cannot show a card: \(ending.text.printable)",
                hint: "there: sudo apt install vsmartcard-vpcd && sudo systemctl restart pcscd")
        case .ended(let ending):
            Explanation(
                "remote-ended", .server,
                "the other end closed the connection"
                    + (ending.text.isEmpty ? ", \(ending.reason)" : ": \(ending.text.printable)"))
        case .noCards(let program):
            Explanation(
                "remote-version", .server,
                "the other end (ykit \(program.printable)) cannot show applications of a card",
                hint: "install the same version of ykit at both ends")
        case .reader(let error): error.explanation
        case .lost: Explanation("remote-lost", .server, "the connection to the other end was lost")
        case .device(let error): error.explanation
        case .noFIDO2:
            Explanation(
                "unsupported", .notSupported, "the key has no FIDO2, which a remote bridge requires",
                hint: "ykit list shows the keys that are attached")
        case .noThread: Explanation("failed", .failed, "the system allows no more threads for this user")
        }
    }

    private static func words(_ versions: ClosedRange<UInt8>) -> String {
        versions.count == 1
            ? "version \(versions.lowerBound)" : "versions \(versions.lowerBound) to \(versions.upperBound)"
    }
}

extension VPCDError: Explained {
    package var explanation: Explanation {
        Explanation(
            "vpcd", .noDevice, "\(self)", hint: "sudo apt install vsmartcard-vpcd && sudo systemctl restart pcscd")
    }
}
