// SPDX-License-Identifier: Apache-2.0

public import YKPIV
public import YKSSH

/// A key in a PIV slot that SSH can use.
public struct SSHSlotKey: Sendable {
    /// The slot.
    public let slot: PIVSlot
    /// The public key.
    public let key: SSHPublicKey
    /// The slot and the card's serial number, which distinguish the keys of several cards.
    public let comment: String
    /// When the key requires the PIN; `nil` if the card does not report it.
    public let pinPolicy: PINPolicy?

    /// The key as an agent lists it.
    public var identity: SSHIdentity { SSHIdentity(publicKey: key, comment: comment) }

    /// The signing slots; 9D is for decryption.
    public static let slots = [PIVSlot.authentication, .signature, .cardAuthentication] + PIVSlot.retired

    /// Returns the keys in a card's slots, according to its metadata or certificates.
    ///
    /// - Parameter serial: The serial number of the card, for the comments.
    public static func all(of service: PIVService, serial: UInt32?) async throws(PIVError) -> [SSHSlotKey] {
        all(try await service.keys(in: slots), serial: serial)
    }

    /// Returns the keys of a card that SSH can use.
    public static func all(_ keys: [PIVSlotKey], serial: UInt32?) -> [SSHSlotKey] {
        let name = serial.map { " \($0)" } ?? ""
        return keys.compactMap { slot in
            guard slots.contains(slot.slot), let key = SSHPublicKey(slot.publicKey) else { return nil }
            return SSHSlotKey(
                slot: slot.slot, key: key, comment: "PIV \(slot.slot)\(name)", pinPolicy: slot.policies?.pin)
        }
    }
}
