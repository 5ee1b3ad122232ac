// SPDX-License-Identifier: Apache-2.0

package import YKTransport
import YKWire

/// A published firmware vulnerability; the firmware of a YubiKey cannot be updated.
public struct KnownFlaw: Hashable, Sendable {
    /// Its name.
    public let name: String
    /// Its publication: Yubico's advisory, and the CVE number if there is one.
    public let reference: String
    /// What is vulnerable, on a key with these applications.
    public let summary: String
    /// What to do.
    public let advice: String

    /// The name, and any other references.
    public var title: String {
        let others = reference.split(separator: ",").map { String($0).trimmed }.filter { $0 != name }
        return others.isEmpty ? name : "\(name) (\(others.listed()))"
    }

    /// The vulnerability of RSA keys that the key generated.
    package static let roca = "ROCA"
    /// The vulnerability of elliptic curve keys.
    package static let eucleak = "EUCLEAK"
    /// The vulnerability of OpenPGP's reset code, which only affects keys with a reset code set.
    package static let resetCode = "YSA-2020-05"
    /// The vulnerability of a NEO's OpenPGP application, which depends on that application's version.
    package static let openPGPPIN = "YSA-2015-1"
    /// The first fixed version of a NEO's OpenPGP application.
    package static let mendedOpenPGP = FirmwareVersion(1, 0, 10)

    /// Returns the vulnerabilities of a key, by its firmware, series and applications; oldest first.
    public static func of(_ info: DeviceInfo) -> [KnownFlaw] {
        [
            openPGPPIN(info), roca(info), fipsRandomness(info), resetCode(info), eucleak(info), shortComparison(info),
        ].compactMap(\.self)
    }

    /// OpenPGP before version 1.0.10, which only NEOs have; their firmware version does not determine it (Yubico's
    /// advisory of 2015-04-14).
    private static func openPGPPIN(_ info: DeviceInfo) -> KnownFlaw? {
        guard info.version.major == 3, info.usb.supported.contains(.openPGP) else { return nil }
        return KnownFlaw(
            name: openPGPPIN, reference: "YSA-2015-1, CVE-2015-3298",
            summary: "OpenPGP before version \(mendedOpenPGP) signs and decrypts without the PIN for anyone who "
                + "has the key or its computer",
            advice: "ykit doctor reads the OpenPGP version; if it is older, remove the keys from the NEO, or treat "
                + "them as compromised if it is lost")
    }

    /// Firmware 4.2.6 to 4.3.4, if it generates RSA keys.
    private static func roca(_ info: DeviceInfo) -> KnownFlaw? {
        let made = info.usb.supported.intersection([.piv, .openPGP])
        guard info.version >= FirmwareVersion(4, 2, 6), info.version < FirmwareVersion(4, 3, 5), !made.isEmpty else {
            return nil
        }
        return KnownFlaw(
            name: roca, reference: "YSA-2017-01, CVE-2017-15361",
            summary: "RSA keys generated on this key (\(made.names.joined(separator: ", "))) can be computed from "
                + "their public keys",
            advice: "replace them with elliptic curve keys, or with RSA keys generated elsewhere and imported; "
                + "imported keys, FIDO, OATH and OTP are not affected")
    }

    /// The FIPS series with firmware 4.4.2 and 4.4.4.
    private static func fipsRandomness(_ info: DeviceInfo) -> KnownFlaw? {
        guard info.isFIPSSeries, info.version >= FirmwareVersion(4, 4, 2), info.version < FirmwareVersion(4, 4, 5)
        else { return nil }
        return KnownFlaw(
            name: "YSA-2019-02", reference: "YSA-2019-02",
            summary: "the first random numbers after power-up are partly predictable: ECDSA signatures made then can "
                + "reveal the private key, and RSA keys generated then are weaker",
            advice: "have Yubico replace the key; generate new U2F, PIV and OpenPGP keys on the replacement, and "
                + "remove the old ones from your accounts")
    }

    /// OpenPGP of firmware 5.2.0 to 5.2.6.
    private static func resetCode(_ info: DeviceInfo) -> KnownFlaw? {
        guard info.usb.supported.contains(.openPGP), info.version >= FirmwareVersion(5, 2, 0),
            info.version < FirmwareVersion(5, 2, 7)
        else { return nil }
        return KnownFlaw(
            name: resetCode, reference: "YSA-2020-05, CVE-2020-15000",
            summary:
                "the OpenPGP reset code has a known value until it is set; if it has tries left, anyone who has the "
                + "key can set a new PIN with it",
            advice: "zero tries is the factory default, and safe; otherwise set a reset code: gpg --edit-card, "
                + "admin, passwd, 4")
    }

    /// Firmware 5 before 5.7.0, or before 5.7.2 on keys with a fingerprint sensor, and all Security Key firmware before
    /// 5.7.0 (Yubico's list of affected products).
    private static func eucleak(_ info: DeviceInfo) -> KnownFlaw? {
        let mended = info.formFactor.isBio ? FirmwareVersion(5, 7, 2) : FirmwareVersion(5, 7, 0)
        let first = info.isSecurityKeySeries ? FirmwareVersion(1, 0, 0) : FirmwareVersion(5, 0, 0)
        guard info.version >= first, info.version < mended else { return nil }
        let curves = info.usb.supported.intersection([.piv, .openPGP]).names
        let concerned = ["FIDO"] + curves.map { "elliptic curve keys of \($0)" }
        return KnownFlaw(
            name: eucleak, reference: "YSA-2024-03, CVE-2024-45678",
            summary:
                "anyone who opens the key and measures it with laboratory equipment can copy private keys: "
                + concerned.joined(separator: ", "),
            advice:
                "keep using it and keep it with you; if it was lost or out of your hands, remove it from your "
                + "accounts; " + (curves.isEmpty ? "" : "RSA keys are not affected; ")
                + "if that is not enough, use a key with firmware \(mended) or later")
    }

    /// FIDO2 of firmware 5.4.1 to 5.7.3.
    private static func shortComparison(_ info: DeviceInfo) -> KnownFlaw? {
        guard info.usb.supported.contains(.fido2), info.version >= FirmwareVersion(5, 4, 1),
            info.version < FirmwareVersion(5, 7, 4)
        else { return nil }
        return KnownFlaw(
            name: "YSA-2025-02", reference: "YSA-2025-02, CVE-2025-29991",
            summary: "with PIN protocol 2, FIDO2 compares only 16 of the 32 bytes that prove that the PIN was given",
            advice: "no action needed: 16 bytes cannot be guessed; firmware 5.7.4 and later compares all 32")
    }
}
