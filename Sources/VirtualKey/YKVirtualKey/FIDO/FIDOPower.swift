// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKWire

/// The FIDO application's state that is lost on power-off.
package struct FIDOPower: PowerState {
    /// The private scalar of the key's side of key agreement; drawn when first needed.
    var agreementKey: [UInt8]?
    /// The PIN/UV auth token; drawn again each time one is issued.
    var token: Token?
    /// The number of consecutive wrong PINs; after three, the key accepts no PIN until it loses power.
    var wrongPINs = 0
    /// Whether the U2F PIN was verified (YubiKey 4 FIPS).
    var hasU2FPIN = false
    /// The assertions left for getNextAssertion.
    var assertions: PendingAssertions?
    /// The answers left for the next enumeration commands.
    var listing: Listing?
    /// The part of the large-blob array written so far.
    var blobWrite: (expected: Int, bytes: [UInt8])?
    /// The message that waits for a touch or a key pair.
    var waiting: [UInt8]?

    /// The finger being enrolled, and the number of good samples still needed.
    var enrolment: (id: [UInt8], left: Int)?
    /// When the key was powered on.
    var since = ContinuousClock.now

    /// A token and its permissions (CTAP 2.2 §6.5.2.1).
    struct Token: Hashable, Sendable {
        var bytes: [UInt8]
        /// The protocol that it was issued with; it is valid with no other.
        var version: PINProtocol
        var permissions: UInt64
        var rpID: String?
        /// Whether it was issued by a CTAP 2.0 command, which has no permissions.
        var isLegacy = false
        /// Whether the fingerprint that verified the user also counts as a touch.
        var isPresent = false
        /// When it was issued.
        var since = ContinuousClock.now
        /// Whether it has authorized a command.
        var isUsed = false

        /// Whether it is no longer valid: unused for too long, or older than any token may be (CTAP 2.2 §6.5.2.1).
        func isOver(overNFC: Bool) -> Bool {
            let age = since.duration(to: .now)
            return age > (isUsed ? .seconds(600) : overNFC ? .milliseconds(19_800) : .seconds(30))
        }
    }

    /// The answers of an enumeration that have not been given yet.
    struct Listing: Sendable {
        /// The subcommand that requests the next one.
        var next: CTAPProtocol.CredentialManagement.Subcommand
        var answers: [CBOR.Map]
    }

    /// The credentials that have not signed yet.
    struct PendingAssertions: Sendable {
        var credentials: [VirtualCredential]
        var request: AssertionInput
        /// Whether the user was present when the first one signed.
        var isPresent: Bool
        /// When the last one signed.
        var since = ContinuousClock.now

        /// How long the next one can be requested (CTAP 2.2 §6.3).
        static let life = Duration.seconds(30)
    }
}
