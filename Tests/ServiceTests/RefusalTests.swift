// SPDX-License-Identifier: Apache-2.0

import Testing
import YKFIDO
import YKHSMAuth
import YKManagement
import YKOATH
import YKOpenPGP
import YKPIV
import YKProtocols
import YKTestSupport
import YKTransport
import YKVirtualKey

/// What the services' errors say about refused credentials.
struct RefusalTests {
    @Test func eachServiceTellsWhatWasRefused() throws {
        let label = try HSMAuthLabel("a")
        let refusals: [(any CredentialRefusal, CredentialKind, Int?)] = [
            (PIVError.wrong(.pin, triesLeft: 2), .pivPIN, 2), (PIVError.blocked(.pin), .pivPIN, 0),
            (PIVError.wrong(.puk, triesLeft: 1), .pivPUK, 1), (PIVError.blocked(.puk), .pivPUK, 0),
            (PIVError.wrongManagementKey, .pivManagementKey, nil), (FIDOError.wrongPIN(nil), .fidoPIN, nil),
            (FIDOError.pinNeedsPowerCycle, .fidoPIN, nil), (FIDOError.pinBlocked, .fidoPIN, 0),
            (OpenPGPError.wrongPIN(.user, triesLeft: 2), .openPGPUserPIN, 2),
            (OpenPGPError.wrongPIN(.admin, triesLeft: nil), .openPGPAdminPIN, nil),
            (OpenPGPError.blocked(.reset), .openPGPResetCode, 0),
            (HSMAuthError.wrongManagementKey(triesLeft: 7), .hsmAuthManagementKey, 7),
            (HSMAuthError.managementKeyBlocked, .hsmAuthManagementKey, 0),
            (HSMAuthError.wrongPassword(label, triesLeft: 3), .hsmAuthPassword, 3),
            (HSMAuthError.credentialLost(label), .hsmAuthPassword, 0), (OATHError.wrongPassword, .oathPassword, nil),
            (ManagementError.wrongLockCode, .lockCode, nil),
        ]
        for (error, kind, left) in refusals {
            expect(error.refusedCredential, is: RefusedCredential(kind, triesLeft: left), "\(error)")
        }
    }

    @Test func otherErrorsSayNothingAboutThem() {
        let errors: [any CredentialRefusal] = [
            PIVError.emptyPIN, PIVError.pinRequired, PIVError.wrong(.fingerprint, triesLeft: 2), FIDOError.pinNotSet,
            FIDOError.userVerificationBlocked, OpenPGPError.refusedPIN(.user), HSMAuthError.full, OATHError.locked,
            ManagementError.locked,
        ]
        for error in errors { expect(error.refusedCredential, is: nil, "\(error)") }
    }
}
