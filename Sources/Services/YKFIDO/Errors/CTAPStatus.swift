// SPDX-License-Identifier: Apache-2.0

import YKWire

/// The status of a CTAP2 command (CTAP 2.2 §8.2). An open set: unknown codes are kept.
public struct CTAPStatus: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The status byte.
    public let rawValue: UInt8
    /// Wraps a status byte.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Wraps a status byte.
    init(_ rawValue: UInt8) { self.rawValue = rawValue }

    /// 00: success.
    public static let ok = CTAPStatus(0x00)
    /// 01: the command is unknown.
    public static let invalidCommand = CTAPStatus(0x01)
    /// 02: a parameter is invalid.
    public static let invalidParameter = CTAPStatus(0x02)
    /// 03: the length is invalid.
    public static let invalidLength = CTAPStatus(0x03)
    /// 04: a message fragment is out of sequence.
    public static let invalidSequence = CTAPStatus(0x04)
    /// 05: the message timed out.
    public static let timeout = CTAPStatus(0x05)
    /// 06: the key is busy.
    public static let channelBusy = CTAPStatus(0x06)
    /// 0A: another channel has locked the key.
    public static let lockRequired = CTAPStatus(0x0A)
    /// 0B: the channel is invalid.
    public static let invalidChannel = CTAPStatus(0x0B)
    /// 11: a value has the wrong type.
    public static let cborUnexpectedType = CTAPStatus(0x11)
    /// 12: not CBOR.
    public static let invalidCBOR = CTAPStatus(0x12)
    /// 14: a parameter is missing.
    public static let missingParameter = CTAPStatus(0x14)
    /// 15: a limit of the key is exceeded.
    public static let limitExceeded = CTAPStatus(0x15)
    /// 16: the extension is not supported.
    public static let unsupportedExtension = CTAPStatus(0x16)
    /// 17: no room for another fingerprint.
    public static let fingerprintDatabaseFull = CTAPStatus(0x17)
    /// 18: no room for the large blobs.
    public static let largeBlobStorageFull = CTAPStatus(0x18)
    /// 19: the key has one of the excluded credentials.
    public static let credentialExcluded = CTAPStatus(0x19)
    /// 21: the key is still processing.
    public static let processing = CTAPStatus(0x21)
    /// 22: the credential is invalid.
    public static let invalidCredential = CTAPStatus(0x22)
    /// 23: the key is waiting for user action.
    public static let userActionPending = CTAPStatus(0x23)
    /// 24: another operation is pending.
    public static let operationPending = CTAPStatus(0x24)
    /// 25: no operation is pending.
    public static let noOperations = CTAPStatus(0x25)
    /// 26: none of the algorithms is supported.
    public static let unsupportedAlgorithm = CTAPStatus(0x26)
    /// 27: the user or the key refused.
    public static let operationDenied = CTAPStatus(0x27)
    /// 28: no room for another credential.
    public static let keyStoreFull = CTAPStatus(0x28)
    /// 2B: an option is not supported.
    public static let unsupportedOption = CTAPStatus(0x2B)
    /// 2C: an option is invalid for this command.
    public static let invalidOption = CTAPStatus(0x2C)
    /// 2D: the host cancelled the operation.
    public static let keepaliveCancel = CTAPStatus(0x2D)
    /// 2E: the key has none of the credentials.
    public static let noCredentials = CTAPStatus(0x2E)
    /// 2F: nobody touched the key in time.
    public static let userActionTimeout = CTAPStatus(0x2F)
    /// 30: not allowed now.
    public static let notAllowed = CTAPStatus(0x30)
    /// 31: the PIN is wrong.
    public static let pinInvalid = CTAPStatus(0x31)
    /// 32: no PIN retries are left; only a reset unblocks the key.
    public static let pinBlocked = CTAPStatus(0x32)
    /// 33: pinUvAuthParam is invalid.
    public static let pinAuthInvalid = CTAPStatus(0x33)
    /// 34: three wrong PINs in a row; the key must be unplugged and plugged in again.
    public static let pinAuthBlocked = CTAPStatus(0x34)
    /// 35: no PIN is set.
    public static let pinNotSet = CTAPStatus(0x35)
    /// 36: the command requires a PIN or another user verification.
    public static let pinUvAuthTokenRequired = CTAPStatus(0x36)
    /// 37: the PIN is too short, too long, too simple, or the same as before.
    public static let pinPolicyViolation = CTAPStatus(0x37)
    /// 38: the PIN token has expired; CTAP 2.0 keys.
    public static let pinTokenExpired = CTAPStatus(0x38)
    /// 39: the request is longer than the key accepts.
    public static let requestTooLarge = CTAPStatus(0x39)
    /// 3A: the key timed out waiting for the action.
    public static let actionTimeout = CTAPStatus(0x3A)
    /// 3B: the command requires a touch.
    public static let userPresenceRequired = CTAPStatus(0x3B)
    /// 3C: built-in user verification is blocked.
    public static let uvBlocked = CTAPStatus(0x3C)
    /// 3D: the stored data is damaged.
    public static let integrityFailure = CTAPStatus(0x3D)
    /// 3E: the subcommand is unknown.
    public static let invalidSubcommand = CTAPStatus(0x3E)
    /// 3F: built-in user verification did not recognise the user.
    public static let uvInvalid = CTAPStatus(0x3F)
    /// 40: the PIN token lacks this permission.
    public static let unauthorizedPermission = CTAPStatus(0x40)
    /// 7F: unspecified error.
    public static let other = CTAPStatus(0x7F)

    /// Whether the code is in the range reserved for extensions.
    public var isOfExtension: Bool { (0xE0...0xEF).contains(rawValue) }
    /// Whether the code is in the range reserved for vendors.
    public var isOfVendor: Bool { (0xF0...0xFF).contains(rawValue) }

    /// The code and its name in the specification.
    public var description: String {
        let code = Hex.encode([rawValue])
        if let name { return "\(code) (\(name))" }
        if isOfExtension { return "\(code) (an extension's error)" }
        return isOfVendor ? "\(code) (a vendor's error)" : code
    }
}
