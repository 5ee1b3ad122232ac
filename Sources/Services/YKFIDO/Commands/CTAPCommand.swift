// SPDX-License-Identifier: Apache-2.0

import YKProtocols
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

/// The first byte of a CTAP2 message (CTAP 2.2 §6).
public struct CTAPCommandCode: OpenSet {
    /// The byte.
    public let rawValue: UInt8
    /// Wraps a byte.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// authenticatorMakeCredential.
    public static let makeCredential = CTAPCommandCode(rawValue: CTAPProtocol.Command.makeCredential)
    /// authenticatorGetAssertion.
    public static let getAssertion = CTAPCommandCode(rawValue: CTAPProtocol.Command.getAssertion)
    /// authenticatorGetInfo.
    public static let getInfo = CTAPCommandCode(rawValue: CTAPProtocol.Command.getInfo)
    /// authenticatorClientPIN.
    public static let clientPIN = CTAPCommandCode(rawValue: CTAPProtocol.Command.clientPIN)
    /// authenticatorReset.
    public static let reset = CTAPCommandCode(rawValue: CTAPProtocol.Command.reset)
    /// authenticatorGetNextAssertion.
    public static let getNextAssertion = CTAPCommandCode(rawValue: CTAPProtocol.Command.getNextAssertion)
    /// authenticatorBioEnrollment.
    public static let bioEnrollment = CTAPCommandCode(rawValue: CTAPProtocol.Command.bioEnrollment)
    /// authenticatorCredentialManagement.
    public static let credentialManagement = CTAPCommandCode(rawValue: CTAPProtocol.Command.credentialManagement)
    /// authenticatorSelection.
    public static let selection = CTAPCommandCode(rawValue: CTAPProtocol.Command.selection)
    /// authenticatorLargeBlobs.
    public static let largeBlobs = CTAPCommandCode(rawValue: CTAPProtocol.Command.largeBlobs)
    /// authenticatorConfig.
    public static let config = CTAPCommandCode(rawValue: CTAPProtocol.Command.config)
    /// authenticatorBioEnrollment on FIDO_2_1_PRE keys.
    public static let bioEnrollmentPreview = CTAPCommandCode(rawValue: CTAPProtocol.Command.bioEnrollmentPreview)
    /// authenticatorCredentialManagement on FIDO_2_1_PRE keys.
    public static let credentialManagementPreview = CTAPCommandCode(
        rawValue: CTAPProtocol.Command.credentialManagementPreview)
}
