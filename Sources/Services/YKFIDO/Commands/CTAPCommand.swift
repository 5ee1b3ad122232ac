// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// A CTAP2 command (CTAP 2.2 §6): its encoding and the type of its response.
public protocol CTAPCommand {
    /// The decoded response.
    associatedtype Response

    /// The command byte.
    var code: CTAPCommandCode { get }
    /// The name in the specification, including any subcommand.
    var name: String { get }
    /// The parameters; `nil` for a command without any.
    var parameters: CBOR.Map? { get }
    /// Decodes the response map; a response without a map is passed as an empty one.
    func decode(_ fields: CBOR.Fields) throws(WireError) -> Response
}

extension CTAPCommand {
    /// The encoded message: the command byte, then the parameters in canonical CBOR (CTAP 2.2 §8.1).
    public var message: [UInt8] {
        var message = [code.rawValue]
        if let parameters { CBOR.map(parameters).write(to: &message) }
        return message
    }
}

extension CTAPCommand where Response == Void {
    /// Ignores the response, which is empty except on some firmware.
    public func decode(_ fields: CBOR.Fields) {}
}

/// The first byte of a CTAP2 message (CTAP 2.2 §6). An open set.
public struct CTAPCommandCode: RawRepresentable, Hashable, Sendable {
    /// The byte.
    public let rawValue: UInt8
    /// Wraps a byte.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// authenticatorMakeCredential.
    public static let makeCredential = CTAPCommandCode(rawValue: 0x01)
    /// authenticatorGetAssertion.
    public static let getAssertion = CTAPCommandCode(rawValue: 0x02)
    /// authenticatorGetInfo.
    public static let getInfo = CTAPCommandCode(rawValue: 0x04)
    /// authenticatorClientPIN.
    public static let clientPIN = CTAPCommandCode(rawValue: 0x06)
    /// authenticatorReset.
    public static let reset = CTAPCommandCode(rawValue: 0x07)
    /// authenticatorGetNextAssertion.
    public static let getNextAssertion = CTAPCommandCode(rawValue: 0x08)
    /// authenticatorBioEnrollment.
    public static let bioEnrollment = CTAPCommandCode(rawValue: 0x09)
    /// authenticatorCredentialManagement.
    public static let credentialManagement = CTAPCommandCode(rawValue: 0x0A)
    /// authenticatorSelection.
    public static let selection = CTAPCommandCode(rawValue: 0x0B)
    /// authenticatorLargeBlobs.
    public static let largeBlobs = CTAPCommandCode(rawValue: 0x0C)
    /// authenticatorConfig.
    public static let config = CTAPCommandCode(rawValue: 0x0D)
    /// authenticatorBioEnrollment on FIDO_2_1_PRE keys.
    public static let bioEnrollmentPreview = CTAPCommandCode(rawValue: 0x40)
    /// authenticatorCredentialManagement on FIDO_2_1_PRE keys.
    public static let credentialManagementPreview = CTAPCommandCode(rawValue: 0x41)
}
