// SPDX-License-Identifier: Apache-2.0

import YKWire

/// What the FIDO application keeps as long as there is power.
package struct FIDOPower: Sendable {
    /// The private number of this side of key agreements; drawn when it is first needed.
    var agreementKey: [UInt8]?
    /// The token that proofs are made with; drawn anew each time one is given.
    var token: Token?
    /// Wrong PINs in a row: after three the key takes none before it loses power.
    var wrongPINs = 0
    /// Whether the U2F PIN was given (YubiKey 4 FIPS).
    var hasU2FPIN = false
    /// What getNextAssertion goes on with.
    var assertions: PendingAssertions?
    /// What the next enumeration answers are.
    var listing: [[UInt8]] = []
    /// The array of large blobs as far as it was written.
    var blobWrite: (expected: Int, bytes: [UInt8])?
    /// The message that waits for a touch or a key pair.
    var waiting: [UInt8]?

    /// The finger that is being enrolled, and how many good samples are left.
    var enrolment: (id: [UInt8], left: Int)?
    /// When power came.
    var since = ContinuousClock.now

    /// A token and what it permits (CTAP 2.2 §6.5.2.1).
    struct Token: Hashable, Sendable {
        var bytes: [UInt8]
        var permissions: UInt64
        var rpID: String?
        /// Whether it was given by a command of CTAP 2.0, which knows no permissions.
        var isLegacy = false
        /// Whether a finger that verified the user stands for a touch as well.
        var isPresent = false
    }

    /// The credentials that have not signed yet.
    struct PendingAssertions: Sendable {
        var credentials: [VirtualCredential]
        var request: AssertionInput
    }

    package init() {}
}

extension FIDOPower: Hashable {
    /// Always: what is lost with the power is not what makes one key another.
    package static func == (left: Self, right: Self) -> Bool { true }
    /// Nothing.
    package func hash(into hasher: inout Hasher) {}
}
