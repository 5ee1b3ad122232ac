// SPDX-License-Identifier: Apache-2.0

public import YKPIV
public import YKWire

/// The location of an account's private key.
public enum ApprovalKeyPlace: Hashable, Sendable {
    /// In a slot of a security key.
    case piv(PIVKeyPlace)
    /// In the account's sealed record, without hardware.
    case software

    /// The form in the store.
    public var json: JSONValue {
        switch self {
        case .software: ["kind": "software"]
        case .piv(let place):
            [
                "kind": "piv", "slot": .string(place.slot.description),
                "keySerial": place.keySerial.map { .int(Int64($0)) } ?? .null,
                "pinPolicy": .string(place.policies.pin.description),
                "touchPolicy": .string(place.policies.touch.description),
                "attestation": place.attestation.map { .string(Base64.encodeURL($0)) } ?? .null,
            ]
        }
    }

    /// Reads the form in the store.
    public init?(_ json: JSONValue) {
        switch json["kind"]?.string {
        case "software": self = .software
        case "piv":
            guard let slot = json["slot"]?.string.flatMap({ PIVSlot($0) }),
                let pin = json["pinPolicy"]?.string.flatMap({ PINPolicy($0) }),
                let touch = json["touchPolicy"]?.string.flatMap({ TouchPolicy($0) })
            else { return nil }
            self = .piv(
                PIVKeyPlace(
                    slot: slot, keySerial: json["keySerial"]?.int.flatMap(UInt32.init(exactly:)),
                    policies: KeyPolicies(pin: pin, touch: touch),
                    attestation: json["attestation"]?.string.flatMap { try? Base64.decode($0) }))
        default: return nil
        }
    }

    /// The slot, for a key in one.
    public var slot: PIVSlot? { if case .piv(let place) = self { place.slot } else { nil } }
    /// The serial number of the security key, if it reports one.
    public var keySerial: UInt32? { if case .piv(let place) = self { place.keySerial } else { nil } }
}

/// A private key in a PIV slot, as it was generated.
public struct PIVKeyPlace: Hashable, Sendable {
    /// The slot.
    public let slot: PIVSlot
    /// The serial number of the security key, if it reports one.
    public let keySerial: UInt32?
    /// The PIN and touch policies of the key.
    public let policies: KeyPolicies
    /// The certificate by which the security key attests the key, DER; `nil` if it cannot attest.
    public let attestation: [UInt8]?
}
