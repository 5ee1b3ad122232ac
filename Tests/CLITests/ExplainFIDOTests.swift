// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKTransport
import YKWire

@testable import TerminalIO
@testable import Verbs
@testable import YKFIDO

/// Every failure of FIDO says what happened and why, what to do about it, and ends with the right status.
@Suite struct ExplainFIDOTests {
    private static let errors: [(FIDOError, TerminalIO.ExitStatus, String)] = [
        (.unsupported("rk"), .notSupported, "ykit fido2 info"), (.unsupported("new"), .notSupported, "ykit fido2 info"),
        (.wrongPIN(nil), .authentication, "ykit fido2 pin retries"),
        (.wrongPIN(PINRetries(count: 5)), .authentication, "did not retry"),
        (.wrongPIN(PINRetries(count: 1)), .authentication, "blocks the key"),
        (.wrongPIN(PINRetries(count: 5, needsPowerCycle: true)), .authentication, "re-insert the key"),
        (.wrongPIN(PINRetries(count: 0)), .blocked, "ykit fido2 reset"), (.pinBlocked, .blocked, "ykit fido2 reset"),
        (.pinNeedsPowerCycle, .blocked, "re-insert the key"), (.pinNeeded, .authentication, "YKIT_PIN"),
        (.pinNotSet, .authentication, "ykit fido2 pin set"), (.pinAlreadySet, .policy, "ykit fido2 pin change"),
        (.pinChangeForced, .authentication, "ykit fido2 pin change"),
        (.unsuitablePIN(.tooShort(codePoints: 3, minimum: 4)), .policy, "nothing was sent"),
        (.unsuitablePIN(.tooLong(bytes: 70, maximum: 63)), .policy, "nothing was sent"),
        (.unsuitablePIN(.endsWithZero), .policy, "nothing was sent"), (.pinRefused, .policy, "choose another"),
        (.u2fPIN(.wrong), .authentication, "did not retry"), (.u2fPIN(.blocked), .blocked, "ykit u2f reset"),
        (.u2fPIN(.notSet), .authentication, "ykit u2f pin set"), (.u2fPIN(.alreadySet), .policy, "ykit u2f pin change"),
        (.u2fPIN(.badLength(bytes: 5)), .policy, "nothing was sent"),
        (.u2fPIN(.badLength(bytes: 33)), .policy, "nothing was sent"),
        (.u2fPIN(.needed), .authentication, "ykit u2f pin verify"),
        (.notAllowed("U2F RESET"), .policy, "ykit u2f reset --reinsert"),
        (.userNotRecognised, .authentication, "try again"),
        (.userVerificationBlocked, .blocked, "ykit fido2 pin verify"),
        (.touchTimeout, .timeOut, "while it blinks"), (.denied, .timeOut, "while it blinks"),
        (.noCredentials, .notFound, "ykit fido2 credentials list"), (.credentialExcluded, .policy, "another key"),
        (.full, .failed, "ykit fido2 credentials delete"), (.notAllowed("reset"), .policy, "--reinsert"),
        (.notAllowed("getNextAssertion"), .policy, "repeat the command"),
        (.largeBlobs(.damaged), .malformed, "large-blob set"), (.largeBlobs(.unreadable), .malformed, "large-blob set"),
        (.largeBlobs(.notWritten), .failed, "--large-blob"),
        (.unsupported("thirdPartyPayment"), .notSupported, "fido2 info"),
        (.largeBlobs(.tooLarge(bytes: 5000, limit: 4096)), .failed, "large-blob prune"),
        (.verification(.badSignature), .authentication, "do not trust it"),
        (.ctap(.link(.notTouched)), .timeOut, "while it blinks"),
        (.ctap(.link(.refused(.channelBusy))), .busy, "finish the other request"),
        (.ctap(.link(.refused(.invalidCommand))), .notSupported, "ykit fido2 info"),
        (.ctap(.link(.refused(.other))), .failed, "re-insert the key"),
        (.ctap(.link(.notCarried(.wink))), .notSupported, "--link hid"),
        (.ctap(.tooLong(bytes: 2000, limit: 1200, during: "makeCredential")), .notSupported, "shorten"),
        (.ctap(.malformed(WireError(.malformed, at: 3, "x"), during: "getInfo")), .malformed, "--record"),
        (.ctap(.u2fStatus(.conditionsNotSatisfied, during: "U2F REGISTER")), .timeOut, "while it blinks"),
        (.ctap(.u2fStatus(.wrongLength, during: "U2F AUTHENTICATE")), .notFound, "registered"),
        (.ctap(.u2fStatus(.commandNotAllowed, during: "U2F REGISTER")), .notSupported, "disabled"),
        (.ctap(.u2fStatus(StatusWord(0x6F00), during: "U2F REGISTER")), .failed, "re-insert the key"),
    ]

    @Test(arguments: errors) func explained(_ error: FIDOError, _ exit: TerminalIO.ExitStatus, _ hint: String) {
        let explained = Explanation(error)
        expect(explained.exit, is: exit, "\(error)")
        expect(explained.hint?.contains(hint), is: true, "\(explained)")
        Self.check(explained)
    }

    /// The codes that programs can go by; FIDO.md has them.
    private static let codes: Set<String> = [
        "busy", "cancelled", "denied", "excluded", "full", "no-credentials", "not-allowed", "not-found",
        "not-supported", "not-touched", "pin-blocked", "pin-change-forced", "pin-needed", "pin-needs-replug",
        "pin-not-set", "pin-wrong", "proof-refused", "refused", "timed-out", "too-late", "too-long", "touch-needed",
        "uv-blocked", "uv-failed",
    ]

    /// CTAP 2.2 §8.2, and what that leaves to extensions, vendors and the future.
    @Test func everyStatusOfCTAP2() {
        for command in ["makeCredential", "clientPIN getPinToken", "reset", "largeBlobs set"] {
            for byte in UInt8(1)...UInt8.max {
                let error = CTAPError.status(CTAPStatus(rawValue: byte), during: command)
                for explained in [Explanation(error), Explanation(FIDOError(error))] {
                    Self.check(explained)
                    if byte != 0x3D { #expect(Self.codes.contains(explained.code), "\(byte): \(explained.code)") }
                }
            }
        }
    }

    private static func check(_ explained: Explanation) {
        expect(explained.hint?.isEmpty, is: false, "\(explained)")
        #expect(explained.exit != .done && explained.message.count > 5)
        #expect(explained.message.last != "." && explained.hint?.last != "." && !explained.message.contains("Error"))
        expect(explained.message.trimmingPrefix("U2F").first?.isUppercase, is: false, "\(explained)")
        let isOneWord = explained.code.allSatisfy { $0.isLowercase || $0.isNumber || $0 == "-" }
        #expect(isOneWord && !explained.code.isEmpty)
    }
}
