// SPDX-License-Identifier: Apache-2.0

import YKProtocols
public import YKWire

/// The status of a CTAP2 command (CTAP 2.2 §8.2).
public struct CTAPStatus: OpenSet {
    /// The status byte.
    public let rawValue: UInt8
    /// Wraps a status byte.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// 00: success.
    public static let ok = CTAPStatus(CTAPProtocol.Status.ok)
    /// 01: the command is unknown.
    public static let invalidCommand = CTAPStatus(CTAPProtocol.Status.invalidCommand)
    /// 02: a parameter is invalid.
    public static let invalidParameter = CTAPStatus(CTAPProtocol.Status.invalidParameter)
    /// 03: the length is invalid.
    public static let invalidLength = CTAPStatus(CTAPProtocol.Status.invalidLength)
    /// 04: a message fragment is out of sequence.
    public static let invalidSequence = CTAPStatus(CTAPProtocol.Status.invalidSequence)
    /// 05: the message timed out.
    public static let timeout = CTAPStatus(CTAPProtocol.Status.timeout)
    /// 06: the key is busy.
    public static let channelBusy = CTAPStatus(CTAPProtocol.Status.channelBusy)
    /// 0A: another channel has locked the key.
    public static let lockRequired = CTAPStatus(CTAPProtocol.Status.lockRequired)
    /// 0B: the channel is invalid.
    public static let invalidChannel = CTAPStatus(CTAPProtocol.Status.invalidChannel)
    /// 11: a value has the wrong type.
    public static let cborUnexpectedType = CTAPStatus(CTAPProtocol.Status.cborUnexpectedType)
    /// 12: not CBOR.
    public static let invalidCBOR = CTAPStatus(CTAPProtocol.Status.invalidCBOR)
    /// 14: a parameter is missing.
    public static let missingParameter = CTAPStatus(CTAPProtocol.Status.missingParameter)
    /// 15: a limit of the key is exceeded.
    public static let limitExceeded = CTAPStatus(CTAPProtocol.Status.limitExceeded)
    /// 16: the extension is not supported.
    public static let unsupportedExtension = CTAPStatus(CTAPProtocol.Status.unsupportedExtension)
    /// 17: no room for another fingerprint.
    public static let fingerprintDatabaseFull = CTAPStatus(CTAPProtocol.Status.fingerprintDatabaseFull)
    /// 18: no room for the large blobs.
    public static let largeBlobStorageFull = CTAPStatus(CTAPProtocol.Status.largeBlobStorageFull)
    /// 19: the key has one of the excluded credentials.
    public static let credentialExcluded = CTAPStatus(CTAPProtocol.Status.credentialExcluded)
    /// 21: the key is still processing.
    public static let processing = CTAPStatus(CTAPProtocol.Status.processing)
    /// 22: the credential is invalid.
    public static let invalidCredential = CTAPStatus(CTAPProtocol.Status.invalidCredential)
    /// 23: the key is waiting for user action.
    public static let userActionPending = CTAPStatus(CTAPProtocol.Status.userActionPending)
    /// 24: another operation is pending.
    public static let operationPending = CTAPStatus(CTAPProtocol.Status.operationPending)
    /// 25: no operation is pending.
    public static let noOperations = CTAPStatus(CTAPProtocol.Status.noOperations)
    /// 26: none of the algorithms is supported.
    public static let unsupportedAlgorithm = CTAPStatus(CTAPProtocol.Status.unsupportedAlgorithm)
    /// 27: the user or the key refused.
    public static let operationDenied = CTAPStatus(CTAPProtocol.Status.operationDenied)
    /// 28: no room for another credential.
    public static let keyStoreFull = CTAPStatus(CTAPProtocol.Status.keyStoreFull)
    /// 2B: an option is not supported.
    public static let unsupportedOption = CTAPStatus(CTAPProtocol.Status.unsupportedOption)
    /// 2C: an option is invalid for this command.
    public static let invalidOption = CTAPStatus(CTAPProtocol.Status.invalidOption)
    /// 2D: the host cancelled the operation.
    public static let keepaliveCancel = CTAPStatus(CTAPProtocol.Status.keepaliveCancel)
    /// 2E: the key has none of the credentials.
    public static let noCredentials = CTAPStatus(CTAPProtocol.Status.noCredentials)
    /// 2F: the key was not touched in time.
    public static let userActionTimeout = CTAPStatus(CTAPProtocol.Status.userActionTimeout)
    /// 30: not allowed now.
    public static let notAllowed = CTAPStatus(CTAPProtocol.Status.notAllowed)
    /// 31: the PIN is wrong.
    public static let pinInvalid = CTAPStatus(CTAPProtocol.Status.pinInvalid)
    /// 32: no PIN retries are left; only a reset unblocks the key.
    public static let pinBlocked = CTAPStatus(CTAPProtocol.Status.pinBlocked)
    /// 33: pinUvAuthParam is invalid.
    public static let pinAuthInvalid = CTAPStatus(CTAPProtocol.Status.pinAuthInvalid)
    /// 34: three wrong PINs in a row; the key must be unplugged and plugged in again.
    public static let pinAuthBlocked = CTAPStatus(CTAPProtocol.Status.pinAuthBlocked)
    /// 35: no PIN is set.
    public static let pinNotSet = CTAPStatus(CTAPProtocol.Status.pinNotSet)
    /// 36: the command requires a PIN or another user verification.
    public static let pinUvAuthTokenRequired = CTAPStatus(CTAPProtocol.Status.pinUvAuthTokenRequired)
    /// 37: the PIN is too short, too long, too simple, or the same as before.
    public static let pinPolicyViolation = CTAPStatus(CTAPProtocol.Status.pinPolicyViolation)
    /// 38: the PIN token has expired; CTAP 2.0 keys.
    public static let pinTokenExpired = CTAPStatus(CTAPProtocol.Status.pinTokenExpired)
    /// 39: the request is longer than the key accepts.
    public static let requestTooLarge = CTAPStatus(CTAPProtocol.Status.requestTooLarge)
    /// 3A: the key timed out waiting for the action.
    public static let actionTimeout = CTAPStatus(CTAPProtocol.Status.actionTimeout)
    /// 3B: the command requires a touch.
    public static let userPresenceRequired = CTAPStatus(CTAPProtocol.Status.userPresenceRequired)
    /// 3C: built-in user verification is blocked.
    public static let uvBlocked = CTAPStatus(CTAPProtocol.Status.uvBlocked)
    /// 3D: the stored data is damaged.
    public static let integrityFailure = CTAPStatus(CTAPProtocol.Status.integrityFailure)
    /// 3E: the subcommand is unknown.
    public static let invalidSubcommand = CTAPStatus(CTAPProtocol.Status.invalidSubcommand)
    /// 3F: built-in user verification did not recognize the user.
    public static let uvInvalid = CTAPStatus(CTAPProtocol.Status.uvInvalid)
    /// 40: the PIN token lacks this permission.
    public static let unauthorizedPermission = CTAPStatus(CTAPProtocol.Status.unauthorizedPermission)
    /// 7F: unspecified error.
    public static let other = CTAPStatus(CTAPProtocol.Status.other)

    /// The specification's name of the code; `nil` for an unknown code.
    public var name: String? { CTAPProtocol.statuses[rawValue]?.name }

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
