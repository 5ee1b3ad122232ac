// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKOTP
import YKTransport
import YKWire

extension OTPError: Explained {
    package var explanation: Explanation {
        switch self {
        case .device(let error): error.explanation
        case .card(let error): error.explanation
        case .malformed(let error): .malformed("the key's answer cannot be read: \(error)")
        case .rejected(let command): refused(command.isWrite, "\(command)")
        case .notStored(let slot):
            Explanation(
                "not-stored", .failed,
                "the key accepted the command, but slot \(slot.rawValue) is not programmed as requested",
                hint: "ykit otp info, and try again")
        case .notTouched: .notTouched
        case .emptySlot(let slot):
            Explanation("empty-slot", .notFound, "slot \(slot.rawValue) is empty", hint: "ykit otp info")
        case .notChallengeResponse(let slot):
            Explanation(
                "not-challenge-response", .notSupported,
                "slot \(slot.rawValue) types a password when touched; it does not answer challenges",
                hint: "ykit otp info; ykit otp chalresp \(slot.rawValue) programs it again")
        case .unsupported(let feature, let needs, let has): lacking(feature, needs, has)
        case .invalid(let fault): .usage(fault.words)
        case .crypto(let fault): fault.explanation
        }
    }

    private func refused(_ isWrite: Bool, _ command: String) -> Explanation {
        guard isWrite else {
            return Explanation(
                "rejected", .failed,
                "the key did not answer (\(command)): the slot is empty or programmed for something else",
                hint: "ykit otp info")
        }
        return Explanation(
            "rejected", .authentication,
            "the key refused the command (\(command)): the slot has an access code, or does not allow updates",
            hint: "give the code with --access-code, --access-code-fd N or YKIT_OTP_ACCESS_CODE")
    }

    private func lacking(
        _ feature: OTPFeature, _ needs: FirmwareVersion, _ has: FirmwareVersion
    ) -> Explanation {
        guard has < needs else {
            let hint = feature == .accessCodeUpdate ? "empty the slot and program it again" : nil
            return Explanation(
                "not-supported", .notSupported, "firmware \(has) of this key does not support \(feature.rawValue)",
                hint: hint)
        }
        return Explanation(
            "not-supported", .notSupported,
            "\(feature.rawValue) is not supported by this key (needs \(needs), has \(has))")
    }
}

extension OTPError.Fault {
    fileprivate var words: String {
        switch self {
        case .length(let what, let expected, let count):
            let wanted =
                expected.count == 1 ? "\(expected.lowerBound)" : "\(expected.lowerBound) to \(expected.upperBound)"
            return "the \(what) has a length of \(count), expected \(wanted)"
        case .counter(let value): return "the counter cannot start at \(value), only at a multiple of 16 up to 1048560"
        case .format(let error): return "it does not fit: \(error.reason)"
        case .identifier:
            return
                "the token identifier must be digits, or begin with modhex, in parts of 2, 2 and 8 characters"
        }
    }
}
