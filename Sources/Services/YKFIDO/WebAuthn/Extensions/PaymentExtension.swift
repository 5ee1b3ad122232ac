// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// payment: credentials for Secure Payment Confirmation, by thirdPartyPayment (CTAP 2.2 §12.10).
///
/// In an assertion the client data states the payment's details, and any site may request it.
public struct PaymentExtension: ClientExtension {
    /// Creates the extension.
    public init() {}

    /// Reads `payment.isPayment`, and `thirdPartyPayment`.
    public func prepare(_ request: inout RegistrationRequest, _ ceremony: CreationCeremony) throws(WebAuthnError) {
        request.extensions.allowsThirdPartyPayment = try Self.isWanted(ceremony.inputs)
    }

    /// Reads `payment.isPayment`, and `thirdPartyPayment`.
    public func prepare(_ request: inout AssertionRequest, _ ceremony: RequestCeremony) throws(WebAuthnError) {
        request.extensions.asksThirdPartyPayment = try Self.isWanted(ceremony.inputs)
    }

    /// With `payment.isPayment`, returns client data of type `payment.get` with the payment's details.
    public func clientData(
        _ data: ClientData, _ ceremony: RequestCeremony
    ) throws(WebAuthnError) -> ClientData {
        guard let payment = try PaymentInputs(ceremony.inputs), payment.isPayment else { return data }
        var others = data.others
        others["payment"] = try payment.clientData(rpID: ceremony.rpID)
        return ClientData(
            .payment, challenge: data.challenge, origin: data.origin, crossOrigin: data.crossOrigin ?? false,
            topOrigin: data.topOrigin, others: others)
    }

    /// `thirdPartyPayment`: whether other sites may use the credential, if requested.
    public func finish(_ results: inout JSONValue.Object, _ assertion: Assertion, _ ceremony: RequestCeremony) {
        guard ceremony.inputs["thirdPartyPayment"] != nil else { return }
        results["thirdPartyPayment"] = assertion.extensions.allowsThirdPartyPayment.map(JSONValue.bool)
    }

    private static func isWanted(_ inputs: JSONMembers) throws(WebAuthnError) -> Bool {
        let isDirect = try inputs.optional("thirdPartyPayment", .bool) ?? false
        return try PaymentInputs(inputs)?.isPayment ?? false || isDirect
    }
}

/// The inputs of the payment extension (Secure Payment Confirmation §5).
struct PaymentInputs {
    let isPayment: Bool
    private let members: JSONMembers

    /// The member `payment`; `nil` if it is absent.
    init?(_ inputs: JSONMembers) throws(WebAuthnError) {
        guard let members = try inputs.members("payment") else { return nil }
        isPayment = try members.optional("isPayment", .bool) ?? false
        self.members = members
    }

    /// The payment's details for the client data.
    func clientData(rpID: String) throws(WebAuthnError) -> JSONValue {
        let total = try members.requiredMembers("total")
        let instrument = try members.requiredMembers("instrument")
        let payee = try members.optional("payeeName", .string)
        let payeeOrigin = try members.optional("payeeOrigin", .string)
        guard payee != nil || payeeOrigin != nil else {
            throw .member(members.path(of: "payeeName"), problem: "expected string, got nothing")
        }
        return .object(
            JSONValue.Object([
                ("rpId", .string(rpID)), ("topOrigin", .string(try members.required("topOrigin", .string))),
                ("payeeName", payee.map(JSONValue.string)), ("payeeOrigin", payeeOrigin.map(JSONValue.string)),
                (
                    "total",
                    [
                        "value": .string(try total.required("value", .string)),
                        "currency": .string(try total.required("currency", .string)),
                    ]
                ),
                (
                    "instrument",
                    [
                        "icon": .string(try instrument.required("icon", .string)),
                        "displayName": .string(try instrument.required("displayName", .string)),
                    ]
                ),
            ]))
    }
}

extension PublicKeyCredentialRequestOptions {
    /// Whether a payment is requested.
    var isPayment: Bool { extensions["payment"]?["isPayment"]?.bool == true }
}
