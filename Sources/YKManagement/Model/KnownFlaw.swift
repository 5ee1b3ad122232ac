// SPDX-License-Identifier: Apache-2.0

import YKTransport

/// A weakness of firmware that was made public; firmware of a YubiKey cannot be renewed.
public struct KnownFlaw: Hashable, Sendable {
    /// What it is called.
    public let name: String
    /// Where it was made public.
    public let reference: String
    /// What is weak.
    public let summary: String
    /// Whom it concerns, and what to do.
    public let advice: String

    /// The first version that has it, and the first that has it not.
    private let versions: Range<Version>
    private let concerns: @Sendable (DeviceInfo) -> Bool

    private init(
        _ name: String, _ reference: String, _ versions: Range<Version>, _ summary: String, _ advice: String,
        concerns: @escaping @Sendable (DeviceInfo) -> Bool = { _ in true }
    ) {
        self.name = name
        self.reference = reference
        self.versions = versions
        self.summary = summary
        self.advice = advice
        self.concerns = concerns
    }

    /// Those that a key has, by its firmware and series.
    public static func of(_ info: DeviceInfo) -> [KnownFlaw] {
        all.filter { $0.versions.contains(info.version) && $0.concerns(info) }
    }

    /// All that are known here, oldest first.
    public static let all: [KnownFlaw] = [
        KnownFlaw(
            "ROCA", "YSA-2017-01, CVE-2017-15361", Version(4, 2, 6)..<Version(4, 3, 5),
            "RSA keys that this key generated itself (PIV, OpenPGP) can be computed from their public part",
            "replace such RSA keys by elliptic curve ones or imported ones; FIDO, OATH and OTP are not concerned",
            concerns: { !$0.usb.supported.isDisjoint(with: [.piv, .openPGP]) }),
        KnownFlaw(
            "YSA-2019-02", "YSA-2019-02", Version(4, 4, 2)..<Version(4, 4, 5),
            "after power-up the first random numbers are not wholly random; ECDSA signatures made then can give the "
                + "private key away",
            "have the key exchanged, and make new keys for PIV, OpenPGP and U2F on the new one",
            concerns: \.isFIPSSeries),
        KnownFlaw(
            "YSA-2020-05", "YSA-2020-05, CVE-2020-15000", Version(5, 2, 0)..<Version(5, 2, 7),
            "OpenPGP's reset code has a known value until one is set, so with tries for it anybody can set a new PIN",
            "only who gave the reset code tries (set-pin-retries) is concerned: set a reset code, or no tries for it",
            concerns: { $0.usb.supported.contains(.openPGP) }),
        KnownFlaw(
            "EUCLEAK", "YSA-2024-03, CVE-2024-45678", Version(5, 0, 0)..<Version(5, 7, 0), euSummary, euAdvice,
            concerns: { !$0.formFactor.isBio }),
        KnownFlaw(
            "EUCLEAK", "YSA-2024-03, CVE-2024-45678", Version(5, 0, 0)..<Version(5, 7, 2), euSummary, euAdvice,
            concerns: \.formFactor.isBio),
        KnownFlaw(
            "YSA-2025-02", "YSA-2025-02, CVE-2025-29991", Version(5, 4, 1)..<Version(5, 7, 4),
            "with PIN protocol 2 the FIDO2 application compares only half of the code that proves that the PIN was given",
            "a program on the computer would have to guess 16 bytes, so nothing needs to be done; keys that are not "
                + "concerned have 5.7.4 or later",
            concerns: { $0.usb.supported.contains(.fido2) }),
    ]

    private static let euSummary =
        "who has the key in hand for hours, opens it and measures it can copy its elliptic curve keys (FIDO, PIV, OpenPGP)"
    private static let euAdvice =
        "go on using it and keep it with you; when it was out of your hands, revoke it at its accounts; where that is "
        + "not enough use a key with firmware 5.7 or later"

    /// Whether it is the same flaw.
    public static func == (left: KnownFlaw, right: KnownFlaw) -> Bool {
        left.name == right.name && left.versions == right.versions
    }

    /// Feeds what tells flaws apart.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
