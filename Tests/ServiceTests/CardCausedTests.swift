// SPDX-License-Identifier: Apache-2.0

import Testing
import YKFIDO
import YKHSMAuth
import YKManagement
import YKNFC
import YKOATH
import YKOTP
import YKOpenPGP
import YKPIV
import YKSecrets
import YKSecurityDomain
import YKTestSupport
import YKTransport
import YKWire

/// Every service's error tells which failure of the card or link it has as its cause.
struct CardCausedTests {
    @Test(
        arguments: [
            PIVError.card(.link(.reset)), OATHError.card(.link(.reset)), OpenPGPError.card(.link(.reset)),
            HSMAuthError.card(.link(.reset)), SecurityDomainError.card(.link(.reset)), TagError.card(.link(.reset)),
            SecretsError.card(.link(.reset)),
            OTPError.card(.link(.reset)), OTPError.device(.reset), ManagementError.card(.link(.reset)),
            ManagementError.fido(.device(.reset), during: "x"), ManagementError.otp(.card(.link(.reset)), during: "x"),
            CTAPError.link(.device(.reset)), FIDOError.ctap(.link(.card(.link(.reset)))),
            WebAuthnError.key(.ctap(.link(.device(.reset)))),
        ] as [any Error])
    func names(_ error: any Error) { expect(LinkError(causing: error), is: .reset) }

    @Test(
        arguments: [
            OATHError.locked, OTPError.notTouched, ManagementError.endlessInfo, FIDOError.pinBlocked, TagError.lost,
            SecretsError.noPIN,
            CTAPError.tooLong(bytes: 1, limit: 0, during: "x"), WebAuthnError.noneChosen,
        ] as [any Error])
    func hasNone(_ error: any Error) { expect(CardError(causing: error), is: nil) }

    @Test func aReplyThatCannotBeReadIsTheCardsFailure() {
        let cause = WireError(.truncated, at: 0, "a reply")
        for error: any Error in [OTPError.malformed(cause), SecretsError.card(.malformed(cause, during: "OTP"))] {
            expect(CardError(causing: error), is: .malformed(cause, during: "OTP"))
        }
    }
}
