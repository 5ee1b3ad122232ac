// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

/// The keys of CTAP2 maps (CTAP 2.1 §6).
enum CTAPMaps {
    static let coseKey = CTAPKeys(
        "public key", [1: "kty", 3: "alg", -1: "crv", -2: "x", -3: "y"],
        numbers: [3: CTAPNames.algorithm, 1: { [1: "OKP", 2: "EC2", 3: "RSA"][$0] ?? "\($0)" }])

    static let makeCredential = CTAPKeys("parameters", CTAPProtocol.MakeCredential.Request.self)

    static let attestation = CTAPKeys(
        "reply", CTAPProtocol.MakeCredential.Reply.self, values: [.authData: AuthenticatorDataNarration.lines])

    static let getAssertion = CTAPKeys("parameters", CTAPProtocol.GetAssertion.Request.self)

    static let assertion = CTAPKeys(
        "reply", CTAPProtocol.GetAssertion.Reply.self, values: [.authData: AuthenticatorDataNarration.lines])

    static let info = CTAPKeys("reply", CTAPProtocol.GetInfo.Reply.self)

    static let clientPIN = CTAPKeys(
        "parameters", CTAPProtocol.ClientPIN.Request.self, inner: [.keyAgreement: coseKey],
        numbers: [.permissions: CTAPNames.permissions])

    static let clientPINReply = CTAPKeys(
        "reply", CTAPProtocol.ClientPIN.Reply.self, inner: [.keyAgreement: coseKey])

    static let credentialManagement = CTAPKeys(
        "parameters", CTAPProtocol.CredentialManagement.Request.self,
        inner: [.subCommandParams: CTAPKeys("", CTAPProtocol.CredentialManagement.Parameters.self)])

    static let credentialManagementReply = CTAPKeys(
        "reply", CTAPProtocol.CredentialManagement.Reply.self, inner: [.publicKey: coseKey])

    static let bioEnrollment = CTAPKeys(
        "parameters", CTAPProtocol.BioEnrollment.Request.self,
        inner: [.subCommandParams: CTAPKeys("", CTAPProtocol.BioEnrollment.Parameters.self)])

    static let bioEnrollmentReply = CTAPKeys(
        "reply", CTAPProtocol.BioEnrollment.Reply.self,
        inner: [.templateInfos: CTAPKeys("", CTAPProtocol.BioEnrollment.Parameters.self)])

    static let largeBlobs = CTAPKeys("parameters", CTAPProtocol.LargeBlobs.Request.self)

    static let largeBlobsReply = CTAPKeys("reply", CTAPProtocol.LargeBlobs.Reply.self)

    static let config = CTAPKeys(
        "parameters", CTAPProtocol.Config.Request.self,
        inner: [.subCommandParams: CTAPKeys("", CTAPProtocol.Config.Parameters.self)])
}
