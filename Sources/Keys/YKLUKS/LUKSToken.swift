// SPDX-License-Identifier: Apache-2.0

public import YKFIDO
import YKWire

/// A token in the header of a LUKS2 volume, which describes how to obtain the passphrase of key slots. It holds no
/// secret.
public struct LUKSToken: Hashable, Sendable {
    /// The source of the passphrase that a token describes.
    public enum Kind: Hashable, Sendable {
        /// A FIDO2 credential (`systemd-fido2`).
        case fido2(SystemdToken)
        /// A key on a smart card (`systemd-pkcs11`).
        case pkcs11(SystemdPKCS11Token)
        /// A recovery key on paper (`systemd-recovery`).
        case recovery
        /// Anything else.
        case other
        /// A token of a known type that violates its format.
        case malformed(String)
    }

    /// Its number.
    public let number: Int
    /// Its type, such as `systemd-fido2`.
    public let type: String
    /// The slots whose passphrase it provides.
    public let keyslots: [Int]
    /// The source of the passphrase.
    public let kind: Kind
    /// The name of the key, if ykit has written the token.
    public let name: String?
    /// The serial number of the key, if the token contains it.
    public let serial: String?

    /// The members that ykit adds; systemd ignores them.
    private static let (nameMember, serialMember) = ("ykit-name", "ykit-serial")

    init(_ number: Int, _ json: JSONValue) throws(LUKSError) {
        self.number = number
        guard let type = json["type"]?.string else { throw .damaged("token \(number) has no type") }
        self.type = type
        var slots: [Int] = []
        for slot in json["keyslots"]?.array ?? [] { slots.append(try LUKS2Metadata.number(slot.string)) }
        keyslots = slots
        kind = Kind(type, json)
        name = json[Self.nameMember]?.string
        let noted = json[Self.serialMember]?.string
        serial = if case .pkcs11(let token) = kind { token.serial ?? noted } else { noted }
    }

    /// Returns a token as written by systemd-cryptenroll, with the name and serial number of the key added.
    ///
    /// - Parameter keyslot: The slot that has the passphrase.
    static func json(_ kind: Kind, keyslot: Int, name: String?, serial: String?) -> JSONValue? {
        let plain: JSONValue
        switch kind {
        case .fido2(let token): plain = token.json(keyslot: keyslot)
        case .pkcs11(let token): plain = token.json(keyslot: keyslot)
        case .recovery, .other, .malformed: return nil
        }
        guard var members = plain.object else { return nil }
        members[nameMember] = name.map { .string($0) }
        members[serialMember] = serial.map { .string($0) }
        return .object(members)
    }

    /// Whether it describes a security key.
    public var isOfKey: Bool {
        switch kind {
        case .fido2, .pkcs11: true
        case .recovery, .other, .malformed: false
        }
    }

    /// Whether another token is certainly for the same key, judging by the serial numbers of both or the credential.
    public func isOfSameKey(as other: LUKSToken) -> Bool {
        switch (kind, other.kind) {
        case (.fido2(let one), .fido2(let two)):
            one.credential == two.credential || serial != nil && serial == other.serial
        case (.pkcs11(let one), .pkcs11(let two)):
            serial != nil && serial == other.serial && one.slot == two.slot
        default: false
        }
    }
}

extension LUKSToken.Kind {
    fileprivate init(_ type: String, _ json: JSONValue) {
        switch type {
        case "systemd-fido2":
            do throws(FormatError) { self = .fido2(try SystemdToken(json: json)) } catch {
                self = .malformed("\(error.problem.words)")
            }
        case "systemd-pkcs11":
            do throws(LUKSError) { self = .pkcs11(try SystemdPKCS11Token(json)) } catch {
                self = .malformed("it has no URI or no key")
            }
        case "systemd-recovery": self = .recovery
        default: self = .other
        }
    }
}

extension FormatError.Problem {
    fileprivate var words: String {
        switch self {
        case .endsBefore(let what): "it ends before \(what)"
        case .malformed(let text): text
        }
    }
}
